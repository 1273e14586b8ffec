/**
 * RPC messages ⇄ protobuf's JSON.
 *
 * **Source**: protobuf, "ProtoJSON format": names in lowerCamelCase (as they are in the .proto is read, too), bytes as base64, 64-bit
 * integers as strings, enums by name or number, NaN and the infinities as strings.
 * @module
 */
import { isFloat, isWideInteger } from '../dtype.ts'
import { BadInput, expected } from '../errors.ts'
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
  type ValueList,
  valueLists,
} from './messages.ts'

const dtypeNames = ['UNSPECIFIED']
for (const { number, property } of valueLists) dtypeNames[number] = property.replace('Values', '').toUpperCase()

type Json = Readonly<Record<string, unknown>>

function objectOf(value: unknown, name: string): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json
  throw wrong('an object', name, value)
}

function wrong(what: string, name: string, value: unknown): BadInput {
  return new BadInput(expected(what, name, value), { reason: 'schema', path: name })
}

/** A member by either spelling; null is as good as absent. */
function member(object: Json, camel: string): unknown {
  const snake = camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const value = Object.hasOwn(object, camel) ? object[camel] : Object.hasOwn(object, snake) ? object[snake] : undefined
  return value === null ? undefined : value
}

function textOf(value: unknown, name: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw wrong('a string', name, value)
}

function bytesOf(value: unknown, name: string): Uint8Array | undefined {
  if (value === undefined) return undefined
  // Both alphabets are allowed; anything else is skipped by Buffer, so that it has to be looked for.
  if (typeof value === 'string' && /^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) return Buffer.from(value, 'base64')
  throw wrong('base64', name, value)
}

function listOf(value: unknown, name: string): readonly unknown[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value
  throw wrong('a list', name, value)
}

/** The name of the API and the content of a Request. **Errors**: BadInput `schema`. */
export function requestFromJson(value: unknown): {
  readonly apiName: string
  readonly content: ProtoContent | undefined
} {
  const object = objectOf(value, 'the request')
  return { apiName: textOf(member(object, 'apiName'), 'apiName') ?? '', content: contentFromJson(object, 'request') }
}

function contentFromJson(object: Json, holder: ContentHolder): ProtoContent | undefined {
  let found: ProtoContent | undefined
  for (const field of Object.keys(contentNumbers[holder].byName) as ProtoField[]) {
    const name = field === 'serialized_bytes' ? 'serializedBytes' : field
    const isNull = field === 'json' && Object.hasOwn(object, 'json') && object.json === null
    const value = member(object, name)
    if (value === undefined && !isNull) continue
    const message = isNull ? null : messageFromJson(field, value)
    // Serialized bytes are the last in the table, and win.
    found = { field, message }
  }
  return found
}

function messageFromJson(field: ProtoField, value: unknown): ProtoMessages[ProtoField] {
  if (field === 'json') return value
  if (field === 'text') return textOf(value, 'text') ?? ''
  if (field === 'serialized_bytes') return bytesOf(value, 'serializedBytes') ?? new Uint8Array(0)
  if (field === 'ndarray') return ndarrayFromJson(objectOf(value, 'ndarray'))
  if (field === 'series') return seriesFromJson(objectOf(value, 'series'))
  if (field === 'dataframe') return frameFromJson(objectOf(value, 'dataframe'))
  if (field === 'file') {
    const file = objectOf(value, 'file')
    const kind = textOf(member(file, 'kind'), 'kind')
    const name = textOf(member(file, 'name'), 'name')
    const content = bytesOf(member(file, 'content'), 'content') ?? new Uint8Array(0)
    return { content, ...(kind !== undefined && { kind }), ...(name !== undefined && { name }) }
  }
  const fields = new Map<string, ProtoContent>()
  const parts = objectOf(member(objectOf(value, 'multipart'), 'fields') ?? {}, 'fields')
  for (const [name, part] of Object.entries(parts)) {
    const content = contentFromJson(objectOf(part, `fields.${name}`), 'part')
    if (content !== undefined) fields.set(name, content)
  }
  return { fields }
}

function ndarrayFromJson(object: Json): NDArrayMessage {
  const dtype = member(object, 'dtype') ?? 0
  const number = typeof dtype === 'string' ? dtypeNames.indexOf(dtype.replace(/^DTYPE_/, '')) : dtype
  if (!Number.isInteger(number) || number === -1) throw wrong('the name of a dtype', 'dtype', dtype)
  const shape = listOf(member(object, 'shape'), 'shape').map((dim) => Number(integerOf(dim, 'shape', 32n, true)))
  const scalar = boolOf(member(object, 'scalar') ?? false, 'scalar')
  return { dtype: number as number, shape, ...listsFromJson(object), ...(scalar && { scalar }) }
}

function seriesFromJson(object: Json): SeriesMessage {
  const positions = listOf(member(object, 'nullPositions'), 'nullPositions')
  const nullPositions = positions.map((position) => Number(integerOf(position, 'nullPositions', 32n, false)))
  const index = member(object, 'index')
  const name = textOf(member(object, 'name'), 'name')
  return {
    ...listsFromJson(object),
    ...(positions.length > 0 && { nullPositions }),
    ...(index !== undefined && { index: listsFromJson(objectOf(index, 'index')) }),
    ...(name !== undefined && { name }),
  }
}

function frameFromJson(object: Json): DataFrameMessage {
  const names = listOf(member(object, 'columnNames'), 'columnNames')
  const columns = listOf(member(object, 'columns'), 'columns')
  const index = member(object, 'index')
  return {
    columnNames: names.map((name) => textOf(name, 'columnNames') ?? ''),
    columns: columns.map((column) => seriesFromJson(objectOf(column, 'columns'))),
    ...(index !== undefined && { index: listsFromJson(objectOf(index, 'index')) }),
  }
}

function listsFromJson(object: Json): SeriesMessage {
  const lists: Partial<Record<ValueList, unknown>> = {}
  for (const { property, dtype } of valueLists) {
    const list = listOf(member(object, property), property)
    if (list.length === 0) continue
    if (dtype === 'str') lists[property] = list.map((item) => textOf(item ?? 0, property))
    else if (dtype === 'bool') lists[property] = list.map((item) => boolOf(item, property))
    else if (isFloat(dtype)) {
      const data = dtype === 'float32' ? new Float32Array(list.length) : new Float64Array(list.length)
      for (let i = 0; i < list.length; i++) data[i] = numberOf(list[i], property)
      lists[property] = data
    } else {
      const integers = list.map((item) =>
        integerOf(item, property, isWideInteger(dtype) ? 64n : 32n, dtype.startsWith('int')),
      )
      lists[property] = isWideInteger(dtype) ? integers : integers.map(Number)
    }
  }
  return lists as SeriesMessage
}

function boolOf(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value
  throw wrong('true or false', name, value)
}

function numberOf(value: unknown, name: string): number {
  if (typeof value === 'number') return value
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value)
  if (typeof value === 'string' && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value)) return Number(value)
  throw wrong('a number', name, value)
}

function integerOf(value: unknown, name: string, bits: bigint, isSigned: boolean): bigint {
  const isText = typeof value === 'string' && /^-?\d{1,20}$/.test(value)
  if (isText || (typeof value === 'number' && Number.isSafeInteger(value))) {
    const integer = BigInt(value)
    const fits = isSigned ? BigInt.asIntN(Number(bits), integer) : BigInt.asUintN(Number(bits), integer)
    if (fits === integer) return integer
  }
  throw wrong(`an integer of ${bits} bits`, name, value)
}

/** Content becomes the JSON of a Response. */
export function responseToJson(content: ProtoContent): Record<string, unknown> {
  return contentToJson(content)
}

/** Content becomes the JSON of a Request. For clients and tests. */
export function requestToJson(apiName: string, content: ProtoContent): Record<string, unknown> {
  return { apiName, ...contentToJson(content) }
}

function contentToJson({ field, message }: ProtoContent): Record<string, unknown> {
  if (field === 'serialized_bytes') return { serializedBytes: base64(message as Uint8Array) }
  if (field === 'text' || field === 'json') return { [field]: message }
  if (field === 'file') {
    const { content, ...rest } = message as FileMessage
    return { file: { ...rest, content: base64(content ?? new Uint8Array(0)) } }
  }
  if (field === 'ndarray') {
    const { dtype = 0, shape = [], scalar } = message as NDArrayMessage
    const lists = listsToJson(message as NDArrayMessage)
    return { ndarray: { dtype: `DTYPE_${dtypeNames[dtype]}`, shape, ...lists, ...(scalar && { scalar }) } }
  }
  if (field === 'series') return { series: seriesToJson(message as SeriesMessage) }
  if (field === 'dataframe') {
    const { columnNames = [], columns = [], index } = message as DataFrameMessage
    return {
      dataframe: { columnNames, columns: columns.map(seriesToJson), ...(index && { index: seriesToJson(index) }) },
    }
  }
  const parts = [...(message as MultipartMessage).fields].map(([name, part]) => [name, contentToJson(part)])
  return { multipart: { fields: Object.fromEntries(parts) } }
}

function seriesToJson(series: SeriesMessage): Record<string, unknown> {
  const { nullPositions, index, name } = series
  return {
    ...listsToJson(series),
    ...(nullPositions && { nullPositions: [...nullPositions] }),
    ...(index && { index: seriesToJson(index) }),
    ...(name !== undefined && { name }),
  }
}

function listsToJson(message: NDArrayMessage | SeriesMessage): Record<string, unknown> {
  const json: Record<string, unknown> = {}
  for (const { property, dtype } of valueLists) {
    const list = message[property]
    if (list === undefined || list.length === 0) continue
    const write = (value: unknown) => {
      if (dtype === 'bool') return Boolean(value)
      if (isWideInteger(dtype)) return String(value)
      if (dtype === 'float32') return Number.isFinite(value) ? shortest(value as number) : String(value)
      return dtype === 'float64' && !Number.isFinite(value) ? String(value) : value
    }
    json[property] = Array.from(list as ArrayLike<unknown>, write)
  }
  return json
}

/** The shortest number that is this float32: 0.1, not 0.10000000149011612. */
function shortest(value: number): number {
  for (let digits = 6; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return value
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
