/** Pictures from one colour mode to another, as Pillow's `Image.convert` does it, bit for bit. @module */
import { dataConstructor } from '../../core/dtype.ts'
import { quantize } from './quantize.ts'
import { dither } from './raster-dither.ts'
import { kernels } from './raster-kernels.ts'
import {
  elementsOf,
  hasPalette,
  type Kernel,
  type Pixels,
  type RasterElements,
  type RasterMode,
  rasterModes,
} from './raster-modes.ts'
import { fromPalette, toPalette } from './raster-palette.ts'
import { nextTurn, turnPixels } from './turn.ts'

/** The intermediate mode where there is no direct conversion: Pillow's `getmodebase`. */
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
  'I;16': 'L',
  RGBX: 'RGB',
  P: 'RGB',
  PA: 'RGB',
  LAB: 'RGB',
}

/**
 * Returns a picture in another mode; the same object if it has that mode. Mode `1` is dithered, alpha is dropped, `I`,
 * `F` and `I;16` are clipped to 0…255. Differs from Pillow for `P` of `RGBA`, and for strong colours of `LAB` by up
 * to 30. **Source**: Pillow 11.3 `Image.convert`. **Errors**: the signal's reason.
 */
export async function convertRaster(raster: Pixels, mode: RasterMode, signal?: AbortSignal): Promise<Pixels> {
  if (raster.mode === mode) return raster
  if (raster.mode === 'RGBA' && mode === 'P') return quantize(raster, signal)
  const { direct, palette } = conversionOf(raster, mode)
  if (direct === undefined) {
    const between = mode === 'LAB' ? 'RGB' : bases[raster.mode]
    return convertRaster(await convertRaster(raster, between, signal), mode, signal)
  }
  const { width, height } = raster
  const source = elementsOf(raster)
  const target = elementsFor(mode, width * height)
  const rows = Math.max(1, Math.floor(turnPixels / width))
  for (let row = 0; row < height; row += rows) {
    if (row > 0) await nextTurn(signal)
    direct(source, target, row * width, Math.min(height, row + rows) * width)
  }
  const data = new Uint8Array(target.buffer, target.byteOffset, target.byteLength)
  return { mode, width, height, data, ...(palette !== undefined && { palette }) }
}

function conversionOf(raster: Pixels, mode: RasterMode): { direct?: Kernel | undefined; palette?: Uint8Array } {
  if (hasPalette(raster.mode)) return fromPalette(raster, mode)
  if (hasPalette(mode)) return toPalette(raster, mode)
  return { direct: mode === '1' ? dither(raster.mode, raster.width) : kernels[raster.mode][mode] }
}

function elementsFor(mode: RasterMode, pixels: number): RasterElements {
  const { channels, dtype } = rasterModes[mode]
  return new (dataConstructor(dtype))(pixels * channels)
}
