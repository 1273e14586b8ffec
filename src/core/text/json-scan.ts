import { addon } from '../native/add-on.ts'
import { measureWord, wordsOf } from '../native/shared-numbers.ts'
import { latin1Text } from '../platform.ts'
import { maxJsonDepth } from './json-syntax.ts'

/** What parsing a JSON text would produce. Right for every valid text; JSON.parse judges the rest. */
export interface JsonMeasure {
  /** Offset of the first bracket deeper than {@link maxJsonDepth}; -1 without one. **Units**: bytes. */
  readonly deepAt: number
  /** Commas and opening brackets: between one and two times the number of values. */
  readonly values: number
  /** Most keys of one object, duplicates counted. */
  readonly widest: number
  /** Whether an exponent or 16 digits in a row occur. */
  readonly mayHoldBigNumbers: boolean
}

const words = new Float64Array(wordsOf(measureWord))

/** Measures a JSON text. */
export function measureJson(json: Uint8Array): JsonMeasure {
  if (addon === undefined) return measureWithoutAddon(json)
  addon.measureJson(json, words)
  return {
    deepAt: words[measureWord.deepAt],
    values: words[measureWord.values],
    widest: words[measureWord.widest],
    mayHoldBigNumbers: words[measureWord.mayHoldBigNumbers] === 1,
  }
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const closeObject = 0x7d
// Every integer of 15 digits is a double; a negative exponent makes no number large.
const bigNumber = /(?<![\d.])[-\d]\d{15}|\de[^-]/i

/** As {@link measureJson}; also takes numbers in strings for big ones. */
export function measureWithoutAddon(json: Uint8Array): JsonMeasure {
  const mayHoldBigNumbers = bigNumber.test(latin1Text(json))
  // Commas so far in each open list or object.
  const outer: number[] = []
  let values = 0
  let commas = 0
  let widest = 0
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]
    // Bit 5 aside, [ and { are alike, and so are ] and }.
    const bracket = byte | 0x20
    if (byte === comma) {
      values++
      commas++
    } else if (byte === quote) {
      i++
      while (i < json.length && json[i] !== quote) i += json[i] === backslash ? 2 : 1
    } else if (bracket === 0x7b) {
      if (outer.length === maxJsonDepth) return { deepAt: i, values, widest, mayHoldBigNumbers }
      outer.push(commas)
      values++
      commas = 0
    } else if (bracket === 0x7d) {
      if (byte === closeObject) widest = Math.max(widest, commas + 1)
      commas = outer.pop() ?? commas
    }
  }
  return { deepAt: -1, values, widest, mayHoldBigNumbers }
}
