/**
 * Types of protobuf fields, in bytes and JSON.
 *
 * @see protobuf, "Encoding" and "ProtoJSON format".
 * @module
 */
import { BadInput, expected } from '../core/errors.ts'
import { isRecord } from '../core/options.ts'
import { floatText } from '../core/text/number-text.ts'
import { allocatePacked, type PackedKind, PackedList, writePacked } from './packed.ts'
import { type ProtoReader, type ProtoWriter, wireType } from './protobuf.ts'

/** Reads and writes a field with values of type `T`. A value that protobuf leaves out is undefined. */
export interface FieldType<in T = never> {
  /** Those that it is read from; with another one it is an unknown field. */
  readonly wires: readonly number[]
  /** `before`: what earlier fields of the same number gave. */
  read(reader: ProtoReader, before: unknown): unknown
  /** Called after the last field, with what `read` returned. */
  finish?(value: unknown): unknown
  write(writer: ProtoWriter, number: number, value: T): void
  /** @throws BadInput `schema`. */
  fromJson(json: unknown, path: string): unknown
  toJson(value: T): unknown
}

/** @returns the error for a JSON value of another kind than its field. */
export function wrongJson(what: string, path: string, value: unknown): BadInput {
  return new BadInput(expected(what, path, value), { reason: 'schema', path })
}

const jsonOf =
  <T>(what: string, is: (value: unknown) => boolean) =>
  (value: unknown, path: string): T => {
    if (is(value)) return value as T
    throw wrongJson(what, path, value)
  }

/** @throws BadInput `schema`. */
export const jsonObject = jsonOf<Readonly<Record<string, unknown>>>('an object', isRecord)
/** @throws BadInput `schema`. */
export const jsonList = jsonOf<readonly unknown[]>('a list', Array.isArray)
/** @throws BadInput `schema`. */
export const jsonString = jsonOf<string>('a string', (value) => typeof value === 'string')
const jsonBool = jsonOf<boolean>('true or false', (value) => typeof value === 'boolean')

function nonEmpty<T extends ArrayLike<unknown>>(list: T): T | undefined {
  if (list.length === 0) return undefined
  return list
}

/** `optional string`: the empty string is written, too. */
export const string: FieldType<string> = {
  wires: [wireType.bytes],
  read: (reader) => reader.string(),
  write: (writer, number, value: string) => writer.text(number, value),
  fromJson: jsonString,
  toJson: (value: string) => value,
}

/** `string`: the empty string is left out. */
export const text: FieldType<string> = {
  ...string,
  write(writer, number, value: string) {
    if (value !== '') writer.text(number, value)
  },
}

/** `repeated string`. */
export const strings: FieldType<readonly string[]> = {
  wires: [wireType.bytes],
  read(reader, before = []) {
    const { pos, quota } = reader
    quota.take('values')
    ;(before as string[]).push(reader.string())
    quota.take('bytes', reader.pos - pos)
    return before
  },
  write(writer, number, value: readonly string[]) {
    for (const text of value) writer.text(number, text)
  },
  fromJson: (json, path) =>
    nonEmpty(jsonList(json, path).map((item, i) => jsonString(item, `${path}[${i}]`))),
  toJson: nonEmpty<readonly string[]>,
}

/** `bytes`: a view of the message. */
export const bytes: FieldType<Uint8Array> = {
  wires: [wireType.bytes],
  read: (reader) => reader.bytes(),
  write(writer, number, value: Uint8Array) {
    if (value.length > 0) writer.tag(number, wireType.bytes).bytes(value)
  },
  fromJson: jsonBytes,
  toJson: base64,
}

/** `repeated bytes`: views of the message. */
export const byteLists: FieldType<readonly Uint8Array[]> = {
  wires: [wireType.bytes],
  read(reader, before = []) {
    ;(before as Uint8Array[]).push(reader.bytes())
    return before
  },
  write(writer, number, value) {
    for (const each of value) writer.tag(number, wireType.bytes).bytes(each)
  },
  fromJson: (json, path) => jsonList(json, path).map((each) => jsonBytes(each, path)),
  toJson: (value) => value.map(base64),
}

/**
 * Either alphabet.
 *
 * @throws BadInput `schema`.
 */
export function jsonBytes(json: unknown, path: string): Uint8Array {
  // Buffer skips any other character instead of refusing it.
  if (typeof json === 'string' && /^[A-Za-z0-9+/_-]*={0,2}$/.test(json))
    return Buffer.from(json, 'base64')
  throw wrongJson('base64', path, json)
}

/** Encodes bytes in base64. */
export function base64(value: Uint8Array): string {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
}

/** `bool`: false is left out. */
export const bool: FieldType<boolean> = {
  wires: [wireType.varint],
  read: (reader) => reader.bool(),
  write(writer, number, value: boolean) {
    if (value) writer.tag(number, wireType.varint).bool(true)
  },
  fromJson: jsonBool,
  toJson: (value: boolean) => value || undefined,
}

/** `bool` of a oneof: false is written, too. */
export const anyBool: FieldType<boolean> = {
  ...bool,
  write: (writer, number, value: boolean) => writer.tag(number, wireType.varint).bool(value),
}

/** `uint64`, and `int32` from 0 up, as a number: 0 is left out. */
export const count: FieldType<number> = {
  wires: [wireType.varint],
  read: (reader) => Number(String(reader.uint64())),
  write(writer, number, value: number) {
    if (value !== 0) writer.tag(number, wireType.varint).uint64(value)
  },
  fromJson: (json, path) => Number(fromElement.uint64(json, path)),
  toJson: String,
}

/** `int64` of a oneof as a number. */
export const int64: FieldType<number> = {
  ...count,
  read: (reader) => Number(String(reader.int64())),
  write: (writer, number, value: number) => writer.tag(number, wireType.varint).int64(value),
}

/** `double` of a oneof. */
export const double: FieldType<number> = {
  wires: [wireType.fixed64],
  read: (reader) => reader.double(),
  write: (writer, number, value: number) => writer.tag(number, wireType.fixed64).double(value),
  fromJson: jsonDouble,
  toJson: floatJson,
}

/** The values count up from 0, which is left out. In code they are names. */
export function enumName(names: readonly string[]): FieldType<string> {
  return {
    ...count,
    read: (reader) => names[reader.int32()],
    write: (writer, number, name: string) => count.write(writer, number, names.indexOf(name)),
    toJson: (name: string) => name,
  }
}

/** The values count up from 0, which is left out. JSON may leave out the `prefix` of names. */
export function enumOf(prefix: string, names: readonly string[]): FieldType<number> {
  return {
    ...count,
    read: (reader) => reader.int32(),
    fromJson(json, path) {
      const value = typeof json === 'string' ? names.indexOf(json.replace(prefix, '')) : json
      if (Number.isInteger(value) && value !== -1) return value
      throw wrongJson(`a name such as ${prefix}${names[1]}`, path, json)
    },
    toJson(value: number) {
      if (value === 0) return undefined
      if (value in names) return prefix + names[value]
      return value
    },
  }
}

const floatWires: Partial<Record<PackedKind, number>> = {
  float32: wireType.fixed32,
  float64: wireType.fixed64,
}

/** A repeated field of numbers: a typed array, or a list of numbers written by hand. */
export function packed(kind: PackedKind): FieldType<ArrayLike<unknown>> {
  return {
    wires: [wireType.bytes, floatWires[kind] ?? wireType.varint],
    read(reader, before = new PackedList(kind)) {
      ;(before as PackedList<PackedKind>).take(reader)
      return before
    },
    finish: (list) => nonEmpty((list as PackedList<PackedKind>).finish() as ArrayLike<unknown>),
    write: (writer, number, value) =>
      writePacked(writer, number, kind, value as readonly unknown[]),
    fromJson(json, path) {
      const list = jsonList(json, path)
      const data = allocatePacked(kind, list.length)
      const read = fromElement[kind]
      for (let i = 0; i < list.length; i++) data[i] = read(list[i], path) as never
      return nonEmpty(data as ArrayLike<unknown>)
    },
    toJson: (value) => nonEmpty(Array.from(value as ArrayLike<number>, toElement[kind])),
  }
}

/**
 * A shape: a repeated field of integers as a list of numbers.
 *
 * @throws BadInput `shape` above `max` elements.
 */
export function shape(kind: 'int32' | 'int64', max: number): FieldType<readonly number[]> {
  const numbers = packed(kind)
  const check = (count: number) => {
    if (count > max)
      throw new BadInput(`expected at most ${max} dimensions, received more`, { reason: 'shape' })
  }
  return {
    ...numbers,
    read(reader, before = []) {
      const list = before as number[]
      const end = reader.is(wireType.bytes) ? reader.extent() : reader.pos + 1
      while (reader.pos < end) {
        check(list.length + 1)
        const { low, high } = reader.int64()
        list.push(kind === 'int32' ? low : high * 2 ** 32 + (low >>> 0))
      }
      if (reader.is(wireType.bytes) && reader.pos !== end)
        throw reader.fault('complete packed numbers')
      return list
    },
    finish: (list) => nonEmpty(list as number[]),
    write(writer, number, list) {
      if (list.length === 0) return
      writer.tag(number, wireType.bytes).fork()
      // protobufjs would make an object of each 64-bit number.
      for (const dim of list) dim === dim >>> 0 ? writer.uint32(dim) : writer.int64(dim)
      writer.ldelim()
    },
    fromJson(json, path) {
      const list = jsonList(json, path)
      check(list.length)
      return nonEmpty(list.map((dim) => Number(fromElement[kind](dim, path))))
    },
  }
}

function jsonDouble(value: unknown, path: string): number {
  if (typeof value === 'number') return value
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value)
  if (typeof value === 'string' && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value))
    return Number(value)
  throw wrongJson('a number', path, value)
}

const decimal = /^-?\d{1,20}$/

/** `wrap`: BigInt.asIntN or BigInt.asUintN. */
function integer(bits: 32 | 64, wrap: (bits: number, value: bigint) => bigint) {
  const convert: (value: number | bigint) => number | bigint = bits === 64 ? BigInt : Number
  return (value: unknown, path: string): number | bigint => {
    // Most numbers need no bigint to be checked.
    if (typeof value === 'number' && (value & 0x7fffffff) === value) return convert(value)
    if ((typeof value === 'string' && decimal.test(value)) || Number.isSafeInteger(value)) {
      const given = BigInt(value as string)
      if (wrap(bits, given) === given) return convert(given)
    }
    throw wrongJson(`an integer of ${bits} bits`, path, value)
  }
}

const fromElement: Readonly<
  Record<PackedKind, (value: unknown, path: string) => number | bigint | boolean>
> = {
  float32: jsonDouble,
  float64: jsonDouble,
  bool: jsonBool,
  int32: integer(32, BigInt.asIntN),
  uint32: integer(32, BigInt.asUintN),
  int64: integer(64, BigInt.asIntN),
  uint64: integer(64, BigInt.asUintN),
}

const toElement: Readonly<Record<PackedKind, (value: number) => unknown>> = {
  float32: (value) => floatJson(Number(floatText(value, 4))),
  float64: floatJson,
  bool: Boolean,
  int32: (value) => value,
  uint32: (value) => value,
  int64: String,
  uint64: String,
}

function floatJson(value: number): number | string {
  if (Object.is(value, -0)) return '-0'
  if (Number.isFinite(value)) return value
  return String(value)
}
