/**
 * Protobuf bytes, field by field: protobufjs's Reader and Writer, and the little that a server needs around them.
 *
 * Its message objects are not used: of a request within its limit, a message for every two bytes (an empty Value, an
 * empty Series) would make gigabytes.
 * @module
 */
import { BufferWriter, Reader } from 'protobufjs-8/minimal.js'
import { BadInput, PayloadTooLarge, ServingError } from '../core/errors.ts'
import type { BufferPool } from '../core/memory/buffer-pool.ts'
import { defaultMaxBytes, maxParsedValues } from '../core/text/parse-json.ts'

/** Wire types. **Source**: protobuf encoding, "Message structure". */
export const wireType = Object.freeze({ varint: 0, fixed64: 1, bytes: 2, fixed32: 5 })

// Fields of a message, which are read at once: each number that is not packed is one.
const maxFields = 2_000_000

/** What the JavaScript values of a message may come to, in all messages in it. */
export class ProtoQuota {
  #bytes: number
  #values = maxParsedValues
  #fields: number
  readonly #maxBytes: number
  readonly #maxFields: number

  /** `bytes`: of strings and JSON values. */
  constructor(bytes = defaultMaxBytes, fields = maxFields) {
    this.#bytes = this.#maxBytes = bytes
    this.#fields = this.#maxFields = fields
  }

  /** Counts the bytes of a text or a JSON value. **Errors**: PayloadTooLarge. */
  takeBytes(count: number): void {
    this.#bytes -= count
    if (this.#bytes < 0) throw tooLarge(`${this.#maxBytes} bytes (maxBytes) of texts and JSON values`)
  }

  /** Counts a string of a list or a JSON value. **Errors**: PayloadTooLarge. */
  takeValue(): void {
    if (--this.#values < 0) throw tooLarge(`${maxParsedValues} texts of lists and JSON values`)
  }

  /** Counts a field. **Errors**: PayloadTooLarge. */
  takeField(): void {
    if (--this.#fields < 0) throw tooLarge(`${this.#maxFields} fields (numbers packed)`)
  }
}

function tooLarge(limit: string): PayloadTooLarge {
  return new PayloadTooLarge(`expected at most ${limit} in the protobuf message, received more`)
}

/**
 * Returns what `read` reads from the bytes. **Errors**: BadInput `encoding` with the byte offset, for any bytes that
 * are no message: protobufjs's own errors do not say whose fault they are; PayloadTooLarge above the quota.
 */
export function readProto<T>(bytes: Uint8Array, read: (reader: ProtoReader) => T, quota?: ProtoQuota): T {
  const reader = new ProtoReader(bytes, quota)
  try {
    return read(reader)
  } catch (error) {
    throw ServingError.is(error) || isDefect(error) ? error : reader.fault('a complete message', error)
  }
}

/** TypeErrors are defects of the program, but for that of a TextDecoder. */
function isDefect(error: unknown): boolean {
  return error instanceof TypeError && (error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA'
}

const maxFewFields = 1000

/** protobufjs's Reader, going from field to field. */
export class ProtoReader extends Reader {
  readonly quota: ProtoQuota
  /** Number of the field that `next` found. */
  field = 0
  /** Its wire type. */
  type = 0

  constructor(bytes: Uint8Array, quota = new ProtoQuota()) {
    super(bytes)
    this.quota = quota
  }

  /** Goes to the next field; false at the end of the message. **Errors**: PayloadTooLarge. */
  next(): boolean {
    if (this.pos >= this.len) return false
    this.quota.takeField()
    const tag = this.tag()
    this.field = tag >>> 3
    this.type = tag & 7
    if (this.field === 0) throw this.fault('a field number')
    // Groups, 3 and 4, were never in proto3.
    if (this.type > 5 || this.type === 3 || this.type === 4) throw this.fault('a known wire type')
    return true
  }

  /**
   * As `next`, in a message that has one value, whose pieces are joined at its end. `count`: of the fields so far.
   * **Errors**: BadInput above 1000.
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

  /** Reads a length, and that many bytes as a message that `read` reads to its end. */
  message<T>(read: (reader: ProtoReader) => T): T {
    const end = this.extent()
    const { len } = this
    this.len = end
    const value = read(this)
    this.len = len
    return value
  }

  /** Whether the field of bytes that comes is longer than `bytes`. */
  isLonger(bytes: number): boolean {
    const { pos } = this
    const isLonger = this.extent() - this.pos > bytes
    this.pos = pos
    return isLonger
  }

  rest(): Uint8Array {
    const bytes = this.raw(this.pos, this.len)
    this.pos = this.len
    return bytes
  }

  /** Reads text; throws on ill-formed UTF-8, where protobufjs puts U+FFFD. */
  override string(): string {
    return this.stringVerify()
  }

  fault(what: string, cause?: unknown): BadInput {
    const message = `expected ${what} in the protobuf message, received other bytes at byte ${this.pos}`
    return new BadInput(message, { reason: 'encoding', offset: this.pos, cause })
  }
}

// Room for a tag and a length; a whole line of the cache, so that what is aligned behind it stays so.
const headroomBytes = 64
const withHeadroom = new WeakSet<Uint8Array>()

/** Bytes that `wrapBytes` can put into a message without copying them. They are not zeroed. */
export function allocateWithHeadroom(size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(headroomBytes + size).subarray(headroomBytes)
  withHeadroom.add(bytes)
  return bytes
}

/**
 * Returns a message whose only field has these bytes. **Cost**: a copy, but for bytes of
 * {@link allocateWithHeadroom}, which are used up.
 */
export function wrapBytes(field: number, bytes: Uint8Array): Buffer {
  const isRoomy = withHeadroom.delete(bytes)
  const writer = new ProtoWriter(isRoomy ? 0 : bytes.length)
  if (isRoomy) {
    writer.buf = Buffer.from(bytes.buffer, bytes.byteOffset - headroomBytes, headroomBytes + bytes.length)
    writer.pos = writer.buf.length
  } else writer.raw(bytes)
  return writer.finishAs(field)
}

/** protobufjs's Writer, in a buffer of about the right size from the start. */
export class ProtoWriter extends BufferWriter {
  /** `hint`: about how long the message will be; `pool`: where its memory is from. **Units**: bytes. */
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
    // protobufjs would write half a surrogate pair as it is, which is not UTF-8.
    this.tag(field, wireType.bytes).string(text.toWellFormed())
  }

  /** Makes room for `count` more bytes, for callers that write into `buf` themselves. */
  reserve(count: number): void {
    const need = this.pos + count
    if (need <= this.buf.length) return
    const grown = Buffer.allocUnsafe(Math.max(need, this.buf.length * 2))
    grown.set(this.buf.subarray(0, this.pos))
    this.buf = grown
    this.view = null
  }

  /** Returns what was written; the bytes are the caller's, and so are at least five in front of them. */
  override finish(): Buffer {
    return this.buf.subarray(headroomBytes, this.pos) as Buffer
  }

  /** Returns what was written as the one field of a message, as `finish` does, without moving it as protobufjs does. */
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
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5
}
