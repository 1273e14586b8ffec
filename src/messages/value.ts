/** `google.protobuf.Value` ⇄ the JSON value that it stands for. @module */
import { BadInput, PayloadTooLarge } from '../core/errors.ts'
import { isRecord, recordOf, setMember } from '../core/options.ts'
import { defaultMaxKeys } from '../core/text/parse-json.ts'
import { type ProtoReader, type ProtoWriter, wireType } from './protobuf.ts'

/** The same as of JSON texts. */
const maxValueDepth = 128

/**
 * Null without bytes.
 *
 * @throws BadInput, also for deep nesting and NaN; PayloadTooLarge above a quota.
 */
export function readValue(reader: ProtoReader, depth = 0): unknown {
  reader.quota.take('values')
  let value: unknown = null
  while (reader.next()) value = readField(reader, value, depth)
  return value
}

function readField(reader: ProtoReader, before: unknown, depth: number): unknown {
  const { field } = reader
  if (field === 1 && reader.is(wireType.varint)) {
    reader.uint32()
    return null
  }
  if (field === 2 && reader.is(wireType.fixed64)) {
    const value = reader.double()
    if (Number.isFinite(value)) return value
    throw new BadInput(`expected numbers that JSON has, received ${value}`, {
      reason: 'syntax',
      offset: reader.pos,
    })
  }
  if (field === 3 && reader.is(wireType.bytes)) return reader.string()
  if (field === 4 && reader.is(wireType.varint)) return reader.bool()
  if (field === 5 && reader.is(wireType.bytes)) {
    const object = recordOf(before)
    reader.message(() => readStruct(reader, object, depth + 1))
    return object
  }
  if (field === 6 && reader.is(wireType.bytes)) {
    const list = Array.isArray(before) ? before : []
    reader.message(() => readList(reader, list, depth + 1))
    return list
  }
  reader.skipField()
  return before
}

function checkDepth(depth: number, reader: ProtoReader): void {
  if (depth <= maxValueDepth) return
  throw new BadInput(
    `expected at most ${maxValueDepth} levels for a Value, received more at byte ${reader.pos}`,
    {
      reason: 'syntax',
      offset: reader.pos,
    },
  )
}

function readList(reader: ProtoReader, list: unknown[], depth: number): void {
  checkDepth(depth, reader)
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireType.bytes))
      list.push(reader.message(() => readValue(reader, depth)))
    else reader.skipField()
  }
}

function readStruct(reader: ProtoReader, object: Record<string, unknown>, depth: number): void {
  checkDepth(depth, reader)
  for (let keys = 0; reader.next(); ) {
    if (reader.field !== 1 || !reader.is(wireType.bytes)) reader.skipField()
    else if (++keys <= defaultMaxKeys) reader.message(() => readEntry(reader, object, depth))
    else
      throw new PayloadTooLarge(
        `expected at most ${defaultMaxKeys} keys in an object of the message, received more`,
      )
  }
}

function readEntry(reader: ProtoReader, object: Record<string, unknown>, depth: number): void {
  let key = ''
  let value: unknown = null
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireType.bytes)) key = reader.string()
    else if (reader.field === 2 && reader.is(wireType.bytes))
      value = reader.message(() => readValue(reader, depth))
    else reader.skipField()
  }
  setMember(object, key, value)
}

/** Writes a JSON value, as JSON.parse makes them. */
export function writeValue(writer: ProtoWriter, value: unknown): void {
  if (typeof value === 'number') writer.tag(2, wireType.fixed64).double(value)
  else if (typeof value === 'string') writer.text(3, value)
  else if (typeof value === 'boolean') writer.tag(4, wireType.varint).bool(value)
  else if (Array.isArray(value)) {
    writer.message(6, () => {
      for (const item of value) writer.message(1, () => writeValue(writer, item))
    })
  } else if (isRecord(value)) writer.message(5, () => writeStruct(writer, value))
  else writer.tag(1, wireType.varint).uint32(0)
}

/** Writes an object as a `google.protobuf.Struct`. */
export function writeStruct(writer: ProtoWriter, object: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(object)) {
    writer.message(1, () => {
      writer.text(1, key)
      writer.message(2, () => writeValue(writer, value))
    })
  }
}
