import { describe, expect, it } from 'vitest'
import { decodeTiff, readTiffLayout } from '../../../../src/values/image/tiff.ts'
import { unpackBits, unpackLzw } from '../../../../src/values/image/tiff-compression.ts'
import { fixtureBytes, pictures } from '../../../fixtures/images/pictures.ts'

const layoutOf = (file: string) => readTiffLayout(fixtureBytes(file))!

describe('TIFF of palettes and numbers', () => {
  it('leaves all other kinds to the package', () => {
    const own = pictures.filter(({ mimeType, file }) => mimeType === 'image/tiff' && readTiffLayout(fixtureBytes(file)))
    expect(new Set(own.map(({ mode }) => mode))).toEqual(new Set(['P', 'LAB', 'I', 'F']))
  })

  it('refuses strips that share their bytes, end early or hold more than their rows', async () => {
    const bytes = fixtureBytes('float-deflate.tiff')
    const layout = layoutOf('float-deflate.tiff')
    const lengths = layout.lengths.map(() => bytes.length)
    const offsets = layout.offsets.map(() => 0)
    await expect(decodeTiff(bytes, { ...layout, lengths, offsets })).rejects.toThrow('the strips overlap')
    await expect(decodeTiff(bytes, { ...layout, offsets: [] })).rejects.toThrow('the data ends before the picture')
    await expect(decodeTiff(bytes, { ...layout, rowsPerStrip: 4 })).rejects.toThrow('a strip cannot be unpacked')
    await expect(decodeTiff(bytes, { ...layout, rowsPerStrip: 0 })).rejects.toThrow('the picture is empty')
    await expect(decodeTiff(bytes, { ...layout, compression: 7 })).rejects.toThrow('compression 7 of TIFF')
    const raw = layoutOf('float.tiff')
    await expect(decodeTiff(fixtureBytes('float.tiff'), { ...raw, height: 9, rowsPerStrip: 9 })).rejects.toThrow(
      'the data ends before the picture',
    )
  })

  it('unpacks PackBits as the specification has it, and no more than asked', async () => {
    const packed = Uint8Array.of(0xfe, 0xaa, 0x02, 0x80, 0x00, 0x2a, 0xfd, 0xaa, 0x80, 0x00, 0x01)
    const all = [0xaa, 0xaa, 0xaa, 0x80, 0x00, 0x2a, 0xaa, 0xaa, 0xaa, 0xaa, 0x01]
    expect([...(await unpackBits(packed, 100))]).toEqual(all)
    for (let size = 1; size < all.length; size++) {
      expect([...(await unpackBits(packed, size))]).toEqual(all.slice(0, size))
    }
  })

  it('stops with its request where codes of LZW stand for nothing, and refuses unknown ones', async () => {
    const clears = new Uint8Array(2 ** 20)
    // Codes of nine bits, all of them 256.
    for (let bit = 0; bit < clears.length * 8; bit += 9) clears[bit >> 3] |= 0x80 >> (bit & 7)
    await expect(unpackLzw(clears, 10)).resolves.toHaveLength(0)
    await expect(unpackLzw(clears, 10, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
    await expect(unpackLzw(Uint8Array.of(0xff, 0xff), 10)).rejects.toThrow('a code stands for nothing yet')
  })
})
