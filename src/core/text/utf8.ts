import { BadInput } from '../errors.ts'
import { isAscii, isUtf8, latin1Text, longUtf8Text, utf8Bytes } from '../platform.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })
// Above this length ASCII is checked and decoded as latin1.
const asciiBytes = 128
const blockBytes = 1 << 16

/** Length of a text's byte order mark, or 0. **Units**: bytes. */
export function bomLength(bytes: Uint8Array): number {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 3
  return 0
}

// Made once: a default in the list of parameters would be a new function for every text.
const sameOffset = (offset: number): number => offset

/**
 * `toOffset`: where a byte was in the client's text.
 *
 * @throws BadInput `encoding` with the offset of the first ill-formed sequence.
 */
export function decodeUtf8(bytes: Uint8Array, name: string, toOffset = sameOffset): string {
  if (bytes.length > asciiBytes) {
    if (isAscii(bytes)) return latin1Text(bytes)
    const text = longUtf8Text(bytes)
    if (text !== undefined) return text
  }
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    const at = illFormedAt(bytes)
    if (at === -1) throw cause
    const message = `expected UTF-8 text for ${name}, received an invalid byte sequence`
    throw new BadInput(message, { reason: 'encoding', offset: toOffset(at) })
  }
}

/**
 * **Units**: bytes.
 *
 * @returns the offset of the first ill-formed sequence, or -1.
 * @see Unicode 15, table 3-7; the ranges of second bytes exclude overlong forms, surrogates and
 * code points above U+10FFFF.
 */
export function illFormedAt(bytes: Uint8Array): number {
  // Node's vectorised check finds the block; only that one is read in detail.
  for (let start = 0; start < bytes.length; ) {
    const end = cutBefore(bytes, start + blockBytes)
    const block = bytes.subarray(start, end)
    if (!isUtf8(block)) return start + illFormedIn(block)
    start = end
  }
  return -1
}

/** @returns `end`, or the start of a character that it would cut. */
function cutBefore(bytes: Uint8Array, end: number): number {
  if (end >= bytes.length) return bytes.length
  let cut = end
  for (let i = 0; i < 3 && (bytes[cut] & 0xc0) === 0x80; i++) cut--
  return cut
}

/** Ill-formed sequences become U+FFFD: up to there, the text has the same bytes again. */
function illFormedIn(block: Uint8Array): number {
  const again = utf8Bytes(lenient.decode(block))
  let at = 0
  while (block[at] === again[at]) at++
  while ((again[at] & 0xc0) === 0x80) at--
  return at
}
