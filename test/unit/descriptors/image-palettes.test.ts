import { BadInput, io, type NDArray, RasterImage } from 'serving'
import { describe, expect, it } from 'vitest'
import type { ImageOptions } from '../../../src/descriptors/image.ts'
import { pixelBytes } from '../../../src/values/image/raster-modes.ts'
import { fixtureBytes } from '../../fixtures/images/pictures.ts'
import { requestOf } from './requests.ts'

const { Image } = io

const read = async (body: Uint8Array, options: ImageOptions) =>
  new Image(options).fromHttpRequest(requestOf(body))
const write = async (value: RasterImage | NDArray, options: ImageOptions) => {
  const response = await new Image(options).toHttpResponse(value)
  return { body: response.body as Uint8Array }
}

describe('Image of palettes and numbers', () => {
  it.each([
    ['image/png', ['L', 'LA', 'RGB', 'RGBA', 'I;16', 'P']],
    ['image/tiff', ['L', 'RGB', 'RGBA', 'I;16', 'I', 'F']],
    ['image/gif', ['L', 'P']],
  ] as const)('writes to %s what is read again: %j', async (mimeType, modes) => {
    for (const mode of modes) {
      const data = Uint8Array.from({ length: 35 * pixelBytes(mode) }, (_, i) => (i * 37) % 251)
      const palette = Uint8Array.from({ length: 1024 }, (_, i) =>
        i % 4 === 3 ? 255 : (i * 91) % 253,
      )
      const image = new RasterImage(mode, 7, 5, data, mode === 'P' ? palette : undefined)
      const { body } = await write(image, { pilmode: null, mimeType })
      expect(await read(body, { pilmode: null })).toEqual(image)
    }
  })

  it('keeps transparent colours of a palette in PNG', async () => {
    const image = new RasterImage(
      'P',
      2,
      1,
      Uint8Array.of(1, 0),
      Uint8Array.of(9, 8, 7, 100, 1, 2, 3, 0),
    )
    const { body } = await write(image, { pilmode: null, mimeType: 'image/png' })
    expect([...(await read(body, { pilmode: 'RGBA' })).data]).toEqual([1, 2, 3, 0, 9, 8, 7, 100])
    const { body: webp } = await write(image, { pilmode: null, mimeType: 'image/webp' })
    expect((await read(webp, { pilmode: null })).mode).toBe('RGBA')
  })

  it('writes colours and transparency to GIF', async () => {
    const image = new RasterImage(
      'RGBA',
      2,
      2,
      Uint8Array.of(255, 0, 0, 255, 0, 255, 0, 127, 0, 0, 255, 128, 9, 9, 9, 0),
    )
    const { body } = await write(image, { pilmode: null, mimeType: 'image/gif' })
    expect([...(await read(body, { pilmode: 'RGBA' })).data]).toEqual([
      255, 0, 0, 255, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0,
    ])
  })

  it('takes a media type in any case', () => {
    expect(new Image({ mimeType: 'IMAGE/PNG' }).mimeType).toBe('image/png')
  })

  it.each([
    ['the chunk PLTE is damaged', (png: Buffer) => png.fill(0, 41, 44)],
    ['the chunk IDAT is damaged', (png: Buffer) => png.fill(1, png.length - 30, png.length - 28)],
    ['the chunk IDAT is damaged', (png: Buffer) => png.fill(1, png.length - 18, png.length - 16)],
  ])('refuses a damaged PNG of a palette: %s', async (message, damage) => {
    const png = Buffer.from(fixtureBytes('palette.png'))
    damage(png)
    const refusal = await read(png, { pilmode: 'P' }).catch((error) => error)
    expect(refusal).toBeInstanceOf(BadInput)
    expect(refusal.message).toContain(message)
  })
})
