/** Triton's generate extension: inputs and outputs as members of one JSON object. @module */

import type { Endpoint } from '../../api/endpoint.ts'
import { functionFailureOf } from '../../api/stages.ts'
import { badInput, expected, PayloadTooLarge, type ServingError } from '../../core/errors.ts'
import { isRecord } from '../../core/options.ts'
import { cutJson } from '../../core/text/json-cut.ts'
import { encodeEvent, eventHeaders } from '../../http/event-stream.ts'
import { numberCodec, parseArrayText } from '../../values/array/array-text.ts'
import { NDArray } from '../../values/array/ndarray.ts'
import type { NonFinite } from '../../values/array/number-codec.ts'
import { reshapeTo } from '../../values/array/shape.ts'
import { datatypes } from './datatype.ts'
import { answerHead, jsonHeaders, nonFiniteFor, type Output, withNulls } from './infer-answer.ts'
import type { InferRequest } from './infer-request.ts'
import { describeModel, infer, inferStream } from './inference.ts'
import { maxGenerateBytes, type Quota, textQuota } from './limits.ts'
import type { Model, ModelDescription } from './model.ts'
import { inferHeaders, type OipServer, oipEndpoint } from './oip-endpoint.ts'
import { errorText } from './oip-error.ts'
import { inputFault, type Tensor, tensorOf } from './tensor.ts'
import type { TensorInfo } from './tensor-info.ts'

/**
 * Members with an input's name are its elements; others are parameters.
 *
 * @throws BadInput; PayloadTooLarge.
 */
async function readGenerate(body: Uint8Array, { inputs }: ModelDescription): Promise<InferRequest> {
  if (body.length > maxGenerateBytes) {
    const what = `at most ${maxGenerateBytes} bytes for a generate request`
    throw new PayloadTooLarge(`expected ${what}, as infer takes more, received ${body.length}`)
  }
  const cut = cutJson(body, { of: 'text', names: inputs.map(({ name }) => name) })
  const { value } = cut
  if (!isRecord(value)) throw badInput('schema', expected('an object', 'the request', value))
  const tensors: Promise<Tensor>[] = []
  const texts = textQuota()
  const parameters: Record<string, string | number | boolean> = {}
  const { id = '', parameters: own, ...members } = value
  for (const [key, each] of [...Object.entries(members), ...Object.entries(own ?? {})]) {
    const info = inputs.find(({ name }) => name === key)
    if (info === undefined) {
      parameters[key] = plainOf(each)
      continue
    }
    const extent = cut.cuts[cut.indexOf(each)]
    const text = extent === undefined ? Buffer.from(JSON.stringify(each)) : body.subarray(...extent)
    tensors.push(readMember(info, text, texts))
  }
  const read = await Promise.all(tensors)
  return { id: String(plainOf(id)), parameters, inputs: read, outputs: undefined }
}

/** Lists and objects are their text. */
function plainOf(value: unknown): string | number | boolean {
  if (typeof value === 'object') return JSON.stringify(value)
  return value as string
}

async function readMember(
  { name, datatype, shape }: TensorInfo,
  json: Uint8Array,
  texts: Quota,
): Promise<Tensor> {
  const dtype = datatypes[datatype]
  const parsed = await parseArrayText(json, dtype, dtype !== 'str', false)
  if ('failure' in parsed) {
    const what = `an element or a list of elements of ${datatype}`
    throw inputFault(name, what, 'something else', 'dtype')
  }
  if (datatype === 'BYTES') texts(parsed.size)
  // Of several open dimensions all but the last are 1.
  const wild = shape.lastIndexOf(-1)
  const pattern = shape.map((dim, i) => (dim === -1 && i !== wild ? 1 : dim))
  const own = reshapeTo([parsed.size], pattern)
  if (own === undefined) throw inputFault(name, `elements of shape (${shape})`, parsed.size)
  return tensorOf({ name, datatype, shape: own }, parsed.data)
}

/** Outputs of one element become that element, others flat lists. */
function generateAnswer(
  model: Model,
  id: string,
  outputs: readonly Output[],
  nonFinite: NonFinite,
): string {
  let text = `{${answerHead(model, id)}`
  for (const { tensor } of outputs) {
    text += `,${JSON.stringify(tensor.name)}:${elementsOf(tensor, nonFinite)}`
  }
  return `${text}}`
}

function elementsOf(tensor: Tensor, nonFinite: NonFinite): string {
  const { data, dtype, size } = tensor.array
  if (tensor.nulls !== undefined) {
    const texts = withNulls(tensor)
    return JSON.stringify(size === 1 ? texts[0] : texts)
  }
  const flat = new NDArray(data, size === 1 ? [] : [size], dtype)
  const json = numberCodec.encodeNdarray(flat, nonFinite) as string | Uint8Array
  if (typeof json === 'string') return json
  return Buffer.from(json).toString()
}

async function* generateEvents(
  model: Model,
  id: string,
  answers: AsyncIterable<readonly Output[]>,
  nonFinite: NonFinite,
  onError: (error: ServingError) => void,
): AsyncGenerator<string> {
  try {
    for await (const outputs of answers)
      yield encodeEvent({ data: generateAnswer(model, id, outputs, nonFinite) })
  } catch (thrown) {
    const error = functionFailureOf(thrown)
    onError(error)
    yield encodeEvent({ data: JSON.stringify({ error: errorText(error) }) })
  }
}

/** Answers generate requests of every model, with one object, or with events at a path that ends in `_stream`. */
export function generateEndpoint(path: string, server: OipServer): Endpoint {
  const { models, host } = server
  const [name] = path.split('/').slice(-1)
  const own = { name, readsHeaders: inferHeaders(models.all()) }
  return oipEndpoint(server, `POST ${path}`, own, async (request, visit) => {
    const {
      ctx,
      target: { params },
    } = visit
    const model = models.find(params.model, params.version)
    const { body } = request
    const nonFinite = nonFiniteFor(ctx.headers.get('accept'))
    const read = await readGenerate(body, await describeModel(model))
    if (name === 'generate') {
      const outputs = await infer(model, read, visit)
      return { headers: jsonHeaders, body: generateAnswer(model, read.id, outputs, nonFinite) }
    }
    const answers = await inferStream(model, read, visit)
    const late = (error: ServingError) => host.logLate(error, ctx.id)
    return {
      headers: eventHeaders,
      body: generateEvents(model, read.id, answers, nonFinite, late),
    }
  })
}
