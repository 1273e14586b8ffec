/** The tensors of a served model, as requests and answers of the Open Inference Protocol have them. @module */
import { type DType, elementsFrom } from '../core/dtype.ts'
import { InvalidArgument } from '../core/errors.ts'
import { parseJson } from '../core/text/parse-json.ts'
import { IODescriptor } from '../descriptors/descriptor.ts'
import { JSONEncoder } from '../descriptors/json-encoder.ts'
import type { HttpRequest } from '../http/message.ts'
import { NDArray } from '../values/array/ndarray.ts'

/** In JSON, with the protocol's names of element types: FP32, INT64, BYTES. */
interface Tensor {
  readonly name: string
  readonly shape: readonly number[]
  readonly datatype: string
  readonly data: readonly unknown[]
}

/** Reads answers, and writes requests. */
export class Tensors extends IODescriptor<Readonly<Record<string, NDArray>>> {
  readonly mimeType = 'application/json'

  fromHttpRequest({ body }: HttpRequest) {
    const answer = parseJson(body, 'an answer', { bigNumbers: 'bigint' })
    const { outputs } = answer as { readonly outputs: readonly Tensor[] }
    const arrays = outputs.map(({ name, shape, datatype, data }) => {
      const dtype = datatype.toLowerCase().replace('fp', 'float').replace('bytes', 'str')
      const flat = data.flat(Number.POSITIVE_INFINITY).map((each) => each ?? Number.NaN)
      const elements = dtype === 'str' ? (flat as string[]) : elementsFrom(dtype as 'int64', flat)
      return [name, new NDArray(elements, shape, dtype as DType)]
    })
    return Object.fromEntries(arrays)
  }

  toHttpResponse(tensors: Readonly<Record<string, NDArray>>) {
    const inputs = Object.entries(tensors).map(([name, { data, shape, dtype }]): Tensor => {
      const datatype = dtype.toUpperCase().replace('FLOAT', 'FP').replace('STR', 'BYTES')
      return { name, shape, datatype, data: Array.from<unknown>(data) }
    })
    const body = Buffer.from(new JSONEncoder().encode({ inputs }))
    return { headers: [['content-type', this.mimeType]] as const, body }
  }

  /** Models have methods of their own. */
  override toProto(): never {
    throw new InvalidArgument('models are asked over HTTP alone')
  }
}
