/**
 * JSON grammar (RFC 8259) without values: how deep a text nests, and where a broken one breaks.
 * @module
 */

/** The most levels of lists and objects in a JSON body: our choice, above what data needs and far below what recursion bears. */
export const maxJsonDepth = 128

const quote = 0x22
const backslash = 0x5c

/**
 * Offset of the bracket that goes deeper than {@link maxJsonDepth}, else -1. Right for every valid text; JSON.parse judges the rest.
 * **Units**: bytes. **Cost**: about a nanosecond a byte; nothing for bodies too short to be deep.
 */
export function tooDeepAt(json: Uint8Array): number {
  if (json.length <= maxJsonDepth * 2) return -1
  let depth = 0
  let inString = false
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]
    if (inString) {
      if (byte === backslash) i++
      else if (byte === quote) inString = false
    } else if (byte === quote) inString = true
    // [ is 5b, { is 7b, ] is 5d, } is 7d: bit 5 aside, one comparison each.
    else if ((byte | 0x20) === 0x7b) {
      if (++depth > maxJsonDepth) return i
    } else if ((byte | 0x20) === 0x7d) depth--
  }
  return -1
}

// One token of the grammar, from where the last one ended.
const token = /[ \t\n\r]*(?:([[\]{}:,])|("(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|($))/y

/**
 * Where a text that JSON.parse refused stops being JSON. **Units**: UTF-16 code units from the start.
 * **Cost**: only on errors.
 */
export function syntaxErrorAt(text: string): number {
  const open: string[] = []
  // What may come next: a value, a value or the end of a list, a key, a key or the end of an object, a colon, a comma or an end.
  let want: 'value' | 'first' | 'key' | 'firstKey' | 'colon' | 'comma' = 'value'
  let at = 0
  for (;;) {
    token.lastIndex = at
    const match = token.exec(text)
    const start = at + (/[ \t\n\r]*/y.exec(text.slice(at))?.[0].length ?? 0)
    if (match === null) return start
    at = token.lastIndex
    const [, mark, string] = match
    const closes = mark === ']' || mark === '}'
    if (match[4] !== undefined) return text.length
    if (closes) {
      const fits = open[open.length - 1] === (mark === ']' ? '[' : '{')
      if (!fits || (want !== 'comma' && want !== (mark === ']' ? 'first' : 'firstKey'))) return start
      open.pop()
      want = 'comma'
    } else if (mark === ',') {
      if (want !== 'comma' || open.length === 0) return start
      want = open[open.length - 1] === '[' ? 'value' : 'key'
    } else if (mark === ':') {
      if (want !== 'colon') return start
      want = 'value'
    } else if (want === 'key' || want === 'firstKey') {
      if (string === undefined) return start
      want = 'colon'
    } else if (want !== 'value' && want !== 'first') return start
    else if (mark !== undefined) {
      open.push(mark)
      want = mark === '[' ? 'first' : 'firstKey'
    } else want = 'comma'
  }
}
