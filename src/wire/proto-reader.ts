/**
 * Protobuf bytes, read field by field.
 *
 * Our own instead of protobufjs's, since a client wrote the bytes: a message object for every two bytes (an empty Value, an
 * empty Series) would make gigabytes of a request that is within its limit, and its errors do not say whose fault they are.
 * @module
 */
import { BadInput } from '../errors.ts'

/** Wire types. **Source**: protobuf encoding, "Message structure". */
export const wireType = Object.freeze({ varint: 0, fixed64: 1, bytes: 2, fixed32: 5 })

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads the fields of one message. **Errors**: BadInput `encoding` with the byte offset, for any bytes that are no message. */
export class ProtoReader {
  readonly bytes: Uint8Array
  /** Where the next byte is. */
  at: number
  /** Where the message ends. */
  readonly end: number
  /** Number of the field that `next` found. */
  field = 0
  /** Its wire type. */
  type = 0

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.bytes = bytes
    this.at = at
    this.end = end
  }

  /** Goes to the next field; false at the end. */
  next(): boolean {
    if (this.at >= this.end) return false
    const tag = this.uint32()
    this.field = tag >>> 3
    this.type = tag & 7
    if (this.field === 0 || this.type > 5) throw this.fault('a field number')
    return true
  }

  /** Whether the present field has this wire type; a field of another one is none that we know. */
  is(type: number): boolean {
    return this.type === type
  }

  /** A varint, its low 32 bits. */
  uint32(): number {
    const { bytes } = this
    let at = this.at
    let value = 0
    for (let shift = 0; shift < 70; shift += 7) {
      if (at >= this.end) throw this.fault('a complete number')
      const byte = bytes[at++]
      if (shift < 32) value |= (byte & 0x7f) << shift
      if (byte < 0x80) {
        this.at = at
        return value >>> 0
      }
    }
    throw this.fault('a number of at most 10 bytes')
  }

  /** A varint as int32 or an enum. */
  int32(): number {
    return this.uint32() | 0
  }

  /** A varint as bool: any bit of it counts. */
  bool(): boolean {
    const start = this.at
    this.uint32()
    for (let at = start; at < this.at; at++) if ((this.bytes[at] & 0x7f) !== 0) return true
    return false
  }

  /** Eight bytes as double. */
  double(): number {
    const at = this.#take(8)
    return new DataView(this.bytes.buffer, this.bytes.byteOffset + at, 8).getFloat64(0, true)
  }

  /** A length and that many bytes, without a copy. */
  view(): Uint8Array {
    const length = this.uint32()
    const at = this.#take(length)
    return this.bytes.subarray(at, at + length)
  }

  /** A length and that many bytes, as a reader of the message in them. */
  message(): ProtoReader {
    const length = this.uint32()
    const at = this.#take(length)
    return new ProtoReader(this.bytes, at, at + length)
  }

  /** A length and that many bytes of UTF-8. */
  string(): string {
    const at = this.at
    const bytes = this.view()
    if (bytes.length === 0) return ''
    try {
      return decoder.decode(bytes)
    } catch {
      this.at = at
      throw this.fault('UTF-8')
    }
  }

  /** Goes past a field that nobody knows. */
  skip(): void {
    if (this.type === wireType.varint) this.uint32()
    else if (this.type === wireType.fixed64) this.#take(8)
    else if (this.type === wireType.bytes) this.view()
    else if (this.type === wireType.fixed32) this.#take(4)
    // Groups were never in proto3.
    else throw this.fault('a known wire type')
  }

  /** The error for bytes that are not what they should be. */
  fault(what: string): BadInput {
    const message = `expected ${what} in the protobuf message, received other bytes at byte ${this.at}`
    return new BadInput(message, { reason: 'encoding', offset: this.at })
  }

  #take(length: number): number {
    const at = this.at
    // Never `at + length` alone: a length that lies must not be believed before it is compared.
    if (length > this.end - at) throw this.fault(`${length} more bytes`)
    this.at = at + length
    return at
  }
}
