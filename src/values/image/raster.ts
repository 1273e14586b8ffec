/** Pictures as pixels: what the Image descriptor gives to a function and takes from it. @module */

import { expected, InvalidArgument } from '../../core/errors.ts'
import { checkOneOf, checkOptions, checkThat } from '../../core/options.ts'
import { shareClass } from '../../core/share-class.ts'
import { NDArray } from '../array/ndarray.ts'
import { showShape } from '../array/shape.ts'
import { type EncodableMimeType, encodableModes } from './encodable-modes.ts'
import { type EncodeOptions, imageCodec } from './image-codec.ts'
import { pictureQueue } from './picture-queue.ts'
import {
  copied,
  elementsOf,
  isGreyMode,
  isRasterMode,
  modesByChannels,
  type Pixels,
  pixelBytes,
  type RasterElements,
  type RasterMode,
  rasterModes,
} from './raster-modes.ts'
import { resample } from './resample.ts'
import { type ResizeFilter, resizeFilters } from './resize.ts'
import { maxResizedSide, type TensorDType, type TensorOptions, TensorPlan } from './tensor.ts'
import { tensorOf } from './tensor-of.ts'

/**
 * Pixels in rows from top to bottom, channels side by side. **Units**: channels are bytes 0 to 255
 * (mode `1`: 0 or 255); `I` is an int32, `F` a float32 and `I;16` a uint16, little-endian in
 * `data`. `P` points at colours of `palette`: red, green, blue and alpha of at most 256
 * (default greys). `a` and `b` of `LAB` are signed bytes.
 *
 * @throws InvalidArgument if mode, size, data and palette do not fit. Shares `data`.
 * @example
 * `new RasterImage('L', 2, 1, Uint8Array.of(0, 255))`
 */
export class RasterImage implements Pixels {
  readonly mode: RasterMode
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
  readonly palette: Uint8Array | undefined

  constructor(
    mode: RasterMode,
    width: number,
    height: number,
    data: Uint8Array,
    palette?: Uint8Array,
  ) {
    checkOneOf('RasterImage mode', mode, Object.keys(rasterModes))
    const hasSides = [width, height].every((side) => Number.isSafeInteger(side) && side >= 1)
    checkThat(hasSides, 'a width and height from 1 up', 'RasterImage', [width, height])
    const size = width * height * pixelBytes(mode)
    const isWhole = data instanceof Uint8Array && data.length === size
    checkThat(isWhole, `${size} bytes`, `RasterImage ${mode} of ${width}×${height}`, data)
    const fits = palette === undefined || (mode === 'P' && isPalette(palette))
    checkThat(fits, '1 to 256 colours of 4 bytes for P', `palette of mode ${mode}`, palette)
    this.mode = mode
    this.width = width
    this.height = height
    this.data = data
    this.palette = palette
  }

  /** @returns the channels as numbers: a view of `data`, or a copy of `I` and `F` if unaligned. */
  elements(): RasterElements {
    return elementsOf(this)
  }

  /** @returns a picture with pixels of its own: a request's own pixels are freed at its end. */
  copy(): RasterImage {
    const { mode, width, height, data, palette } = this
    return new RasterImage(mode, width, height, new Uint8Array(data), palette)
  }

  /**
   * **Units**: pixels.
   *
   * @returns the picture in another size, as Pillow's `Image.resize`; the pixels may change
   * meanwhile.
   * @throws InvalidArgument for modes `1`, `I`, `F`, `I;16`, `P` and `LAB`, and for sides that
   * are not 1 to 65,535; the signal's reason.
   * @example
   * `await image.resize(224, 224, { filter: 'lanczos' })`
   */
  async resize(width: number, height: number, options: ResizeOptions = {}): Promise<RasterImage> {
    checkOptions('RasterImage.resize', options, ['filter', 'signal'])
    const { filter = 'bicubic', signal } = options
    const { mode } = this
    if (['1', 'LAB', 'P'].includes(mode) || rasterModes[mode].dtype !== 'uint8') {
      throw new InvalidArgument(
        `expected a mode of 8-bit channels for RasterImage.resize, received ${mode}`,
      )
    }
    checkOneOf('filter', filter, resizeFilters)
    for (const side of [width, height, this.width, this.height]) {
      const isSide = Number.isInteger(side) && side >= 1 && side <= maxResizedSide
      checkThat(isSide, `sides of 1 to ${maxResizedSide} pixels`, 'RasterImage.resize', side)
    }
    const { channels } = rasterModes[mode]
    const x = { extent: this.width, full: width, first: 0, count: width }
    const y = { extent: this.height, full: height, first: 0, count: height }
    const to = { width, height, left: 0, top: 0, isPlanar: false, table: undefined }
    const resize = { filter, x, y, channels, ...to, hasAlpha: mode === 'LA' || mode === 'RGBA' }
    const out = new Uint8Array(Buffer.allocUnsafeSlow(width * height * channels).buffer)
    const pixels = this.width * this.height + width * height
    const work = (copy: Pixels) =>
      pictureQueue.run(pixels, signal, () => resample(copy, resize, out, signal))
    return new RasterImage(mode, width, height, await copied(this, work))
  }

  /**
   * **Units**: pixels.
   *
   * @returns a copy of a part.
   * @throws InvalidArgument for a part that is empty or outside.
   */
  crop(left: number, top: number, width: number, height: number): RasterImage {
    const part = [left, top, width, height]
    const isPart =
      part.every(Number.isInteger) && Math.min(left, top) >= 0 && Math.min(width, height) >= 1
    const isWithin = isPart && left + width <= this.width && top + height <= this.height
    checkThat(
      isWithin,
      'left, top, width and height within',
      `RasterImage.crop of ${this.width}×${this.height}`,
      part,
    )
    const unit = pixelBytes(this.mode)
    const data = new Uint8Array(width * height * unit)
    for (let y = 0; y < height; y++) {
      const start = ((top + y) * this.width + left) * unit
      data.set(this.data.subarray(start, start + width * unit), y * width * unit)
    }
    return new RasterImage(this.mode, width, height, data, this.palette)
  }

  /**
   * **Shape**: `[channels, height, width]`, or `[height, width, channels]` for `hwc`, behind a 1
   * with `batch`; 1 channel for grey modes, else RGB.
   *
   * @returns a tensor for a model: resized, cut out and normalised.
   * @throws InvalidArgument for a bad option, or a side above 65,535; the signal's reason.
   * @example
   * `await image.toTensor({ size: [224, 224], mean: [0.485, 0.456, 0.406] })`
   */
  async toTensor<const T extends TensorOptions>(
    options: T,
    signal?: AbortSignal,
  ): Promise<NDArray<TensorDType<T>>> {
    const plan = new TensorPlan<TensorDType<T>>(options, isGreyMode(this.mode) ? 1 : 3)
    if (Math.max(this.width, this.height) > maxResizedSide) {
      const size = `${this.width}×${this.height}`
      throw new InvalidArgument(
        `expected sides of at most ${maxResizedSide} pixels for toTensor, received ${size}`,
      )
    }
    return copied(this, (copy) => tensorOf(copy, plan, signal))
  }

  /**
   * @returns the bytes of a picture file, in the nearest mode that the format holds.
   * @throws InvalidArgument for another format or quality; MissingDependencyException without
   * `@napi-rs/image`; an Error for what the format cannot hold; the signal's reason.
   * @example
   * `await image.encode('image/webp', { quality: 90 })`
   */
  async encode(
    mimeType: EncodableMimeType,
    options: EncodeOptions & Abortable = {},
  ): Promise<Uint8Array> {
    checkOptions('RasterImage.encode', options, ['quality', 'signal'])
    const { quality, signal } = options
    checkOneOf('the format to encode', mimeType, Object.keys(encodableModes) as EncodableMimeType[])
    const isQuality = Number.isInteger(quality) && Number(quality) >= 1 && Number(quality) <= 100
    checkThat(
      quality === undefined || isQuality,
      'a whole number from 1 to 100',
      'quality',
      quality,
    )
    return imageCodec().encode(this, mimeType, { quality }, signal)
  }

  /**
   * @returns an array that shares `data`: `[height, width]`, or `[height, width, channels]` for
   * several channels; uint8, int32 for `I`, float32 for `F`, uint16 for `I;16`.
   */
  toNDArray(): NDArray<'uint8' | 'uint16' | 'int32' | 'float32'> {
    const { channels, dtype } = rasterModes[this.mode]
    const shape = channels === 1 ? [this.height, this.width] : [this.height, this.width, channels]
    return new NDArray(this.elements(), shape, dtype)
  }

  /**
   * Makes a picture of an array `[h, w]` or `[h, w, channels]`, sharing its data. Without `mode`:
   * uint8 of 1 channel is `L`, 2 `LA`, 3 `RGB`, 4 `RGBA`; int32 `I`; float32 `F`; uint16 `I;16`.
   *
   * @throws InvalidArgument.
   */
  static fromNDArray(array: NDArray, mode?: RasterMode): RasterImage {
    if (!(array instanceof NDArray))
      throw new InvalidArgument(expected('an NDArray', 'RasterImage.fromNDArray', array))
    const found = mode ?? naturalMode(array)
    if (found === undefined || !fitsMode(array, found)) {
      const fitting = mode && `an array that fits mode ${mode}`
      const allowed = fitting ?? 'uint8 of shape (h, w) or (h, w, 1 to 4)'
      throw new InvalidArgument(
        `expected ${allowed} for RasterImage.fromNDArray, received ${array.dtype} of shape ${showShape(array.shape)}`,
      )
    }
    const { buffer, byteOffset, byteLength } = array.data as RasterElements
    return new RasterImage(
      found,
      array.shape[1],
      array.shape[0],
      new Uint8Array(buffer, byteOffset, byteLength),
    )
  }
}
shareClass(RasterImage, 'RasterImage')

/** Options of work that can be aborted. */
export interface Abortable {
  readonly signal?: AbortSignal | undefined
}

/** Options of {@link RasterImage.resize}. */
export interface ResizeOptions extends Abortable {
  /** @default `bicubic`, as in Pillow */
  readonly filter?: ResizeFilter
}

/** Whether an array's dtype and shape are those of a colour mode. */
export function fitsMode(array: NDArray, mode: RasterMode): boolean {
  if (!isRasterMode(mode)) return false
  const { channels, dtype } = rasterModes[mode]
  const { shape } = array
  const isPicture = shape.length === 2 || shape.length === 3
  return array.dtype === dtype && isPicture && channels === (shape[2] ?? 1)
}

const naturalModes: Readonly<Record<string, RasterMode | undefined>> = {
  int32: 'I',
  float32: 'F',
  uint16: 'I;16',
}

function naturalMode({ dtype, shape }: NDArray): RasterMode | undefined {
  return naturalModes[dtype] ?? modesByChannels[shape[2] ?? 1]
}

function isPalette(value: unknown): boolean {
  return (
    value instanceof Uint8Array &&
    value.length >= 4 &&
    value.length <= 1024 &&
    value.length % 4 === 0
  )
}
