/**
 * Numbers of a JSON text that a double cannot hold: integers that JSON.parse would round, and too large ones. @module
 */
import { randomHex } from '../platform.ts'
import { parseText } from './parse-text.ts'

/** How numbers that a double cannot hold are treated. */
export type BigNumbers = 'error' | 'bigint' | 'round'

/** A number of a text. */
export interface BigNumber {
  readonly start: number
  readonly text: string
  /** False: above the largest double. */
  readonly isInteger: boolean
}

// Not whole strings: a regular expression needs stack for each of their characters.
const token = /\\.|"|-?\d[\d.eE+-]*/gs
// Every integer of 15 digits is a double.
const maxHeldDigits = 15

/**
 * Those with a fraction or exponent are doubles.
 *
 * @returns the numbers of a valid text that JSON.parse would change.
 */
export function bigNumbersIn(text: string): BigNumber[] {
  const found: BigNumber[] = []
  let inString = false
  for (const { 0: part, index } of text.matchAll(token)) {
    if (part === '"') inString = !inString
    else if (!inString && (part.length > maxHeldDigits || /e/i.test(part))) {
      const value = Number(part)
      const isInteger = Number.isFinite(value) && /^-?\d+$/.test(part)
      const isHeld = isInteger
        ? Number.isSafeInteger(value) || BigInt(part) === BigInt(value)
        : Number.isFinite(value)
      if (!isHeld) found.push({ start: index, text: part, isInteger })
    }
  }
  return found
}

/**
 * Parses a text with these integers as bigints.
 *
 * @throws SyntaxError, as JSON.parse.
 */
export function parseWithBigInts(json: string, integers: readonly BigNumber[]): unknown {
  // 128 random bits: no string of the text begins with them by chance.
  const mark = randomHex(16)
  let marked = ''
  let at = 0
  for (const { start, text } of integers) {
    marked += `${json.slice(at, start)}"${mark}${text}"`
    at = start + text.length
  }
  return parseText(marked + json.slice(at), (_, value) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  )
}
