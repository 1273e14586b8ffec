/** Cuts long values out of a JSON text, to read them into typed arrays: JSON.parse rounds int64. @module */

import { PayloadTooLarge } from '../errors.ts'
import { latin1Text } from '../platform.ts'
import { isSpace, maxJsonDepth, skipSpace } from './json-syntax.ts'
import { maxWalkedValues, parseJson } from './parse-json.ts'
import { parseText } from './parse-text.ts'

/** Where a value begins and ends in a text. **Units**: bytes. */
type Extent = readonly [start: number, end: number]

/** A JSON text in two parts. */
export interface CutJson {
  readonly value: unknown
  readonly cuts: readonly Extent[]
  /** @returns the index of a cut value; -1 for any other value. */
  indexOf(value: unknown): number
}

/** Which members are cut out, of the text or of the elements of `inputs`; then the text's `id` is, too. */
export interface CutRule {
  readonly of: 'text' | 'inputs'
  readonly names: readonly string[]
}

// **Units**: bytes.
const maxRestBytes = 1024 * 1024
const shortBytes = 1024
// Up to here nesting cannot be too deep. **Units**: characters.
const shortLength = 2 * maxJsonDepth

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

const mark = `cut ${crypto.randomUUID().slice(0, 8)} `

/**
 * Cut values are not checked.
 *
 * @throws BadInput `syntax`, PayloadTooLarge for more than 1 MiB beside them.
 */
export function cutJson(bytes: Uint8Array, rule: CutRule): CutJson {
  const text = searchable(bytes)
  const cuts = findCuts(text, rule)
  let json = ''
  let at = 0
  // No client can guess this string.
  for (let i = 0; i < cuts.length; i++) {
    json += `${latin1Text(text, at, cuts[i][0])}"${mark}${i}"`
    at = cuts[i][1]
  }
  json += latin1Text(text, at)
  const indexOf = (found: unknown) =>
    typeof found === 'string' && found.startsWith(mark) ? Number(found.slice(mark.length)) : -1
  return { value: parseRest(json, cuts), cuts, indexOf }
}

/**
 * @returns the cuts of a text that differs from a cut one only in cut values, which are not
 * checked; else undefined.
 */
export function cutAlike(
  bytes: Uint8Array,
  model: Uint8Array,
  cuts: readonly Extent[],
): Extent[] | undefined {
  const text = searchable(bytes)
  const found: Extent[] = []
  let at = 0
  let from = 0
  for (let i = 0; i <= cuts.length; i++) {
    const to = i < cuts.length ? cuts[i][0] : model.length
    while (from < to) if (text[at++] !== model[from++]) return undefined
    if (i === cuts.length) break
    if (isSpace(text[at])) return undefined
    const end = valueEnd(text, at)
    found.push([at, end])
    at = end
    from = cuts[i][1]
  }
  if (at === text.length) return found
  return undefined
}

/** A Buffer searches faster than other views, from some length on. */
function searchable(bytes: Uint8Array): Uint8Array {
  if (bytes.length < shortBytes) return bytes
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function parseRest(json: string, cuts: readonly Extent[]): unknown {
  try {
    if (json.length <= shortLength && !/[^\t\n\r -~]/.test(json)) return parseText(json)
  } catch {}
  const toOffset = (offset: number) => {
    let at = offset
    for (const [i, [start, end]] of cuts.entries()) {
      if (at <= start) break
      at += end - start - (mark.length + String(i).length + 2)
    }
    return at
  }
  const bytes = Buffer.from(json, 'latin1')
  return parseJson(bytes, 'the request', { maxValues: maxWalkedValues, toOffset })
}

function findCuts(text: Uint8Array, { of, names }: CutRule): Extent[] {
  const cuts: Extent[] = []
  let depth = 0
  let inInputs = false
  let at = 0
  let limit = maxRestBytes
  for (;;) {
    if (at > limit) {
      throw new PayloadTooLarge(
        `expected at most ${maxRestBytes} bytes of JSON beside the data, received more`,
      )
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
      // Clients send another id with each request.
      const isId = of === 'inputs' && depth === 1 && isKey(text, start, end - 1, 'id')
      const isPlace = of === 'text' ? depth === 1 : inInputs && depth === 3
      if (isId || (isPlace && names.some((name) => isKey(text, start, end - 1, name)))) {
        const stop = valueEnd(text, at)
        cuts.push([at, stop])
        if (!isId) limit += stop - at
        at = stop
      } else if (
        of === 'inputs' &&
        depth === 1 &&
        text[at] === openList &&
        isKey(text, start, end - 1, 'inputs')
      ) {
        inInputs = true
      }
      continue
    }
    if (byte === openList || byte === openObject) depth++
    else if (byte === closeList || byte === closeObject) {
      depth--
      if (depth < 2) inInputs = false
    }
    at++
  }
}

function isKey(text: Uint8Array, start: number, end: number, key: string): boolean {
  if (end - start !== key.length) return false
  for (let i = 0; i < key.length; i++) if (text[start + i] !== key.charCodeAt(i)) return false
  return true
}

function stringEnd(text: Uint8Array, at: number): number {
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

function valueEnd(text: Uint8Array, at: number): number {
  if (text[at] === quote) return stringEnd(text, at)
  if (text[at] === openList) return listEnd(text, at)
  if (text[at] === openObject) return bracketedEnd(text, at)
  let end = at
  while (
    end < text.length &&
    text[end] !== comma &&
    text[end] !== closeObject &&
    text[end] !== closeList
  )
    end++
  return end
}

function listEnd(text: Uint8Array, at: number): number {
  if (text.length < shortBytes) return bracketedEnd(text, at)
  // Without strings and objects, it ends before the object's end or the next key.
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

function bracketedEnd(text: Uint8Array, at: number): number {
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
