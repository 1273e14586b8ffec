/**
 * Cuts the long values out of a JSON text, so that they can be read into typed arrays: what is left is short.
 *
 * Own code: JSON.parse makes a number of each element, and rounds int64; the add-on reads one value, not the members
 * of an object.
 * @module
 */
import { BadInput, PayloadTooLarge } from '../core/errors.ts'
import { isSpace, maxJsonDepth, skipSpace } from '../core/text/json-syntax.ts'
import { parseJson } from '../core/text/parse-json.ts'

/** A JSON text in two parts. */
export interface CutJson {
  /** The text as a value; where a value was cut out it has a {@link Cut} instead. */
  readonly value: unknown
  /** Returns the text of a value that was cut out, a view of the bytes; undefined for any other value. */
  textOf(value: unknown): Uint8Array | undefined
}

/** Which values are cut out: those of members with these names, of the text itself or of the elements of `inputs`. */
export interface CutRule {
  readonly of: 'text' | 'inputs'
  /** Those beyond ASCII are not found. */
  readonly names: readonly string[]
}

// Of what is left. **Units**: bytes.
const maxRestBytes = 1024 * 1024
// Up to here nesting cannot be too deep. **Units**: characters.
const shortLength = 2 * maxJsonDepth

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/**
 * Cuts values out of a JSON text and parses the rest. A value's text may be anything up to the next comma or bracket
 * that ends it: whoever reads it finds the errors in it.
 * **Errors**: BadInput `syntax`, PayloadTooLarge for more than 1 MiB beside the values.
 */
export function cutJson(bytes: Uint8Array, rule: CutRule): CutJson {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const cuts = findCuts(text, rule)
  let json = ''
  let at = 0
  // A string that no client can have put there by chance: the number of the cut behind a text of the process.
  for (let i = 0; i < cuts.length; i++) {
    json += `${text.toString('latin1', at, cuts[i][0])}"${mark}${i}"`
    at = cuts[i][1]
  }
  json += text.toString('latin1', at)
  return {
    value: parseRest(json, cuts),
    textOf(found) {
      if (typeof found !== 'string' || !found.startsWith(mark)) return undefined
      const cut = cuts[Number(found.slice(mark.length))]
      return cut === undefined ? undefined : bytes.subarray(cut[0], cut[1])
    },
  }
}

const mark = `cut ${crypto.randomUUID().slice(0, 8)} `

type Extent = readonly [start: number, end: number]

/** Parses what is left. **Errors**: BadInput with the offset in the whole text. */
function parseRest(json: string, cuts: readonly Extent[]): unknown {
  try {
    if (json.length <= shortLength && !/[^\t\n\r -~]/.test(json)) return JSON.parse(json)
  } catch {
    // Told with its place below.
  }
  try {
    return parseJson(Buffer.from(json, 'latin1'), 'the request')
  } catch (error) {
    if (!(error instanceof BadInput) || error.offset === undefined) throw error
    let offset = error.offset
    for (const [i, [start, end]] of cuts.entries()) {
      if (offset <= start) break
      offset += end - start - (mark.length + String(i).length + 2)
    }
    const message = error.message.replace(/at byte \d+$/, `at byte ${offset}`)
    throw new BadInput(message, { reason: error.reason, offset, cause: error })
  }
}

function findCuts(text: Buffer, { of, names }: CutRule): Extent[] {
  const cuts: Extent[] = []
  let depth = 0
  // Depth of the list `inputs`; 0 outside of it.
  let inputsDepth = 0
  let at = 0
  // Where the rest would be too long, unless more is cut out.
  let limit = maxRestBytes
  for (;;) {
    if (at > limit) {
      throw new PayloadTooLarge(`expected at most ${maxRestBytes} bytes of JSON beside the data, received more`)
    }
    if (at >= text.length) return cuts
    const byte = text[at]
    if (byte === quote) {
      const start = at + 1
      const end = stringEnd(text, at)
      const colon = skipSpace(text, end, text.length)
      if (text[colon] !== 0x3a) {
        at = end
        continue
      }
      at = skipSpace(text, colon + 1, text.length)
      const inInputs = inputsDepth > 0 && depth === inputsDepth + 1
      // Keys with escapes are none that we look for.
      if (of === 'inputs' && depth === 1 && text[at] === openList && isKey(text, start, end - 1, 'inputs')) {
        inputsDepth = 2
      } else if ((of === 'text' ? depth === 1 : inInputs) && names.some((name) => isKey(text, start, end - 1, name))) {
        const stop = valueEnd(text, at)
        cuts.push([at, stop])
        limit += stop - at
        at = stop
      }
      continue
    }
    if (byte === openList || byte === openObject) depth++
    else if (byte === closeList || byte === closeObject) {
      depth--
      if (depth < inputsDepth) inputsDepth = 0
    }
    at++
  }
}

function isKey(text: Buffer, start: number, end: number, key: string): boolean {
  if (end - start !== key.length) return false
  for (let i = 0; i < key.length; i++) if (text[start + i] !== key.charCodeAt(i)) return false
  return true
}

/** Returns the position behind a string that begins at `at`; the end of the text for one that is cut off. */
function stringEnd(text: Buffer, at: number): number {
  // Most are names, for which a call of indexOf takes longer.
  const near = Math.min(text.length, at + 32)
  for (let end = at + 1; end < near; end++) {
    if (text[end] === quote) return end + 1
    if (text[end] === backslash) break
  }
  for (let end = text.indexOf(quote, at + 1); end !== -1; end = text.indexOf(quote, end + 1)) {
    let slashes = 0
    while (text[end - 1 - slashes] === backslash) slashes++
    if (slashes % 2 === 0) return end + 1
  }
  return text.length
}

/** Returns the position behind a value that begins at `at`. */
function valueEnd(text: Buffer, at: number): number {
  if (text[at] === quote) return stringEnd(text, at)
  if (text[at] === openList) return listEnd(text, at)
  if (text[at] === openObject) return bracketedEnd(text, at)
  let end = at
  while (end < text.length && text[end] !== comma && text[end] !== closeObject && text[end] !== closeList) end++
  return end
}

function listEnd(text: Buffer, at: number): number {
  // A list without strings and objects ends in front of the object's end or of the next key, whichever is first.
  const next = text.indexOf(quote, at)
  const limit = next === -1 ? text.length : next
  const brace = text.subarray(at, limit).indexOf(closeObject)
  let end = brace === -1 ? limit : at + brace
  while (isSpace(text[end - 1])) end--
  if (brace !== -1 || text[end - 1] === comma) {
    if (brace === -1)
      do end--
      while (isSpace(text[end - 1]))
    if (text[end - 1] === closeList) return end
  }
  return bracketedEnd(text, at)
}

/** Returns the position behind the list or object that begins at `at`, by counting its brackets. */
function bracketedEnd(text: Buffer, at: number): number {
  let depth = 0
  while (at < text.length) {
    const byte = text[at]
    if (byte === quote) {
      at = stringEnd(text, at)
      continue
    }
    at++
    if (byte === openList || byte === openObject) depth++
    else if (byte === closeList || byte === closeObject) {
      depth--
      if (depth === 0) return at
    }
  }
  return at
}
