import { BadInput, io } from 'serving'
import { describe, expect, it } from 'vitest'
import { samplesOfTiff } from '../../../../src/values/image/tiff.ts'
import { fixtureBytes, pictures } from '../../../fixtures/images/pictures.ts'

/** A little-endian fixture with changed entries of its directory. */
function changed(
  file: string,
  change: (bytes: Buffer, entryOf: (tag: number) => number) => void,
): Buffer {
  const bytes = Buffer.from(fixtureBytes(file))
  change(bytes, (tag) => {
    let entry = bytes.readUInt32LE(4) + 2
    while (bytes.readUInt16LE(entry) !== tag) entry += 12
    return entry
  })
  return bytes
}

const withValue = (file: string, tag: number, value: number) =>
  changed(file, (bytes, entryOf) => bytes.writeUInt16LE(value, entryOf(tag) + 8))

const refusal = (bytes: Uint8Array) =>
  (async () => new io.Image({ pilmode: null }).fromBytes(bytes))().then(
    () => expect.unreachable('it was accepted'),
    (error) => error,
  )

describe('TIFF of palettes and numbers', () => {
  it('leaves all other kinds to the package', () => {
    const own = pictures.filter(
      ({ mimeType, file }) => mimeType === 'image/tiff' && samplesOfTiff(fixtureBytes(file)),
    )
    expect(new Set(own.map(({ mode }) => mode))).toEqual(new Set(['P', 'CMYK', 'LAB', 'I', 'F']))
  })

  it.each<[string, () => Buffer]>([
    ['half a file', () => Buffer.from(fixtureBytes('float.tiff').subarray(0, -200))],
    ['strips that start beyond the file', () => withValue('float.tiff', 273, 60_000)],
    ['strips of fewer rows', () => withValue('float-deflate.tiff', 257, 60_000)],
    ['strips of more rows', () => withValue('float-deflate.tiff', 278, 4)],
    ['strips of no rows', () => withValue('float.tiff', 278, 0)],
    ['a compression of pictures', () => withValue('palette.tiff', 259, 7)],
    ['samples whose bits are in reverse order', () => withValue('unassociated-8.tiff', 266, 2)],
    ['a width of 0', () => withValue('palette.tiff', 256, 0)],
    ...['float-deflate', 'float-lzw', 'palette-deflate', 'palette-lzw', 'int-lzw'].map(
      (name): [string, () => Buffer] => [
        `damaged pixels: ${name}`,
        () => changed(`${name}.tiff`, (bytes) => bytes.fill(0xff, 100, 400)),
      ],
    ),
    [
      'two widths',
      () =>
        changed('palette.tiff', (bytes, entryOf) => {
          const entry = entryOf(256)
          bytes.copyWithin(entryOf(257), entry, entry + 12)
        }),
    ],
  ])('refuses %s', async (_title, file) => {
    const error = await refusal(file())
    expect(error).toBeInstanceOf(BadInput)
    expect(error).toMatchObject({ reason: 'encoding' })
  })

  it('reads the tags that it needs, whatever else a directory lists', async () => {
    // 65,535 tags, each of 65,536 numbers at the same place.
    const others = Buffer.alloc(65_535 * 12)
    for (let i = 0; i < 65_535; i++) {
      others.writeUInt16LE(i, i * 12)
      others.writeUInt16LE(3, i * 12 + 2)
      others.writeUInt32LE(65_536, i * 12 + 4)
      others.writeUInt32LE(8, i * 12 + 8)
    }
    for (const [tag, value] of [
      [256, 4],
      [257, 4],
      [258, 8],
      [262, 3],
    ]) {
      others.writeUInt32LE(1, tag * 12 + 4)
      others.writeUInt32LE(value, tag * 12 + 8)
    }
    const head = Buffer.from('II*\0\x08\0\0\0\xff\xff', 'latin1')
    const error = await refusal(Buffer.concat([head, others, Buffer.alloc(131_072)]))
    expect(error).toMatchObject({ reason: 'encoding' })
  })
})
