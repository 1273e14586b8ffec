/** JSON text by JSON.parse that keeps what numbers are written as, and takes NaN and the infinities. @module */
import { syntaxErrorAt } from './json-syntax.ts'
import { parseText } from './parse-text.ts'

const token = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|-?(?:\d[\d.eE+-]*|Infinity)|NaN/gs
const number = /^-?(?:(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity)$|^NaN$/

/**
 * Parses a text whose numbers become strings: `n1.5`, beside `sText`. Keys begin with `s`, too, or
 * with their number (`0:text`), so that each of equal ones is kept.
 *
 * @throws SyntaxError.
 */
export function parseMarked(text: string, numbersKeys = false): unknown {
  let keys = 0
  const mark = (found: string, colon: string | undefined) => {
    if (found[0] !== '"') return number.test(found) ? `"n${found}"` : found
    return `"${numbersKeys && colon !== undefined ? `${keys++}:` : 's'}${found.slice(1)}`
  }
  return parseText(text.replace(token, mark))
}

/**
 * The place of a fault behind one of the words that JSON lacks is not known.
 *
 * @returns why a text is not JSON.
 */
export function syntaxFailure(json: Uint8Array, text: string, start = 0) {
  return {
    failure: 'syntax',
    ...(!/NaN|Infinity/.test(text) && { offset: start + syntaxErrorAt(json) }),
  } as const
}
