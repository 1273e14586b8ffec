import { BadInput, expected, UnsupportedMediaType } from '../errors.ts'
import { latin1Text } from '../platform.ts'
import { decodeUtf8 } from './utf8.ts'

// Windows-1252 from 0x80 to 0x9f; undefined bytes stay control characters, as in browsers.
const letters = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

/**
 * Decodes text of a WHATWG charset, default UTF-8. The byte order mark of `utf-16` says which order
 * it is, and is no part of the text. UTF-8, `utf-16le` and `utf-16be`, whose order is known, keep
 * theirs.
 *
 * @throws UnsupportedMediaType for an unknown charset, BadInput `encoding` for invalid bytes.
 * @see RFC 2781, 3.2.
 */
export function decodeText(bytes: Uint8Array, charset: string | undefined, name: string): string {
  if (isUtf8Label(charset)) return decodeUtf8(bytes, name)
  const decode = decoderOf(charset as string)
  if (decode === undefined)
    throw new UnsupportedMediaType(expected('a known charset', name, charset))
  try {
    return decode(bytes)
  } catch {
    const message = `expected ${charset} text for ${name}, received an invalid byte sequence`
    throw new BadInput(message, { reason: 'encoding' })
  }
}

/** Whether text of a charset is read as UTF-8, as text without one is. */
export function isUtf8Label(charset: string | undefined): boolean {
  return charset === undefined || charset === 'utf-8' || charset === 'utf8'
}

/** Undefined for an unknown label. The decoder throws TypeError for invalid bytes. */
function decoderOf(label: string): ((bytes: Uint8Array) => string) | undefined {
  let decoder: InstanceType<typeof TextDecoder>
  try {
    const { encoding } = new TextDecoder(label)
    if (encoding === 'utf-16le' && label !== encoding) return decodeMarked
    decoder = new TextDecoder(label, { fatal: true, ignoreBOM: encoding.startsWith('utf') })
  } catch {
    return undefined
  }
  // Node 20 reads it as ISO-8859-1, and with ignoreBOM drops a first byte of 0xff.
  if (decoder.encoding !== 'windows-1252') return (bytes) => decoder.decode(bytes)
  return (bytes) =>
    latin1Text(bytes).replace(/[\x80-\x9f]/g, (letter) => letters[letter.charCodeAt(0) - 0x80])
}

/** Decodes UTF-16 in the order of its mark; without one it is little-endian, as in browsers. */
function decodeMarked(bytes: Uint8Array): string {
  const isBigEndian = bytes[0] === 0xfe && bytes[1] === 0xff
  return new TextDecoder(isBigEndian ? 'utf-16be' : 'utf-16le', { fatal: true }).decode(bytes)
}
