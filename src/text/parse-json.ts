/**
 * JSON text to values, with the offset of what is wrong.
 * @module
 */
import { BadInput, show } from '../errors.ts'
import { maxJsonDepth, syntaxErrorAt, tooDeepAt } from './json-syntax.ts'
import { decodeUtf8 } from './utf8.ts'

/** Parses UTF-8 JSON text; a byte order mark is skipped. **Errors**: BadInput `encoding` or `syntax` with the byte offset. */
export function parseJson(bytes: Uint8Array, name: string): unknown {
  const bom = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  const deep = tooDeepAt(bytes)
  if (deep !== -1) {
    const message = `expected at most ${maxJsonDepth} levels for ${name}, received more at byte ${deep}`
    throw new BadInput(message, { reason: 'syntax', offset: deep })
  }
  const text = decodeUtf8(bom === 0 ? bytes : bytes.subarray(bom), name)
  try {
    return JSON.parse(text)
  } catch (cause) {
    const offset = bom + syntaxErrorAt(bom === 0 ? bytes : bytes.subarray(bom))
    const found = offset >= bytes.length ? 'the end of the body' : show(decodeAt(bytes, offset))
    const message = `expected JSON for ${name}, received ${found} at byte ${offset}`
    throw new BadInput(message, { reason: 'syntax', offset, cause })
  }
}

/** The character that begins at an offset of valid UTF-8. */
function decodeAt(bytes: Uint8Array, offset: number): string {
  return String.fromCodePoint(
    Buffer.from(bytes.subarray(offset, offset + 4))
      .toString()
      .codePointAt(0) ?? 0,
  )
}
