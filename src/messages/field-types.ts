/** Types of protobuf fields, in bytes and JSON. **Source**: protobuf, "Encoding" and "ProtoJSON format". @module */
import { BadInput, expected } from '../core/errors.ts'
import { allocatePacked, type PackedKind, PackedList, writePacked } from './packed.ts'
import { type ProtoReader, type ProtoWriter, wireType } from './protobuf.ts'

/** A message while it is read: values by the names of their fields. */
export type OpenMessage = Record<string, unknown>

/** Reads and writes a field. A value that protobuf leaves out is undefined. */
export interface FieldType {
  /** Reads the current field into `message[name]`. False: it has another wire type and was not read. */
  take(reader: ProtoReader, message: OpenMessage, name: string): boolean
  /** Called after the last field, for what `take` leaves unfinished. */
  finish?(message: OpenMessage, name: string): void
  write(writer: ProtoWriter, number: number, value: never): void
  /** **Errors**: BadInput `schema`. */
  fromJson(json: unknown, path: string): unknown
  toJson(value: never): unknown
}

/** Returns the error for a JSON value of another kind than its field. */
export function wrongJson(what: string, path: string, value: unknown): BadInput {
  return new BadInput(expected(what, path, value), { reason: 'schema', path })
}

/** **Errors**: BadInput `schema`. */
export function jsonObject(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw wrongJson('an object', path, value)
}

/** **Errors**: BadInput `schema`. */
export function jsonList(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw wrongJson('a list', path, value)
}

/** **Errors**: BadInput `schema`. */
export function jsonString(value: unknown, path: string): string {
  if (typeof value === 'string') return value
  throw wrongJson('a string', path, value)
}

function nonEmpty<T extends ArrayLike<unknown>>(list: T): T | undefined {
  return list.length === 0 ? undefined : list
}

/** `optional string`: the empty string is written, too. */
export const string: FieldType = {
  take(reader, message, name) {
    if (!reader.is(wireType.bytes)) return false
    message[name] = reader.string()
    return true
  },
  write: (writer, number, value: string) => writer.text(number, value),
  fromJson: jsonString,
  toJson: (value: string) => value,
}

/** `string`: the empty string is left out. */
export const text: FieldType = {
  ...string,
  write(writer, number, value: string) {
    if (value !== '') writer.text(number, value)
  },
}

/** `repeated string`. */
export const strings: FieldType = {
  take(reader, message, name) {
    if (!reader.is(wireType.bytes)) return false
    message[name] ??= []
    const { pos, quota } = reader
    quota.takeValue()
    ;(message[name] as string[]).push(reader.string())
    quota.takeBytes(reader.pos - pos)
    return true
  },
  write(writer, number, value: readonly string[]) {
    for (const text of value) writer.text(number, text)
  },
  fromJson: (json, path) => nonEmpty(jsonList(json, path).map((item, i) => jsonString(item, `${path}[${i}]`))),
  toJson: nonEmpty<readonly string[]>,
}

/** `bytes`: a view of the message. */
export const bytes: FieldType = {
  take(reader, message, name) {
    if (!reader.is(wireType.bytes)) return false
    message[name] = reader.bytes()
    return true
  },
  write(writer, number, value: Uint8Array) {
    if (value.length > 0) writer.tag(number, wireType.bytes).bytes(value)
  },
  fromJson: jsonBytes,
  toJson: base64,
}

/** Either alphabet. **Errors**: BadInput `schema`. */
export function jsonBytes(json: unknown, path: string): Uint8Array {
  // Buffer skips any other character instead of refusing it.
  if (typeof json === 'string' && /^[A-Za-z0-9+/_-]*={0,2}$/.test(json)) return Buffer.from(json, 'base64')
  throw wrongJson('base64', path, json)
}

/** Encodes bytes in base64. */
export function base64(value: Uint8Array): string {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
}

/** `bool`: false is left out. */
export const bool: FieldType = {
  take(reader, message, name) {
    if (!reader.is(wireType.varint)) return false
    message[name] = reader.bool()
    return true
  },
  write(writer, number, value: boolean) {
    if (value) writer.tag(number, wireType.varint).bool(true)
  },
  fromJson: jsonBool,
  toJson: (value: boolean) => value || undefined,
}

/** `uint64`, and `int32` from 0 up, as a number: 0 is left out. */
export const count: FieldType = {
  take(reader, message, name) {
    if (!reader.is(wireType.varint)) return false
    const { low, high } = reader.uint64()
    message[name] = (high >>> 0) * 2 ** 32 + (low >>> 0)
    return true
  },
  write(writer, number, value: number) {
    if (value !== 0) writer.tag(number, wireType.varint).uint64(value)
  },
  fromJson: (json, path) => Number(bigInteger(BigInt.asUintN)(json, path)),
  toJson: (value: number) => String(value),
}

/** The values count up from 0, which is left out. JSON may leave out the `prefix` of names. */
export function enumOf(prefix: string, names: readonly string[]): FieldType {
  return {
    take(reader, message, name) {
      if (!reader.is(wireType.varint)) return false
      message[name] = reader.int32()
      return true
    },
    write(writer, number, value: number) {
      if (value !== 0) writer.tag(number, wireType.varint).int32(value)
    },
    fromJson(json, path) {
      const value = typeof json === 'string' ? names.indexOf(json.replace(prefix, '')) : json
      if (Number.isInteger(value) && value !== -1) return value
      throw wrongJson(`a name such as ${prefix}${names[1]}`, path, json)
    },
    toJson: (value: number) => (value === 0 ? undefined : value in names ? prefix + names[value] : value),
  }
}

/** A repeated field of numbers: a typed array, or a list of numbers written by hand. */
export function packed(kind: PackedKind): FieldType {
  return {
    take(reader, message, name) {
      const list = (message[name] ?? new PackedList(kind)) as PackedList<PackedKind>
      if (!list.take(reader)) return false
      message[name] = list
      return true
    },
    finish(message, name) {
      const list = message[name]
      if (list instanceof PackedList) message[name] = nonEmpty(list.finish() as ArrayLike<unknown>)
    },
    write: (writer, number, value: ArrayLike<unknown> & readonly unknown[]) => writePacked(writer, number, kind, value),
    fromJson(json, path) {
      const list = jsonList(json, path)
      const data = allocatePacked(kind, list.length)
      const read = fromElement[kind]
      for (let i = 0; i < list.length; i++) data[i] = read(list[i], path) as never
      return nonEmpty(data as ArrayLike<unknown>)
    },
    toJson: (value: ArrayLike<number>) => nonEmpty(Array.from(value, toElement[kind])),
  }
}

/** `repeated int32` as a list. **Errors**: BadInput `shape` above `max` elements. */
export function shortList(max: number): FieldType {
  const numbers = packed('int32')
  const check = (count: number | string) => {
    if (typeof count === 'number' && count <= max) return
    throw new BadInput(`expected at most ${max} dimensions, received ${count}`, { reason: 'shape' })
  }
  return {
    ...numbers,
    take(reader, message, name) {
      if (!reader.is(wireType.bytes) && !reader.is(wireType.varint)) return false
      message[name] ??= []
      const list = message[name] as number[]
      const end = reader.is(wireType.bytes) ? reader.extent() : reader.pos + 1
      while (reader.pos < end) {
        check(list.length < max ? list.length : 'more')
        list.push(reader.int32())
      }
      if (reader.is(wireType.bytes) && reader.pos !== end) throw reader.fault('complete packed numbers')
      return true
    },
    finish(message, name) {
      message[name] = nonEmpty(message[name] as number[])
    },
    fromJson(json, path) {
      const list = numbers.fromJson(json, path) as Int32Array | undefined
      check(list?.length ?? 0)
      return list && Array.from(list)
    },
  }
}

/** `repeated int64` as numbers: a shape. */
export const dims: FieldType = {
  ...packed('int64'),
  finish(message, name) {
    message[name] = Array.from((message[name] as PackedList<'int64'>).finish(), Number)
  },
  write(writer, number, shape: readonly number[]) {
    if (shape.length === 0) return
    writer.tag(number, wireType.bytes).fork()
    // protobufjs would make an object of each 64-bit dimension.
    for (const dim of shape) {
      if (dim === dim >>> 0) writer.uint32(dim)
      else writer.int64(dim)
    }
    writer.ldelim()
  },
}

function jsonBool(value: unknown, path: string): boolean {
  if (typeof value === 'boolean') return value
  throw wrongJson('true or false', path, value)
}

function jsonDouble(value: unknown, path: string): number {
  if (typeof value === 'number') return value
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value)
  if (typeof value === 'string' && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value)) return Number(value)
  throw wrongJson('a number', path, value)
}

const decimal = /^-?\d{1,20}$/

function smallInteger(min: number, max: number) {
  return (value: unknown, path: string): number => {
    const number = typeof value === 'string' && decimal.test(value) ? Number(value) : value
    if (Number.isInteger(number) && (number as number) >= min && (number as number) <= max) return number as number
    throw wrongJson('an integer of 32 bits', path, value)
  }
}

/** `wrap`: BigInt.asIntN or BigInt.asUintN. */
function bigInteger(wrap: (bits: number, value: bigint) => bigint) {
  return (value: unknown, path: string): bigint => {
    if ((typeof value === 'string' && decimal.test(value)) || Number.isSafeInteger(value)) {
      const integer = BigInt(value as string)
      if (wrap(64, integer) === integer) return integer
    }
    throw wrongJson('an integer of 64 bits', path, value)
  }
}

const fromElement: Readonly<Record<PackedKind, (value: unknown, path: string) => number | bigint | boolean>> = {
  float32: jsonDouble,
  float64: jsonDouble,
  bool: jsonBool,
  int32: smallInteger(-(2 ** 31), 2 ** 31 - 1),
  uint32: smallInteger(0, 2 ** 32 - 1),
  int64: bigInteger(BigInt.asIntN),
  uint64: bigInteger(BigInt.asUintN),
}

const toElement: Readonly<Record<PackedKind, (value: number) => unknown>> = {
  float32: (value) => floatJson(shortest(value)),
  float64: floatJson,
  bool: Boolean,
  int32: (value) => value,
  uint32: (value) => value,
  int64: String,
  uint64: String,
}

/** NaN, infinities and -0 become strings. */
function floatJson(value: number): number | string {
  return Number.isFinite(value) && !Object.is(value, -0) ? value : Object.is(value, -0) ? '-0' : String(value)
}

/** 0.1, not 0.10000000149011612. */
function shortest(value: number): number {
  for (let digits = 6; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return value
}
