/**
 * RPC messages ⇄ protobuf bytes: Request, Response and what they hold.
 *
 * **Source**: proto/serving/v1/serving.proto; equal to what protobufjs makes of it, see test/unit/proto/envelope.test.ts.
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
} from './arrays.ts'
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
} from './messages.ts'
import { type ProtoReader, ProtoWriter, readProto, wireType, wrapBytes } from './protobuf.ts'
import { readValue, writeValue } from './value.ts'

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
  return readProto(bytes, readRequest)
}

function readRequest(reader: ProtoReader): RawRequest {
  const content = new OneOf('request')
  let apiName = ''
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireType.bytes)) apiName = reader.string()
    else if (!content.take(reader)) reader.skipField()
  }
  return { apiName, content: content.finish() }
}

/** Bytes become the content of a Response. **Errors**: BadInput. For clients and tests. */
export function decodeResponse(bytes: Uint8Array): ProtoContent | undefined {
  return decodeContent(readProto(bytes, (reader) => readOneOf(reader, 'response')))
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
    const bytes = reader.bytes()
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

function readOneOf(reader: ProtoReader, holder: ContentHolder): RawContent | undefined {
  const content = new OneOf(holder)
  while (reader.next()) if (!content.take(reader)) reader.skipField()
  return content.finish()
}

/** Raw content becomes its message; undefined stays. **Errors**: BadInput. */
export function decodeContent(raw: RawContent | undefined): ProtoContent | undefined {
  return raw && { field: raw.field, message: decodeMessage(raw.field, raw.bytes) }
}

/** Bytes become the message of a oneof member. **Errors**: BadInput. */
export function decodeMessage(field: ProtoField, bytes: Uint8Array): ProtoMessages[ProtoField] {
  return field === 'serialized_bytes' ? bytes : readProto(bytes, readers[field])
}

const readers: Readonly<Record<Exclude<ProtoField, 'serialized_bytes'>, (reader: ProtoReader) => unknown>> = {
  ndarray: readNDArray,
  dataframe: readDataFrame,
  series: (reader) => readSeries(reader),
  file: readFile,
  text: readText,
  json: (reader) => readValue(reader),
  multipart: readMultipart,
}

function readText(reader: ProtoReader): string {
  let text = ''
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireType.bytes)) text = reader.string()
    else reader.skipField()
  }
  return text
}

function readFile(reader: ProtoReader): FileMessage {
  const file: { kind?: string; content?: Uint8Array; name?: string } = {}
  while (reader.next()) {
    if (!reader.is(wireType.bytes)) reader.skipField()
    else if (reader.field === 2) file.content = reader.bytes()
    else if (reader.field === 3) file.kind = reader.string()
    else if (reader.field === 4) file.name = reader.string()
    else reader.skipField()
  }
  return file
}

function readMultipart(reader: ProtoReader): MultipartMessage {
  const fields = new Map<string, ProtoContent>()
  let count = 0
  while (reader.next()) {
    if (reader.field !== 1 || !reader.is(wireType.bytes)) {
      reader.skipField()
      continue
    }
    if (++count > maxParts) throw new BadInput(`expected at most ${maxParts} parts, received more`, { reason: 'part' })
    const { name, part } = reader.message(readEntry)
    // A part without a representation is as good as none: the descriptor says that it is missing.
    if (part !== undefined) fields.set(name, part)
  }
  return { fields }
}

function readEntry(reader: ProtoReader): { name: string; part: ProtoContent | undefined } {
  let name = ''
  let part: ProtoContent | undefined
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireType.bytes)) name = reader.string()
    else if (reader.field === 2 && reader.is(wireType.bytes)) part = decodeContent(reader.message(readPart))
    else reader.skipField()
  }
  return { name, part }
}

const readPart = (reader: ProtoReader) => readOneOf(reader, 'part')

/** A Request becomes bytes. For clients and tests. */
export function encodeRequest(apiName: string, content: ProtoContent | undefined): Buffer {
  const writer = new ProtoWriter(apiName.length + (content === undefined ? 8 : hintOf(content)))
  if (apiName !== '') writer.text(1, apiName)
  if (content !== undefined) writeContent(writer, 'request', content)
  return writer.finish()
}

/** Content becomes the bytes of a Response. */
export function encodeResponse(content: ProtoContent): Buffer {
  const { field, message } = content
  const number = numberOf('response', field)
  if (field === 'serialized_bytes') return wrapBytes(number, message as Uint8Array)
  const writer = new ProtoWriter(hintOf(content))
  writeMessage(writer, field, message)
  return writer.finishAs(number)
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
  const number = numberOf(holder, field)
  if (field === 'serialized_bytes') writer.tag(number, wireType.bytes).bytes(message as Uint8Array)
  else writer.message(number, () => writeMessage(writer, field, message))
}

function numberOf(holder: ContentHolder, field: ProtoField): number {
  const number = contentNumbers[holder].byName[field]
  if (number === undefined) throw new TypeError(`a ${holder} cannot hold ${field}`)
  return number
}

function writeMessage(writer: ProtoWriter, field: ProtoField, message: ProtoMessages[ProtoField]): void {
  if (field === 'ndarray') writeNDArray(writer, message as NDArrayMessage)
  else if (field === 'series') writeSeries(writer, message as SeriesMessage)
  else if (field === 'dataframe') writeDataFrame(writer, message as DataFrameMessage)
  else if (field === 'file') writeFile(writer, message as FileMessage)
  else if (field === 'json') writeValue(writer, message)
  else if (field === 'text') {
    if (message !== '') writer.text(1, message as string)
  } else {
    for (const [name, part] of (message as MultipartMessage).fields) {
      writer.message(1, () => {
        writer.text(1, name)
        writer.message(2, () => writeContent(writer, 'part', part))
      })
    }
  }
}

function writeFile(writer: ProtoWriter, { kind, content, name }: FileMessage): void {
  if (content !== undefined && content.length > 0) writer.tag(2, wireType.bytes).bytes(content)
  if (kind !== undefined) writer.text(3, kind)
  if (name !== undefined) writer.text(4, name)
}
