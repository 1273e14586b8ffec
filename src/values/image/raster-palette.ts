/** Modes `P` and `PA`: pixels that point at the colours of a palette, after Pillow's `libImaging/Convert.c`. @module */
import { kernels } from './raster-kernels.ts'
import { thousandfoldLuma } from './raster-luma.ts'
import {
  elementsOf,
  greys,
  type Kernel,
  type Pixels,
  paletteOf,
  pixelBytes,
  type RasterElements,
  type RasterMode,
  rasterModes,
} from './raster-modes.ts'

interface PaletteConversion {
  readonly direct?: Kernel | undefined
  readonly palette?: Uint8Array
}

const range = (count: number) => Array.from({ length: count }, (_, i) => i)

/** Pillow's palette of the web: ten entries of black, then the cube of 6 levels a channel, red fastest. */
const webColors: Uint8Array = Uint8Array.from(
  [
    ...range(10).map(() => [0, 0, 0]),
    ...range(216).map((i) => [i % 6, Math.floor(i / 6) % 6, Math.floor(i / 36)].map((level) => level * 51)),
  ].flatMap((color) => [...color, 255]),
)

/** Converts pixels of the palette: the palette is converted, and each pixel takes the colour that it points at. */
export function fromPalette(raster: Pixels, mode: RasterMode): PaletteConversion {
  const palette = paletteOf(raster)
  const step = rasterModes[raster.mode].channels
  if (mode === 'P') return { direct: indexesOf(step), palette: raster.palette ?? greys }
  if (mode === 'PA') return { direct: indexesWithAlpha(palette), palette: raster.palette ?? greys }
  const colors = colorsIn(palette, mode)
  if (colors === undefined) return {}
  // Pillow keeps alpha as the unused byte of RGBX.
  const hasAlpha = mode === 'LA' || mode === 'RGBA' || mode === 'RGBX'
  const alpha = step === 2 && hasAlpha ? rasterModes[mode].channels - 1 : -1
  return { direct: lookUp(colors, step, rasterModes[mode].channels, alpha) }
}

/** Returns the palette in another mode; undefined where there is no direct conversion. */
function colorsIn(palette: Uint8Array, mode: RasterMode): RasterElements | undefined {
  const colors: Pixels = { mode: 'RGBA', width: 256, height: 1, data: palette }
  if (mode === 'RGBA' || mode === 'RGBX') return palette
  if (mode === '1') return Uint8Array.from(range(256), (i) => (thousandfoldLuma(palette, i * 4) >= 128_000 ? 255 : 0))
  const kernel = kernels.RGBA[mode]
  if (kernel === undefined) return undefined
  const target = elementsOf({ ...colors, mode, data: new Uint8Array(256 * pixelBytes(mode)) })
  kernel(palette, target, 0, 256)
  return target
}

const lookUp =
  (colors: RasterElements, step: number, channels: number, alpha: number): Kernel =>
  (source, target, from, to) => {
    for (let i = from, t = from * channels; i < to; i++, t += channels) {
      const color = source[i * step] * channels
      for (let c = 0; c < channels; c++) target[t + c] = colors[color + c]
      if (alpha !== -1) target[t + alpha] = source[i * step + 1]
    }
  }

const indexesOf =
  (step: number): Kernel =>
  (source, target, from, to) => {
    for (let i = from; i < to; i++) target[i] = source[i * step]
  }

const indexesWithAlpha =
  (palette: Uint8Array): Kernel =>
  (source, target, from, to) => {
    for (let i = from; i < to; i++) {
      target[i * 2] = source[i]
      target[i * 2 + 1] = palette[source[i] * 4 + 3]
    }
  }

/** Converts to a palette: grey to the greys, colours to the web's, dithered; undefined for other modes. */
export function toPalette({ mode: from, width }: Pixels, mode: 'P' | 'PA'): PaletteConversion {
  const step = mode === 'PA' ? 2 : 1
  if (from === 'L') return { direct: mode === 'PA' ? greyPairs : indexesOf(1), palette: greys }
  if (from !== 'RGB' && from !== 'RGBA' && from !== 'RGBX') return {}
  return { direct: ditherToWeb(rasterModes[from].channels, step, width), palette: webColors }
}

const greyPairs: Kernel = (source, target, from, to) => {
  for (let i = from; i < to; i++) {
    target[i * 2] = source[i]
    target[i * 2 + 1] = 255
  }
}

/** Level of the cube for each level of a channel; Pillow looks colours up in steps of four. */
const cubeLevels = Uint8Array.from(range(256), (level) => Math.round((level & 0xfc) / 51))

/** Floyd–Steinberg dithering of three channels, by whole rows from top to bottom, once. */
function ditherToWeb(step: number, targetStep: number, width: number): Kernel {
  const errors = new Int32Array((width + 1) * 3)
  const carried = new Int32Array(3)
  const below = new Int32Array(3)
  const diagonal = new Int32Array(3)
  const levels = new Int32Array(3)
  return (source, target, from, to) => {
    for (let row = from; row < to; row += width) {
      carried.fill(0)
      below.fill(0)
      diagonal.fill(0)
      for (let x = 0; x < width; x++) {
        for (let c = 0; c < 3; c++) {
          const exact = source[(row + x) * step + c] + Math.trunc((carried[c] + errors[x * 3 + 3 + c]) / 16)
          levels[c] = Math.max(0, Math.min(255, exact))
        }
        const [red, green, blue] = [cubeLevels[levels[0]], cubeLevels[levels[1]], cubeLevels[levels[2]]]
        const index = red + green + blue === 0 ? 0 : 10 + red + green * 6 + blue * 36
        target[(row + x) * targetStep] = index
        if (targetStep === 2) target[(row + x) * 2 + 1] = 255
        for (let c = 0; c < 3; c++) {
          const error = levels[c] - webColors[index * 4 + c]
          errors[x * 3 + c] = error * 3 + below[c]
          below[c] = error * 5 + diagonal[c]
          diagonal[c] = error
          carried[c] = error * 7
        }
      }
      // Pillow writes blue's three errors here, where those of the three channels are meant.
      errors[width * 3] = below[2]
      errors[width * 3 + 1] = diagonal[2]
      errors[width * 3 + 2] = diagonal[2]
    }
  }
}
