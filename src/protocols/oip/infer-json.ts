/** Bodies of `…/infer`: JSON, with tensors in binary form behind it. @module */

import { BadInput, type BadInputReason, badInput, expected, show } from '../../core/errors.ts'
import { minAsyncBytes } from '../../core/memory/limiter.ts'
import { isRecord } from '../../core/options.ts'
import { type MaybePromise, whenAllReady, whenReady } from '../../core/promise.ts'
import { type CutJson, cutAlike, cutJson } from '../../core/text/json-cut.ts'
import { parseJson } from '../../core/text/parse-json.ts'
import type { HttpRequest } from '../../http/message.ts'
import { numberCodec, parseArrayText } from '../../values/array/array-text.ts'
import { parseTexts } from '../../values/array/json.ts'
import type { NDArray } from '../../values/array/ndarray.ts'
import type { ParseFailure } from '../../values/array/number-codec.ts'
import { showShape } from '../../values/array/shape.ts'
import { datatypes } from './datatype.ts'
import {
  type InferRequest,
  lengthHeader,
  noParameters,
  parseParameters,
  type RequestedOutput,
  requestedOutput,
} from './infer-request.ts'
import { textQuota } from './limits.ts'
import {
  checkTensorInfo,
  inputFault,
  readRaw,
  type Tensor,
  type TensorInfo,
  tensorOf,
} from './tensor.ts'

const maxTensors = 1000
// Longer requests are not compared with the next one. **Units**: bytes.
const maxKeptBytes = 16 * 1024
const noBytes = new Uint8Array(0)
const dataOfInputs = { of: 'inputs', names: ['data'] } as const

type Members = Readonly<Record<string, unknown>>
type Plan = ReturnType<typeof planOf>

interface PlannedInput {
  readonly info: TensorInfo
  /** Index of the cut that has the elements; -1 for others. */
  readonly cut: number
  /** Elements that were not cut out, since their key has escapes. */
  readonly text?: Uint8Array
  /** Of elements behind the JSON, not checked. **Units**: bytes. */
  readonly size?: unknown
}

/** The last short request of an endpoint: most clients send the same again, with other elements. */
export interface LastRequest {
  seen?: { readonly json: Uint8Array; readonly cuts: CutJson['cuts']; readonly plan: Plan }
}

/** @throws BadInput with the input's name as its path. */
export function readInfer(
  request: HttpRequest,
  length: string | undefined,
  last: LastRequest,
): MaybePromise<InferRequest> {
  const { bytes, isPrivate } = request.lasting(minAsyncBytes)
  const size = Number(length ?? bytes.length)
  // Not by http/message.ts: threads of models load this file, but no requests.
  if ((length !== undefined && !/^\d{1,15}$/.test(length)) || size > bytes.length) {
    throw new BadInput(
      expected(`a length from 0 to ${bytes.length}, that of the body,`, lengthHeader, length),
    )
  }
  if (size === bytes.length) return readParts(bytes, noBytes, last, isPrivate)
  const { body } = request
  return readParts(body.subarray(0, size), body.subarray(size), last, false)
}

function readParts(
  json: Uint8Array,
  binary: Uint8Array,
  last: LastRequest,
  isPrivate: boolean,
): MaybePromise<InferRequest> {
  const { seen } = last
  const again = seen && cutAlike(json, seen.json, seen.cuts)
  if (seen && again) return readPlanned(seen.plan, again, json, binary, isPrivate)
  const cut = cutJson(json, dataOfInputs)
  const plan = planOf(cut)
  if (json.length <= maxKeptBytes) last.seen = { json: new Uint8Array(json), cuts: cut.cuts, plan }
  return readPlanned(plan, cut.cuts, json, binary, isPrivate)
}

/**
 * `idCut`: index of the cut that has the id; -1 if `id` is what came.
 *
 * @throws BadInput.
 */
function planOf({ value: body, indexOf }: CutJson) {
  if (!isRecord(body)) throw badInput('schema', expected('an object', 'the request', body))
  const { id = '', inputs, outputs, parameters } = body
  const list = requireList(inputs, 'inputs')
  const listed = requireList(outputs ?? [], 'outputs')
  return {
    idCut: indexOf(id),
    id,
    parameters: parseParameters(parameters, 'the request'),
    inputs: list.map((input) => plannedInput(input, indexOf)),
    outputs: listed.length === 0 ? undefined : listed.map(outputOf),
  }
}

function plannedInput(input: Members, indexOf: CutJson['indexOf']): PlannedInput {
  const { data } = input
  const info = checkTensorInfo(input.name, input.datatype, input.shape)
  const parameters = parseParameters(input.parameters, 'input', info.name)
  const { binary_data_size: size, shared_memory_region: region } = parameters
  if (data === undefined && size === undefined) {
    const none = region === undefined ? 'neither' : 'a region of shared memory, which is not here'
    throw inputFault(info.name, 'data or binary_data_size', none)
  }
  if (data !== undefined && size !== undefined)
    throw inputFault(info.name, 'either data or binary_data_size', 'both')
  if (size !== undefined) return { info, cut: -1, size }
  const cut = indexOf(data)
  return { info, cut, text: cut === -1 ? Buffer.from(JSON.stringify(data)) : undefined }
}

function requireList(value: unknown, name: string): readonly Members[] {
  const isList =
    Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null)
  if (!isList) throw badInput('schema', expected('a list of objects', name, value))
  if (value.length <= maxTensors) return value
  throw badInput('schema', expected(`at most ${maxTensors} elements`, name, value.length))
}

function outputOf({ name, parameters }: Members): RequestedOutput {
  return requestedOutput(name, parseParameters(parameters, 'output', name))
}

function readPlanned(
  plan: Plan,
  cuts: CutJson['cuts'],
  json: Uint8Array,
  binary: Uint8Array,
  isPrivate: boolean,
): MaybePromise<InferRequest> {
  const { parameters, outputs } = plan
  const textOf = (index: number) => json.subarray(cuts[index][0], cuts[index][1])
  const id = plan.idCut === -1 ? plan.id : parseJson(textOf(plan.idCut), 'id')
  if (typeof id !== 'string') throw badInput('schema', expected('a string', 'id', id))
  const texts = textQuota()
  let at = 0
  const tensors = plan.inputs.map(({ info: shared, cut, size, text }): MaybePromise<Tensor> => {
    // The function may keep and change what it gets.
    const info = { ...shared, shape: shared.shape.slice() }
    if (info.datatype === 'BYTES') texts(info.size)
    if (size === undefined) {
      const json = text ?? textOf(cut)
      if (info.datatype === 'BYTES') return readShortJson(info, json)
      const parsed = parseArrayText(json, datatypes[info.datatype], true, isPrivate)
      return whenReady(parsed, (array) => parsedTensor(info, array))
    }
    const left = binary.length - at
    if (!Number.isSafeInteger(size) || (size as number) < 0 || (size as number) > left) {
      const what = `a number of bytes up to ${left}, which are left of the body,`
      throw inputFault(info.name, what, show(size), 'shape', 'binary_data_size of ')
    }
    const start = at
    at += size as number
    return readRaw(info, binary.subarray(start, at))
  })
  if (at !== binary.length) {
    const what = `${at} bytes behind the JSON, as the inputs say`
    throw badInput('shape', `expected ${what}, received ${binary.length - at} more`)
  }
  const own = parameters === noParameters ? parameters : { ...parameters }
  return whenAllReady(tensors, (inputs): InferRequest => ({ id, parameters: own, inputs, outputs }))
}

const reasons: Partial<Record<ParseFailure['failure'], BadInputReason>> = {
  syntax: 'syntax',
  encoding: 'encoding',
  ragged: 'ragged',
  depth: 'shape',
}

function parsedTensor(
  info: TensorInfo,
  parsed: NDArray | ParseFailure,
  nulls: readonly number[] = [],
): Tensor {
  const { name, datatype, shape, size } = info
  if ('failure' in parsed) {
    const { failure, offset, path } = parsed
    const isText = failure === 'syntax' || failure === 'encoding'
    const what = isText ? 'a JSON list' : `elements of ${datatype}`
    const received = `something else at ${path ?? `byte ${offset} of it`}`
    throw inputFault(name, what, received, reasons[failure] ?? 'dtype', 'the data of ')
  }
  if (parsed.size !== size) {
    const what = `${size} elements (shape ${showShape(shape)})`
    throw inputFault(name, what, parsed.size, 'shape', 'the data of ')
  }
  return { ...tensorOf(info, parsed.data), ...(nulls.length > 0 && { nulls }) }
}

/** @throws BadInput. */
export function readShortJson(info: TensorInfo, json: Uint8Array): Tensor {
  const dtype = datatypes[info.datatype]
  if (dtype !== 'str') return parsedTensor(info, numberCodec.parseNdarray(json, dtype, true))
  const texts = parseTexts(json)
  if ('failure' in texts) return parsedTensor(info, texts)
  return parsedTensor(info, texts.array, texts.nulls)
}
