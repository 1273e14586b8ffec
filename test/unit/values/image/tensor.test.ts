import { readFileSync } from 'node:fs'
import {
  BadInput,
  InvalidArgument,
  io,
  NDArray,
  RasterImage,
  type RasterMode,
  type TensorOptions,
} from 'serving'
import { describe, expect, it } from 'vitest'
import { readImageHeader } from '../../../../src/values/image/header.ts'
import { ImageCodec } from '../../../../src/values/image/image-codec.ts'
import { jpegCodec } from '../../../../src/values/image/jpeg.ts'
import { elementsOf, rasterModes } from '../../../../src/values/image/raster-modes.ts'
import { resample } from '../../../../src/values/image/resample.ts'
import { resampleRows } from '../../../../src/values/image/resample-rows.ts'
import type { Resize, ResizeFilter } from '../../../../src/values/image/resize.ts'
import { TensorPlan } from '../../../../src/values/image/tensor.ts'
import { difference, fixtureBytes } from '../../../fixtures/images/pictures.ts'
import { requestOf } from '../../descriptors/requests.ts'

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
const tensors: readonly {
  readonly file: string
  readonly pilmode: 'RGB' | 'L'
  readonly options: TensorOptions
  readonly levels: string
  readonly tensor: string
}[] = JSON.parse(Buffer.from(fixtureBytes('tensors.json')).toString())

const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'))
const floatsOf = (base64: string) => new Float32Array(bytesOf(base64).buffer)
const largest = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((max, value, i) => Math.max(max, Math.abs(value - b[i])), 0)
const noise = (length: number, seed = 1) => {
  let state = seed
  return Uint8Array.from({ length }, () => {
    state = (state * 1103515245 + 12345) % 2 ** 31
    return state >> 16
  })
}

// Only a run without the add-on may go without it; anything else is a defect.

describe('tensors', () => {
  const hasLibjpeg = jpegCodec !== undefined
  // Without libjpeg-turbo a JPEG is decoded in full, and by a decoder that rounds differently.
  const isExact = (file: string) => hasLibjpeg || !file.endsWith('.jpg')

  it.each(tensors)('$file as $pilmode with $options is what Pillow and numpy make', async (one) => {
    const { file, pilmode, options, levels, tensor } = one
    const array = await new io.Image({ pilmode, tensor: options }).fromBytes(fixtureBytes(file))
    const [height, width] = options.size
    const channels = pilmode === 'L' ? 1 : 3
    expect(array.shape).toEqual(
      options.layout === 'hwc' ? [height, width, channels] : [channels, height, width],
    )
    expect(array.dtype).toBe('float32')
    if (isExact(file)) expect(largest(array.data, floatsOf(tensor))).toBeLessThanOrEqual(1e-6)
    const { mean: _mean, std: _std, ...plain } = options
    const bytes = await new io.Image({
      pilmode,
      tensor: { ...plain, dtype: 'uint8', layout: 'hwc' },
    }).fromBytes(fixtureBytes(file))
    expect(bytes.dtype).toBe('uint8')
    expect(bytes.shape).toEqual([height, width, channels])
    expect(difference(bytes.data, levels)).toBeLessThanOrEqual(isExact(file) ? 0 : 40)
  })

  it('come from a raster as from its file', async () => {
    const raster = await new io.Image().fromBytes(fixtureBytes('tensor.png'))
    const options = {
      size: [24, 24],
      mean: [0.485, 0.456, 0.406],
      std: [0.229, 0.224, 0.225],
    } as const
    const wanted = await new io.Image({ tensor: options }).fromBytes(fixtureBytes('tensor.png'))
    expect(await raster.toTensor(options)).toEqual(wanted)
    const grey = new RasterImage('I', 2, 1, new Uint8Array(Int32Array.of(300, 7).buffer))
    expect(await grey.toTensor({ size: [1, 2], dtype: 'uint8' })).toEqual(
      new NDArray(Uint8Array.of(255, 7), [1, 1, 2], 'uint8'),
    )
    const indexed = new RasterImage(
      'P',
      1,
      1,
      Uint8Array.of(1),
      Uint8Array.of(0, 0, 0, 255, 9, 8, 7, 255),
    )
    expect(await indexed.toTensor({ size: [1, 1], dtype: 'uint8' })).toEqual(
      new NDArray(Uint8Array.of(9, 8, 7), [3, 1, 1], 'uint8'),
    )
  })

  it('have a first dimension of 1 if they are to be a batch', async () => {
    const raster = new RasterImage('RGB', 3, 2, noise(18))
    for (const layout of ['chw', 'hwc'] as const) {
      const alone = await raster.toTensor({ size: [4, 5], layout })
      expect(await raster.toTensor({ size: [4, 5], layout, batch: true })).toEqual(
        alone.reshape([1, ...alone.shape]),
      )
    }
    const image = new io.Image({ tensor: { size: [4, 5], batch: true } })
    expect((await image.fromBytes(fixtureBytes('tensor.png'))).shape).toEqual([1, 3, 4, 5])
    expect(() => new io.Image({ tensor: { size: [4, 5], batch: 1 as never } })).toThrow(
      /tensor\.batch/,
    )
  })

  it('are the same in TypeScript', async () => {
    for (const { file, pilmode, options } of tensors) {
      if (file.endsWith('.jpg')) continue
      const raster = await new ImageCodec(undefined).decode(
        fixtureBytes(file),
        readImageHeader(fixtureBytes(file))!,
      )
      const plan = new TensorPlan(options, pilmode === 'L' ? 1 : 3)
      const resize = plan.resize(raster.width, raster.height)
      const typescript = plan.allocate()
      const native = await resample(raster, resize, plan.allocate())
      await resampleRows(raster, resize, typescript)
      expect(Buffer.compare(native, typescript)).toBe(0)
    }
    for (const { mode, width, height, data, to } of resizes) {
      for (const target of to) {
        const { channels } = rasterModes[mode]
        const x = { extent: width, full: target.width, first: 0, count: target.width }
        const y = { extent: height, full: target.height, first: 0, count: target.height }
        const rest = {
          left: 0,
          top: 0,
          isPlanar: false,
          hasAlpha: /A$/.test(mode),
          table: undefined,
        }
        const resize: Resize = { ...target, x, y, channels, ...rest }
        const out = new Uint8Array(target.width * target.height * channels)
        await resampleRows({ mode, width, height, data: bytesOf(data) }, resize, out)
        expect(difference(out, target.data)).toBe(0)
      }
    }
  })

  it.skipIf(!hasLibjpeg)('of a JPEG in one pass are those of its pixels', async () => {
    const file = fixtureBytes('tensor-420.jpg')
    const header = readImageHeader(file)!
    const pixels = await jpegCodec!.decode(file, header)
    const raster = new RasterImage(
      'RGB',
      header.width,
      header.height,
      new Uint8Array(elementsOf(pixels).buffer),
    )
    const options = { size: [50, 50], scaleOnLoad: false } as const
    expect(await new io.Image({ tensor: options }).fromBytes(file)).toEqual(
      await raster.toTensor(options),
    )
  })

  it('choose how much smaller a JPEG is decoded as Pillow does', () => {
    const plan = (size: readonly [number, number], rest: Partial<TensorOptions> = {}) =>
      new TensorPlan({ size, ...rest }, 3)
    expect(plan([224, 224]).denominator(1920, 1080)).toBe(2)
    expect(plan([224, 224]).denominator(895, 1080)).toBe(1)
    expect(plan([224, 224]).denominator(896, 1080)).toBe(2)
    expect(plan([100, 100]).denominator(1920, 1080)).toBe(4)
    expect(plan([16, 16]).denominator(1920, 1080)).toBe(8)
    expect(plan([16, 16], { scaleOnLoad: false }).denominator(1920, 1080)).toBe(1)
    expect(plan([16, 16], { shortSide: 224 }).denominator(1920, 1080)).toBe(2)
  })

  it('of pictures of any ratio are cut out of what covers them', async () => {
    for (const [width, height] of [
      [65_535, 1],
      [1, 65_535],
      [3, 50_000],
    ]) {
      const raster = new RasterImage('L', width, height, new Uint8Array(width * height).fill(9))
      for (const fit of ['cover', 'contain', 'fill'] as const) {
        const tensor = await raster.toTensor({ size: [7, 5], fit, dtype: 'uint8' })
        expect(tensor.shape).toEqual([1, 7, 5])
        if (fit !== 'contain') expect([...new Set(tensor.data)]).toEqual([9])
      }
    }
  })

  it('are refused for a side that is too long', async () => {
    const wide = new RasterImage('L', 65_536, 1, new Uint8Array(65_536))
    const png = await wide.encode('image/png')
    const error = await Promise.resolve()
      .then(() => new io.Image({ tensor: { size: [2, 2] } }).fromHttpRequest(requestOf(png)))
      .catch((cause) => cause)
    expect(error).toBeInstanceOf(BadInput)
    expect(error).toMatchObject({
      reason: 'size',
      message: /at most 65535 pixels for Image, received 65536×1/,
    })
    await expect(wide.toTensor({ size: [2, 2] })).rejects.toThrow(InvalidArgument)
  })

  it.each<[string, object, RegExp]>([
    ['no size', {}, /\[height, width\]/],
    ['one side', { size: [2] }, /\[height, width\]/],
    ['a side of 0', { size: [0, 2] }, /\[height, width\]/],
    ['a side too long', { size: [2, 16_385] }, /1 to 16384/],
    ['an unknown option', { size: [2, 2], means: [1] }, /unknown option "means"/],
    ['another fit', { size: [2, 2], fit: 'crop' }, /tensor\.fit/],
    ['another filter', { size: [2, 2], filter: 'box' }, /tensor\.filter/],
    ['another layout', { size: [2, 2], layout: 'nchw' }, /tensor\.layout/],
    ['another dtype', { size: [2, 2], dtype: 'float16' }, /tensor\.dtype/],
    ['a mean of one channel', { size: [2, 2], mean: [0.5] }, /each of 3 channels for tensor\.mean/],
    ['a deviation of 0', { size: [2, 2], std: [1, 0, 1] }, /tensor\.std/],
    ['a mean of bytes', { size: [2, 2], dtype: 'uint8', mean: [0, 0, 0] }, /need dtype 'float32'/],
    ['a background of cover', { size: [2, 2], background: [0, 0, 0] }, /needs fit 'contain'/],
    [
      'a background out of range',
      { size: [2, 2], fit: 'contain', background: [0, 0, 256] },
      /tensor\.background/,
    ],
    ['a short side below size', { size: [2, 4], shortSide: 3 }, /tensor\.shortSide/],
    ['a short side of fill', { size: [2, 2], fit: 'fill', shortSide: 3 }, /tensor\.shortSide/],
  ])('refuse %s', (_title, tensor, message) => {
    expect(() => new io.Image({ tensor: tensor as TensorOptions })).toThrow(InvalidArgument)
    expect(() => new io.Image({ tensor: tensor as TensorOptions })).toThrow(message)
  })

  it('are for grey and RGB', () => {
    for (const pilmode of [null, 'RGBA', 'CMYK'] as const) {
      expect(() => new io.Image({ pilmode, tensor: { size: [2, 2] } })).toThrow(/RGB or L/)
    }
  })

  it('are refused as pictures are', async () => {
    const image = new io.Image({ tensor: { size: [4, 4] }, maxPixels: 100 })
    const cut = new io.Image({ tensor: { size: [4, 4] } })
    expect(() => image.fromBytes(fixtureBytes('tensor.png'))).toThrow(/at most 100 pixels/)
    for (const file of ['tensor-420.jpg', 'tensor.png', 'tensor.webp']) {
      const bytes = readFileSync(
        new URL(`../../../fixtures/images/${file}`, import.meta.url),
      ).subarray(0, -400)
      await expect(cut.fromBytes(bytes)).rejects.toMatchObject({ reason: 'encoding' })
    }
  })
})
