/** Protobuf bytes, field by field. protobufjs's message objects take too much memory for small messages. @module */
import { BufferWriter, Reader, Writer } from 'protobufjs-8/minimal.js'
import { BadInput, PayloadTooLarge, ServingError } from '../core/errors.ts'
import type { BufferPool } from '../core/memory/buffer-pool.ts'
import { headroomBytes, takeHeadroom } from '../core/memory/headroom.ts'
import { defaultMaxBytes, maxParsedValues } from '../core/text/parse-json.ts'

/**
 * Wire types.
 *
 * @see protobuf encoding, "Message structure".
 */
export const wireType = Object.freeze({ varint: 0, fixed64: 1, bytes: 2, fixed32: 5 })

/** Limits of a message, with all messages in it. Unpacked numbers are a field each; `bytes`: of texts and JSON. */
export const protoLimits: Readonly<Record<Limited, number>> = {
  bytes: defaultMaxBytes,
  values: maxParsedValues,
  fields: 2_000_000,
  integers: Number.POSITIVE_INFINITY,
}

type Limited = 'bytes' | 'values' | 'fields' | 'integers'
const limited: Readonly<Record<Limited, string>> = {
  bytes: 'bytes (maxBytes) of texts and JSON values',
  values: 'texts of lists and JSON values',
  fields: 'fields (numbers packed)',
  integers: 'packed integers (more: as bytes)',
}

/** Limits the JavaScript values of a message. */
export class ProtoQuota {
  readonly #limits: Readonly<Record<Limited, number>>
  readonly #taken = { bytes: 0, values: 0, fields: 0, integers: 0 }

  constructor(limits: Readonly<Record<Limited, number>> = protoLimits) {
    this.#limits = limits
  }

  /** @throws PayloadTooLarge. */
  take(what: Limited, count = 1): void {
    this.#taken[what] += count
    const limit = this.#limits[what]
    if (this.#taken[what] <= limit) return
    throw new PayloadTooLarge(
      `expected at most ${limit} ${limited[what]} in the protobuf message, received more`,
    )
  }
}

/**
 * @throws BadInput `encoding` with the offset for invalid bytes; PayloadTooLarge above the quota.
 */
export function readProto<T>(
  bytes: Uint8Array,
  read: (reader: ProtoReader) => T,
  quota?: ProtoQuota,
): T {
  const reader = new ProtoReader(bytes, quota)
  try {
    return read(reader)
  } catch (error) {
    if (ServingError.is(error) || isDefect(error)) throw error
    throw reader.fault('a complete message', error)
  }
}

/** TypeErrors are defects of the program, but for that of a TextDecoder. */
function isDefect(error: unknown): boolean {
  return (
    error instanceof TypeError &&
    (error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA'
  )
}

const maxFewFields = 1000

/** protobufjs's Reader, going from field to field. */
export class ProtoReader extends Reader {
  readonly quota: ProtoQuota
  field = 0
  type = 0

  constructor(bytes: Uint8Array, quota = new ProtoQuota()) {
    super(bytes)
    this.quota = quota
  }

  /**
   * @returns false at the end of the message.
   * @throws PayloadTooLarge.
   */
  next(): boolean {
    if (this.pos >= this.len) return false
    this.quota.take('fields')
    const tag = this.tag()
    this.field = tag >>> 3
    this.type = tag & 7
    if (this.field === 0) throw this.fault('a field number')
    if (this.type > 5 || this.type === 3 || this.type === 4) throw this.fault('a known wire type')
    return true
  }

  /**
   * As `next`, for a message whose pieces are joined. `count`: fields so far.
   *
   * @throws BadInput above 1000.
   */
  nextOfFew(count: number): boolean {
    if (!this.next()) return false
    if (count < maxFewFields) return true
    const message = `expected at most ${maxFewFields} fields for a message with one value, received more`
    throw new BadInput(`${message} at byte ${this.pos}`, { reason: 'encoding', offset: this.pos })
  }

  /** Whether the field has this wire type; with another one it is an unknown field. */
  is(type: number): boolean {
    return this.type === type
  }

  skipField(): void {
    this.skipType(this.type)
  }

  extent(): number {
    const end = this.size() + this.pos
    if (end > this.len) throw this.fault(`${end - this.pos} more bytes`)
    return end
  }

  message<T>(read: (reader: ProtoReader) => T): T {
    const end = this.extent()
    const { len } = this
    this.len = end
    const value = read(this)
    this.len = len
    return value
  }

  rest(): Uint8Array {
    const bytes = this.raw(this.pos, this.len)
    this.pos = this.len
    return bytes
  }

  /** Throws on ill-formed UTF-8, where protobufjs puts U+FFFD. */
  override string(): string {
    return this.stringVerify()
  }

  fault(what: string, cause?: unknown): BadInput {
    const message = `expected ${what} in the protobuf message, received other bytes at byte ${this.pos}`
    return new BadInput(message, { reason: 'encoding', offset: this.pos, cause })
  }
}

/** A message with one field. Bytes of `allocateWithHeadroom` are used up, others copied. */
export function wrapBytes(field: number, bytes: Uint8Array): Buffer {
  const isRoomy = takeHeadroom(bytes)
  const writer = new ProtoWriter(isRoomy ? 0 : bytes.length)
  if (isRoomy) {
    writer.buf = Buffer.from(
      bytes.buffer,
      bytes.byteOffset - headroomBytes,
      headroomBytes + bytes.length,
    )
    writer.pos = writer.buf.length
  } else writer.raw(bytes)
  return writer.finishAs(field)
}

// One buffer for a short message, where the default would be too short for the headroom and a tensor.
Writer.initialBufferSize = 512

/** protobufjs's Writer, with a buffer of about the right size. */
export class ProtoWriter extends BufferWriter {
  /** `hint`: expected length; `pool`: where its memory is from. **Units**: bytes. */
  constructor(hint = 0, pool?: BufferPool) {
    super()
    const size = headroomBytes + hint
    if (pool !== undefined) this.buf = Buffer.from(pool.take(size))
    else if (size > this.buf.length) this.buf = Buffer.allocUnsafe(size)
    this.pos = headroomBytes
  }

  tag(field: number, type: number): this {
    this.uint32((field << 3) | type)
    return this
  }

  message(field: number, write: () => void): void {
    this.tag(field, wireType.bytes).fork()
    write()
    this.ldelim()
  }

  text(field: number, text: string): void {
    // protobufjs would write half a surrogate pair, which is invalid UTF-8.
    this.tag(field, wireType.bytes).string(text.toWellFormed())
  }

  reserve(count: number): void {
    const need = this.pos + count
    if (need <= this.buf.length) return
    const grown = Buffer.allocUnsafe(Math.max(need, this.buf.length * 2))
    grown.set(this.buf.subarray(0, this.pos))
    this.buf = grown
    this.view = null
  }

  /** The caller owns the bytes, and at least five in front of them. */
  override finish(): Buffer {
    return this.buf.subarray(headroomBytes, this.pos) as Buffer
  }

  /** As `finish`, as the only field of a message, without protobufjs's move. */
  finishAs(field: number): Buffer {
    const end = this.pos
    const length = end - headroomBytes
    this.pos = headroomBytes - 1 - varintSize(length)
    const start = this.pos
    this.tag(field, wireType.bytes).uint32(length)
    return this.buf.subarray(start, end) as Buffer
  }
}

function varintSize(value: number): number {
  let size = 1
  for (let rest = value >>> 7; rest !== 0; rest >>>= 7) size++
  return size
}
