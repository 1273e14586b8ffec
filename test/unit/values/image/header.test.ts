import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mutations } from '../../../../src/testing/mutate.ts'
import { imageTypeOf, isCutOff, readImageHeader } from '../../../../src/values/image/header.ts'
import { fixtureBytes, pictures } from '../../../fixtures/images/pictures.ts'

/** Sides as they are stored: the pictures that are turned by a quarter have others as read. */
const stored = pictures.map((picture) => {
  const { file, width, height } = picture
  return /^turned-(?:[5-8]|palette|float|inks)/.test(file)
    ? { ...picture, width: height, height: width }
    : picture
})

const bytesOf = (...parts: (string | number[])[]) =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part),
    ),
  )
const u16 = (n: number) => [n >> 8, n & 255]
const u32 = (n: number) => [...u16(n >>> 16), ...u16(n & 0xffff)]
const segment = (marker: number, length: number) => [
  0xff,
  marker,
  ...u16(length + 2),
  ...new Array(length).fill(0xff),
]
const frame = (width: number, height: number, marker = 0xc0) => [
  0xff,
  marker,
  0,
  11,
  8,
  ...u16(height),
  ...u16(width),
  1,
  1,
  0x11,
  0,
]

describe('readImageHeader', () => {
  it.each(stored)('finds the type and size of $file', ({ file, mimeType, width, height }) => {
    expect(readImageHeader(fixtureBytes(file))).toMatchObject({ mimeType, width, height })
  })

  it('reads the same from the middle of a larger buffer', () => {
    for (const { file, width, height } of stored) {
      const bytes = fixtureBytes(file)
      const within = Buffer.concat([Buffer.alloc(13, 0xff), bytes]).subarray(13)
      expect(readImageHeader(within)).toMatchObject({ width, height })
    }
  })

  it('finds the frame of a JPEG behind segments of any size, fill bytes and restarts', () => {
    const jpeg = bytesOf([
      0xff,
      0xd8,
      ...segment(0xe0, 14),
      0xff,
      0xff,
      ...segment(0xe1, 65533),
      0xff,
      0xd0,
      0,
      7,
      ...segment(0xe2, 0),
      ...frame(300, 200, 0xc2),
      0xff,
      0xda,
      0,
      2,
    ])
    expect(readImageHeader(jpeg)).toEqual({
      mimeType: 'image/jpeg',
      width: 300,
      height: 200,
      bitDepth: 8,
      channels: 1,
      mode: 'L',
      dataOffset: jpeg.length - 4,
    })
  })

  it('refuses a JPEG with two frames, without one, or with one behind the data', () => {
    expect(
      readImageHeader(
        bytesOf([0xff, 0xd8, ...frame(1, 1), ...frame(30000, 30000), 0xff, 0xda, 0, 2]),
      ),
    ).toBeUndefined()
    expect(readImageHeader(bytesOf([0xff, 0xd8, ...segment(0xe0, 14)]))).toBeUndefined()
    expect(readImageHeader(bytesOf([0xff, 0xd8, 0xff, 0xda, 0, 2, ...frame(1, 1)]))).toBeUndefined()
  })

  it('sees that a JPEG or a WebP was cut off, not misled by a thumbnail', () => {
    for (const { file, mimeType } of pictures.filter(({ mimeType }) => mimeType !== 'image/gif')) {
      const bytes = fixtureBytes(file)
      const cutOff = (end: number) => {
        const header = readImageHeader(bytes.subarray(0, end))
        return header && isCutOff(bytes.subarray(0, end), header)
      }
      expect(cutOff(bytes.length)).toBe(false)
      const expected = mimeType === 'image/jpeg' || mimeType === 'image/webp'
      expect(cutOff(bytes.length - 1) ?? expected).toBe(expected)
    }
    const thumbnail = bytesOf([
      0xff,
      0xd8,
      0xff,
      0xe1,
      0,
      4,
      0xff,
      0xd9,
      ...frame(5, 6),
      0xff,
      0xda,
      0,
      2,
      1,
      2,
      3,
    ])
    expect(isCutOff(thumbnail, readImageHeader(thumbnail)!)).toBe(true)
    expect(isCutOff(bytesOf([...thumbnail, 0xff, 0xd9]), readImageHeader(thumbnail)!)).toBe(false)
  })

  it('refuses a JPEG whose height is to follow later', () => {
    expect(readImageHeader(bytesOf([0xff, 0xd8, ...frame(5, 0)]))).toBeUndefined()
  })

  it('reads all WebP kinds up to their largest sizes', () => {
    const vp8 = bytesOf(
      'RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0',
      [0x9d, 1, 0x2a, 0xff, 0xff, 0xfe, 0x3f],
      '\0\0\0',
    )
    expect(readImageHeader(vp8)).toMatchObject({ width: 16383, height: 16382 })
    const vp8l = bytesOf(
      'RIFF\0\0\0\0WEBPVP8L\0\0\0\0',
      [0x2f, 0xff, 0xff, 0xff, 0x0f],
      '\0\0\0\0\0',
    )
    expect(readImageHeader(vp8l)).toMatchObject({ width: 16384, height: 16384 })
    const vp8x = bytesOf('RIFF\0\0\0\0WEBPVP8X\n\0\0\0\0\0\0\0', [0xff, 0xff, 0xff, 0, 0, 1])
    expect(readImageHeader(vp8x)).toMatchObject({ width: 2 ** 24, height: 65537 })
  })

  it('takes the frame of a GIF that is larger than its screen', () => {
    const gif = bytesOf(
      'GIF89a',
      [1, 0, 1, 0, 0, 0, 0, 0x21, 0xff, 2, 1, 1, 0, 0x2c, 10, 0, 20, 0, 100, 0, 200, 0, 0, 2, 0],
    )
    expect(readImageHeader(gif)).toMatchObject({ width: 110, height: 220 })
  })

  it('reads BMP headers of all sizes and refuses others', () => {
    const bmp = (length: number, width: number, height: number) => {
      const bytes = Buffer.alloc(60)
      bytes.write('BM')
      bytes.writeUInt32LE(length, 14)
      bytes.writeInt32LE(width, 18)
      bytes.writeInt32LE(height, 22)
      return readImageHeader(bytes)
    }
    for (const length of [16, 40, 52, 56, 64, 108, 124])
      expect(bmp(length, 7, -9)).toMatchObject({ width: 7, height: 9 })
    expect(bmp(40, 7, -(2 ** 31))).toMatchObject({ height: 2 ** 31 })
    expect(bmp(40, -7, 9)).toBeUndefined()
    expect(bmp(13, 7, 9)).toBeUndefined()
    expect(bmp(125, 7, 9)).toBeUndefined()
  })

  it('finds the directory of a TIFF anywhere, in both byte orders, with short and long sides', () => {
    const tags = [
      ...u16(2),
      ...u16(257),
      ...u16(3),
      ...u32(1),
      ...u16(9),
      0,
      0,
      ...u16(256),
      ...u16(4),
      ...u32(1),
      ...u32(70000),
    ]
    expect(readImageHeader(bytesOf('MM\0*', u32(1000), '\0'.repeat(992), tags))).toMatchObject({
      width: 70000,
      height: 9,
    })
    const doubled = [...u16(3), ...tags.slice(2), ...u16(256), ...u16(4), ...u32(1), ...u32(1)]
    expect(readImageHeader(bytesOf('MM\0*', u32(8), doubled))).toBeUndefined()
    expect(readImageHeader(bytesOf('MM\0*', u32(0xffffffff), tags))).toBeUndefined()
  })

  it('does not know BigTIFF, ICO, PDF or SVG', () => {
    for (const start of ['II+\0', 'MM\0+', '\0\0\x01\0', '%PDF-1.7', '<svg xmlns=']) {
      expect(imageTypeOf(Buffer.from(start.padEnd(64, '\0'), 'latin1'))).toBeUndefined()
    }
  })

  it('answers every cut of every picture without throwing, and never with another size', () => {
    for (const { file, width, height } of stored) {
      const bytes = fixtureBytes(file)
      for (let end = 0; end <= bytes.length; end++) {
        const header = readImageHeader(bytes.subarray(0, end))
        if (header?.width !== width || header.height !== height)
          expect(header, `${file} up to ${end}`).toBeUndefined()
      }
    }
  })

  it('answers damaged pictures without throwing, with whole positive sides or nothing', () => {
    for (const { file } of pictures) {
      for (const bytes of mutations(fixtureBytes(file), 2000)) assertSane(bytes)
    }
  })

  const signatures = [
    '\x89PNG\r\n\x1a\n\0\0\0\rIHDR',
    '\xff\xd8\xff',
    'RIFF\0\0\0\0WEBPVP8X',
    'RIFF\0\0\0\0WEBPVP8 ',
    'RIFF\0\0\0\0WEBPVP8L',
    'GIF89a',
    'BM',
    'II*\0',
    'MM\0*',
  ]
  it('answers any bytes behind any signature', () => {
    const tail = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(fc.constantFrom(0, 1, 8, 0xff, 0x2c, 0x21), { maxLength: 300 }),
    )
    fc.assert(
      fc.property(fc.constantFrom('', ...signatures), tail, (signature, bytes) => {
        assertSane(bytesOf(signature, [...bytes]))
      }),
      { numRuns: 5000 },
    )
  })

  it('gives up where more stands before the size than in any picture', () => {
    const jpeg = (segments: number) =>
      bytesOf(
        [0xff, 0xd8],
        new Array(segments).fill([0xff, 0xe1, 0, 2]).flat(),
        frame(5, 6),
        [0xff, 0xda, 0, 2],
      )
    expect(readImageHeader(jpeg(1000))).toMatchObject({ width: 5, height: 6 })
    expect(readImageHeader(jpeg(70_000))).toBeUndefined()
    const filled = bytesOf(
      [0xff, 0xd8],
      new Array(70_000).fill(0xff),
      frame(5, 6),
      [0xff, 0xda, 0, 2],
    )
    expect(readImageHeader(filled)).toBeUndefined()
    const gif = (blocks: number) =>
      bytesOf(
        'GIF89a\x05\0\x06\0\0\0\0!\xfe',
        new Array(2 * blocks).fill(1),
        '\0,\0\0\0\0\x05\0\x06\0\0\x02\0',
      )
    expect(readImageHeader(gif(1000))).toMatchObject({ width: 5, height: 6 })
    expect(readImageHeader(gif(70_000))).toBeUndefined()
  })

  it('looks for the end of a JPEG behind its header', () => {
    const header = { mimeType: 'image/jpeg', width: 1, height: 1, dataOffset: 20 } as const
    const bytes = Buffer.alloc(1_000_000, 0xd9)
    // What stands in front of the data does not count.
    bytes[20] = 0xff
    expect(isCutOff(bytes, header)).toBe(true)
    for (const at of [21, 500_000, 999_998]) {
      const complete = Buffer.from(bytes)
      complete[at] = 0xff
      expect(isCutOff(complete, header)).toBe(false)
    }
  })

  it('reads a megabyte at once, however it is nested or repeated, where its square would take minutes', () => {
    const inputs = [
      bytesOf('\xff\xd8\xff', new Array(1e6).fill(0xff)),
      bytesOf('GIF89a', new Array(1e6).fill(0x21)),
    ]
    for (const bytes of inputs) expect(readImageHeader(bytes)).toBeUndefined()
  })
})

function assertSane(bytes: Uint8Array): void {
  const header = readImageHeader(bytes)
  if (header === undefined) return
  const { width, height } = header
  if (!(Number.isSafeInteger(width) && Number.isSafeInteger(height) && width > 0 && height > 0)) {
    throw new Error(`${width}×${height} of ${Buffer.from(bytes).toString('base64')}`)
  }
}
