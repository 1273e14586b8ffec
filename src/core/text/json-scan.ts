import { maxJsonDepth } from './json-syntax.ts'

/** What parsing a JSON text would produce. Right for every valid text; JSON.parse judges the rest. */
export interface JsonMeasure {
  /** Offset of the first bracket deeper than {@link maxJsonDepth}; -1 without one. **Units**: bytes. */
  readonly deepAt: number
  /** Offset of a number with blanks above {@link maxStretchBytes}; -1 without one. **Units**: bytes. */
  readonly longAt: number
  /** Commas and opening brackets: between one and two times the number of values. */
  readonly values: number
  /** Most keys of one object, duplicates counted. */
  readonly widest: number
  /** Whether an exponent or 16 digits in a row occur. */
  readonly mayHoldBigNumbers: boolean
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const minus = 0x2d
const blank = 0x20
const closeObject = 0x7d
/** 1 for brackets, commas, quotes, and e, which may be an exponent. */
const isMark = Uint8Array.from({ length: 256 }, (_, byte) => ('[]{},"eE'.includes(String.fromCharCode(byte)) ? 1 : 0))
// Every integer of 15 digits is a double.
const maxHeldBytes = 16
/** Most bytes of a number with its blanks: JSON.parse cannot be interrupted in either. */
export const maxStretchBytes = 1 << 20
// Commas so far in each open list or object.
const outerCommas = new Uint32Array(maxJsonDepth)

/** Measures a JSON text. */
export function measureJson(json: Uint8Array): JsonMeasure {
  let depth = 0
  let values = 0
  let commas = 0
  let widest = 0
  let longAt = -1
  let mayHoldBigNumbers = false
  // Where the current value or key starts.
  let start = 0
  const endValue = (end: number) => {
    if (startsLong(json, start, end)) mayHoldBigNumbers = true
    if (end - start > maxStretchBytes && longAt === -1) longAt = start
  }
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]
    if (isMark[byte] === 0) continue
    if (byte === comma) {
      if (i - start >= maxHeldBytes) endValue(i)
      values++
      commas++
      start = i + 1
    } else if (byte === quote) {
      i++
      for (let next = json[i]; next !== quote && i < json.length; next = json[i]) i += next === backslash ? 2 : 1
      start = i + 1
    }
    // Bit 5 aside, [ and { are alike, and so are ] and }.
    else if ((byte | 0x20) === 0x7b) {
      if (depth === maxJsonDepth) return { deepAt: i, longAt, values, widest, mayHoldBigNumbers }
      outerCommas[depth++] = commas
      values++
      commas = 0
      start = i + 1
    } else if ((byte | 0x20) === 0x7d) {
      if (i - start >= maxHeldBytes) endValue(i)
      if (byte === closeObject && commas >= widest) widest = commas + 1
      if (depth > 0) commas = outerCommas[--depth]
      start = i + 1
    }
    // The e of true and false follows a letter; a negative exponent makes no number large.
    else if (json[i - 1] < 0x40 && json[i + 1] !== minus) mayHoldBigNumbers = true
  }
  endValue(json.length)
  return { deepAt: -1, longAt, values, widest, mayHoldBigNumbers }
}

/** Returns the offset of the first bracket deeper than {@link maxJsonDepth}, else -1. For valid texts. */
export function tooDeepAt(json: Uint8Array): number {
  return json.length <= maxJsonDepth * 2 ? -1 : measureJson(json).deepAt
}

/** Whether the value begins with as many digits as a double may not hold. */
function startsLong(json: Uint8Array, start: number, end: number): boolean {
  let i = start
  while (i < end && (json[i] <= blank || json[i] === colon)) i++
  const long = i + maxHeldBytes
  while (i < long && i < end && (json[i] === minus || (json[i] >= 0x30 && json[i] <= 0x39))) i++
  return i === long
}
