/** The tensors of a served model, as requests and answers of the Open Inference Protocol have them. @module */
import { type DType, elementsFrom } from '../core/dtype.ts'
import { InvalidArgument } from '../core/errors.ts'
import { parseJson } from '../core/text/parse-json.ts'
import { IODescriptor } from '../descriptors/descriptor.ts'
import { JSON as JsonDescriptor } from '../descriptors/json.ts'
import type { HttpRequest } from '../http/message.ts'
import { castArray } from '../values/array/cast.ts'
import { NDArray } from '../values/array/ndarray.ts'

/** Arrays by their names. */
type Arrays = Readonly<Record<string, NDArray>>

/** Reads answers, and writes requests. They have the protocol's names of element types: FP32, INT64, BYTES. */
export class Tensors extends IODescriptor<Arrays> {
  readonly mimeType = 'application/json'

  fromHttpRequest({ body }: HttpRequest) {
    const { outputs } = parseJson(body, 'an answer', { bigNumbers: 'bigint' }) as {
      readonly outputs: readonly Record<string, never>[]
    }
    const arrays = outputs.map(({ name, shape, datatype, data }) => {
      const dtype = String(datatype).toLowerCase().replace('fp', 'float').replace('bytes', 'str')
      const flat = [data].flat(Number.POSITIVE_INFINITY)
      const elements = flat.map((each) => each ?? Number.NaN)
      return [name, arrayFrom(dtype as DType, elements, shape)]
    })
    return Object.fromEntries(arrays)
  }

  toHttpResponse(arrays: Arrays) {
    const inputs = Object.entries(arrays).map(([name, array]) => {
      const { shape, dtype } = array
      const datatype = dtype.toUpperCase().replace('FLOAT', 'FP').replace('STR', 'BYTES')
      return { name, shape, datatype, data: array.reshape([-1]).toNested() }
    })
    return new JsonDescriptor().encodeExample({ inputs } as never)
  }

  /** Models have methods of their own. */
  override toProto(): never {
    throw new InvalidArgument('models are asked over HTTP alone')
  }
}

/** @returns numbers, booleans or texts as an array. */
export function arrayFrom(dtype: DType, list: readonly unknown[], shape: readonly number[]) {
  if (dtype === 'str') return new NDArray(list as string[], shape)
  if (dtype !== 'float16') return new NDArray(elementsFrom(dtype, list), shape, dtype)
  return castArray(new NDArray(elementsFrom('float32', list), shape), dtype)
}
