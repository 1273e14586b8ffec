/**
 * Protobuf bytes, written into one buffer.
 * @module
 */
import { wireType } from './proto-reader.ts'

// Numbers for which room is made at a time.
const block = 4096

/** Bytes that a varint of 32 bits takes. */
export function varintSize(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5
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

/** Bytes become a message with this one field. **Cost**: a copy, but for bytes of {@link allocateWithHeadroom}, which are used up. */
export function wrapBytes(field: number, bytes: Uint8Array): Buffer {
  const head = new ProtoWriter(12)
  head.tag(field, wireType.bytes)
  head.uint32(bytes.length)
  const written = head.finish()
  if (!withHeadroom.delete(bytes)) return Buffer.concat([written, bytes])
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset - written.length, written.length + bytes.length)
  whole.set(written)
  return whole
}

/**
 * Writes a message, in the same bytes as protobufjs.
 *
 * **Cost**: one buffer, made in the size that is hinted at; a nested message whose length was hinted at well is not moved.
 */
export class ProtoWriter {
  #bytes: Buffer
  #at = 0

  /** `hint`: about how long the message will be. **Units**: bytes. */
  constructor(hint = 256) {
    this.#bytes = Buffer.allocUnsafeSlow(hint)
  }

  /** What was written; the bytes are the caller's. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }

  /** Room for `count` more bytes; answers where they start. They count as written. */
  reserve(count: number): number {
    const at = this.#at
    const need = at + count
    if (need > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(need, this.#bytes.length * 2))
      this.#bytes.copy(grown, 0, 0, at)
      this.#bytes = grown
    }
    this.#at = need
    return at
  }

  /** The number and wire type of the field that follows. */
  tag(field: number, type: number): void {
    this.uint32((field << 3) | type)
  }

  /** A varint of 32 bits. */
  uint32(value: number): void {
    let at = this.reserve(varintSize(value))
    const bytes = this.#bytes
    while (value > 0x7f) {
      bytes[at++] = (value & 0x7f) | 0x80
      value >>>= 7
    }
    bytes[at] = value
  }

  /** A varint; negative numbers take 10 bytes. */
  int32(value: number): void {
    if (value >= 0) this.uint32(value)
    else this.varint64(value >>> 0, 0xffffffff)
  }

  /** A varint of 64 bits by its halves. */
  varint64(low: number, high: number): void {
    while (high !== 0) {
      // First the room: it may be in another buffer.
      const at = this.reserve(1)
      this.#bytes[at] = (low & 0x7f) | 0x80
      low = ((low >>> 7) | (high << 25)) >>> 0
      high >>>= 7
    }
    this.uint32(low)
  }

  /** Varints of 32 bits, one after another; an Int32Array's negative ones take 10 bytes. */
  varints32(data: Int32Array | Uint32Array): void {
    for (let from = 0; from < data.length; from += block) {
      const to = Math.min(from + block, data.length)
      let at = this.reserve((to - from) * 10)
      const bytes = this.#bytes
      for (let i = from; i < to; i++) {
        let value = data[i]
        if (value >= 0) {
          while (value > 0x7f) {
            bytes[at++] = (value & 0x7f) | 0x80
            value >>>= 7
          }
          bytes[at++] = value
          continue
        }
        // Extended to 64 bits: five bytes of the value, then ones.
        bytes[at++] = (value & 0x7f) | 0x80
        bytes[at++] = ((value >> 7) & 0x7f) | 0x80
        bytes[at++] = ((value >> 14) & 0x7f) | 0x80
        bytes[at++] = ((value >> 21) & 0x7f) | 0x80
        bytes[at++] = ((value >> 28) & 0x7f) | 0x80
        for (let more = 0; more < 4; more++) bytes[at++] = 0xff
        bytes[at++] = 1
      }
      this.#at = at
    }
  }

  /** Varints of 64 bits, one after another, by their halves: low, high, low, high. */
  varints64(halves: Uint32Array): void {
    for (let from = 0; from < halves.length; from += block) {
      const to = Math.min(from + block, halves.length)
      let at = this.reserve((to - from) * 5)
      const bytes = this.#bytes
      for (let i = from; i < to; i += 2) {
        let low = halves[i]
        let high = halves[i + 1]
        while (high !== 0) {
          bytes[at++] = (low & 0x7f) | 0x80
          low = ((low >>> 7) | (high << 25)) >>> 0
          high >>>= 7
        }
        while (low > 0x7f) {
          bytes[at++] = (low & 0x7f) | 0x80
          low >>>= 7
        }
        bytes[at++] = low
      }
      this.#at = at
    }
  }

  /** Eight bytes. */
  double(value: number): void {
    const at = this.reserve(8)
    this.#bytes.writeDoubleLE(value, at)
  }

  /** Bytes as they are. */
  raw(bytes: Uint8Array): void {
    const at = this.reserve(bytes.length)
    this.#bytes.set(bytes, at)
  }

  /** A field of bytes. */
  bytes(field: number, bytes: Uint8Array): void {
    this.tag(field, wireType.bytes)
    this.uint32(bytes.length)
    this.raw(bytes)
  }

  /** A field of text. */
  string(field: number, text: string): void {
    this.tag(field, wireType.bytes)
    const length = Buffer.byteLength(text)
    this.uint32(length)
    const at = this.reserve(length)
    this.#bytes.write(text, at, length, 'utf8')
  }

  /** A field that is a message, whose length is known when it was written. `hint`: about how long it will be. */
  message(field: number, hint: number, write: () => void): void {
    this.tag(field, wireType.bytes)
    this.delimited(hint, write)
  }

  /** What is written, with its length in front. */
  delimited(hint: number, write: () => void): void {
    const room = varintSize(hint)
    const start = this.reserve(room)
    write()
    const length = this.#at - start - room
    const size = varintSize(length)
    if (size !== room) {
      const end = this.#at
      if (size > room) this.reserve(size - room)
      this.#bytes.copyWithin(start + size, start + room, end)
      this.#at = start + size + length
    }
    const end = this.#at
    this.#at = start
    this.uint32(length)
    this.#at = end
  }
}
