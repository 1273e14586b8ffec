/**
 * JSON scalars straight into columns, byte by byte.
 * @module
 */

import { asciiText, scanNumber, scanned } from '../text/number-text.ts'
import type { ColumnBuilder } from './column-builder.ts'
import type { FrameFailureKind } from './frame-codec.ts'

/** Thrown inside the parser only; `parseFrame` turns it into a value. */
export class Stop {
  readonly failure: FrameFailureKind
  readonly offset: number
  column?: string
  row?: number

  constructor(failure: FrameFailureKind, offset: number) {
    this.failure = failure
    this.offset = offset
  }
}

const minInt64 = -(2n ** 63n)
const maxInt64 = 2n ** 63n - 1n

/** Reads tokens of one text. */
export class JsonScanner {
  readonly bytes: Uint8Array
  readonly end: number
  pos = 0
  /** The last string: where its UTF-8 bytes lie, in the text itself or, with escapes, decoded in a scratch buffer. */
  text: Uint8Array
  textStart = 0
  textEnd = 0
  #scratch = new Uint8Array(0)

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.end = bytes.length
    this.text = bytes
  }

  /** The next byte that is no white space, unread; 0 at the end. */
  peek(): number {
    const { bytes, end } = this
    let pos = this.pos
    let byte = pos < end ? bytes[pos] : 0
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = ++pos < end ? bytes[pos] : 0
    this.pos = pos
    // A zero byte in the text is no token either.
    return byte
  }

  /** Reads `byte`, or stops. */
  expect(byte: number): void {
    if (this.peek() !== byte) throw new Stop('syntax', this.pos)
    this.pos++
  }

  /** After an element: true on a comma, false on the closing bracket, or stops. */
  more(close: number): boolean {
    const byte = this.peek()
    if (byte !== 0x2c && byte !== close) throw new Stop('syntax', this.pos)
    this.pos++
    return byte === 0x2c
  }

  /** Reads the key of an object and the colon behind it; answers the key's offset. The key is in `text`. */
  key(): number {
    if (this.peek() !== 0x22) throw new Stop('syntax', this.pos)
    const start = this.pos
    this.string()
    if (this.pos < this.end && this.bytes[this.pos] === 0x3a) this.pos++
    else this.expect(0x3a)
    return start
  }

  /** The last string, decoded. */
  textValue(): string {
    return Buffer.from(
      this.text.buffer,
      this.text.byteOffset + this.textStart,
      this.textEnd - this.textStart,
    ).toString()
  }

  /** Reads a string token at `pos` into `text`. */
  string(): void {
    const { bytes, end } = this
    const start = this.pos + 1
    let pos = start
    let byte = pos < end ? bytes[pos] : 0
    while (byte >= 0x20 && byte !== 0x22 && byte !== 0x5c) byte = ++pos < end ? bytes[pos] : 0
    if (byte === 0x22) {
      this.text = bytes
      this.textStart = start
      this.textEnd = pos
      this.pos = pos + 1
    } else if (byte === 0x5c) this.#escaped(start, pos)
    else throw new Stop('syntax', this.pos)
  }

  #escaped(start: number, first: number): void {
    const { bytes, end } = this
    let pos = first
    let at = first - start
    const out = this.#room(start, pos)
    out.set(bytes.subarray(start, first))
    for (;;) {
      const byte = pos < end ? bytes[pos++] : 0
      if (byte === 0x22) break
      if (byte < 0x20) throw new Stop('syntax', this.pos)
      if (byte !== 0x5c) out[at++] = byte
      else {
        const escape = pos < end ? bytes[pos++] : 0
        if (escape === 0x75) {
          const code = this.#codePoint(pos)
          pos += code > 0xffff ? 10 : 4
          at = writeUtf8(out, at, code)
        } else {
          const plain = plainEscapes[escape] ?? 0
          if (plain === 0) throw new Stop('syntax', this.pos)
          out[at++] = plain
        }
      }
    }
    this.text = out
    this.textStart = 0
    this.textEnd = at
    this.pos = pos
  }

  /** Room for a decoded string: never longer than its token, which ends at the next quote that no backslash hides. */
  #room(start: number, from: number): Uint8Array {
    let pos = from
    while (pos < this.end && this.bytes[pos] !== 0x22) pos += this.bytes[pos] === 0x5c ? 2 : 1
    if (this.#scratch.length < pos - start) this.#scratch = new Uint8Array(Math.max(256, pos - start))
    return this.#scratch
  }

  /** The code point of `\uXXXX` (and of a second one, for a pair) from its digits at `pos`. */
  #codePoint(pos: number): number {
    const unit = this.#hex(pos)
    if (unit < 0xd800 || unit > 0xdfff) return unit
    const { bytes } = this
    if (unit > 0xdbff || bytes[pos + 4] !== 0x5c || bytes[pos + 5] !== 0x75) throw new Stop('encoding', this.pos)
    const low = this.#hex(pos + 6)
    if (low < 0xdc00 || low > 0xdfff) throw new Stop('encoding', this.pos)
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
  }

  #hex(pos: number): number {
    let value = 0
    if (pos + 4 > this.end) throw new Stop('syntax', this.pos)
    for (let i = pos; i < pos + 4; i++) {
      const byte = this.bytes[i]
      const lower = byte | 0x20
      if (byte >= 0x30 && byte <= 0x39) value = value * 16 + byte - 0x30
      else if (lower >= 0x61 && lower <= 0x66) value = value * 16 + lower - 0x57
      else throw new Stop('syntax', this.pos)
    }
    return value
  }

  /** Whether a bare word stands at `pos`; reads it. */
  word(word: string): boolean {
    if (this.pos + word.length > this.end) return false
    for (let i = 0; i < word.length; i++) if (this.bytes[this.pos + i] !== word.charCodeAt(i)) return false
    this.pos += word.length
    return true
  }

  /** Reads a scalar into a column. Stops on anything else, and on a kind that the column does not take. */
  scalar(into: ColumnBuilder): void {
    const byte = this.peek()
    const start = this.pos
    let fits = true
    if (byte === 0x22) {
      this.string()
      fits = into.str(this.text, this.textStart, this.textEnd)
    } else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) fits = this.#number(into)
    else if (byte === 0x5b || byte === 0x7b) throw new Stop('nested', start)
    else if (byte === 0x74 && this.word('true')) fits = into.bool(true)
    else if (byte === 0x66 && this.word('false')) fits = into.bool(false)
    else if ((byte === 0x6e && this.word('null')) || (byte === 0x4e && this.word('NaN'))) into.null()
    else if (byte === 0x49 && this.word('Infinity')) fits = into.float(Number.POSITIVE_INFINITY)
    else throw new Stop('syntax', start)
    if (!fits) throw new Stop('kind', start)
  }

  #number(into: ColumnBuilder): boolean {
    const start = this.pos
    const next = scanNumber(this.bytes, start, this.end)
    if (next === -1) {
      if (this.word('-Infinity')) return into.float(Number.NEGATIVE_INFINITY)
      throw new Stop('syntax', start)
    }
    this.pos = next
    if (!scanned.integer) {
      if (!Number.isFinite(scanned.value)) throw new Stop('range', start)
      return into.float(scanned.value)
    }
    if (scanned.exact) return into.int(scanned.value)
    // A token of more digits cannot be in range, and BigInt takes quadratic time on long ones.
    const value = next - start > 20 ? maxInt64 + 1n : BigInt(asciiText(this.bytes, start, next))
    if (value < minInt64 || value > maxInt64) throw new Stop('range', start)
    return into.bigint(value)
  }
}

const plainEscapes: Readonly<Record<number, number>> = {
  34: 0x22,
  92: 0x5c,
  47: 0x2f,
  98: 0x08,
  102: 0x0c,
  110: 0x0a,
  114: 0x0d,
  116: 0x09,
}

function writeUtf8(out: Uint8Array, at: number, code: number): number {
  if (code < 0x80) out[at++] = code
  else if (code < 0x800) {
    out[at++] = 0xc0 | (code >> 6)
    out[at++] = 0x80 | (code & 0x3f)
  } else {
    if (code < 0x10000) out[at++] = 0xe0 | (code >> 12)
    else {
      out[at++] = 0xf0 | (code >> 18)
      out[at++] = 0x80 | ((code >> 12) & 0x3f)
    }
    out[at++] = 0x80 | ((code >> 6) & 0x3f)
    out[at++] = 0x80 | (code & 0x3f)
  }
  return at
}
