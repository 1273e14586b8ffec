/**
 * `google.protobuf.Value` ⇄ the JSON value that it stands for.
 * @module
 */
import { BadInput } from '../errors.ts'
import { type ProtoReader, wireType } from './proto-reader.ts'
import type { ProtoWriter } from './proto-writer.ts'

/** Levels of lists and structs; the same as of JSON texts. */
export const maxValueDepth = 128

/** Bytes become a JSON value; none at all are null. **Errors**: BadInput, also above 128 levels and for NaN, which JSON has not. */
export function readValue(reader: ProtoReader, depth = 0): unknown {
  let value: unknown = null
  while (reader.next()) {
    const { field } = reader
    if (field === 1 && reader.is(wireType.varint)) {
      reader.uint32()
      value = null
    } else if (field === 2 && reader.is(wireType.fixed64)) {
      value = reader.double()
      if (!Number.isFinite(value)) {
        throw new BadInput(`expected numbers that JSON has, received ${value}`, { reason: 'syntax', offset: reader.at })
      }
    } else if (field === 3 && reader.is(wireType.bytes)) value = reader.string()
    else if (field === 4 && reader.is(wireType.varint)) value = reader.bool()
    else if (field === 5 && reader.is(wireType.bytes)) {
      // A message field that comes again is merged, as protobuf says.
      const object = isObject(value) ? value : {}
      readStruct(reader.message(), object, depth + 1)
      value = object
    } else if (field === 6 && reader.is(wireType.bytes)) {
      const list: unknown[] = Array.isArray(value) ? value : []
      readList(reader.message(), list, depth + 1)
      value = list
    } else reader.skip()
  }
  return value
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function checkDepth(depth: number, reader: ProtoReader): void {
  if (depth <= maxValueDepth) return
  throw new BadInput(`expected at most ${maxValueDepth} levels for a Value, received more at byte ${reader.at}`, {
    reason: 'syntax',
    offset: reader.at,
  })
}

function readList(reader: ProtoReader, list: unknown[], depth: number): void {
  checkDepth(depth, reader)
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireType.bytes)) list.push(readValue(reader.message(), depth))
    else reader.skip()
  }
}

function readStruct(reader: ProtoReader, object: Record<string, unknown>, depth: number): void {
  checkDepth(depth, reader)
  while (reader.next()) {
    if (reader.field !== 1 || !reader.is(wireType.bytes)) {
      reader.skip()
      continue
    }
    const entry = reader.message()
    let key = ''
    let value: unknown = null
    while (entry.next()) {
      if (entry.field === 1 && entry.is(wireType.bytes)) key = entry.string()
      else if (entry.field === 2 && entry.is(wireType.bytes)) value = readValue(entry.message(), depth)
      else entry.skip()
    }
    if (key !== '__proto__') object[key] = value
    // As JSON.parse: a name like any other, not the prototype.
    else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  }
}

/** A JSON value, as JSON.parse makes them, becomes bytes. */
export function writeValue(writer: ProtoWriter, value: unknown): void {
  if (typeof value === 'number') {
    writer.tag(2, wireType.fixed64)
    writer.double(value)
  } else if (typeof value === 'string') writer.string(3, value)
  else if (typeof value === 'boolean') {
    writer.tag(4, wireType.varint)
    writer.uint32(value ? 1 : 0)
  } else if (Array.isArray(value)) {
    writer.message(6, value.length * 11, () => {
      for (const item of value) writer.message(1, 9, () => writeValue(writer, item))
    })
  } else if (isObject(value)) writer.message(5, 100, () => writeStruct(writer, value))
  else {
    writer.tag(1, wireType.varint)
    writer.uint32(0)
  }
}

/** An object becomes a `google.protobuf.Struct`. */
export function writeStruct(writer: ProtoWriter, object: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(object)) {
    writer.message(1, 20, () => {
      writer.string(1, key)
      writer.message(2, 9, () => writeValue(writer, value))
    })
  }
}
