import { execFileSync } from 'node:child_process'
import { RasterImage } from 'serving'
import { describe, expect, it } from 'vitest'
import { readImageHeader } from '../../../../src/values/image/header.ts'
import { jpegStatus } from '../../../../src/values/image/image-addon.ts'
import { ImageCodec } from '../../../../src/values/image/image-codec.ts'
import { jpegCodec } from '../../../../src/values/image/jpeg.ts'
import { difference, fixture, fixtureBytes, pictures } from '../../../fixtures/images/pictures.ts'

const jpegs = pictures.filter(({ mimeType }) => mimeType === 'image/jpeg')
const headerOf = (bytes: Uint8Array) => readImageHeader(bytes)!
const pixelsOf = (file: string, mode: 'L' | 'RGB') => {
  const { width, height, rgb, native } = fixture(file)
  return new RasterImage(
    mode,
    width,
    height,
    new Uint8Array(Buffer.from(mode === 'L' ? native! : rgb, 'base64')),
  )
}

// Only a machine without the library, or a run that leaves it out, may go without; anything else is a defect.
const excused = /^(switched off|libjpeg-turbo was not there)/.test(jpegStatus.reason ?? '')

it.skipIf(excused)('libjpeg-turbo is loaded wherever the add-on can be built', () => {
  expect(jpegStatus).toEqual({ library: expect.stringMatching(/^libjpeg-turbo \d/) })
})

describe.skipIf(jpegCodec === undefined)('JPEG by libjpeg-turbo', () => {
  const codec = jpegCodec!

  it.each(jpegs)(
    'reads $file as Pillow does, to the bit',
    async ({ file, width, height, mode, rgb, native }) => {
      const raster = await codec.decode(fixtureBytes(file), headerOf(fixtureBytes(file)))
      expect(raster).toMatchObject({ mode, width, height })
      expect(difference(raster.data, native ?? rgb)).toBe(0)
    },
  )

  it('writes what Pillow writes, to the bit', async () => {
    expect(
      Buffer.compare(await codec.encode(pixelsOf('rgb.png', 'RGB'), 75), fixtureBytes('rgb.jpg')),
    ).toBe(0)
    expect(
      Buffer.compare(await codec.encode(pixelsOf('grey.png', 'L'), 75), fixtureBytes('grey.jpg')),
    ).toBe(0)
  })

  it('is what Image uses for JPEG', async () => {
    const written = await new ImageCodec(codec).encode(pixelsOf('rgb.png', 'RGB'), 'image/jpeg')
    expect(Buffer.compare(written, fixtureBytes('rgb.jpg'))).toBe(0)
    const inks = await new ImageCodec(codec).decode(
      fixtureBytes('inks.jpg'),
      headerOf(fixtureBytes('inks.jpg')),
    )
    expect(difference(inks.data, fixture('inks.jpg').native ?? '')).toBe(0)
  })

  it('refuses a frame header that says anything else than the one that was checked', async () => {
    const bytes = fixtureBytes('rgb.jpg')
    const header = headerOf(bytes)
    for (const other of [{ width: 25 }, { height: 17 }, { channels: 1 as const }]) {
      await expect(codec.decode(bytes, { ...header, ...other })).rejects.toThrow(
        'the frame header contradicts itself',
      )
    }
  })

  it('refuses data that ends early, and takes damage within it, which the library mends', async () => {
    const bytes = fixtureBytes('odd-444.jpg')
    const header = headerOf(bytes)
    await expect(codec.decode(bytes.subarray(0, -40), header)).rejects.toThrow(
      'the data ends before the picture',
    )
    await expect(codec.decode(bytes.subarray(0, 20), header)).rejects.toThrow(Error)
    const damaged = Buffer.from(bytes).fill(0x55, bytes.length - 400, bytes.length - 300)
    await expect(codec.decode(damaged, header)).resolves.toMatchObject({
      mode: 'RGB',
      width: header.width,
    })
  })

  it('refuses a picture of thousands of scans', async () => {
    const bytes = Buffer.from(fixtureBytes('progressive.jpg'))
    const last = bytes.lastIndexOf('\xff\xda', undefined, 'latin1')
    const scans = new Array<Uint8Array>(5000).fill(bytes.subarray(last, -2))
    const many = Buffer.concat([bytes.subarray(0, last), ...scans, bytes.subarray(-2)])
    await expect(codec.decode(many, headerOf(many))).rejects.toThrow(
      'the picture has too many scans',
    )
  })

  it('stops when it is given up, before and during the work', async () => {
    const large = new RasterImage('L', 4000, 4000, new Uint8Array(16_000_000))
    const bytes = await codec.encode(large, 75)
    for (const when of ['before', 'during'] as const) {
      const reading = new AbortController()
      const writing = new AbortController()
      if (when === 'before') for (const one of [reading, writing]) one.abort(new Error('gone'))
      const work = [
        codec.decode(bytes, headerOf(bytes), reading.signal),
        codec.encode(large, 75, writing.signal),
      ]
      if (when === 'during') for (const one of [reading, writing]) one.abort(new Error('gone'))
      for (const one of await Promise.allSettled(work))
        expect(one).toMatchObject({ reason: { message: 'gone' } })
    }
  })

  it('says what cannot be written', async () => {
    const wide = new RasterImage('L', 70_000, 1, new Uint8Array(70_000))
    await expect(codec.encode(wide, 75)).rejects.toThrow(/65500/)
  })

  it('is left out by SERVING_NATIVE=off', () => {
    const script = `import { jpegStatus } from './src/values/image/image-addon.ts'
      import { jpegCodec } from './src/values/image/jpeg.ts'
      console.log(jpegCodec === undefined, jpegStatus.reason)`
    const env = { ...process.env, SERVING_NATIVE: 'off' }
    const args = ['--import', 'tsx', '--input-type=module', '--eval', script]
    expect(execFileSync(process.execPath, args, { env, encoding: 'utf8' })).toMatch(
      /^true switched off/,
    )
  })
})

describe('JPEG without libjpeg-turbo', () => {
  const codec = new ImageCodec(undefined)
  // Its colour has half the resolution and is noise.
  const isHalvedNoise = (file: string) => /-42\d.jpg$/.test(file)

  // It gives no inks.
  const colors = jpegs.filter(({ mode }) => mode !== 'CMYK')
  it.each(colors)(
    'reads $file as Pillow does but for rounding',
    async ({ file, rgb, mode, native }) => {
      const raster = await codec.decode(fixtureBytes(file), headerOf(fixtureBytes(file)))
      expect(raster.mode).toBe(mode)
      expect(difference(raster.data, native ?? rgb)).toBeLessThanOrEqual(
        isHalvedNoise(file) ? 60 : 3,
      )
    },
  )

  it('writes grey and RGB', async () => {
    for (const [file, mode] of [
      ['rgb.png', 'RGB'],
      ['grey.png', 'L'],
    ] as const) {
      const written = await codec.encode(pixelsOf(file, mode), 'image/jpeg')
      expect(headerOf(written)).toMatchObject({ width: 24, height: 18, channels: 3 })
    }
  })
})
