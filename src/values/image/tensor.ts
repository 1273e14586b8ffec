/** Tensors of pictures: what the options mean, and the resize that makes them. @module */

import type { DataOf } from '../../core/dtype.ts'
import { InvalidArgument } from '../../core/errors.ts'
import { checkOneOf, checkOptions, checkThat } from '../../core/options.ts'
import { roundEven } from '../../core/text/number-text.ts'
import { NDArray } from '../array/ndarray.ts'
import { withOwnShape } from '../array/own-shape.ts'
import { type Axis, type Resize, type ResizeFilter, resizeFilters } from './resize.ts'

/** How a picture is converted to a tensor. */
export interface TensorOptions {
  /** Height and width, in the order of the tensor's shape. **Units**: pixels, 1 to 16,384. */
  readonly size: readonly [height: number, width: number]
  /**
   * `cover` (default) resizes until both sides suffice and cuts the centre out; `contain` resizes until neither is too
   * long and centres the picture on `background`; `fill` resizes each side separately.
   */
  readonly fit?: TensorFit
  /**
   * For `cover`: the shorter side before the cut, such as 256 for 224.
   *
   * @default what just covers
   */
  readonly shortSide?: number
  /** @default `bilinear` */
  readonly filter?: ResizeFilter
  /** `chw` (default): a plane for each channel. `hwc`: channels side by side. */
  readonly layout?: 'chw' | 'hwc'
  /** Adds a first dimension of 1, a batch of one picture, as most models want it. Default false. */
  readonly batch?: boolean
  /** `float32` (default): `(level / 255 - mean) / std`. `uint8`: levels from 0 to 255. */
  readonly dtype?: 'float32' | 'uint8'
  /**
   * A number for each channel, on the scale from 0 to 1.
   *
   * @default 0
   */
  readonly mean?: readonly number[]
  /**
   * A number for each channel, on the scale from 0 to 1.
   *
   * @default 1
   */
  readonly std?: readonly number[]
  /**
   * For `contain`: the level around the picture, 0 to 255, for each channel.
   *
   * @default 0
   */
  readonly background?: readonly number[]
  /** Whether a JPEG of 4 times the needed area or more is decoded at 1/2, 1/4 or 1/8. Default true. */
  readonly scaleOnLoad?: boolean
}

/** How a picture's sides meet those of a tensor. */
export type TensorFit = 'cover' | 'contain' | 'fill'

/** The element type of the tensors that options ask for. */
export type TensorDType<T extends TensorOptions> = T['dtype'] extends 'uint8' ? 'uint8' : 'float32'

type If<O, A, B> = O extends true | 'hwc' ? A : B
type PictureShape<T extends TensorOptions, C> = If<
  T['layout'],
  readonly [...T['size'], C],
  readonly [C, ...T['size']]
>
type ChannelsOf<M> = M extends 'L' ? 1 : 3

/** The tensor that options ask for, of pictures in mode `M`; null stands for the default. */
export type TensorArray<
  T extends TensorOptions,
  M,
  S extends readonly number[] = PictureShape<T, null extends M ? 3 : ChannelsOf<M>>,
> = NDArray<TensorDType<T>, If<T['batch'], readonly [1, ...S], S>>

/** The longest side of a picture that is resized: its weights take memory. **Units**: pixels. */
export const maxResizedSide = 65_535
const maxTensorSide = 16_384

/** Options of few values, the default first. */
const choices = {
  fit: ['cover', 'contain', 'fill'],
  filter: resizeFilters,
  layout: ['chw', 'hwc'],
  batch: [false, true],
  dtype: ['float32', 'uint8'],
  scaleOnLoad: [true, false],
} as const
const otherNames = ['size', 'shortSide', 'mean', 'std', 'background']

/**
 * `table`: from the 256 levels of each channel to floats.
 *
 * @returns options with their defaults.
 */
function checked(options: TensorOptions, channels: number) {
  checkOptions('tensor', options, [...Object.keys(choices), ...otherNames])
  const chosen = Object.entries(choices).map(([name, values]) => {
    const { [name as keyof typeof choices]: value = values[0] } = options
    return [name, checkOneOf<unknown>(`tensor.${name}`, value, values)]
  })
  const all = Object.fromEntries(chosen) as Required<Pick<TensorOptions, keyof typeof choices>>
  const { size, shortSide, mean, std, background } = options
  const isSize = Array.isArray(size) && size.length === 2 && size.every(isTensorSide)
  checkThat(isSize, `[height, width] of 1 to ${maxTensorSide} pixels`, 'tensor.size', size)
  const covers = (side: number) =>
    all.fit === 'cover' && isTensorSide(side) && side >= Math.max(...size)
  const least = "at least the longer side of size, with fit 'cover'"
  checkThat(shortSide === undefined || covers(shortSide), least, 'tensor.shortSide', shortSide)
  if (background !== undefined && all.fit !== 'contain')
    throw new InvalidArgument("tensor.background needs fit 'contain'")
  const isFloat = all.dtype === 'float32'
  if (!isFloat && (mean !== undefined || std !== undefined))
    throw new InvalidArgument("tensor.mean and tensor.std need dtype 'float32'")
  const isLevel = (level: number) => Number.isInteger(level) && level >= 0 && level <= 255
  const levels = perChannel('background', background, channels, 0, isLevel)
  const means = perChannel('mean', mean, channels, 0, Number.isFinite)
  const stds = perChannel('std', std, channels, 1, (value) => Number.isFinite(value) && value !== 0)
  const table = isFloat ? tableOf(means, stds) : undefined
  const [height, width] = size
  return { ...all, height, width, shortSide, isPlanar: all.layout === 'chw', levels, table }
}

/** Options of a tensor, checked, for pictures in `channels` channels. */
export class TensorPlan<D extends 'float32' | 'uint8' = 'float32' | 'uint8'> {
  readonly channels: number
  readonly #options: ReturnType<typeof checked>

  /** @throws InvalidArgument that names the option. */
  constructor(options: TensorOptions, channels: number) {
    this.channels = channels
    this.#options = checked(options, channels)
  }

  /**
   * @returns 1, 2, 4 or 8: how much smaller a JPEG may be decoded.
   * @see Pillow's `Image.thumbnail`.
   */
  denominator(width: number, height: number): number {
    if (!this.#options.scaleOnLoad) return 1
    const [fullWidth, fullHeight] = this.#full(width, height)
    const times = Math.min(
      Math.floor(width / (2 * fullWidth)),
      Math.floor(height / (2 * fullHeight)),
    )
    return [8, 4, 2].find((denominator) => times >= denominator) ?? 1
  }

  /** @returns the resize of a picture of this size that was decoded at 1/`denominator` of it. */
  resize(width: number, height: number, denominator = 1): Resize {
    const { filter, isPlanar, table, ...to } = this.#options
    const [fullWidth, fullHeight] = this.#full(width, height)
    const x = part(width / denominator, fullWidth, to.width)
    const y = part(height / denominator, fullHeight, to.height)
    const left = roundEven((to.width - x.count) / 2)
    const top = roundEven((to.height - y.count) / 2)
    const place = { width: to.width, height: to.height, left, top, isPlanar }
    return { filter, x, y, channels: this.channels, ...place, hasAlpha: false, table }
  }

  get byteLength(): number {
    const { height, width, table } = this.#options
    return width * height * this.channels * (table === undefined ? 1 : 4)
  }

  /** @returns memory for a tensor: with the background if any, else with anything. */
  allocate(): Uint8Array {
    const { height, width, fit, isPlanar, levels, table } = this.#options
    const area = width * height
    const bytes = new Uint8Array(Buffer.allocUnsafeSlow(this.byteLength).buffer)
    if (fit !== 'contain') return bytes
    const elements = this.#elementsOf(bytes)
    const values = levels.map((level, c) => table?.[256 * c + level] ?? level)
    if (isPlanar)
      for (const [c, value] of values.entries()) elements.fill(value, c * area, (c + 1) * area)
    else {
      elements.set(values)
      for (let i = values.length; i < elements.length; i *= 2) elements.copyWithin(i, 0, i)
    }
    return bytes
  }

  arrayOf(bytes: Uint8Array): NDArray<D> {
    const { channels } = this
    const { height, width, isPlanar, batch } = this.#options
    const shape = isPlanar ? [channels, height, width] : [height, width, channels]
    const whole = batch ? [1, ...shape] : shape
    return withOwnShape(new NDArray(this.#elementsOf(bytes) as DataOf<D>, whole))
  }

  #elementsOf(bytes: Uint8Array): Uint8Array | Float32Array {
    return this.#options.table === undefined ? bytes : new Float32Array(bytes.buffer)
  }

  #full(width: number, height: number): readonly [number, number] {
    const { width: toWidth, height: toHeight, fit, shortSide: side } = this.#options
    if (fit === 'fill') return [toWidth, toHeight]
    if (fit === 'contain') {
      // As Pillow's `ImageOps.contain`.
      if (width * toHeight > toWidth * height)
        return [toWidth, atLeastOne(roundEven((height / width) * toWidth))]
      return [atLeastOne(roundEven((width / height) * toHeight)), toHeight]
    }
    // As torchvision's `Resize` of the shorter side, which cuts the longer one off to a whole number.
    const isWider = side === undefined ? width * toHeight > toWidth * height : width > height
    if (isWider) {
      const short = side ?? toHeight
      return [Math.max(toWidth, Math.trunc((short * width) / height)), short]
    }
    const short = side ?? toWidth
    return [short, Math.max(toHeight, Math.trunc((short * height) / width))]
  }
}

/**
 * @returns the middle `count` pixels of a side that is resized to `full`, as torchvision's
 * `CenterCrop` cuts it.
 */
function part(extent: number, full: number, count: number): Axis {
  if (full <= count) return { extent, full, first: 0, count: full }
  return { extent, full, first: roundEven((full - count) / 2), count }
}

function atLeastOne(value: number): number {
  return Math.max(1, value)
}

/** In single precision at every step, as torchvision and numpy do it, so that the floats are the same. */
function tableOf(means: readonly number[], stds: readonly number[]): Float32Array {
  const { fround } = Math
  const table = new Float32Array(4 * 256)
  for (let c = 0; c < means.length; c++) {
    for (let level = 0; level < 256; level++) {
      table[256 * c + level] = fround(fround(level / 255) - fround(means[c])) / fround(stds[c])
    }
  }
  return table
}

function isTensorSide(side: unknown): boolean {
  return Number.isInteger(side) && (side as number) >= 1 && (side as number) <= maxTensorSide
}

function perChannel(
  name: string,
  values: readonly number[] | undefined,
  channels: number,
  standard: number,
  isValid: (value: number) => boolean,
): readonly number[] {
  if (values === undefined) return new Array<number>(channels).fill(standard)
  const areValid = Array.isArray(values) && values.length === channels && values.every(isValid)
  checkThat(areValid, `a valid number for each of ${channels} channels`, `tensor.${name}`, values)
  return [...values]
}
