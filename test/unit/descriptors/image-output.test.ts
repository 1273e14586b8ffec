import { Transformer } from '@napi-rs/image'
import { BadOutput, InvalidArgument, io, NDArray, RasterImage } from 'serving'
import { describe, expect, it } from 'vitest'
import { convertRaster } from '../../../src/values/image/raster-convert.ts'
import { pixelBytes, type RasterMode, rasterModes } from '../../../src/values/image/raster-modes.ts'
import { difference, fixture } from '../../fixtures/images/pictures.ts'
import { read, refusal, write } from './images.ts'

const { Image } = io

describe('Image as an output', () => {
  const rgb = new RasterImage(
    'RGB',
    24,
    18,
    new Uint8Array(Buffer.from(fixture('rgb.png').rgb, 'base64')),
  )

  it('writes JPEG with the headers of the reference', async () => {
    const { headers, body } = await write(rgb)
    expect(headers).toEqual({
      'content-type': 'image/jpeg',
      'content-disposition': 'attachment; filename="output.jpeg"',
    })
    expect(difference((await read(body)).data, fixture('rgb.png').rgb)).toBeLessThan(30)
  })

  it.each(['image/png', 'image/bmp', 'image/tiff'])('writes %s without loss', async (mimeType) => {
    const { headers, body } = await write(rgb, { mimeType })
    expect(headers['content-disposition']).toBe(
      `attachment; filename="output.${mimeType.slice(6)}"`,
    )
    expect(await read(body, { allowedMimeTypes: [mimeType] })).toEqual(rgb)
  })

  it('writes image/webp', async () => {
    const mimeType = 'image/webp'
    const { body } = await write(rgb, { mimeType })
    expect(
      difference((await read(body, { allowedMimeTypes: [mimeType] })).data, fixture('rgb.png').rgb),
    ).toBeLessThan(40)
  })

  it('writes image/avif, which it does not read', async () => {
    const { headers, body } = await write(rgb, { mimeType: 'image/avif' })
    expect(headers['content-disposition']).toBe('attachment; filename="output.avif"')
    const decoded = await new Transformer(body).rawPixels()
    expect(decoded.length).toBe(24 * 18 * 4)
    const opaque = new RasterImage('RGBA', 24, 18, decoded)
    expect(
      difference((await convertRaster(opaque, 'RGB')).data, fixture('rgb.png').rgb),
    ).toBeLessThan(40)
    expect(await refusal(body)).toMatchObject({ status: 400, reason: 'encoding' })
    expect(await refusal(body, {}, 'image/avif')).toMatchObject({ status: 415 })
    expect(() => new Image({ allowedMimeTypes: ['image/avif'] })).toThrow(InvalidArgument)
  })

  it.each([
    ['1', 'L'],
    ['L', 'L'],
    ['LA', 'LA'],
    ['RGB', 'RGB'],
    ['RGBA', 'RGBA'],
    ['CMYK', 'RGB'],
    ['HSV', 'RGB'],
    ['YCbCr', 'RGB'],
    ['F', 'L'],
    ['I', 'I;16'],
    ['I;16', 'I;16'],
    ['P', 'P'],
    ['RGBX', 'RGB'],
    ['LAB', 'RGB'],
  ] as const)('converts to pilmode %s and writes it to PNG as %s', async (pilmode, stored) => {
    const { body } = await write(rgb, { pilmode, mimeType: 'image/png' })
    expect((await read(body, { pilmode: null })).mode).toBe(stored)
  })

  it.each([
    'image/png',
    'image/jpeg',
    'image/webp',
    'image/bmp',
    'image/tiff',
    'image/gif',
    'image/avif',
  ])('finds a mode that %s keeps for every mode', async (mimeType) => {
    for (const mode of Object.keys(rasterModes) as RasterMode[]) {
      const image = RasterImage.fromNDArray(
        new RasterImage(mode, 1, 1, new Uint8Array(pixelBytes(mode))).toNDArray(),
        mode,
      )
      const { body } = await write(image, { pilmode: null, mimeType })
      if (mimeType !== 'image/avif')
        expect(await read(body)).toMatchObject({ mode: 'RGB', width: 1, height: 1 })
    }
  })

  it('writes 16-bit grey from mode I, clipped', async () => {
    const image = RasterImage.fromNDArray(
      new NDArray(Int32Array.of(-1, 0, 513, 65535, 70000), [1, 5]),
    )
    const { body } = await write(image, { pilmode: 'I', mimeType: 'image/png' })
    expect([...(await read(body, { pilmode: 'I' })).elements()]).toEqual([0, 0, 513, 65535, 65535])
  })

  it.each([
    [[2, 2], 'L'],
    [[2, 2, 1], 'L'],
    [[2, 2, 3], 'RGB'],
    [[2, 2, 4], 'RGBA'],
  ])('takes uint8 of shape %j as %s', async (shape, mode) => {
    const data = Uint8Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => i * 9)
    const { body } = await write(new NDArray(data, shape), { pilmode: null, mimeType: 'image/png' })
    expect(await read(body, { pilmode: null })).toEqual(new RasterImage(mode as 'L', 2, 2, data))
  })

  it('takes an array that has just the channels of pilmode as being in pilmode', async () => {
    const { body } = await write(new NDArray(Uint8Array.of(0, 255, 255), [1, 1, 3]), {
      pilmode: 'HSV',
      mimeType: 'image/png',
    })
    expect([...(await read(body)).data]).toEqual([255, 0, 0])
  })

  it.each([
    [new NDArray(new Float32Array(3), [1, 1, 3])],
    [new NDArray(new Uint8Array(4))],
    [new NDArray(new Uint8Array(5), [1, 1, 5])],
    [new NDArray(new Uint8Array(2), [1, 1, 2])],
    [new NDArray(new Uint8Array(0), [0, 0])],
    [new NDArray(new Uint8Array(1), [1, 1], 'bool')],
    ['text' as unknown as NDArray],
    [null as unknown as NDArray],
    [new Uint8Array(3) as unknown as NDArray],
  ])('refuses a result that is no picture: %j', async (value) => {
    await expect(write(value)).rejects.toThrow(BadOutput)
  })

  it('says when a format cannot hold the picture', async () => {
    const wide = new RasterImage('L', 70_000, 1, new Uint8Array(70_000))
    await expect(write(wide)).rejects.toThrow(
      /a picture that image\/jpeg can hold for Image, received L of 70000×1/,
    )
  })
})
