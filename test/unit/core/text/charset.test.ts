import { BadInput, UnsupportedMediaType } from 'serving'
import { expect, it } from 'vitest'
import { decodeText } from '../../../../src/core/text/charset.ts'

// Expected texts are those of Python's codecs cp1252, utf-16, utf-16-le, utf-16-be, utf-8, iso8859-15 and shift_jis.
it.each([
  ['latin1', [0xff, 0xe9], 'ÿé'],
  ['latin1', [0xff, 0xfe, 0x41], 'ÿþA'],
  ['windows-1252', [0x80, 0x9f, 0xa0], '€Ÿ\u00a0'],
  ['ISO-8859-1', [0x93, 0x94], '“”'],
  ['iso-8859-15', [0xa4, 0xff], '€ÿ'],
  ['utf-16le', [0xff, 0xfe, 0x41, 0], '\ufeffA'],
  ['utf-16be', [0xfe, 0xff, 0, 0x41], '\ufeffA'],
  ['utf-16', [0xfe, 0xff, 0, 0x61, 0, 0x62], 'ab'],
  ['utf-16', [0xff, 0xfe, 0x61, 0, 0x62, 0], 'ab'],
  ['utf-16', [0xff, 0xfe, 0xff, 0xfe, 0x61, 0], '\ufeffa'],
  ['utf-16', [0x61, 0, 0x62, 0], 'ab'],
  ['UCS-2', [0xfe, 0xff, 0, 0x61], 'a'],
  ['utf-16', [], ''],
  ['utf-8', [0xef, 0xbb, 0xbf, 0x41], '\ufeffA'],
  ['shift_jis', [0x93, 0xfa, 0x96, 0x7b], '日本'],
])('%s: %j is %s', (label, bytes, text) => {
  expect(decodeText(Uint8Array.from(bytes), label, 'Text')).toBe(text)
})

it.each([
  ['utf-16le', (text: string) => Buffer.from(text, 'utf16le')],
  ['utf-8', (text: string) => Buffer.from(text)],
  ['latin1', (text: string) => Buffer.from(text, 'latin1')],
])('%s of several megabytes is decoded', (label, encode) => {
  const unit = label === 'latin1' ? 'aéÿ' : 'aé日😀'
  const text = unit.repeat(150_000)
  expect(decodeText(encode(text), label, 'Text')).toBe(text)
})

it('knows no other labels, and refuses what a charset does not have', () => {
  const decode = (bytes: Uint8Array, label: string) => () => decodeText(bytes, label, 'Text')
  expect(decode(Uint8Array.of(0x61), 'klingon')).toThrow(UnsupportedMediaType)
  expect(decode(Uint8Array.of(0xff), 'utf-8')).toThrow(BadInput)
  // Half a character at the end.
  for (const label of ['utf-16le', 'utf-16']) {
    expect(decode(Uint8Array.of(0x61, 0, 0x3d, 0xd8), label)).toThrow(BadInput)
  }
  expect(
    decode(Buffer.concat([Buffer.alloc(1 << 20, 0x61), Uint8Array.of(0x93)]), 'shift_jis'),
  ).toThrow(BadInput)
})

it('keeps the byte order mark of a long text, and says where one is ill-formed', () => {
  const text = `\ufeff${'a—😀'.repeat(2000)}`
  expect(decodeText(Buffer.from(text), undefined, 'Text')).toBe(text)
  const broken = Buffer.concat([Buffer.from(text), Uint8Array.of(0xed, 0xa0, 0x80)])
  expect(() => decodeText(broken, undefined, 'Text')).toThrow(
    expect.objectContaining({ reason: 'encoding', offset: Buffer.byteLength(text) }),
  )
})
