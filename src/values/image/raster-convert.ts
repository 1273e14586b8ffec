/** Pictures from one colour mode to another, as Pillow's `Image.convert` does it, bit for bit. @module */
import { kernels } from './raster-kernels.ts'
import {
  elementsOf,
  isGreyMode,
  type Pixels,
  pixelBytes,
  type RasterMode,
  rasterModes,
} from './raster-modes.ts'
import { type Conversion, dither, fromPalette, toPalette } from './raster-palette.ts'
import { nextTurn, turnPixels } from './turn.ts'

/**
 * Mode `1` is dithered, alpha is dropped, `I`, `F` and `I;16` are clipped to 0…255. Differs from
 * Pillow for `P` of `RGBA`, whose alpha is dropped, and for strong colours of `LAB` by up to 30.
 *
 * @returns a picture in another mode; the same object if it has that mode.
 * @throws the signal's reason.
 * @see Pillow 11.3 `Image.convert`.
 */
export async function convertRaster(
  raster: Pixels,
  mode: RasterMode,
  signal?: AbortSignal,
): Promise<Pixels> {
  if (raster.mode === mode) return raster
  const { kernel, palette } = conversionOf(raster, mode)
  if (kernel === undefined) {
    // Pillow's `getmodebase`.
    const between = mode !== 'LAB' && isGreyMode(raster.mode) ? 'L' : 'RGB'
    return convertRaster(await convertRaster(raster, between, signal), mode, signal)
  }
  const { width, height } = raster
  const data = new Uint8Array(width * height * pixelBytes(mode))
  const converted = { mode, width, height, data, palette }
  const [source, target] = [elementsOf(raster), elementsOf(converted)]
  const [step, channels] = [rasterModes[raster.mode].channels, rasterModes[mode].channels]
  for (let i = 0; i < width * height; i++) {
    if (i % turnPixels === 0 && i > 0) await nextTurn(signal)
    kernel(source, i * step, target, i * channels)
  }
  return converted
}

function conversionOf(raster: Pixels, mode: RasterMode): Conversion {
  if (raster.mode === 'P') return fromPalette(raster, mode)
  if (mode === 'P') return toPalette(raster)
  return { kernel: mode === '1' ? dither(raster) : kernels[raster.mode][mode] }
}
