import { io, RasterImage } from 'serving'
import { describe, expect, it, vi } from 'vitest'
import {
  convertPixels,
  copyBytes,
  PixelThread,
  pixelThread,
} from '../../../../src/values/image/pixel-work.ts'
import { convertRaster } from '../../../../src/values/image/raster-convert.ts'
import {
  type Pixels,
  type RasterMode,
  rasterModes,
} from '../../../../src/values/image/raster-modes.ts'
import { fixtureBytes } from '../../../fixtures/images/pictures.ts'

const modes = Object.keys(rasterModes) as RasterMode[]
const grey = (width: number, height: number): Pixels => ({
  mode: 'L',
  width,
  height,
  data: Uint8Array.from({ length: width * height }, (_, i) => i * 7),
})

describe('the thread for pixels', () => {
  it.each(modes)(
    'converts from %s to each mode, and leaves the pixels as they were',
    async (mode) => {
      const source = await convertRaster(grey(13, 7), mode)
      const before = Uint8Array.from(source.data)
      for (const target of modes) {
        const wanted = await convertRaster(source, target)
        expect(await convertPixels(source, [target])).toEqual({
          ...wanted,
          data: new Uint8Array(wanted.data),
        })
      }
      expect(source.data).toEqual(before)
    },
  )

  it('takes memory that it may, and gives back memory that can be freed', async () => {
    const pixels = grey(100, 100)
    const { data } = await convertPixels(pixels, ['RGB', 'L'], undefined, true)
    expect([pixels.data.length, data.length, data.buffer.byteLength]).toEqual([0, 10_000, 10_000])
    expect([...data.subarray(0, 3)]).toEqual([0, 7, 14])
  })

  it('converts in turns, so that a small picture does not wait for a large one', async () => {
    const ends: string[] = []
    const large = convertPixels(grey(1000, 1000), ['LAB'], undefined, true).then(() =>
      ends.push('large'),
    )
    const small = convertPixels(grey(10, 10), ['LAB'], undefined, true).then(() =>
      ends.push('small'),
    )
    await Promise.all([large, small])
    expect(ends).toEqual(['small', 'large'])
  })

  it('ends work with the reason of its signal, before it and meanwhile', async () => {
    const given = (signal: AbortSignal) => convertPixels(grey(3000, 3000), ['LAB'], signal, true)
    await expect(given(AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
    const controller = new AbortController()
    const work = given(controller.signal)
    controller.abort(new Error('gone meanwhile'))
    await expect(work).rejects.toThrow('gone meanwhile')
  })

  it('ends when it has had nothing to do, and starts again', async () => {
    const thread = new PixelThread(1)
    for (let round = 0; round < 3; round++) {
      const pixels = grey(2, 2)
      const { data } = await thread.run('convert', [pixels, ['RGB']], [pixels.data], undefined)
      expect([...data]).toEqual([0, 0, 0, 7, 7, 7, 14, 14, 14, 21, 21, 21])
      await vi.waitFor(() => expect(thread.isRunning).toBe(false))
    }
  })

  it('passes on what fails', async () => {
    const file = await copyBytes(fixtureBytes('palette.png'))
    file[60] ^= 255
    const header = { mimeType: 'image/png', width: 24, height: 18 } as const
    await expect(
      pixelThread.run('decode', [file, header, undefined], [file], undefined),
    ).rejects.toThrow(/damaged/)
  })

  it('copies no pixels that are moved meanwhile', async () => {
    const data = new Uint8Array(4_000_000)
    const copy = copyBytes(data)
    structuredClone(data.buffer, { transfer: [data.buffer] })
    await expect(copy).rejects.toThrow(TypeError)
  })

  it('encodes a picture that changes mode on the way, as one that had that mode', async () => {
    const raster = new RasterImage(
      'RGB',
      8,
      8,
      Uint8Array.from({ length: 192 }, (_, i) => i),
    )
    const { body } = await new io.Image({ pilmode: 'L', mimeType: 'image/png' }).toHttpResponse(
      raster,
    )
    const { mode, width, height, data } = await convertPixels(raster, ['L'])
    expect(body).toEqual(await new RasterImage(mode, width, height, data).encode('image/png'))
  })
})
