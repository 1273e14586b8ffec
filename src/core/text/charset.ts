/**
 * Text of any charset that the WHATWG's Encoding Standard names.
 * @module
 */
import { BadInput, expected, UnsupportedMediaType } from '../errors.ts'
import type { Slices } from '../memory/slices.ts'
import { decodeUtf8InSlices } from './utf8.ts'

// Windows-1252 from 0x80 to 0x9f; what it leaves open stays a control character, as in browsers.
const letters = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

// Decoded in a slice: a millisecond or two.
const pieceBytes = 1 << 17

/**
 * Decodes text of a charset such as `latin1`, `utf-16` or `shift_jis`, in slices; undefined is UTF-8. A byte order mark
 * stays in the text of UTF-8 and UTF-16. **Errors**: UnsupportedMediaType for an unknown charset, BadInput `encoding`
 * for bytes that are invalid in it.
 */
export function* decodeText(bytes: Uint8Array, charset: string | undefined, name: string): Slices<string> {
  if (isUtf8Label(charset)) return yield* decodeUtf8InSlices(bytes, name)
  const decode = decoderOf(charset as string)
  if (decode === undefined) throw new UnsupportedMediaType(expected('a known charset', name, charset))
  let text = ''
  for (let start = 0; start < bytes.length || start === 0; start += pieceBytes) {
    const end = Math.min(bytes.length, start + pieceBytes)
    try {
      text += decode(bytes.subarray(start, end), end < bytes.length)
    } catch {
      const message = `expected ${charset} text for ${name}, received an invalid byte sequence`
      throw new BadInput(message, { reason: 'encoding' })
    }
    yield
  }
  return text
}

/** Whether text of a charset is read as UTF-8, as text without one is. */
export function isUtf8Label(charset: string | undefined): boolean {
  return charset === undefined || charset === 'utf-8' || charset === 'utf8'
}

/**
 * Returns the decoder of a label, for one text in pieces, after each of which there may be `more`; undefined for an
 * unknown label. **Errors** of the decoder: TypeError for bytes that the charset does not have.
 */
function decoderOf(label: string): ((bytes: Uint8Array, more: boolean) => string) | undefined {
  let decoder: InstanceType<typeof TextDecoder>
  try {
    const { encoding } = new TextDecoder(label)
    decoder = new TextDecoder(label, { fatal: true, ignoreBOM: encoding.startsWith('utf') })
  } catch {
    return undefined
  }
  // Node 20 reads it as ISO-8859-1, and with ignoreBOM drops a first byte of 0xff.
  if (decoder.encoding !== 'windows-1252') return (bytes, more) => decoder.decode(bytes, { stream: more })
  return (bytes) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      .toString('latin1')
      .replace(/[\x80-\x9f]/g, (letter) => letters[letter.charCodeAt(0) - 0x80])
}
