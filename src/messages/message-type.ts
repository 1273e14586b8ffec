/** Messages by a table of their fields ⇄ bytes and ⇄ protobuf's JSON. @module */
import { BadInput, type BadInputReason } from '../core/errors.ts'
import type { BufferPool } from '../core/memory/buffer-pool.ts'
import { type FieldType, jsonList, jsonObject } from './field-types.ts'
import { type ProtoReader, ProtoWriter, readProto, wireType } from './protobuf.ts'

/** Field numbers and types by name. */
export type Fields<M> = { readonly [K in keyof M]-?: readonly [number: number, type: FieldType] }

interface Field {
  readonly name: string
  /** The name in the .proto, which JSON may use. */
  readonly protoName: string
  readonly number: number
  readonly type: FieldType
}

/** A type of messages. */
export class MessageType<M extends object> {
  // In the order of their numbers, as protobuf's own writers write them.
  readonly #fields: readonly Field[]
  /** Numbers are below 32. */
  readonly #byNumber: readonly (Field | undefined)[]

  constructor(fields: Fields<M>) {
    this.#fields = Object.entries<readonly [number, FieldType]>(fields)
      .map(([name, [number, type]]) => ({ name, protoName: snakeCase(name), number, type }))
      .sort((a, b) => a.number - b.number)
    const byNumber: (Field | undefined)[] = new Array(32).fill(undefined)
    for (const field of this.#fields) byNumber[field.number] = field
    this.#byNumber = byNumber
  }

  /** @throws BadInput. */
  decode(bytes: Uint8Array): M {
    return readProto(bytes, (reader) => this.read(reader))
  }

  /** `hint`: expected length; `pool`: where its memory is from. **Units**: bytes. */
  encode(message: M, hint = 256, pool?: BufferPool): Buffer {
    const writer = new ProtoWriter(hint, pool)
    this.write(writer, message)
    return writer.finish()
  }

  /** @throws BadInput. */
  read(reader: ProtoReader): M {
    const message: Record<string, unknown> = {}
    let unfinished = 0
    while (reader.next()) {
      const field = this.#byNumber[reader.field]
      if (field === undefined || !field.type.wires.includes(reader.type)) {
        reader.skipField()
        continue
      }
      const { name, number, type } = field
      message[name] = type.read(reader, message[name])
      if (type.finish !== undefined) unfinished |= 1 << number
    }
    for (; unfinished !== 0; unfinished &= unfinished - 1) {
      const { name, type } = this.#byNumber[31 - Math.clz32(unfinished & -unfinished)] as Field
      message[name] = type.finish?.(message[name])
    }
    return message as M
  }

  write(writer: ProtoWriter, message: M): void {
    for (const { name, number, type } of this.#fields) {
      const value = message[name as keyof M]
      if (value !== undefined) type.write(writer, number, value as never)
    }
  }

  /**
   * Null counts as absent, unknown members are ignored.
   *
   * @throws BadInput `schema`.
   */
  fromJson(json: unknown, path: string): M {
    const object = jsonObject(json, path)
    const message: Record<string, unknown> = {}
    for (const { name, protoName, type } of this.#fields) {
      const value = member(object, name) ?? member(object, protoName)
      if (value === undefined || value === null) continue
      const read = type.fromJson(value, `${path}.${name}`)
      if (read !== undefined) message[name] = read
    }
    return message as M
  }

  toJson(message: M): Record<string, unknown> {
    const object: Record<string, unknown> = {}
    for (const { name, type } of this.#fields) {
      const value = message[name as keyof M]
      if (value === undefined) continue
      const json = type.toJson(value as never)
      if (json !== undefined) object[name] = json
    }
    return object
  }
}

/** @returns the type of messages whose members follow from the fields. */
export function messageType<
  const F extends Readonly<Record<string, readonly [number: number, type: FieldType]>>,
>(
  fields: F,
): MessageType<{
  readonly [K in keyof F]?: F[K] extends readonly [number, FieldType<infer T>] ? T : never
}> {
  return new MessageType(fields as never)
}

/** The messages of a type. */
export type MessageOf<T> = T extends MessageType<infer M> ? M : never

/** @returns an own member only, such as `__proto__`. */
export function member(object: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name]
  return undefined
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** How a message is read and written. */
export interface MessageCodec<M> {
  /** @throws BadInput. */
  read(reader: ProtoReader): M
  write(writer: ProtoWriter, message: M): void
  /** @throws BadInput `schema`. */
  fromJson(json: unknown, path: string): M
  toJson(message: M): unknown
}

/** Of several in one message the last counts. */
export function message<M extends object>(type: MessageCodec<M>): FieldType<M> {
  return {
    wires: [wireType.bytes],
    read: (reader) => reader.message(() => type.read(reader)),
    write: (writer, number, value: M) => writer.message(number, () => type.write(writer, value)),
    fromJson: (json, path) => type.fromJson(json, path),
    toJson: (value: M) => type.toJson(value),
  }
}

/**
 * `what`: their name in the error.
 *
 * @throws BadInput above `max` messages.
 */
export function messages<M extends object>(
  type: MessageCodec<M>,
  max: number,
  what: string,
  reason: BadInputReason = 'schema',
): FieldType<readonly M[]> {
  const check = (count: number) => {
    if (count > max)
      throw new BadInput(`expected at most ${max} ${what}, received more`, { reason })
  }
  return {
    wires: [wireType.bytes],
    read(reader, before = []) {
      const list = before as M[]
      check(list.length + 1)
      list.push(reader.message(() => type.read(reader)))
      return list
    },
    write(writer, number, value: readonly M[]) {
      for (const each of value) writer.message(number, () => type.write(writer, each))
    },
    fromJson(json, path) {
      const list = jsonList(json, path)
      check(list.length)
      return list.map((each, i) => type.fromJson(each, `${path}[${i}]`))
    },
    toJson: (value: readonly M[]) => value.map((each) => type.toJson(each)),
  }
}
