/** Modes `P` and `1`: palettes and dithering, after Pillow's `libImaging/Convert.c`. @module */
import { first, kernels, thousandfoldLuma } from './raster-kernels.ts'
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

/** How pixels are converted, and the palette that they then point at. No kernel: there is no direct conversion. */
export interface Conversion {
  readonly kernel?: Kernel | undefined
  readonly palette?: Uint8Array
}

const range = (count: number) => Array.from({ length: count }, (_, i) => i)

/** Pillow's palette of the web: ten entries of black, then the cube of 6 levels a channel, red fastest. */
const webColors: Uint8Array = Uint8Array.from(
  [
    ...range(10).map(() => [0, 0, 0]),
    ...range(216).map((i) =>
      [i % 6, Math.floor(i / 6) % 6, Math.floor(i / 36)].map((level) => level * 51),
    ),
  ].flatMap((color) => [...color, 255]),
)

/** Converts pixels of the palette: the palette is converted, and each pixel takes the colour that it points at. */
export function fromPalette(raster: Pixels, mode: RasterMode): Conversion {
  const colors = colorsIn(paletteOf(raster), mode)
  return { kernel: colors && lookUp(colors, rasterModes[mode].channels) }
}

/** @returns the palette in another mode; undefined where there is no direct conversion. */
function colorsIn(palette: Uint8Array, mode: RasterMode): RasterElements | undefined {
  if (mode === 'RGBA' || mode === 'RGBX') return palette
  if (mode === '1')
    return Uint8Array.from(range(256), (i) =>
      thousandfoldLuma(palette, i * 4) >= 128_000 ? 255 : 0,
    )
  const kernel = kernels.RGBA[mode]
  if (kernel === undefined) return undefined
  const target = elementsOf({ mode, data: new Uint8Array(256 * pixelBytes(mode)) })
  for (let i = 0; i < 256; i++) kernel(palette, i * 4, target, i * rasterModes[mode].channels)
  return target
}

const lookUp =
  (colors: RasterElements, channels: number): Kernel =>
  (source, s, target, t) => {
    for (let c = 0; c < channels; c++) target[t + c] = colors[source[s] * channels + c]
  }

/** Converts to a palette: grey to the greys, colours to the web's, dithered. */
export function toPalette({ mode, width }: Pixels): Conversion {
  if (mode === 'L') return { kernel: first, palette: greys }
  if (!['RGB', 'RGBA', 'RGBX'].includes(mode)) return {}
  const kernel = diffuse(width, 3, (source, s, c) => source[s + c], nearestOfWeb)
  return { kernel, palette: webColors }
}

/** Level of the cube for each level of a channel; Pillow looks colours up in steps of four. */
const cubeLevels = Uint8Array.from(range(256), (level) => Math.round((level & 0xfc) / 51))

function nearestOfWeb([red, green, blue]: Int32Array, chosen: Int32Array): number {
  const [r, g, b] = [cubeLevels[red], cubeLevels[green], cubeLevels[blue]]
  const index = r + g + b === 0 ? 0 : 10 + r + g * 6 + b * 36
  for (let c = 0; c < 3; c++) chosen[c] = webColors[index * 4 + c]
  return index
}

/** Converts `L` and `RGB` to mode `1`. */
export function dither({ mode, width }: Pixels): Kernel | undefined {
  if (mode === 'L') return diffuse(width, 1, (source, s) => source[s], nearestBit)
  if (mode !== 'RGB') return undefined
  // Pillow's dithering truncates the luma of colours; its other conversions round it.
  const lumaAt = (source: RasterElements, s: number) =>
    Math.trunc(thousandfoldLuma(source, s) / 1000)
  return diffuse(width, 1, lumaAt, nearestBit)
}

function nearestBit([level]: Int32Array, chosen: Int32Array): number {
  chosen[0] = level > 128 ? 255 : 0
  return chosen[0]
}

/**
 * Floyd–Steinberg dithering of all pixels in order, once. `nearest` returns what stands for levels, and writes the
 * levels that this has.
 */
function diffuse(
  width: number,
  channels: number,
  levelAt: (source: RasterElements, s: number, c: number) => number,
  nearest: (levels: Int32Array, chosen: Int32Array) => number,
): Kernel {
  const errors = new Int32Array((width + 1) * channels)
  const [carried, below, diagonal, levels, chosen] = range(5).map(() => new Int32Array(channels))
  let x = 0
  return (source, s, target, t) => {
    for (let c = 0; c < channels; c++) {
      const exact =
        levelAt(source, s, c) + Math.trunc((carried[c] + errors[(x + 1) * channels + c]) / 16)
      levels[c] = Math.max(0, Math.min(255, exact))
    }
    target[t] = nearest(levels, chosen)
    for (let c = 0; c < channels; c++) {
      const error = levels[c] - chosen[c]
      errors[x * channels + c] = error * 3 + below[c]
      below[c] = error * 5 + diagonal[c]
      diagonal[c] = error
      carried[c] = error * 7
    }
    if (++x < width) return
    x = 0
    // Pillow writes blue's three errors here, where those of the three channels are meant.
    errors.fill(diagonal[channels - 1], width * channels)
    errors[width * channels] = below[channels - 1]
    for (const each of [carried, below, diagonal]) each.fill(0)
  }
}
