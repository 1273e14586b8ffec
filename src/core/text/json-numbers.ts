/**
 * Numbers of a JSON text that a double does not hold: integers that JSON.parse would round, and what is above the
 * largest double.
 * @module
 */
import { randomBytes } from 'node:crypto'

/** How numbers that a double does not hold are treated. */
export type BigNumbers = 'error' | 'bigint' | 'round'

/** A number of a text. */
export interface BigNumber {
  /** **Units**: bytes. */
  readonly start: number
  readonly end: number
  readonly text: string
  /** False: above the largest double. */
  readonly isInteger: boolean
}

const quote = 0x22
const backslash = 0x5c
const dot = 0x2e
const plus = 0x2b
const minus = 0x2d
const letterE = 0x65

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39

/**
 * Finds the numbers of a valid text that JSON.parse would change, in their order. Integers with a fraction or an
 * exponent count as doubles, which are rounded as ever.
 * **Cost**: looks at every third byte of text and at every byte of numbers: 0.1 to 1 ns a byte.
 */
export function* bigNumbersOf(json: Uint8Array): Generator<BigNumber, void, undefined> {
  // How far the text was searched for strings, and whether a string was open there.
  let searched = 0
  let inString = false
  // Where the number ends that was looked at last: a text of 1e111e111e111… must not be looked at again for every e.
  let seen = 0
  // A number in question has three digits in a row, so one at a multiple of three.
  for (let i = 0; i < json.length; i += 3) {
    if (!isDigit(json[i])) continue
    let start = i
    while (start > seen && isDigit(json[start - 1])) start--
    let end = i + 1
    while (isDigit(json[end])) end++
    // The next multiple of three is the first behind the digits.
    i = end - 1 - ((end - 1) % 3)
    if (start < seen || (end - start < 16 && !isExponent(json, start)) || json[start - 1] === dot) continue
    const number = numberAround(json, start, end, seen)
    seen = number.end
    if (isHeld(number)) continue
    for (; searched < number.start; searched++) {
      const byte = json[searched]
      if (inString && byte === backslash) searched++
      else if (byte === quote) inString = !inString
    }
    if (!inString) yield number
  }
}

/** Whether the digits from `start` on are an exponent that is not negative. */
function isExponent(json: Uint8Array, start: number): boolean {
  const before = json[start - 1] === plus ? start - 2 : start - 1
  return (json[before] | 0x20) === letterE
}

/** Returns the number that has these digits. */
function numberAround(json: Uint8Array, digits: number, digitsEnd: number, floor: number): BigNumber {
  let start = digits
  while (start > floor && isNumberByte(json[start - 1])) start--
  let end = digitsEnd
  while (end < json.length && isNumberByte(json[end])) end++
  const text = Buffer.from(json.buffer, json.byteOffset + start, end - start).toString('latin1')
  return { start, end, text, isInteger: /^-?\d{1,309}$/.test(text) && Number.isFinite(Number(text)) }
}

/** Whether a double holds the number; true for what is none. */
function isHeld({ text, isInteger }: BigNumber): boolean {
  const value = Number(text)
  if (!isInteger) return Number.isFinite(value) || Number.isNaN(value)
  return Number.isSafeInteger(value) || BigInt(text) === BigInt(value)
}

function isNumberByte(byte: number): boolean {
  return isDigit(byte) || byte === dot || byte === plus || byte === minus || (byte | 0x20) === letterE
}

/** Parses a text with these integers of it as bigints. **Errors**: SyntaxError, as JSON.parse. */
export function parseWithBigInts(json: Uint8Array, integers: readonly BigNumber[]): unknown {
  const buffer = Buffer.from(json.buffer, json.byteOffset, json.length)
  // 128 random bits: no string of the text can begin with them but by guessing.
  const mark = randomBytes(16).toString('hex')
  let text = ''
  let at = 0
  for (const { start, end } of integers) {
    text += `${buffer.toString('utf8', at, start)}"${mark}${buffer.toString('latin1', start, end)}"`
    at = end
  }
  text += buffer.toString('utf8', at)
  return JSON.parse(text, (_, value) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  )
}
