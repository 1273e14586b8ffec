/**
 * Text of any charset that the WHATWG's Encoding Standard names.
 * @module
 */

// Windows-1252 from 0x80 to 0x9f; what it leaves open stays a control character, as in browsers.
const letters = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

/**
 * Returns the decoder of a label such as `latin1`, `utf-16` or `shift_jis`; undefined for an unknown one. A byte order
 * mark stays in the text of UTF-8 and UTF-16. **Errors** of the decoder: TypeError for bytes that the charset does not
 * have.
 */
export function charsetDecoder(label: string): ((bytes: Uint8Array) => string) | undefined {
  let decoder: InstanceType<typeof TextDecoder>
  try {
    const { encoding } = new TextDecoder(label)
    decoder = new TextDecoder(label, { fatal: true, ignoreBOM: encoding.startsWith('utf') })
  } catch {
    return undefined
  }
  // Node 20 reads it as ISO-8859-1, and with ignoreBOM drops a first byte of 0xff.
  if (decoder.encoding !== 'windows-1252') return (bytes) => decoder.decode(bytes)
  return (bytes) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      .toString('latin1')
      .replace(/[\x80-\x9f]/g, (letter) => letters[letter.charCodeAt(0) - 0x80])
}
