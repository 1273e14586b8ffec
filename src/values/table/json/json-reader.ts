/**
 * Tokens of JSON text, one after another, with the byte offset of each.
 * @module
 */

import { skipSpace } from '../../../core/text/json-syntax.ts'
import { asciiText, scanned } from '../../../core/text/number-text.ts'
import { scanScalar, scanString, token } from '../../array/scan.ts'
import type { FrameFailureKind } from './frame-codec.ts'

/** Thrown by {@link JsonReader}; never leaves the codec. */
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

/** An element. Integers beyond ±2^53 are bigints; lists and objects are their text. */
export type Scalar = null | boolean | number | bigint | string

/**
 * What an element is, `null` included. Numbers written as integers are `int`, those beyond int64 `uint`; `json` is a
 * list or an object, as it was written.
 */
export type ScalarKind = 'null' | 'bool' | 'int' | 'uint' | 'float' | 'str' | 'json'

/** Reads one text of valid UTF-8. Every function skips white space first and throws {@link Stop}. */
export class JsonReader {
  readonly #bytes: Buffer
  pos = 0
  /** The kind of the last {@link scalar}. */
  kind: ScalarKind = 'null'

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Returns the next byte that is not white space, without reading it; undefined at the end. */
  peek(): number | undefined {
    this.pos = skipSpace(this.#bytes, this.pos, this.#bytes.length)
    return this.#bytes[this.pos]
  }

  /** Reads `byte`. */
  expect(byte: number): void {
    if (this.peek() !== byte) throw new Stop('syntax', this.pos)
    this.pos++
  }

  /** Reads a list or an object: both brackets, and the commas between what `each` reads. */
  elements(open: '[' | '{', each: () => void): void {
    const close = open === '[' ? 0x5d : 0x7d
    this.expect(open.charCodeAt(0))
    if (this.peek() === close) {
      this.pos++
      return
    }
    for (;;) {
      each()
      const byte = this.peek()
      if (byte !== 0x2c && byte !== close) throw new Stop('syntax', this.pos)
      this.pos++
      if (byte === close) return
    }
  }

  /** Reads an object. `each` reads the value of a key, which starts at `start`. */
  members(each: (key: string, start: number) => void): void {
    this.elements('{', () => {
      if (this.peek() !== 0x22) throw new Stop('syntax', this.pos)
      const start = this.pos
      const key = this.#string()
      this.expect(0x3a)
      each(key, start)
    })
  }

  /** Reads an element. */
  scalar(): Scalar {
    const byte = this.peek()
    const start = this.pos
    if (byte === 0x5b || byte === 0x7b) {
      this.skipNested()
      this.kind = 'json'
      return this.#bytes.toString('utf8', start, this.pos)
    }
    const end = scanScalar(this.#bytes, start, this.#bytes.length)
    if (end === -1) throw new Stop('syntax', start)
    this.pos = end
    switch (token.kind) {
      case 'string':
        this.kind = 'str'
        return this.#wellFormed(start)
      case 'number':
        return this.#number(start)
      case 'null':
        this.kind = 'null'
        return null
      case 'word':
        this.kind = Number.isNaN(token.word) ? 'null' : 'float'
        return Number.isNaN(token.word) ? null : token.word
      default:
        this.kind = 'bool'
        return token.kind === 'true'
    }
  }

  /** Returns the text from `start` on to where it was read. */
  written(start: number): string {
    return this.#bytes.toString('utf8', start, this.pos)
  }

  /** Returns ASCII text from `start` to `end`. */
  text(start: number, end: number): string {
    return this.#bytes.toString('latin1', start, end)
  }

  /** Reads a list or an object by its brackets and strings alone; returns where it starts and ends. */
  skipNested(): readonly [start: number, end: number] {
    const start = this.pos
    let depth = 0
    do {
      const byte = this.peek()
      if (byte === undefined) throw new Stop('syntax', this.pos)
      if (byte === 0x22) this.#string()
      else {
        if ((byte | 0x20) === 0x7b) depth++
        else if ((byte | 0x20) === 0x7d) depth--
        this.pos++
      }
    } while (depth > 0)
    return [start, this.pos]
  }

  #string(): string {
    const start = this.pos
    const end = scanString(this.#bytes, start, this.#bytes.length)
    if (end === -1) throw new Stop('syntax', start)
    this.pos = end
    return this.#wellFormed(start)
  }

  /** Returns the string that was read. */
  #wellFormed(start: number): string {
    if (!token.text.isWellFormed()) throw new Stop('encoding', start)
    return token.text
  }

  #number(start: number): number | bigint {
    this.kind = scanned.integer ? 'int' : 'float'
    // + 0: the integer -0 is 0.
    if (scanned.exact) return scanned.value + 0
    if (!scanned.integer) {
      if (!Number.isFinite(scanned.value)) throw new Stop('range', start)
      return scanned.value
    }
    // A token of more digits cannot be in range, and BigInt takes quadratic time on long ones.
    const value = this.pos - start > 20 ? 2n ** 64n : BigInt(asciiText(this.#bytes, start, this.pos))
    if (BigInt.asIntN(64, value) === value) return value
    if (BigInt.asUintN(64, value) !== value) throw new Stop('range', start)
    this.kind = 'uint'
    return value
  }
}
