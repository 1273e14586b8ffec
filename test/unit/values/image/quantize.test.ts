import { describe, expect, it } from 'vitest'
import { decodeGif } from '../../../../src/values/image/gif.ts'
import { encodeGif } from '../../../../src/values/image/gif-writer.ts'
import { quantize } from '../../../../src/values/image/quantize.ts'
import { convertRaster } from '../../../../src/values/image/raster-convert.ts'
import { type Pixels, paletteOf } from '../../../../src/values/image/raster-modes.ts'

/** A picture whose bytes follow `level`. */
function picture(
  mode: 'L' | 'RGB' | 'RGBA' | 'P',
  width: number,
  height: number,
  level: (i: number) => number,
): Pixels {
  const channels = { L: 1, P: 1, RGB: 3, RGBA: 4 }[mode]
  return {
    mode,
    width,
    height,
    data: Uint8Array.from({ length: width * height * channels }, (_, i) => level(i)),
  }
}

const noise = (i: number) => (Math.imul(i + 1, 2654435761) >>> 13) & 255
/** A gradient of red from left to right, green from top to bottom, and blue both. */
const gradient = (side: number) =>
  picture('RGB', side, side, (i) => {
    const [x, y] = [Math.floor(i / 3) % side, Math.floor(i / 3 / side)]
    return ([x, y, (x + y) / 2][i % 3] * 255) / side
  })

const meanError = (a: Uint8Array, b: Uint8Array) =>
  a.reduce((sum, byte, i) => sum + Math.abs(byte - b[i]), 0) / a.length

describe('quantize', () => {
  it('keeps at most 256 colours as they are, with their alpha', async () => {
    const few = picture('RGBA', 64, 64, (i) => (i % 4 === 3 ? (i >> 2) % 3 : (i >> 2) % 64) * 3)
    const indexed = await quantize(few)
    expect(indexed.palette?.length).toBeLessThanOrEqual(1024)
    expect((await convertRaster(indexed, 'RGBA')).data).toEqual(few.data)
  })

  it('finds 256 colours for more', async () => {
    const many = gradient(512)
    const indexed = await quantize(many)
    expect(indexed.palette?.length).toBe(1024)
    // Pillow 11.3 without dithering: 3.59 by median cut, 5.70 by octrees.
    expect(meanError((await convertRaster(indexed, 'RGB')).data, many.data)).toBeLessThan(3.59)
  })

  it('finds colours for noise, with alpha', async () => {
    const many = picture('RGBA', 100, 100, noise)
    const { data } = await convertRaster(await quantize(many), 'RGBA')
    expect(meanError(data, many.data)).toBeLessThan(30)
  })
})

describe('encodeGif', () => {
  const roundTrip = async (pixels: Pixels) => {
    const bytes = await encodeGif(pixels)
    return decodeGif(bytes)
  }

  it.each([
    ['one pixel', picture('L', 1, 1, () => 7)],
    ['one colour', picture('L', 300, 200, () => 9)],
    ['noise, whose strings fill the table many times', picture('L', 300, 200, noise)],
    ['a gradient', picture('L', 700, 300, (i) => i >> 7)],
  ])('writes what comes back the same: %s', async (_, pixels) => {
    expect(await roundTrip(pixels)).toEqual({ ...pixels, data: pixels.data })
  })

  it('writes lengths around those where codes grow and blocks end', async () => {
    for (let width = 1; width < 1200; width += 7) {
      const pixels = picture('L', width, 1, noise)
      expect((await roundTrip(pixels)).data).toEqual(pixels.data)
    }
  })

  it('keeps a palette and its first transparent colour', async () => {
    const palette = Uint8Array.of(1, 2, 3, 255, 4, 5, 6, 0, 7, 8, 9, 0)
    const read = await roundTrip({ ...picture('P', 3, 1, (i) => i), palette })
    expect([...read.data]).toEqual([0, 1, 2])
    expect([...paletteOf(read).subarray(0, 12)]).toEqual([1, 2, 3, 255, 4, 5, 6, 0, 7, 8, 9, 255])
  })

  it('refuses sides that do not fit 16 bits', async () => {
    await expect(encodeGif(picture('L', 70_000, 1, () => 0))).rejects.toThrow(
      'at most 65535 pixels',
    )
  })
})
