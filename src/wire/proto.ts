/**
 * RPC messages ⇄ protobuf bytes: Request, Response and what they hold.
 *
 * **Source**: proto/serving/v1/serving.proto; equal to what protobufjs makes of it, see test/unit/wire/proto.test.ts.
 * @module
 */
import { BadInput } from '../errors.ts'
import {
  readDataFrame,
  readNDArray,
  readSeries,
  sizeHint,
  writeDataFrame,
  writeNDArray,
  writeSeries,
} from './proto-arrays.ts'
import {
  type ContentHolder,
  contentNumbers,
  type DataFrameMessage,
  type FileMessage,
  type MultipartMessage,
  type NDArrayMessage,
  type ProtoContent,
  type ProtoField,
  type ProtoMessages,
  type SeriesMessage,
} from './proto-messages.ts'
import { ProtoReader, wireType } from './proto-reader.ts'
import { readValue, writeValue } from './proto-value.ts'
import { ProtoWriter, wrapBytes } from './proto-writer.ts'

/** Parts of a Multipart; each is some hundred bytes in memory. */
const maxParts = 1000

/** Which member of a oneof came, and its bytes, which nobody has looked at yet. */
export interface RawContent {
  readonly field: ProtoField
  readonly bytes: Uint8Array
}

/** A Request, its content still as bytes. */
export interface RawRequest {
  readonly apiName: string
  /** Undefined: none was set. */
  readonly content: RawContent | undefined
}

/**
 * Bytes become a Request. Of several members of the oneof the last one counts, as protobuf says, but serialized bytes win.
 * **Errors**: BadInput. **Cost**: reads over the content, without looking into it; its bytes are a view.
 */
export function decodeRequest(bytes: Uint8Array): RawRequest {
  const reader = new ProtoReader(bytes)
  const content = new OneOf('request')
  let apiName = ''
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireType.bytes)) apiName = reader.string()
    else if (!content.take(reader)) reader.skip()
  }
  return { apiName, content: content.finish() }
}

/** Bytes become the content of a Response. **Errors**: BadInput. For clients and tests. */
export function decodeResponse(bytes: Uint8Array): ProtoContent | undefined {
  const reader = new ProtoReader(bytes)
  const content = new OneOf('response')
  while (reader.next()) if (!content.take(reader)) reader.skip()
  return decodeContent(content.finish())
}

class OneOf {
  readonly #names: readonly (ProtoField | undefined)[]
  #field: ProtoField | undefined
  #pieces: Uint8Array[] = []

  constructor(holder: ContentHolder) {
    this.#names = contentNumbers[holder].byNumber
  }

  take(reader: ProtoReader): boolean {
    const field = this.#names[reader.field]
    if (field === undefined || !reader.is(wireType.bytes)) return false
    const bytes = reader.view()
    if (this.#field === 'serialized_bytes' && field !== 'serialized_bytes') return true
    // A message that comes in two pieces is their concatenation, by protobuf's rule of merging; bytes replace bytes.
    if (field !== this.#field || field === 'serialized_bytes') this.#pieces = [bytes]
    else this.#pieces.push(bytes)
    this.#field = field
    return true
  }

  finish(): RawContent | undefined {
    const field = this.#field
    if (field === undefined) return undefined
    return { field, bytes: this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces) }
  }
}

/** Raw content becomes its message; undefined stays. **Errors**: BadInput. */
export function decodeContent(raw: RawContent | undefined): ProtoContent | undefined {
  return raw && { field: raw.field, message: decodeMessage(raw.field, raw.bytes) }
}

/** Bytes become the message of a oneof member. **Errors**: BadInput. */
export function decodeMessage(field: ProtoField, bytes: Uint8Array): ProtoMessages[ProtoField] {
  if (field === 'serialized_bytes') return bytes
  const reader = new ProtoReader(bytes)
  if (field === 'ndarray') return readNDArray(reader)
  if (field === 'json') return readValue(reader)
  if (field === 'text') return readText(reader)
  if (field === 'file') return readFile(reader)
  if (field === 'dataframe') return readDataFrame(reader)
  return field === 'series' ? readSeries(reader) : readMultipart(reader)
}

function readText(reader: ProtoReader): string {
  let text = ''
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireType.bytes)) text = reader.string()
    else reader.skip()
  }
  return text
}

function readFile(reader: ProtoReader): FileMessage {
  const file: { kind?: string; content?: Uint8Array; name?: string } = {}
  while (reader.next()) {
    if (!reader.is(wireType.bytes)) reader.skip()
    else if (reader.field === 2) file.content = reader.view()
    else if (reader.field === 3) file.kind = reader.string()
    else if (reader.field === 4) file.name = reader.string()
    else reader.skip()
  }
  return file
}

function readMultipart(reader: ProtoReader): MultipartMessage {
  const fields = new Map<string, ProtoContent>()
  let count = 0
  while (reader.next()) {
    if (reader.field !== 1 || !reader.is(wireType.bytes)) {
      reader.skip()
      continue
    }
    if (++count > maxParts) throw new BadInput(`expected at most ${maxParts} parts, received more`, { reason: 'part' })
    const entry = reader.message()
    let name = ''
    let part: ProtoContent | undefined
    while (entry.next()) {
      if (entry.field === 1 && entry.is(wireType.bytes)) name = entry.string()
      else if (entry.field === 2 && entry.is(wireType.bytes)) part = readPart(entry.message())
      else entry.skip()
    }
    // A part without a representation is as good as none: the descriptor says that it is missing.
    if (part !== undefined) fields.set(name, part)
  }
  return { fields }
}

function readPart(reader: ProtoReader): ProtoContent | undefined {
  const content = new OneOf('part')
  while (reader.next()) if (!content.take(reader)) reader.skip()
  return decodeContent(content.finish())
}

/** A Request becomes bytes. For clients and tests. */
export function encodeRequest(apiName: string, content: ProtoContent | undefined): Buffer {
  const writer = new ProtoWriter(apiName.length + (content === undefined ? 8 : hintOf(content)))
  if (apiName !== '') writer.string(1, apiName)
  if (content !== undefined) writeContent(writer, 'request', content)
  return writer.finish()
}

/** Content becomes the bytes of a Response. */
export function encodeResponse(content: ProtoContent): Buffer {
  const { field, message } = content
  if (field === 'serialized_bytes') return wrapBytes(contentNumbers.response.byName[field] ?? 0, message as Uint8Array)
  const writer = new ProtoWriter(hintOf(content))
  writeContent(writer, 'response', content)
  return writer.finish()
}

/** A message becomes its own bytes, without the oneof around it. */
export function encodeMessage({ field, message }: ProtoContent): Uint8Array {
  if (field === 'serialized_bytes') return message as Uint8Array
  const writer = new ProtoWriter(hintOf({ field, message }))
  writeMessage(writer, field, message)
  return writer.finish()
}

function hintOf({ field, message }: ProtoContent): number {
  if (field === 'serialized_bytes') return (message as Uint8Array).length + 16
  if (field === 'file') return ((message as FileMessage).content?.length ?? 0) + 64
  if (field === 'ndarray' || field === 'series') return sizeHint(message as NDArrayMessage) + 64
  return field === 'text' ? (message as string).length + 16 : 256
}

function writeContent(writer: ProtoWriter, holder: ContentHolder, content: ProtoContent): void {
  const { field, message } = content
  const number = contentNumbers[holder].byName[field]
  if (number === undefined) throw new TypeError(`a ${holder} cannot hold ${field}`)
  if (field === 'serialized_bytes') writer.bytes(number, message as Uint8Array)
  else writer.message(number, hintOf(content) - 64, () => writeMessage(writer, field, message))
}

function writeMessage(writer: ProtoWriter, field: ProtoField, message: ProtoMessages[ProtoField]): void {
  if (field === 'ndarray') writeNDArray(writer, message as NDArrayMessage)
  else if (field === 'series') writeSeries(writer, message as SeriesMessage)
  else if (field === 'dataframe') writeDataFrame(writer, message as DataFrameMessage)
  else if (field === 'file') writeFile(writer, message as FileMessage)
  else if (field === 'json') writeValue(writer, message)
  else if (field === 'text') {
    if (message !== '') writer.string(1, message as string)
  } else {
    for (const [name, part] of (message as MultipartMessage).fields) {
      writer.message(1, hintOf(part), () => {
        writer.string(1, name)
        writer.message(2, hintOf(part), () => writeContent(writer, 'part', part))
      })
    }
  }
}

function writeFile(writer: ProtoWriter, { kind, content, name }: FileMessage): void {
  if (content !== undefined && content.length > 0) writer.bytes(2, content)
  if (kind !== undefined) writer.string(3, kind)
  if (name !== undefined) writer.string(4, name)
}
