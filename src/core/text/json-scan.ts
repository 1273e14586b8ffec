/**
 * One pass over a JSON text that measures it before anything is built: nesting, values, memory.
 * @module
 */
import type { Slices } from '../memory/slices.ts'
import { maxJsonDepth } from './json-syntax.ts'

/** What a JSON text would come to. Right for every valid text; JSON.parse judges the rest. */
export interface JsonMeasure {
  /** Offset of the bracket that goes deeper than {@link maxJsonDepth}; -1 for none. **Units**: bytes. */
  readonly deepAt: number
  /** Offset of a number or of blanks of more than {@link maxStretchBytes}; -1 for none. **Units**: bytes. */
  readonly longAt: number
  /** Commas and opening brackets: at least the number of values but one, at most twice that. */
  readonly values: number
  /** Memory that the values take, estimated. **Units**: bytes. **Source**: measured with V8 11.3 (Node 20). */
  readonly memory: number
  /** Work of JSON.parse, estimated. **Units**: some 20 to 300 ns each. */
  readonly work: number
  /** Whether there may be numbers that a double does not hold: an exponent, or 16 digits in a row. */
  readonly mayHoldBigNumbers: boolean
}

// Of an empty object 56 bytes and a place in its list; of a string half of what a short one takes, since keys are
// shared.
const containerBytes = 64
const valueBytes = 8
const stringBytes = 12
/** What containers cost to make, where a number in a list costs 1 and a string 2. */
export const containerWork = 4

// A slice of a scan takes half a millisecond.
const sliceBytes = 1 << 18

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const minus = 0x2d
const blank = 0x20
/** 1 for what is neither text nor part of a number: brackets, commas, quotes, and e, which may be an exponent. */
const isMark = Uint8Array.from({ length: 256 }, (_, byte) => ('[]{},"eE'.includes(String.fromCharCode(byte)) ? 1 : 0))
// Every integer of 15 digits is a double.
const maxHeldBytes = 16
/**
 * Maximum number of bytes between two values: our choice. JSON.parse cannot be interrupted in a number, which takes
 * 15 ns a digit, nor in blanks.
 */
export const maxStretchBytes = 1 << 20

/** Measures a JSON text at once. **Cost**: about a nanosecond a byte. */
export function measureJsonAtOnce(json: Uint8Array): JsonMeasure {
  const scan = new Scan(json)
  scan.runTo(json.length)
  return scan
}

/**
 * Returns the offset of the bracket that goes deeper than {@link maxJsonDepth}, else -1. Right for every valid text;
 * JSON.parse judges the rest. **Cost**: nothing for texts too short to be deep.
 */
export function tooDeepAt(json: Uint8Array): number {
  return json.length <= maxJsonDepth * 2 ? -1 : measureJsonAtOnce(json).deepAt
}

/** As {@link measureJsonAtOnce}, in slices. */
export function* measureJson(json: Uint8Array): Slices<JsonMeasure> {
  const scan = new Scan(json)
  for (let end = sliceBytes; end < json.length && scan.deepAt === -1; end += sliceBytes) {
    scan.runTo(end)
    if (scan.longAt !== -1) return scan
    yield
  }
  scan.runTo(json.length)
  return scan
}

class Scan implements JsonMeasure {
  deepAt = -1
  longAt = -1
  readonly #json: Uint8Array
  #at = 0
  #inString = false
  #depth = 0
  #containers = 0
  #strings = 0
  #commas = 0
  // Where the value or the key starts that is being read, as far as brackets, commas and strings tell.
  #start = -1
  #hasExponent = false
  #hasLong = false

  constructor(json: Uint8Array) {
    this.#json = json
  }

  get values(): number {
    return this.#commas + this.#containers
  }

  get memory(): number {
    return this.#containers * containerBytes + this.#strings * stringBytes + this.#commas * valueBytes
  }

  get work(): number {
    return this.#containers * containerWork + this.#strings * 2 + this.#commas
  }

  get mayHoldBigNumbers(): boolean {
    // A text of one number has nothing behind it.
    return this.#hasExponent || this.#hasLong || this.#at - this.#start > maxHeldBytes
  }

  runTo(end: number): void {
    if (this.deepAt !== -1) return
    const json = this.#json
    let i = this.#at
    let inString = this.#inString
    let depth = this.#depth
    let containers = 0
    let strings = 0
    let commas = 0
    let start = this.#start
    let hasLong = this.#hasLong
    for (; i < end; i++) {
      if (inString) {
        for (let byte = json[i]; byte !== quote && i < end; byte = json[i]) i += byte === backslash ? 2 : 1
        if (i >= end) break
        inString = false
        start = i
        continue
      }
      const byte = json[i]
      // Most bytes are those of numbers, words and blanks.
      if (isMark[byte] === 0) continue
      if (byte === comma) {
        commas++
        if (i - start > maxHeldBytes && startsLong(json, start + 1, i)) hasLong = true
        start = i
      } else if (byte === quote) {
        inString = true
        strings++
      }
      // [ is 5b, { is 7b, ] is 5d, } is 7d: bit 5 aside, one comparison each.
      else if ((byte | 0x20) === 0x7b) {
        containers++
        start = i
        if (++depth > maxJsonDepth) {
          this.deepAt = i
          return
        }
      } else if ((byte | 0x20) === 0x7d) {
        depth--
        if (i - start > maxHeldBytes && startsLong(json, start + 1, i)) hasLong = true
        start = i
      }
      // The e of true and false has a letter before it.
      else if (json[i - 1] < 0x40) this.#hasExponent = true
    }
    // Looked at here only: a slice is shorter than what is allowed.
    if (!inString && i - start > maxStretchBytes) this.longAt = start + 1
    this.#start = start
    this.#hasLong = hasLong
    this.#at = i
    this.#inString = inString
    this.#depth = depth
    this.#containers += containers
    this.#strings += strings
    this.#commas += commas
  }
}

/** Whether the value from `start` to `end` begins with as many digits as a double may not hold. */
function startsLong(json: Uint8Array, start: number, end: number): boolean {
  let i = start
  while (i < end && (json[i] <= blank || json[i] === colon)) i++
  const long = i + maxHeldBytes
  while (i < long && i < end && (json[i] === minus || (json[i] >= 0x30 && json[i] <= 0x39))) i++
  return i === long
}
