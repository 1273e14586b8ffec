import {
  BadInput,
  BadOutput,
  Context,
  InvalidArgument,
  io,
  RasterImage,
  UnsupportedMediaType,
} from 'serving'
import { describe, expect, it } from 'vitest'
import type { ImageOptions } from '../../../src/descriptors/image.ts'
import { jpegCodec } from '../../../src/values/image/jpeg.ts'
import { paletteOf } from '../../../src/values/image/raster-modes.ts'
import { difference, fixtureBytes, type Picture, pictures } from '../../fixtures/images/pictures.ts'
import { read, refusal, write } from './images.ts'
import { requestOf } from './requests.ts'

const { Image } = io

/** Levels by which a channel may differ from Pillow's. */
const tolerance = ({ file, mimeType, mode }: Picture) => {
  if (mode === 'CMYK' && mimeType === 'image/jpeg' && jpegCodec === undefined) return 1
  // Little CMS interpolates in a table.
  if (mode === 'LAB') return 30
  // By libjpeg-turbo to the bit; by the other codec within 3 where colour has its full resolution: see
  // image/jpeg.test.ts.
  return mimeType === 'image/jpeg' && jpegCodec === undefined
    ? /-42\d.jpg$/.test(file)
      ? 60
      : 3
    : 0
}

/** A TIFF of another kind. */
const withTag = (file: string, tag: number, value: number) => {
  const bytes = Buffer.from(fixtureBytes(file))
  const directory = bytes.readUInt32LE(4)
  for (let entry = directory + 2; entry < bytes.length - 12; entry += 12) {
    if (bytes.readUInt16LE(entry) === tag) bytes.writeUInt16LE(value, entry + 8)
  }
  return bytes
}

describe('Image as an input', () => {
  it.each(pictures)('reads $file as Pillow does', async (picture) => {
    const image = await read(fixtureBytes(picture.file))
    expect(image).toMatchObject({ mode: 'RGB', width: picture.width, height: picture.height })
    expect(difference(image.data, picture.rgb)).toBeLessThanOrEqual(tolerance(picture))
  })

  const inked = pictures.filter(
    ({ mode, mimeType }) => mode === 'CMYK' && (jpegCodec || mimeType !== 'image/jpeg'),
  )
  it.each(inked)('gives the inks of $file as they are stored', async ({ file, native = '' }) => {
    expect(difference((await read(fixtureBytes(file), { pilmode: 'CMYK' })).data, native)).toBe(0)
  })

  // BMP grey and 1-bit pictures come out of the codec in full; inks of JPEG as RGB without libjpeg-turbo.
  const kept = pictures.filter(
    ({ native, file, mode }) =>
      native &&
      !/bmp$/.test(file) &&
      mode !== '1' &&
      (jpegCodec !== undefined || !/s.jpg|k.jpg/.test(file)),
  )
  it.each(kept)('keeps the mode of $file when pilmode is null', async (picture) => {
    const image = await read(fixtureBytes(picture.file), { pilmode: null })
    expect(image.mode).toBe(picture.mode)
    if (picture.palette !== undefined) {
      const colors = Buffer.from(picture.palette, 'base64')
      const colorOf = (palette: Uint8Array, index: number) => [
        ...palette.subarray(index * 4, index * 4 + 4),
      ]
      for (const index of new Set(image.data))
        expect(colorOf(paletteOf(image), index)).toEqual(colorOf(colors, index))
    }
    expect(difference(image.data, picture.native ?? '')).toBeLessThanOrEqual(
      picture.mode === 'LAB' ? 0 : tolerance(picture),
    )
  })

  it.each([
    ['palette.png', 'P'],
    ['palette-transparent.png', 'P'],
    ['palette.bmp', 'RGB'],
    ['rgb-transparent.png', 'RGBA'],
    ['transparent.gif', 'P'],
    ['bit.png', 'L'],
    ['cmyk.jpg', jpegCodec === undefined ? 'RGB' : 'CMYK'],
  ])('resolves %s to %s when pilmode is null', async (file, mode) => {
    expect((await read(fixtureBytes(file), { pilmode: null })).mode).toBe(mode)
  })

  it('makes the transparent colour of a palette transparent', async () => {
    const { data } = await read(fixtureBytes('transparent.gif'), { pilmode: 'RGBA' })
    const clear = data.filter((byte, i) => i % 4 === 3 && byte === 0).length
    expect(clear).toBeGreaterThan(0)
    expect(clear).toBeLessThan(data.length / 4)
  })

  it('leaves the orientation of EXIF alone, as Pillow does', async () => {
    for (const file of ['turned.jpg', 'turned.png', 'turned.webp']) {
      expect(await read(fixtureBytes(file))).toMatchObject({ width: 24, height: 18 })
    }
  })

  it.each([
    ['tiles', 'float.tiff', 278, 0],
    ['a compression', 'palette.tiff', 259, 7],
    ['bits of a palette', 'palette.tiff', 258, 4],
    ['half a strip', 'float.tiff', 257, 9],
  ])('refuses a TIFF of %s that it does not read', async (_, file, tag, value) => {
    expect(await refusal(withTag(file, tag, value))).toMatchObject({
      status: 400,
      reason: 'encoding',
    })
  })

  it.each([
    undefined,
    'image/png',
    'IMAGE/PNG',
    'image/png; foo=bar',
    'application/octet-stream',
    'image/jpeg',
    'image/x-png',
    // Of curl --data-binary.
    'application/x-www-form-urlencoded',
  ])('tells the format from the bytes under content-type %s', async (contentType) => {
    expect(await read(fixtureBytes('rgb.png'), {}, contentType)).toMatchObject({
      mode: 'RGB',
      width: 24,
    })
  })

  it('refuses a form of fields', async () => {
    const type = 'application/x-www-form-urlencoded'
    expect(await refusal(Buffer.from('a=1'), {}, type)).toMatchObject({ status: 415 })
    const options = { allowedMimeTypes: ['image/jpeg'] }
    expect(await refusal(fixtureBytes('rgb.png'), options, type)).toMatchObject({ status: 415 })
  })

  it.each(['application/json', 'text/plain', 'image/svg+xml', ';;', 'image'])(
    'refuses content-type %s',
    async (contentType) => {
      expect(await refusal(fixtureBytes('rgb.png'), {}, contentType)).toMatchObject({
        status: 415,
        reason: 'media-type',
      })
    },
  )

  it('refuses a declared type that is not allowed', async () => {
    const error = await refusal(
      fixtureBytes('rgb.png'),
      { allowedMimeTypes: ['image/jpeg'] },
      'image/png',
    )
    expect(error).toBeInstanceOf(UnsupportedMediaType)
    expect(error.message).toBe(
      'expected image/jpeg for the type of a picture, received "image/png"',
    )
  })

  it('refuses bytes of a type that is not allowed, whatever they are called', async () => {
    const options = { allowedMimeTypes: ['image/PNG'] }
    expect(await read(fixtureBytes('rgb.png'), options, 'image/png')).toBeInstanceOf(RasterImage)
    expect(await refusal(fixtureBytes('rgb.jpg'), options, 'image/png')).toMatchObject({
      status: 415,
    })
    expect(await refusal(fixtureBytes('rgb.jpg'), options)).toMatchObject({ status: 415 })
  })

  it('accepts nothing when no type is allowed', async () => {
    expect(await refusal(fixtureBytes('rgb.png'), { allowedMimeTypes: [] })).toMatchObject({
      status: 415,
      message: /no type at all/,
    })
  })

  it.each([
    ['nothing', new Uint8Array(0)],
    ['junk', Buffer.from('12345678')],
    ['half a signature', fixtureBytes('rgb.png').subarray(0, 4)],
    ['half a header', fixtureBytes('rgb.png').subarray(0, 20)],
    ['half the pixels', fixtureBytes('lossless.webp').subarray(0, 900)],
    ['half a GIF', fixtureBytes('rgb.gif').subarray(0, 950)],
    ['a JPEG without its last rows', fixtureBytes('noise-444.jpg').subarray(0, 1700)],
    ['a lossy WebP without its last bytes', fixtureBytes('lossy.webp').subarray(0, -2)],
    ['damaged pixels', Buffer.from(fixtureBytes('rgb.png')).fill(0x55, 60, 90)],
  ])('refuses %s', async (_title, bytes) => {
    const error = await refusal(bytes)
    expect(error).toMatchObject({ status: 400, reason: 'encoding' })
    expect(error).toBeInstanceOf(BadInput)
  })

  it('says that a BigTIFF is one', async () => {
    for (const head of ['II+\0\x08\0\0\0', 'MM\0+\0\x08\0\0']) {
      const error = await refusal(Buffer.from(`${head}\0\0\0\0\0\0\0\0`))
      expect(error).toMatchObject({ reason: 'encoding', message: /received a BigTIFF$/ })
    }
  })

  it('refuses more pixels than maxPixels, and takes just as many', async () => {
    expect(await read(fixtureBytes('rgb.png'), { maxPixels: 24 * 18 })).toMatchObject({ width: 24 })
    expect(await refusal(fixtureBytes('rgb.png'), { maxPixels: 24 * 18 - 1 })).toMatchObject({
      status: 400,
      reason: 'size',
      message: 'expected at most 431 pixels for Image, received 24×18',
    })
  })

  it('refuses a picture of 400 million pixels before anything is decoded', async () => {
    const bomb = Buffer.from(fixtureBytes('rgb.png'))
    bomb.writeUInt32BE(20_000, 16)
    bomb.writeUInt32BE(20_000, 20)
    const before = process.memoryUsage().rss
    for (let i = 0; i < 100; i++) expect(await refusal(bomb)).toMatchObject({ reason: 'size' })
    // One of them has 1,200 MB of pixels.
    expect(process.memoryUsage().rss - before).toBeLessThan(600e6)
  })

  it('reads bytes that come in a part or a message by the same rules', async () => {
    const image = new Image({ allowedMimeTypes: ['image/png'] })
    await expect(image.fromBytes(fixtureBytes('rgb.png'), 'image/png')).resolves.toMatchObject({
      mode: 'RGB',
      width: 24,
    })
    await expect(image.fromBytes(fixtureBytes('rgb.png'))).resolves.toBeInstanceOf(RasterImage)
    expect(() => image.fromBytes(fixtureBytes('rgb.png'), 'image/jpeg')).toThrow(
      UnsupportedMediaType,
    )
    expect(() => image.fromBytes(fixtureBytes('rgb.jpg'))).toThrow(UnsupportedMediaType)
  })

  it('reads bytes that are transferred as soon as it has been called', async () => {
    const png = fixtureBytes('rgb.png')
    const wanted = await new Image().fromBytes(png)
    const bytes = new Uint8Array(png)
    const promises = [new Image().fromBytes(bytes), new Image().fromHttpRequest(requestOf(bytes))]
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
    for (const promise of promises) expect(await promise).toEqual(wanted)
    expect(bytes.length).toBe(0)
  })

  it('gives up what was given up', async () => {
    const ctx = new Context()
    ctx.abort(new Error('gone'))
    await expect(read(fixtureBytes('rgb.png'), {}, undefined, ctx)).rejects.toThrow('gone')
    await expect(read(fixtureBytes('rgb.gif'), {}, undefined, ctx)).rejects.toThrow('gone')
  })
})

describe('Image under many requests', () => {
  it('takes requests that are given up out of the queue and answers the others', async () => {
    const large = new RasterImage('L', 1500, 1500, new Uint8Array(1500 * 1500))
    const { body } = await write(large, { mimeType: 'image/png', pilmode: 'L' })
    const image = new Image({ pilmode: 'L' })
    const contexts = Array.from({ length: 16 }, () => new Context())
    const all = contexts.map((ctx) => image.fromHttpRequest(requestOf(body), ctx))
    for (const ctx of contexts.slice(8)) ctx.abort(new Error('gone'))
    const outcomes = await Promise.allSettled(all)
    expect(outcomes.slice(0, 8).map(({ status }) => status)).toEqual(new Array(8).fill('fulfilled'))
    const givenUp = outcomes.slice(8).filter(({ status }) => status === 'rejected')
    expect(givenUp.length).toBeGreaterThan(0)
    for (const { reason } of givenUp as PromiseRejectedResult[]) expect(reason.message).toBe('gone')
  })
})

describe('new Image', () => {
  it.each<[ImageOptions, RegExp]>([
    [{ pilmode: 'p' as 'L' }, /pilmode/],
    [{ pilmode: 'rgb' as 'RGB' }, /pilmode/],
    [{ mimeType: 'image/jp2' }, /mimeType/],
    [{ mimeType: 'image/jpg' }, /mimeType/],
    [{ mimeType: 'text/plain' }, /mimeType/],
    [{ mimeType: 1 as unknown as string }, /mimeType/],
    [{ allowedMimeTypes: ['image/svg+xml'] }, /allowedMimeTypes/],
    [{ allowedMimeTypes: 'image/png' }, /allowedMimeTypes/],
    [{ allowedMimeTypes: [undefined as unknown as string] }, /allowedMimeTypes/],
    [{ maxPixels: 0 }, /maxPixels/],
    [{ maxPixels: 1.5 }, /maxPixels/],
    [{ pilmode: 'RGBA', mimeType: 'image/jpeg' }, /alpha/],
    [{ pilmode: 'LA', mimeType: 'image/jpeg' }, /alpha/],
    [{ mode: 'L' } as ImageOptions, /unknown option "mode"/],
  ])('refuses %j', (options, message) => {
    expect(() => new Image(options)).toThrow(InvalidArgument)
    expect(() => new Image(options)).toThrow(message)
  })

  it('reads with alpha where the response type was left to its default, and refuses to lose it on output', async () => {
    const image = new Image({ pilmode: 'RGBA' })
    await expect(image.fromHttpRequest(requestOf(fixtureBytes('rgba.png')))).resolves.toMatchObject(
      { mode: 'RGBA' },
    )
    await expect(
      image.toHttpResponse(new RasterImage('RGBA', 1, 1, new Uint8Array(4))),
    ).rejects.toThrow(BadOutput)
  })

  it('takes undefined as not given and null as keeping the mode', () => {
    expect(new Image({ pilmode: undefined, mimeType: undefined }).pilmode).toBe('RGB')
    expect(new Image({ pilmode: null, allowedMimeTypes: null }).pilmode).toBeNull()
  })
})
