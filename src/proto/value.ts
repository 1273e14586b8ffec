/**
 * `google.protobuf.Value` ⇄ the JSON value that it stands for.
 * @module
 */
import { BadInput } from '../errors.ts'
import { isRecord } from '../options.ts'
import { type ProtoReader, type ProtoWriter, wireType } from './protobuf.ts'

/** Levels of lists and structs; the same as of JSON texts. */
const maxValueDepth = 128

/**
 * Reads a JSON value; null where there are no bytes. **Errors**: BadInput, also above 128 levels and for NaN, which
 * JSON has not.
 */
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
        throw new BadInput(`expected numbers that JSON has, received ${value}`, {
          reason: 'syntax',
          offset: reader.pos,
        })
      }
    } else if (field === 3 && reader.is(wireType.bytes)) value = reader.string()
    else if (field === 4 && reader.is(wireType.varint)) value = reader.bool()
    else if (field === 5 && reader.is(wireType.bytes)) {
      // A message field that comes again is merged, as protobuf says.
      const object = isRecord(value) ? value : {}
      reader.message(() => readStruct(reader, object, depth + 1))
      value = object
    } else if (field === 6 && reader.is(wireType.bytes)) {
      const list: unknown[] = Array.isArray(value) ? value : []
      reader.message(() => readList(reader, list, depth + 1))
      value = list
    } else reader.skipField()
  }
  return value
}

function checkDepth(depth: number, reader: ProtoReader): void {
  if (depth <= maxValueDepth) return
  throw new BadInput(`expected at most ${maxValueDepth} levels for a Value, received more at byte ${reader.pos}`, {
    reason: 'syntax',
    offset: reader.pos,
  })
}

function readList(reader: ProtoReader, list: unknown[], depth: number): void {
  checkDepth(depth, reader)
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireType.bytes)) list.push(reader.message(() => readValue(reader, depth)))
    else reader.skipField()
  }
}

function readStruct(reader: ProtoReader, object: Record<string, unknown>, depth: number): void {
  checkDepth(depth, reader)
  while (reader.next()) {
    if (reader.field !== 1 || !reader.is(wireType.bytes)) {
      reader.skipField()
      continue
    }
    let key = ''
    let value: unknown = null
    reader.message(() => {
      while (reader.next()) {
        if (reader.field === 1 && reader.is(wireType.bytes)) key = reader.string()
        else if (reader.field === 2 && reader.is(wireType.bytes)) value = reader.message(() => readValue(reader, depth))
        else reader.skipField()
      }
    })
    if (key !== '__proto__') object[key] = value
    // As JSON.parse: a name like any other, not the prototype.
    else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  }
}

/** Writes a JSON value, as JSON.parse makes them. */
export function writeValue(writer: ProtoWriter, value: unknown): void {
  if (typeof value === 'number') {
    writer.tag(2, wireType.fixed64).double(value)
  } else if (typeof value === 'string') writer.text(3, value)
  else if (typeof value === 'boolean') {
    writer.tag(4, wireType.varint).bool(value)
  } else if (Array.isArray(value)) {
    writer.message(6, () => {
      for (const item of value) writer.message(1, () => writeValue(writer, item))
    })
  } else if (isRecord(value)) writer.message(5, () => writeStruct(writer, value))
  else {
    writer.tag(1, wireType.varint).uint32(0)
  }
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
