/**
 * Pictures as pixels: what the Image descriptor gives to a function and takes from it.
 * @module
 */

import { NDArray } from '../array/ndarray.ts'
import { showShape } from '../array/shape.ts'
import { dataConstructor } from '../dtype.ts'
import { expected, InvalidArgument } from '../errors.ts'

/** Colour modes, named as Pillow names them, with the channels of a pixel and the element type of a channel. */
export const rasterModes = {
  1: { channels: 1, dtype: 'uint8' },
  L: { channels: 1, dtype: 'uint8' },
  LA: { channels: 2, dtype: 'uint8' },
  RGB: { channels: 3, dtype: 'uint8' },
  RGBA: { channels: 4, dtype: 'uint8' },
  CMYK: { channels: 4, dtype: 'uint8' },
  YCbCr: { channels: 3, dtype: 'uint8' },
  HSV: { channels: 3, dtype: 'uint8' },
  I: { channels: 1, dtype: 'int32' },
  F: { channels: 1, dtype: 'float32' },
} as const

/** A colour mode of {@link rasterModes}. */
export type RasterMode = `${keyof typeof rasterModes}`

/** The pixels of a raster as numbers: one element per channel. */
export type RasterElements = Uint8Array | Int32Array | Float32Array

/** A conversion of the pixels `from` up to `to`; pixel `i` starts at element `i` times the channels. The target is new, so all 0. */
export type Kernel = (source: RasterElements, target: RasterElements, from: number, to: number) => void

/** Whether `value` is the name of a colour mode. */
export function isRasterMode(value: unknown): value is RasterMode {
  return typeof value === 'string' && Object.hasOwn(rasterModes, value)
}

/** Bytes of one pixel. */
export function pixelBytes(mode: RasterMode): number {
  return rasterModes[mode].channels * (rasterModes[mode].dtype === 'uint8' ? 1 : 4)
}

/**
 * Pixels in rows from top to bottom, channels side by side, nothing between rows.
 *
 * **Shape**: `width * height` pixels.
 * **Units**: channels are bytes 0 to 255 (mode `1`: one byte a pixel, 0 or 255); `I` is an int32 and `F` a float32 a pixel,
 * held in `data` as their little-endian bytes.
 * **Errors**: InvalidArgument when mode, size and data do not fit together.
 * **Cost**: keeps `data` as it is, no copy.
 * **Example** `new RasterImage('L', 2, 1, Uint8Array.of(0, 255))`
 */
export class RasterImage {
  readonly mode: RasterMode
  readonly width: number
  readonly height: number
  readonly data: Uint8Array

  constructor(mode: RasterMode, width: number, height: number, data: Uint8Array) {
    if (!isRasterMode(mode)) {
      throw new InvalidArgument(expected(`one of ${Object.keys(rasterModes).join(', ')}`, 'RasterImage mode', mode))
    }
    for (const side of [width, height]) {
      if (!Number.isSafeInteger(side) || side < 1) {
        throw new InvalidArgument(expected('a width and height from 1 up', 'RasterImage', [width, height]))
      }
    }
    if (!(data instanceof Uint8Array) || data.length !== width * height * pixelBytes(mode)) {
      throw new InvalidArgument(
        expected(`${width * height * pixelBytes(mode)} bytes`, `RasterImage ${mode} of ${width}×${height}`, data),
      )
    }
    this.mode = mode
    this.width = width
    this.height = height
    this.data = data
  }

  /**
   * The channels as numbers. **Cost**: a view of `data`; a copy only for `I` and `F` whose bytes start off a multiple of four.
   */
  elements(): RasterElements {
    const { data, mode } = this
    const { dtype } = rasterModes[mode]
    if (dtype === 'uint8') return data
    // Every platform that Node's binaries are built for with these codecs is little-endian.
    // Not `slice`: on a Buffer that is another view of the same bytes.
    const aligned: Uint8Array = data.byteOffset % 4 === 0 ? data : new Uint8Array(data)
    return new (dataConstructor(dtype))(aligned.buffer, aligned.byteOffset, aligned.length / 4)
  }

  /**
   * The picture as an array. **Shape**: `[height, width]`, or `[height, width, channels]` for more than one channel; uint8, int32 for
   * `I`, float32 for `F`. **Cost**: shares memory with `data`, see {@link RasterImage.elements}.
   */
  toNDArray(): NDArray<'uint8' | 'int32' | 'float32'> {
    const { channels, dtype } = rasterModes[this.mode]
    const shape = channels === 1 ? [this.height, this.width] : [this.height, this.width, channels]
    return new NDArray(this.elements(), shape, dtype)
  }

  /**
   * An array becomes a picture.
   *
   * **Shape**: `[h, w]`, or `[h, w, channels]`. Without `mode`: uint8 of 1 channel is `L`, 2 `LA`, 3 `RGB`, 4 `RGBA`; int32 `I`; float32 `F`.
   * **Errors**: InvalidArgument when dtype or shape do not fit the mode. **Cost**: no copy.
   */
  static fromNDArray(array: NDArray, mode?: RasterMode): RasterImage {
    if (!(array instanceof NDArray)) throw new InvalidArgument(expected('an NDArray', 'RasterImage.fromNDArray', array))
    const found = mode ?? naturalMode(array)
    if (found === undefined || !fitsMode(array, found)) {
      const wanted = mode === undefined ? 'uint8 of shape (h, w) or (h, w, 1 to 4)' : `an array that fits mode ${mode}`
      throw new InvalidArgument(
        `expected ${wanted} for RasterImage.fromNDArray, received ${array.dtype} of shape ${showShape(array.shape)}`,
      )
    }
    const { buffer, byteOffset, byteLength } = array.data as RasterElements
    return new RasterImage(found, array.shape[1], array.shape[0], new Uint8Array(buffer, byteOffset, byteLength))
  }
}

/** Whether an array's dtype and shape are those of a colour mode. */
export function fitsMode(array: NDArray, mode: RasterMode): boolean {
  if (!isRasterMode(mode)) return false
  const { channels, dtype } = rasterModes[mode]
  const { shape } = array
  const rank = shape.length === 3 ? shape[2] === channels : shape.length === 2 && channels === 1
  return array.dtype === dtype && rank
}

function naturalMode(array: NDArray): RasterMode | undefined {
  const channels = array.shape[2] ?? 1
  if (array.dtype === 'int32') return 'I'
  if (array.dtype === 'float32') return 'F'
  return ([undefined, 'L', 'LA', 'RGB', 'RGBA'] as const)[channels]
}
