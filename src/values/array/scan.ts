/**
 * Tokens of a JSON array's text: words, strings and their UTF-8. Numbers are read by `number-text.ts`.
 * @module
 */
import { asciiText, scanNumber } from '../../core/text/number-text.ts'
import { illFormedAt } from '../../core/text/utf8.ts'
import type { ParseFailure } from './number-codec.ts'

interface Utf8Text {
  utf8Slice(this: Uint8Array, start: number, end: number): string
}
const { utf8Slice } = Buffer.prototype as unknown as Utf8Text

type Token = 'number' | 'word' | 'true' | 'false' | 'null' | 'string'

/** The last scanned scalar; one object for all calls, since a scan makes no garbage but strings. */
export const token = {
  kind: 'null' as Token,
  /** NaN or an infinity. */
  word: 0,
  /** A string, decoded. */
  text: '',
  /** Whether any string since this was cleared held bytes from 0x80 up: then its UTF-8 is still to be checked. */
  sawNonAscii: false,
}

/** Reads one scalar into {@link token}. Returns the offset after it, or -1 if there is no scalar. */
export function scanScalar(json: Uint8Array, start: number, end: number): number {
  if (start >= end) return -1
  switch (json[start]) {
    case 0x22:
      token.kind = 'string'
      return scanString(json, start, end)
    case 0x6e:
      token.kind = 'null'
      return scanWord(json, start, end, 'null')
    case 0x74:
      token.kind = 'true'
      return scanWord(json, start, end, 'true')
    case 0x66:
      token.kind = 'false'
      return scanWord(json, start, end, 'false')
    case 0x4e:
      token.kind = 'word'
      token.word = Number.NaN
      return scanWord(json, start, end, 'NaN')
    case 0x49:
      token.kind = 'word'
      token.word = Number.POSITIVE_INFINITY
      return scanWord(json, start, end, 'Infinity')
    case 0x2d:
      if (json[start + 1] === 0x49) {
        token.kind = 'word'
        token.word = Number.NEGATIVE_INFINITY
        return scanWord(json, start, end, '-Infinity')
      }
  }
  token.kind = 'number'
  return scanNumber(json, start, end)
}

function scanWord(json: Uint8Array, start: number, end: number, word: string): number {
  if (start + word.length > end) return -1
  for (let i = 1; i < word.length; i++) if (json[start + i] !== word.charCodeAt(i)) return -1
  return start + word.length
}

/** Reads a string into {@link token}, decoded as JSON.parse does. Returns the offset behind it, or -1. */
export function scanString(json: Uint8Array, start: number, end: number): number {
  let pos = start + 1
  let seen = 0
  let escaped = false
  for (; ; pos++) {
    if (pos >= end) return -1
    const byte = json[pos]
    if (byte === 0x22) break
    if (byte < 0x20) return -1
    seen |= byte
    if (byte === 0x5c) {
      escaped = true
      // The escaped byte may be a quotation mark; whether it is a known escape is for JSON.parse to tell.
      pos++
      if (pos >= end || json[pos] < 0x20) return -1
    }
  }
  if (seen & 0x80) token.sawNonAscii = true
  if (!escaped) {
    token.text = seen & 0x80 ? utf8Slice.call(json, start + 1, pos) : asciiText(json, start + 1, pos)
    return pos + 1
  }
  try {
    token.text = JSON.parse(utf8Slice.call(json, start, pos + 1)) as string
  } catch {
    return -1
  }
  return pos + 1
}

/**
 * Returns a failure as both codecs report it: `encoding` instead, where the text is not even UTF-8.
 * **Cost**: one pass by Node's vectorised check, and only on the way to a 400.
 */
export function checkEncoding(json: Uint8Array, failure: ParseFailure): ParseFailure {
  const offset = illFormedAt(json)
  return offset === -1 ? failure : { failure: 'encoding', offset }
}
