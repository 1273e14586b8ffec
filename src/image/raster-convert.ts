/**
 * Pictures from one colour mode to another, as Pillow's `Image.convert` does it, bit for bit.
 * @module
 */

import { runAtOnce, type Slices, slicePixels } from '../memory/slices.ts'
import { type RasterElements, RasterImage, type RasterMode, rasterModes } from './raster.ts'
import { dither } from './raster-dither.ts'
import { kernels } from './raster-kernels.ts'

/** The mode to go through where there is no direct way: Pillow's `getmodebase`. */
const bases: Readonly<Record<RasterMode, 'L' | 'RGB'>> = {
  1: 'L',
  L: 'L',
  LA: 'L',
  I: 'L',
  F: 'L',
  RGB: 'RGB',
  RGBA: 'RGB',
  CMYK: 'RGB',
  YCbCr: 'RGB',
  HSV: 'RGB',
}

/**
 * A picture in another colour mode; the same object when it has that mode already.
 *
 * Grey is ITU-R 601-2 luma, mode `1` is dithered (Floyd–Steinberg), alpha is dropped, not composited, and a mode without alpha becomes
 * opaque. `I` and `F` are clipped to 0…255 on their way to the byte modes, as Pillow does.
 * **Source**: Pillow 11.3 `Image.convert`; fixtures in `test/fixtures/images`. **Cost**: on the calling thread; {@link rasterConversion} for
 * large pictures.
 */
export function convertRaster(raster: RasterImage, mode: RasterMode): RasterImage {
  return runAtOnce(rasterConversion(raster, mode))
}

/** {@link convertRaster} in slices of whole rows. */
export function* rasterConversion(raster: RasterImage, mode: RasterMode): Slices<RasterImage> {
  if (raster.mode === mode) return raster
  const direct = mode === '1' ? dither(raster.mode, raster.width) : kernels[raster.mode][mode]
  if (direct === undefined) return yield* rasterConversion(yield* rasterConversion(raster, bases[raster.mode]), mode)
  const { width, height } = raster
  const source = raster.elements()
  const target = elementsFor(mode, width * height)
  const rows = Math.max(1, Math.floor(slicePixels / width))
  for (let row = 0; row < height; row += rows) {
    if (row > 0) yield
    direct(source, target, row * width, Math.min(height, row + rows) * width)
  }
  return new RasterImage(mode, width, height, new Uint8Array(target.buffer, target.byteOffset, target.byteLength))
}

function elementsFor(mode: RasterMode, pixels: number): RasterElements {
  const { channels, dtype } = rasterModes[mode]
  if (dtype === 'int32') return new Int32Array(pixels)
  return dtype === 'float32' ? new Float32Array(pixels) : new Uint8Array(pixels * channels)
}
