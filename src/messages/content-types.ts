/**
 * The kinds of content and the oneof that holds one.
 *
 * @see proto/serving/v1/serving.proto.
 * @module
 */
import { BadInput } from '../core/errors.ts'
import {
  base64,
  bool,
  bytes,
  enumOf,
  type FieldType,
  jsonBytes,
  jsonObject,
  jsonString,
  packed,
  shape,
  string,
  strings,
  wrongJson,
} from './field-types.ts'
import {
  type Fields,
  type MessageCodec,
  MessageType,
  member,
  message,
  messages,
} from './message-type.ts'
import {
  type DataFrameMessage,
  type FileMessage,
  type MultipartMessage,
  type NDArrayMessage,
  type ProtoContent,
  type ProtoField,
  type ProtoMessages,
  type SeriesMessage,
  type ValueList,
  valueLists,
} from './messages.ts'
import {
  type ProtoQuota,
  type ProtoReader,
  type ProtoWriter,
  readProto,
  wireType,
} from './protobuf.ts'
import { readValue, writeValue } from './value.ts'

/** An empty Series is two bytes in a message and far more in memory. */
const maxColumns = 10_000
const maxShape = 1024
const maxParts = 1000

const dtypeNames = ['UNSPECIFIED']
for (const { number, property } of valueLists)
  dtypeNames[number] = property.replace('Values', '').toUpperCase()

function listFields(owner: 'ndarray' | 'series') {
  const fields = valueLists.map((list) => [
    list.property,
    [list[owner], list.dtype === 'str' ? strings : packed(list.dtype)],
  ])
  return Object.fromEntries(fields) as Pick<Fields<SeriesMessage>, ValueList>
}

const ndarray = new MessageType<NDArrayMessage>({
  dtype: [1, enumOf('DTYPE_', dtypeNames)],
  shape: [2, shape('int32', maxShape)],
  ...listFields('ndarray'),
  scalar: [11, bool],
})

const seriesFields = {
  ...listFields('series'),
  nullPositions: [9, packed('uint32')],
  name: [11, string],
} as const
/** Labels have no labels: every two bytes of a message would be a level of calls. */
const noLabels: FieldType = {
  wires: [wireType.bytes],
  read(reader) {
    throw reader.fault('labels without labels')
  },
  write: () => {},
  fromJson(json, path) {
    throw wrongJson('no labels of labels', path, json)
  },
  toJson: () => undefined,
}
const labels = message(new MessageType<SeriesMessage>({ ...seriesFields, index: [10, noLabels] }))
const series = new MessageType<SeriesMessage>({ ...seriesFields, index: [10, labels] })

const dataframe = new MessageType<DataFrameMessage>({
  columnNames: [1, strings],
  columns: [2, messages(series, maxColumns, 'columns', 'columns')],
  index: [3, labels],
})

const file = new MessageType<FileMessage>({
  kind: [3, string],
  content: [2, bytes],
  name: [4, string],
})

const stringValue = new MessageType<{ value?: string }>({ value: [1, string] })
const text: MessageCodec<string> = {
  read(reader) {
    reader.quota.take('bytes', reader.len - reader.pos)
    return stringValue.read(reader).value ?? ''
  },
  write: (writer, value) => stringValue.write(writer, { value: value || undefined }),
  fromJson: jsonString,
  toJson: (value) => value,
}

const json: MessageCodec<unknown> = {
  read(reader) {
    reader.quota.take('bytes', reader.len - reader.pos)
    return readValue(reader)
  },
  write: writeValue,
  fromJson: (value) => value,
  toJson: (value) => value,
}

const serializedBytes: MessageCodec<Uint8Array> = {
  read: (reader) => reader.rest(),
  write: (writer, content) => void writer.raw(content),
  fromJson: jsonBytes,
  toJson: base64,
}

const part: MessageCodec<ProtoContent | undefined> = {
  read(reader) {
    const raw = readOneOf(reader, 'part')
    return raw && { field: raw.field, message: decodeMessage(raw.field, raw.bytes, reader.quota) }
  },
  write: (writer, content) => writeContent(writer, 'part', content as ProtoContent),
  fromJson: (value, path) => contentFromJson(jsonObject(value, path), 'part'),
  toJson: (content) => contentToJson(content as ProtoContent),
}

const entry = new MessageType<{ key?: string; value?: ProtoContent }>({
  key: [1, string],
  value: [2, message(part as MessageCodec<ProtoContent>)],
})

/** `map<string, Part>`. The descriptor reports a part without a representation. */
const parts: FieldType = {
  wires: [wireType.bytes],
  read(reader, before = new Map()) {
    const map = before as Map<string, ProtoContent | undefined>
    const { key = '', value } = reader.message(() => entry.read(reader))
    map.set(key, value)
    checkParts(map.size)
    return map
  },
  write(writer, number, map: ReadonlyMap<string, ProtoContent>) {
    for (const [key, value] of map)
      writer.message(number, () => entry.write(writer, { key, value }))
  },
  fromJson(value, path) {
    const entries = Object.entries(jsonObject(value, path))
    checkParts(entries.length)
    return new Map(entries.map(([key, each]) => [key, part.fromJson(each, `${path}.${key}`)]))
  },
  toJson: (map: ReadonlyMap<string, ProtoContent>) =>
    Object.fromEntries([...map].map(([key, value]) => [key, part.toJson(value)])),
}

function checkParts(count: number): void {
  if (count > maxParts)
    throw new BadInput(`expected at most ${maxParts} parts, received more`, { reason: 'part' })
}

const contentTypes: { readonly [F in ProtoField]: MessageCodec<ProtoMessages[F]> } = {
  ndarray,
  dataframe,
  series,
  file,
  text,
  json,
  multipart: new MessageType<MultipartMessage>({ fields: [1, parts] }),
  serialized_bytes: serializedBytes,
}

/** @returns the kind of content that a oneof member is. */
export function contentTypeOf(field: ProtoField): MessageCodec<unknown> {
  return contentTypes[field] as MessageCodec<unknown>
}

/** Field numbers of the oneof in each message. Serialized bytes are last: they win in JSON, too. */
const numbers = {
  request: {
    ndarray: 3,
    dataframe: 5,
    series: 6,
    file: 7,
    text: 8,
    json: 9,
    multipart: 10,
    serialized_bytes: 2,
  },
  response: {
    ndarray: 1,
    dataframe: 3,
    series: 5,
    file: 6,
    text: 7,
    json: 8,
    multipart: 9,
    serialized_bytes: 2,
  },
  part: { ndarray: 1, dataframe: 3, series: 5, file: 6, text: 7, json: 8, serialized_bytes: 4 },
} as const satisfies Record<string, Partial<Record<ProtoField, number>>>

/** A message that has the oneof. */
export type ContentOwner = keyof typeof numbers

const fieldsOf = (owner: ContentOwner): Readonly<Record<number, ProtoField>> =>
  Object.fromEntries(
    Object.entries(numbers[owner]).map(([field, number]) => [number, field as ProtoField]),
  )
const byNumber = {
  request: fieldsOf('request'),
  response: fieldsOf('response'),
  part: fieldsOf('part'),
}

/** @throws TypeError if the message does not have this kind. */
export function numberOf(owner: ContentOwner, field: ProtoField): number {
  const number = (numbers[owner] as Partial<Record<ProtoField, number>>)[field]
  if (number === undefined) throw new TypeError(`a ${owner} cannot hold ${field}`)
  return number
}

/** Which member of a oneof came, and its bytes, not decoded yet. */
export interface RawContent {
  readonly field: ProtoField
  readonly bytes: Uint8Array
  readonly room: number
}

/**
 * The last member counts, but serialized bytes win. `takes` reads other fields.
 *
 * @throws BadInput.
 */
export function readOneOf(
  reader: ProtoReader,
  owner: ContentOwner,
  takes: (reader: ProtoReader) => boolean = () => false,
): RawContent | undefined {
  let field: ProtoField | undefined
  let pieces: Uint8Array[] = []
  for (let count = 0; reader.nextOfFew(count); count++) {
    const found: ProtoField | undefined = byNumber[owner][reader.field]
    if (found === undefined || !reader.is(wireType.bytes)) {
      if (!takes(reader)) reader.skipField()
      continue
    }
    const bytes = reader.bytes()
    if (field === 'serialized_bytes' && found !== field) continue
    // protobuf merges pieces of a message by joining them; bytes replace bytes.
    if (found !== field || found === 'serialized_bytes') pieces = []
    pieces.push(bytes)
    field = found
  }
  if (field === undefined) return undefined
  const bytes = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)
  const { buffer, byteOffset } = reader.buf
  return { field, bytes, room: bytes.buffer === buffer ? bytes.byteOffset - byteOffset : 0 }
}

/** @throws BadInput; PayloadTooLarge above the quota. */
export function decodeMessage(
  field: ProtoField,
  bytes: Uint8Array,
  quota?: ProtoQuota,
): ProtoMessages[ProtoField] {
  return readProto<ProtoMessages[ProtoField]>(
    bytes,
    (reader) => contentTypes[field].read(reader),
    quota,
  )
}

/** Writes content as the member of a oneof. */
export function writeContent(
  writer: ProtoWriter,
  owner: ContentOwner,
  { field, message }: ProtoContent,
): void {
  writer.message(numberOf(owner, field), () => contentTypeOf(field).write(writer, message))
}

/**
 * Undefined without content.
 *
 * @throws BadInput `schema`.
 */
export function contentFromJson(
  object: Readonly<Record<string, unknown>>,
  owner: ContentOwner,
): ProtoContent | undefined {
  let found: ProtoContent | undefined
  for (const field of Object.keys(numbers[owner]) as ProtoField[]) {
    const name = jsonNameOf(field)
    const value = member(object, name) ?? member(object, field)
    // A null member counts as absent, but for a JSON value.
    if (value === undefined || (value === null && field !== 'json')) continue
    found = { field, message: contentTypeOf(field).fromJson(value, name) }
  }
  return found
}

/** @returns content as a JSON object with one member. */
export function contentToJson({ field, message }: ProtoContent): Record<string, unknown> {
  return { [jsonNameOf(field)]: contentTypeOf(field).toJson(message) }
}

const jsonNameOf = (field: ProtoField) => (field === 'serialized_bytes' ? 'serializedBytes' : field)
