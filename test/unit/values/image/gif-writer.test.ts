import { describe, expect, it } from 'vitest'
import { encodePicture } from '../../../../src/values/image/encode-picture.ts'
import { decodeGif } from '../../../../src/values/image/gif.ts'
import { encodeGif } from '../../../../src/values/image/gif-writer.ts'
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

describe('a GIF of colours', () => {
  it('keeps at most 256 of them as they are; half of alpha and more is opaque', async () => {
    const few = picture('RGBA', 64, 64, (i) => (i % 4 === 3 ? ((i >> 2) % 3) * 127 : (i >> 2) % 64))
    const read = await convertRaster(
      await decodeGif(await encodePicture(few, 'image/gif', undefined)),
      'RGBA',
    )
    const wanted = few.data.map((level, i) => {
      const isOpaque = few.data[i | 3] >= 128
      return isOpaque ? (i % 4 === 3 ? 255 : level) : 0
    })
    expect(read.data).toEqual(wanted)
  })

  it('has the colours of the web, dithered, for more of them', async () => {
    const many = gradient(64)
    const { mode, data, palette } = await convertRaster(many, 'P')
    const read = await decodeGif(await encodePicture(many, 'image/gif', undefined))
    expect(read).toMatchObject({ mode, data })
    expect(paletteOf(read)).toEqual(paletteOf({ palette }))
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
