/**
 * `google.protobuf.Value` ⇄ the JSON value that it stands for.
 * @module
 */
import { BadInput, PayloadTooLarge } from '../core/errors.ts'
import { LongList } from '../core/memory/long-list.ts'
import type { Slices } from '../core/memory/slices.ts'
import { isRecord } from '../core/options.ts'
import { maxStretchBytes } from '../core/text/json-scan.ts'
import { defaultMaxKeys } from '../core/text/parse-json.ts'
import { decodeUtf8InSlices, encodeUtf8InSlices } from '../core/text/utf8.ts'
import { type ProtoReader, type ProtoWriter, wireType } from './protobuf.ts'

/** Levels of lists and structs; the same as of JSON texts. */
const maxValueDepth = 128
/** Memory of an empty object, 56 bytes, its place in a list, and garbage meanwhile. **Units**: bytes. */
const containerBytes = 80
// Elements of the lists that are being read: a list that grows by itself has room for 17.
const elements: unknown[] = []

/**
 * Reads a JSON value; null where there are no bytes. **Errors**: BadInput, also above 128 levels and for NaN, which
 * JSON has not.
 */
export function readValue(reader: ProtoReader, depth = 0): unknown {
  let value: unknown = null
  for (let count = 0; reader.nextOfFew(count); count++) value = readField(reader, value, depth)
  return value
}

/** Returns what the field that the reader stands on makes of the value before it. */
function readField(reader: ProtoReader, before: unknown, depth: number): unknown {
  const { field } = reader
  if (field === 1 && reader.is(wireType.varint)) {
    reader.uint32()
    return null
  }
  if (field === 2 && reader.is(wireType.fixed64)) {
    const value = reader.double()
    if (Number.isFinite(value)) return value
    throw new BadInput(`expected numbers that JSON has, received ${value}`, { reason: 'syntax', offset: reader.pos })
  }
  if (field === 3 && reader.is(wireType.bytes)) return reader.string()
  if (field === 4 && reader.is(wireType.varint)) return reader.bool()
  if (field === 5 && reader.is(wireType.bytes)) {
    // A message field that comes again is merged, as protobuf says.
    const object = isRecord(before) ? before : {}
    reader.count(containerBytes)
    reader.message(() => readStruct(reader, object, depth + 1))
    return object
  }
  if (field === 6 && reader.is(wireType.bytes)) {
    reader.count(containerBytes)
    const list = reader.message(() => readList(reader, depth + 1))
    return Array.isArray(before) ? before.concat(list) : list
  }
  reader.skipField()
  return before
}

function checkDepth(depth: number, reader: ProtoReader): void {
  if (depth <= maxValueDepth) return
  throw new BadInput(`expected at most ${maxValueDepth} levels for a Value, received more at byte ${reader.pos}`, {
    reason: 'syntax',
    offset: reader.pos,
  })
}

function readList(reader: ProtoReader, depth: number): unknown[] {
  checkDepth(depth, reader)
  const start = elements.length
  try {
    while (reader.next()) {
      if (reader.field === 1 && reader.is(wireType.bytes)) elements.push(reader.message(() => readValue(reader, depth)))
      else reader.skipField()
    }
    return elements.slice(start)
  } finally {
    elements.length = start
  }
}

function readStruct(reader: ProtoReader, object: Record<string, unknown>, depth: number): void {
  checkDepth(depth, reader)
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireType.bytes)) reader.message(() => readEntry(reader, object, depth))
    else reader.skipField()
  }
}

function readEntry(reader: ProtoReader, object: Record<string, unknown>, depth: number): void {
  let key = ''
  let value: unknown = null
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireType.bytes)) key = reader.string()
    else if (reader.field === 2 && reader.is(wireType.bytes)) value = reader.message(() => readValue(reader, depth))
    else reader.skipField()
  }
  define(object, key, value)
}

function define(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  // As JSON.parse: a name like any other, not the prototype.
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}

/** Messages up to this length are read at once: some 0.2 ms. **Units**: bytes. */
const atOnceBytes = 1 << 13

/**
 * As {@link readValue}, in slices: 60 MB take seconds. **Errors**: also PayloadTooLarge for an object of more than
 * 100,000 keys, as of JSON texts.
 */
export function* readValueInSlices(reader: ProtoReader, depth = 0): Slices<unknown> {
  let value: unknown = null
  for (let count = 0; reader.nextOfFew(count); count++) {
    const { field } = reader
    const isBytes = reader.is(wireType.bytes)
    if (isBytes && field === 3) value = yield* decodeUtf8InSlices(reader.bytes(), 'the protobuf message')
    else if (isBytes && field === 5) {
      const object = isRecord(value) ? value : {}
      reader.count(containerBytes)
      yield* reader.messageInSlices(() => readStructInSlices(reader, object, depth + 1))
      value = object
    } else if (isBytes && field === 6) {
      const list: unknown[] = Array.isArray(value) ? value : []
      reader.count(containerBytes)
      yield* reader.messageInSlices(() => readListInSlices(reader, list, depth + 1))
      value = list
    } else value = readField(reader, value, depth)
  }
  return value
}

function* readListInSlices(reader: ProtoReader, list: unknown[], depth: number): Slices<void> {
  checkDepth(depth, reader)
  const long = new LongList(reader.pos, list)
  for (let end = reader.pos + atOnceBytes; reader.next(); ) {
    if (reader.field !== 1 || !reader.is(wireType.bytes)) reader.skipField()
    else if (!reader.isLonger(atOnceBytes)) long.push(reader.message(() => readValue(reader, depth)))
    else long.push(yield* reader.messageInSlices(() => readValueInSlices(reader, depth)))
    if (reader.pos < end) continue
    end = reader.pos + atOnceBytes
    long.progress(reader.pos, reader.len)
    yield
  }
  long.finish()
}

function* readStructInSlices(reader: ProtoReader, object: Record<string, unknown>, depth: number): Slices<void> {
  checkDepth(depth, reader)
  let keys = 0
  for (let end = reader.pos + atOnceBytes; reader.next(); ) {
    if (++keys > defaultMaxKeys) {
      throw new PayloadTooLarge(`expected at most ${defaultMaxKeys} keys in an object of the message, received more`)
    }
    if (reader.field !== 1 || !reader.is(wireType.bytes)) reader.skipField()
    else if (!reader.isLonger(atOnceBytes)) reader.message(() => readEntry(reader, object, depth))
    else yield* reader.messageInSlices(() => readEntryInSlices(reader, object, depth))
    if (reader.pos < end) continue
    end = reader.pos + atOnceBytes
    yield
  }
}

function* readEntryInSlices(reader: ProtoReader, object: Record<string, unknown>, depth: number): Slices<void> {
  let key = ''
  let value: unknown = null
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireType.bytes)) {
      if (reader.isLonger(maxStretchBytes)) throw reader.fault(`at most ${maxStretchBytes} bytes of a key`)
      key = reader.string()
    } else if (reader.field === 2 && reader.is(wireType.bytes)) {
      value = yield* reader.messageInSlices(() => readValueInSlices(reader, depth))
    } else reader.skipField()
  }
  define(object, key, value)
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

/** As {@link writeValue}, in slices: 60 MB take a second. The value must not change until the end. */
export function* writeValueInSlices(writer: ProtoWriter, value: unknown): Slices<void> {
  let end = writer.pos + atOnceBytes
  if (Array.isArray(value)) {
    writer.tag(6, wireType.bytes).fork()
    for (const item of value) {
      yield* writeItemInSlices(writer, 1, item)
      if (writer.pos < end) continue
      end = writer.pos + atOnceBytes
      yield
    }
    writer.ldelim()
  } else if (isRecord(value)) {
    writer.tag(5, wireType.bytes).fork()
    for (const [key, item] of Object.entries(value)) {
      writer.tag(1, wireType.bytes).fork()
      writer.text(1, key)
      yield* writeItemInSlices(writer, 2, item)
      writer.ldelim()
      if (writer.pos < end) continue
      end = writer.pos + atOnceBytes
      yield
    }
    writer.ldelim()
  } else if (typeof value === 'string') yield* writeTextInSlices(writer, 3, value)
  else writeValue(writer, value)
}

// Written at once up to this. **Units**: characters.
const longText = 1 << 16

/** Writes a field of text, in slices. */
export function* writeTextInSlices(writer: ProtoWriter, field: number, text: string): Slices<void> {
  if (text.length <= longText) {
    writer.text(field, text)
    return
  }
  const utf8 = yield* encodeUtf8InSlices(text)
  writer.tag(field, wireType.bytes).uint32(utf8.length)
  writer.reserve(utf8.length)
  for (let start = 0; start < utf8.length; start += maxStretchBytes) {
    writer.raw(utf8.subarray(start, start + maxStretchBytes))
    yield
  }
}

function* writeItemInSlices(writer: ProtoWriter, field: number, item: unknown): Slices<void> {
  writer.tag(field, wireType.bytes).fork()
  if (typeof item === 'object' || (typeof item === 'string' && item.length > longText))
    yield* writeValueInSlices(writer, item)
  else writeValue(writer, item)
  writer.ldelim()
}
