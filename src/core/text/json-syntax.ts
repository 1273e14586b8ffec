import { latin1Text } from '../platform.ts'

/** Most levels of lists and objects in a JSON body, far below what recursion bears. */
export const maxJsonDepth = 128

/** Whether a byte is JSON white space. */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** @returns the offset of the first non-blank byte from `pos` on. */
export function skipSpace(json: Uint8Array, pos: number, end: number): number {
  while (pos < end && isSpace(json[pos])) pos++
  return pos
}

const blanks = /[ \n\r\t]*/y
// Digits are taken whole, so that a number does not end before its fraction or exponent.
const scalar =
  /-?(?:0|[1-9]\d*(?!\d))(?:\.\d+(?!\d)|(?!\.))(?:[eE][+-]?\d+|(?![eE]))|true|false|null/y
// Not whole strings: a regular expression needs stack for each escape.
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those are wrong in strings
const stringPart = /[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

type Wanted = 'value' | 'first' | 'key' | 'firstKey' | 'colon' | 'comma'

/** What may come right after an opening bracket. */
const wantedFirst: Readonly<Record<string, Wanted>> = { '[': 'first', '{': 'firstKey' }

/**
 * @returns the offset of the first wrong token of a text that JSON.parse refused; its length if it
 * ends too early.
 */
export function syntaxErrorAt(json: Uint8Array): number {
  const text = latin1Text(json)
  // What may come next; `first` and `firstKey` also allow a closing bracket.
  let want: Wanted = 'value'
  const open: string[] = []
  for (let end = 0; ; ) {
    const start = endOf(blanks, text, end)
    if (start >= text.length) return start
    const token = text[start]
    const inner = open.at(-1)
    end = start + 1
    if (token === ']' || token === '}') {
      const isPair = ['[]', '{}'].includes(`${inner}${token}`)
      if (!isPair || (want !== 'comma' && want !== wantedFirst[inner ?? ''])) return start
      open.pop()
      want = 'comma'
    } else if (token === ',') {
      if (want !== 'comma' || inner === undefined) return start
      want = inner === '[' ? 'value' : 'key'
    } else if (token === ':') {
      if (want !== 'colon') return start
      want = 'value'
    } else if (want === 'key' || want === 'firstKey') {
      end = token === '"' ? stringEnd(text, start) : -1
      want = 'colon'
    } else if (want !== 'value' && want !== 'first') return start
    else if (token === '[' || token === '{') {
      open.push(token)
      want = wantedFirst[token]
    } else {
      end = token === '"' ? stringEnd(text, start) : endOf(scalar, text, start)
      want = 'comma'
    }
    if (end === -1) return start
  }
}

function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (at !== -1 && text[at] !== '"') at = endOf(stringPart, text, at)
  if (at === -1) return -1
  return at + 1
}

/** @returns where a match of the sticky expression ends; -1 without a match at this place. */
function endOf(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at
  if (expression.test(text)) return expression.lastIndex
  return -1
}
