/** Answers of `…/infer`: JSON, with tensors in binary form behind it. @module */

import { bufferPool, PooledBody } from '../../core/memory/buffer-pool.ts'
import { isPromise, type MaybePromise, whenAllReady } from '../../core/promise.ts'
import { TextWriter } from '../../core/text/text-writer.ts'
import type { HeaderLine, HttpResponse } from '../../http/message.ts'
import { constantHeaders } from '../../http/response-head.ts'
import { printArrayText } from '../../values/array/array-text.ts'
import { NDArray } from '../../values/array/ndarray.ts'
import type { NonFinite } from '../../values/array/number-codec.ts'
import { classify, classQuotas } from './classification.ts'
import { lengthHeader, type RequestedOutput } from './infer-request.ts'
import type { Model, ModelDescription } from './model.ts'
import { type Tensor, writeRaw, writtenArray } from './tensor.ts'
import { requireKnown } from './tensor-info.ts'

/** Of answers in JSON. */
export const jsonHeaders = constantHeaders([['content-type', 'application/json']])
/** Shorter answers are copied out of the pool. **Units**: bytes. */
export const minPooledBytes = 64 * 1024

// uWebSockets.js joins this much text with the bytes behind it. **Units**: bytes.
const maxBeforeBytes = 4096

/** An output that is to be sent. */
export interface Output {
  readonly tensor: Tensor
  readonly binary: boolean | undefined
}

/**
 * The requested outputs, by default all.
 *
 * @throws BadInput for unknown names; those of {@link classify}.
 */
export function selectOutputs(
  tensors: readonly Tensor[],
  requested: readonly RequestedOutput[] | undefined,
  labels: ModelDescription['labels'],
): readonly Output[] {
  if (requested === undefined) return tensors.map((tensor) => ({ tensor, binary: undefined }))
  const quotas = classQuotas()
  requireKnown(requested, tensors, 'outputs')
  return requested.map(({ name, binary, classes }) => {
    const tensor = tensors.find((each) => each.name === name) as Tensor
    if (classes === 0) return { tensor, binary }
    return { tensor: classify(tensor, classes, labels?.[name], quotas), binary }
  })
}

/** How an answer is written. */
export interface AnswerForm {
  /** The request's default. */
  readonly allBinary: boolean
  /** Whether it is sent in this turn, so that a large tensor needs no copy. */
  readonly isAtOnce: boolean
  readonly nonFinite: NonFinite
}

/**
 * @returns how NaN and infinities are written: as bare words, which clients of the protocol read,
 * but as null for a client that names JSON, which has no such words.
 * @see Triton; RFC 8259.
 */
export function nonFiniteFor(accept: string | undefined): NonFinite {
  if (accept !== undefined && /\bapplication\/json\b/i.test(accept)) return 'null'
  return 'literal'
}

/** Encodes the outputs as one answer. */
export function encodeAnswer(
  model: Model,
  id: string,
  outputs: readonly Output[],
  { allBinary, isAtOnce, nonFinite }: AnswerForm,
): MaybePromise<HttpResponse> {
  const binaries: Uint8Array[] = []
  const members = outputs.map(({ tensor, binary }) => {
    if (!(binary ?? allBinary)) return dataOf(tensor, nonFinite)
    const bytes = writeRaw(tensor)
    binaries.push(bytes)
    return `{"binary_data_size":${bytes.length}}`
  })
  return whenAllReady(members, (values) => {
    const json = new TextWriter()
    json.add(`{${answerHead(model, id)},"outputs":[`)
    for (const [i, { tensor, binary }] of outputs.entries()) {
      const key = (binary ?? allBinary) ? 'parameters' : 'data'
      json.add(`${i > 0 ? ',' : ''}{${headOf(tensor)},"${key}":`)
      json.add(values[i])
      json.add('}')
    }
    json.add(']}')
    const answer = answerOf(json, binaries, isAtOnce)
    // Texts of large arrays lie in memory of the pool, and were copied.
    for (const [i, value] of values.entries()) {
      if (isPromise(members[i])) bufferPool.give((value as Uint8Array).buffer as ArrayBuffer)
    }
    return answer
  })
}

/** @returns the members of an answer that say to what it is one. */
export function answerHead({ name, version }: Model, id: string): string {
  const model = `"model_name":${JSON.stringify(name)},"model_version":"${version}"`
  return id === '' ? model : `"id":${JSON.stringify(id)},${model}`
}

function headOf({ name, datatype, array }: Tensor): string {
  return `"name":${JSON.stringify(name)},"datatype":"${datatype}","shape":[${shapeText(array.shape)}]`
}

function dataOf(tensor: Tensor, nonFinite: NonFinite): MaybePromise<Uint8Array | string> {
  if (tensor.nulls !== undefined) return JSON.stringify(withNulls(tensor))
  const array = writtenArray(tensor)
  const flat = new NDArray(array.data, [array.size], array.dtype)
  return printArrayText(flat, nonFinite) as MaybePromise<Uint8Array | string>
}

/** @returns the texts of a tensor, null where one is missing. */
export function withNulls({ array, nulls = [] }: Tensor): readonly (string | null)[] {
  const texts: (string | null)[] = [...(array.data as readonly string[])]
  for (const i of Array.from(nulls)) texts[i] = null
  return texts
}

function answerOf(
  json: TextWriter,
  binaries: readonly Uint8Array[],
  isAtOnce: boolean,
): HttpResponse {
  const { text } = json
  if (text !== undefined && binaries.length === 0) return { headers: jsonHeaders, body: text }
  const start = json.byteLength
  const headers = binaries.length === 0 ? jsonHeaders : binaryHeaders(start)
  const [first] = binaries
  const isAlone = isAtOnce && binaries.length === 1 && first.length > minPooledBytes
  if (isAlone && text !== undefined && start <= maxBeforeBytes)
    return { headers, before: text, body: first }
  const length = binaries.reduce((sum, bytes) => sum + bytes.length, start)
  const isPooled = length >= minPooledBytes
  const body = isPooled
    ? Buffer.from(bufferPool.take(length), 0, length)
    : Buffer.allocUnsafe(length)
  json.writeTo(body)
  let at = start
  for (const bytes of binaries) {
    body.set(bytes, at)
    at += bytes.length
  }
  return { headers, body, ...(isPooled && { pooled: new PooledBody() }) }
}

/** As `join(',')`, which takes longer. */
function shapeText(shape: readonly number[]): string {
  let text = ''
  for (let i = 0; i < shape.length; i++) text += i === 0 ? shape[i] : `,${shape[i]}`
  return text
}

function binaryHeaders(json: number): readonly HeaderLine[] {
  return [
    ['content-type', 'application/octet-stream'],
    [lengthHeader, String(json)],
  ]
}
