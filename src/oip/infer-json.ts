/** Bodies of `…/infer`: JSON, with tensors in binary form behind it. @module */

import type { DType } from '../core/dtype.ts'
import { BadInput, type BadInputReason, expected } from '../core/errors.ts'
import { type MaybePromise, whenAllReady, whenReady } from '../core/promise.ts'
import type { HttpRequest } from '../http/message.ts'
import { largeCodec } from '../values/array/large-codec.ts'
import { numberCodec } from '../values/array/native-codec.ts'
import { NDArray } from '../values/array/ndarray.ts'
import type { ParseFailure } from '../values/array/number-codec.ts'
import { showShape } from '../values/array/shape.ts'
import { datatypes } from './datatype.ts'
import {
  type InferRequest,
  lengthHeader,
  type Parameters,
  parseParameters,
  type RequestedOutput,
  requestedOutput,
  requireDistinct,
} from './infer-request.ts'
import { type CutJson, cutJson } from './json-cut.ts'
import { textQuota } from './limits.ts'
import { checkTensorInfo, inputFault, readRaw, shown, type Tensor, type TensorInfo } from './tensor.ts'

// Larger numbers are read beside the event loop. **Units**: bytes.
const minAsyncBytes = 1024 * 1024
const maxTensors = 1000
const noBytes = new Uint8Array(0)
const dataOfInputs = { of: 'inputs', names: ['data'] } as const

/** **Errors**: BadInput with the input's name as its path. */
export function readInfer(request: HttpRequest, length: string | undefined): MaybePromise<InferRequest> {
  // A body that is read beside the event loop must outlive the socket's callback.
  if (request.peek().length >= minAsyncBytes) request.retain()
  if (length === undefined) return readParts(request, request.peek())
  const size = Number(length)
  const body = request.peek().length
  if (!isLength(length) || size > body) {
    throw new BadInput(expected(`a length from 0 to ${body}, that of the body,`, lengthHeader, length))
  }
  if (size === body) return readParts(request, request.peek())
  const whole = request.body
  return readParts(request, whole.subarray(0, size), whole.subarray(size))
}

/** Whether the header has a length. */
export function isLength(text: string): boolean {
  return /^\d{1,15}$/.test(text)
}

/** Whether the body is one tensor's elements alone. */
export function isRawBody(length: string | undefined): boolean {
  return length !== undefined && /^0+$/.test(length)
}

function readParts(request: HttpRequest, json: Uint8Array, binary: Uint8Array = noBytes): MaybePromise<InferRequest> {
  const cut = cutJson(json, dataOfInputs)
  const body = cut.value
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new BadInput(expected('an object', 'the request', body), { reason: 'schema' })
  }
  const { id = '', inputs, outputs, parameters } = body as Readonly<Record<string, unknown>>
  if (typeof id !== 'string') throw new BadInput(expected('a string', 'id', id), { reason: 'schema' })
  const list = requireList(inputs, 'inputs')
  const listed = outputs === undefined || outputs === null ? [] : requireList(outputs, 'outputs')
  const tensors = readTensors(list, cut, binary, request.isPooled)
  const own = parseParameters(parameters, 'the request')
  const requested = listed.length === 0 ? undefined : readOutputs(listed)
  return whenAllReady(tensors, (all): InferRequest => {
    requireDistinct(all, 'input')
    return { id, parameters: own, inputs: all, outputs: requested }
  })
}

function requireList(value: unknown, name: string): readonly Readonly<Record<string, unknown>>[] {
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null)
  if (!isList) throw new BadInput(expected('a list of objects', name, value), { reason: 'schema' })
  if (value.length <= maxTensors) return value
  throw new BadInput(expected(`at most ${maxTensors} elements`, name, value.length), { reason: 'schema' })
}

function readOutputs(list: readonly Readonly<Record<string, unknown>>[]): RequestedOutput[] {
  const outputs = list.map(({ name, parameters }) =>
    requestedOutput(name, parseParameters(parameters, 'output', String(name))),
  )
  requireDistinct(outputs, 'output')
  return outputs
}

function readTensors(
  inputs: readonly Readonly<Record<string, unknown>>[],
  cut: CutJson,
  binary: Uint8Array,
  isPrivate: boolean,
): MaybePromise<Tensor>[] {
  const texts = textQuota()
  let at = 0
  const tensors = inputs.map(({ name, datatype, shape, data, parameters: given }): MaybePromise<Tensor> => {
    const info = checkTensorInfo(name, datatype, shape)
    if (info.datatype === 'BYTES') texts.take(info.size)
    const parameters = parseParameters(given, 'input', info.name)
    const size = parameters.binary_data_size
    if (data !== undefined && size === undefined) {
      // A key with escapes was not cut out.
      const text = cut.textOf(data) ?? Buffer.from(JSON.stringify(data))
      const parsed = parseElements(text, datatypes[info.datatype].dtype, isPrivate)
      return whenReady(parsed, (array) => tensorOf(info, array))
    }
    const place = `input ${shown(info.name)}`
    if (data !== undefined) throw inputFault(info.name, `expected either data or binary_data_size for ${place}`)
    if (size === undefined) throw inputFault(info.name, missingData(place, parameters))
    const left = binary.length - at
    if (!Number.isSafeInteger(size) || (size as number) < 0 || (size as number) > left) {
      const what = `a number of bytes up to ${left}, which are left of the body,`
      throw inputFault(info.name, expected(what, `binary_data_size of ${place}`, size))
    }
    const start = at
    at += size as number
    return readRaw(info, binary.subarray(start, at))
  })
  if (at === binary.length) return tensors
  const what = `${at} bytes behind the JSON, as the inputs say`
  throw new BadInput(`expected ${what}, received ${binary.length - at} more`, { reason: 'shape' })
}

/** `isPrivate`: nobody else can reach the memory of the text until the promise settles. */
export function parseElements(
  json: Uint8Array,
  dtype: DType,
  isPrivate: boolean,
): MaybePromise<NDArray | ParseFailure> {
  const isNumeric = dtype !== 'str'
  if (!isNumeric || largeCodec === undefined || json.length < minAsyncBytes) {
    return numberCodec.parseNdarray(json, dtype, isNumeric)
  }
  return largeCodec.parse(json, dtype, true, isPrivate)
}

function missingData(place: string, parameters: Parameters): string {
  const region = parameters.shared_memory_region
  if (region === undefined) return `expected data or binary_data_size for ${place}, received neither`
  return expected('data or binary_data_size, since there is no shared memory here,', place, 'shared_memory_region')
}

const reasons: Partial<Record<ParseFailure['failure'], BadInputReason>> = {
  syntax: 'syntax',
  encoding: 'encoding',
  ragged: 'ragged',
  depth: 'shape',
}

/** Takes flat or nested elements. **Errors**: BadInput. */
function tensorOf({ name, datatype, shape, size }: TensorInfo, parsed: NDArray | ParseFailure): Tensor {
  if ('failure' in parsed) {
    const { failure, offset, path } = parsed
    const what = failure === 'syntax' || failure === 'encoding' ? 'a JSON list' : `elements of ${datatype}`
    const place = `the data of input ${shown(name)}`
    const message = `expected ${what} for ${place}, received something else at ${path ?? `byte ${offset} of it`}`
    throw inputFault(name, message, reasons[failure] ?? 'dtype')
  }
  if (parsed.size !== size) {
    const what = `${size} elements (shape ${showShape(shape)}) for the data of input ${shown(name)}`
    throw inputFault(name, `expected ${what}, received ${parsed.size}`)
  }
  return { name, datatype, array: new NDArray(parsed.data, shape, parsed.dtype) }
}

/** **Errors**: BadInput. */
export function readShortJson(info: TensorInfo, json: Uint8Array): Tensor {
  const { dtype } = datatypes[info.datatype]
  return tensorOf(info, numberCodec.parseNdarray(json, dtype, dtype !== 'str'))
}
