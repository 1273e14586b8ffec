import { expect, it } from 'vitest'
import { charsetDecoder } from '../../../src/text/charset.ts'

// Expected texts are those of Python's codecs cp1252, utf-16-le, utf-8, iso8859-15 and shift_jis.
it.each([
  ['latin1', [0xff, 0xe9], 'ÿé'],
  ['latin1', [0xff, 0xfe, 0x41], 'ÿþA'],
  ['windows-1252', [0x80, 0x9f, 0xa0], '€Ÿ\u00a0'],
  ['ISO-8859-1', [0x93, 0x94], '“”'],
  ['iso-8859-15', [0xa4, 0xff], '€ÿ'],
  ['utf-16le', [0xff, 0xfe, 0x41, 0], '\ufeffA'],
  ['utf-8', [0xef, 0xbb, 0xbf, 0x41], '\ufeffA'],
  ['shift_jis', [0x93, 0xfa, 0x96, 0x7b], '日本'],
])('%s: %j is %s', (label, bytes, text) => {
  expect(charsetDecoder(label)?.(Uint8Array.from(bytes))).toBe(text)
})

it('knows no other labels, and refuses what a charset does not have', () => {
  expect(charsetDecoder('klingon')).toBeUndefined()
  expect(() => charsetDecoder('utf-8')?.(Uint8Array.of(0xff))).toThrow(TypeError)
})
