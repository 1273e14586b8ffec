import { InvalidArgument, io, NDArray, RasterImage, type RasterMode } from 'serving'
import { describe, expect, it } from 'vitest'
import { readImageHeader } from '../../../../src/values/image/header.ts'
import { imageAddon, jpegStatus } from '../../../../src/values/image/image-addon.ts'
import type { ResizeFilter } from '../../../../src/values/image/resize.ts'
import { difference, fixtureBytes } from '../../../fixtures/images/pictures.ts'

interface Sized {
  readonly width: number
  readonly height: number
  /** Base64. */
  readonly data: string
}
/** What Pillow and numpy made; see test/fixtures/images/resize.py. */
const resizes: readonly (Sized & {
  readonly mode: RasterMode
  readonly to: readonly (Sized & { readonly filter: ResizeFilter })[]
})[] = JSON.parse(Buffer.from(fixtureBytes('resizes.json')).toString())

const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'))
const noise = (length: number, seed = 1) => {
  let state = seed
  return Uint8Array.from({ length }, () => {
    state = (state * 1103515245 + 12345) % 2 ** 31
    return state >> 16
  })
}

// Only a run without the add-on may go without it; anything else is a defect.
it.skipIf(/^(switched off|not built)/.test(jpegStatus.reason ?? ''))('the add-on resizes', () => {
  expect(imageAddon).toBeDefined()
})

describe('RasterImage.resize', () => {
  it.each(resizes.flatMap(({ to, ...source }) => to.map((target) => ({ source, ...target }))))(
    '$source.mode to $width×$height by $filter is what Pillow makes, to the bit',
    async (target) => {
      const { source, width, height, filter, data } = target
      const image = new RasterImage(source.mode, source.width, source.height, bytesOf(source.data))
      const resized = await image.resize(width, height, { filter })
      expect(resized).toMatchObject({ mode: source.mode, width, height })
      expect(difference(resized.data, data)).toBe(0)
    },
  )

  it('is bicubic unless asked otherwise', async () => {
    const image = new RasterImage('L', 9, 7, noise(63))
    expect(await image.resize(4, 5)).toEqual(await image.resize(4, 5, { filter: 'bicubic' }))
    expect(await image.resize(4, 5)).not.toEqual(await image.resize(4, 5, { filter: 'bilinear' }))
  })

  it.each<[string, () => Promise<unknown>, RegExp]>([
    [
      'a mode of other numbers',
      () => new RasterImage('F', 1, 1, new Uint8Array(4)).resize(2, 2),
      /8-bit channels/,
    ],
    ['mode 1', () => new RasterImage('1', 1, 1, new Uint8Array(1)).resize(2, 2), /8-bit channels/],
    [
      'no width',
      () => new RasterImage('L', 1, 1, new Uint8Array(1)).resize(0, 2),
      /1 to 65535 pixels/,
    ],
    [
      'half a pixel',
      () => new RasterImage('L', 1, 1, new Uint8Array(1)).resize(2, 2.5),
      /1 to 65535 pixels/,
    ],
    [
      'a side too long',
      () => new RasterImage('L', 65_536, 1, new Uint8Array(65_536)).resize(2, 2),
      /1 to 65535/,
    ],
    [
      'another filter',
      () =>
        new RasterImage('L', 1, 1, new Uint8Array(1)).resize(2, 2, { filter: 'box' as 'bicubic' }),
      /one of bilinear, bicubic, lanczos/,
    ],
  ])('refuses %s', async (_title, run, message) => {
    await expect(run()).rejects.toThrow(InvalidArgument)
    await expect(run()).rejects.toThrow(message)
  })

  it('does not read the pixels of the caller after it has returned', async () => {
    const data = noise(900 * 800)
    const image = new RasterImage('L', 900, 800, data)
    const wanted = await image.resize(30, 20)
    const promise = image.resize(30, 20)
    structuredClone(data.buffer, { transfer: [data.buffer] })
    expect(await promise).toEqual(wanted)
  })

  it('takes pixels that are transferred as soon as it was called', async () => {
    const data = new Uint8Array(9_000_000).fill(7)
    const promise = new RasterImage('L', 3000, 3000, data).resize(30, 30)
    structuredClone(data.buffer, { transfer: [data.buffer] })
    expect((await promise).data).toEqual(new Uint8Array(900).fill(7))
  })

  it('ends with the reason of its signal', async () => {
    const image = new RasterImage('L', 3000, 2000, noise(6_000_000))
    await expect(
      image.resize(9, 9, { signal: AbortSignal.abort(new Error('gone')) }),
    ).rejects.toThrow('gone')
  })

  it.skipIf(imageAddon === undefined)(
    'by the add-on, ends with the reason of its signal meanwhile',
    async () => {
      const image = new RasterImage('L', 3000, 2000, noise(6_000_000))
      const controller = new AbortController()
      const promise = image.resize(9, 9, { signal: controller.signal })
      controller.abort(new Error('gone'))
      await expect(promise).rejects.toThrow('gone')
    },
  )
})

describe('RasterImage.crop', () => {
  it('copies a part', () => {
    const image = RasterImage.fromNDArray(new NDArray(noise(5 * 4 * 3), [4, 5, 3]))
    const part = image.crop(2, 1, 3, 2)
    expect(part).toMatchObject({ mode: 'RGB', width: 3, height: 2 })
    const wanted = [1, 2].flatMap((y) => [...image.data.subarray((y * 5 + 2) * 3, (y * 5 + 5) * 3)])
    expect([...part.data]).toEqual(wanted)
    expect(image.crop(0, 0, 5, 4)).toEqual(image)
    const wide = new RasterImage('I', 3, 1, new Uint8Array(Int32Array.of(1, -2, 3).buffer))
    expect([...wide.crop(1, 0, 2, 1).elements()]).toEqual([-2, 3])
  })

  it.each([
    [-1, 0, 1, 1],
    [0, 0, 0, 1],
    [0, 0, 6, 1],
    [4, 3, 2, 1],
    [0, 3, 1, 2],
    [0.5, 0, 1, 1],
    [Number.NaN, 0, 1, 1],
  ])('refuses %d, %d, %d, %d of 5×4', (left, top, width, height) => {
    const image = new RasterImage('L', 5, 4, noise(20))
    expect(() => image.crop(left, top, width, height)).toThrow(
      /left, top, width and height within for .* of 5×4/,
    )
  })
})

describe('RasterImage.encode', () => {
  const image = RasterImage.fromNDArray(new NDArray(noise(24 * 18 * 3), [18, 24, 3]))

  it('writes every format, in the nearest mode that it holds', async () => {
    for (const mimeType of [
      'image/png',
      'image/jpeg',
      'image/webp',
      'image/bmp',
      'image/tiff',
    ] as const) {
      expect(readImageHeader(await image.encode(mimeType))).toMatchObject({
        mimeType,
        width: 24,
        height: 18,
      })
    }
    const alpha = new RasterImage('LA', 12, 18, noise(432))
    const webp = await new io.Image({ pilmode: null }).fromBytes(await alpha.encode('image/webp'))
    expect(webp.mode).toBe('RGBA')
  })

  it('takes a quality', async () => {
    const sizes = await Promise.all(
      (['image/jpeg', 'image/webp', 'image/avif'] as const).map(async (mimeType) => [
        (await image.encode(mimeType, { quality: 20 })).length,
        (await image.encode(mimeType, { quality: 95 })).length,
      ]),
    )
    for (const [low, high] of sizes) expect(low).toBeLessThan(high)
    await expect(image.encode('image/jpeg', { quality: 0 })).rejects.toThrow(InvalidArgument)
    await expect(image.encode('image/jp2' as 'image/png')).rejects.toThrow(InvalidArgument)
  })
})
