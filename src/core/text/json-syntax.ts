/** Most levels of lists and objects in a JSON body, far below what recursion bears. */
export const maxJsonDepth = 128

const quote = 0x22
const backslash = 0x5c

/** Whether a byte is JSON white space. */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** Returns the offset of the first non-blank byte from `pos` on. */
export function skipSpace(json: Uint8Array, pos: number, end: number): number {
  while (pos < end && isSpace(json[pos])) pos++
  return pos
}

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39
const words = ['true', 'false', 'null'].map((word) => Uint8Array.from(word, (letter) => letter.charCodeAt(0)))
const escapes = new Set([...'"\\/bfnrtu'].map((letter) => letter.charCodeAt(0)))

/** Returns the offset of the first wrong token of a text that JSON.parse refused; its length if it ends too early. */
export function syntaxErrorAt(json: Uint8Array): number {
  // What may come next; `first` and `firstKey` also allow a closing bracket.
  let want: 'value' | 'first' | 'key' | 'firstKey' | 'colon' | 'comma' = 'value'
  const open: number[] = []
  for (let i = 0; ; ) {
    while (isSpace(json[i])) i++
    const start = i
    if (start >= json.length) return json.length
    const byte = json[i++]
    const inner = open[open.length - 1]
    if (byte === 0x5d || byte === 0x7d) {
      // A closing bracket is its opening one plus 2.
      if (inner !== byte - 2 || (want !== 'comma' && want !== (byte === 0x5d ? 'first' : 'firstKey'))) return start
      open.pop()
      want = 'comma'
    } else if (byte === 0x2c) {
      if (want !== 'comma' || inner === undefined) return start
      want = inner === 0x5b ? 'value' : 'key'
    } else if (byte === 0x3a) {
      if (want !== 'colon') return start
      want = 'value'
    } else if (byte === quote && (want === 'key' || want === 'firstKey')) {
      i = stringEnd(json, start)
      want = 'colon'
    } else if (want !== 'value' && want !== 'first') return start
    else if (byte === 0x5b || byte === 0x7b) {
      open.push(byte)
      want = byte === 0x5b ? 'first' : 'firstKey'
    } else {
      i =
        byte === quote
          ? stringEnd(json, start)
          : byte === 0x2d || isDigit(byte)
            ? numberEnd(json, start)
            : wordEnd(json, start)
      want = 'comma'
    }
    if (i === -1) return start
  }
}

function stringEnd(json: Uint8Array, start: number): number {
  for (let i = start + 1; i < json.length; i++) {
    const byte = json[i]
    if (byte === quote) return i + 1
    if (byte < 0x20) return -1
    if (byte !== backslash) continue
    const escape = json[++i]
    if (!escapes.has(escape)) return -1
    if (escape === 0x75) for (const end = i + 4; i < end; ) if (!isHex(json[++i])) return -1
  }
  return -1
}

function numberEnd(json: Uint8Array, start: number): number {
  let pos = json[start] === 0x2d ? start + 1 : start
  const skipDigits = () => {
    const first = pos
    while (isDigit(json[pos])) pos++
    return pos > first
  }
  if (json[pos] === 0x30) pos++
  else if (!skipDigits()) return -1
  if (json[pos] === 0x2e) {
    pos++
    if (!skipDigits()) return -1
  }
  if ((json[pos] | 0x20) === 0x65) {
    pos++
    if (json[pos] === 0x2b || json[pos] === 0x2d) pos++
    if (!skipDigits()) return -1
  }
  return pos
}

function isHex(byte: number): boolean {
  const lower = byte | 0x20
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66)
}

function wordEnd(json: Uint8Array, start: number): number {
  for (const word of words) {
    let i = 0
    while (i < word.length && json[start + i] === word[i]) i++
    if (i === word.length) return start + i
  }
  return -1
}
