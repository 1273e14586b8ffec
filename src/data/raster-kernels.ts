/**
 * The arithmetic of colour modes, after Pillow's `libImaging/Convert.c`: loops over pixels, integers where Pillow has integers and
 * float32 where it has floats.
 * @module
 */
import type { RasterElements, RasterMode } from './raster.ts'
import { fromYcbcr, toYcbcr } from './raster-ycbcr.ts'

/** Converts the pixels `from` up to `to`. Reads and writes elements, so pixel `i` starts at `i` times the channels. */
export type Kernel = (source: RasterElements, target: RasterElements, from: number, to: number) => void

// Sources are grey with `step` channels (L 1, LA 2) or colour with `step` channels (RGB 3, RGBA 4).

const greyToGrey =
  (step: number): Kernel =>
  (source, target, from, to) => {
    for (let i = from, s = from * step; i < to; i++, s += step) target[i] = source[s]
  }

const greyToColor =
  (step: number, channels: 3 | 4): Kernel =>
  (source, target, from, to) => {
    for (let i = from, s = from * step, t = from * channels; i < to; i++, s += step, t += channels) {
      const grey = source[s]
      target[t] = grey
      target[t + 1] = grey
      target[t + 2] = grey
      if (channels === 4) target[t + 3] = step === 2 ? source[s + 1] : 255
    }
  }

const greyToGreyAlpha: Kernel = (source, target, from, to) => {
  for (let i = from; i < to; i++) {
    target[i * 2] = source[i]
    target[i * 2 + 1] = 255
  }
}

const greyToCmyk =
  (step: number): Kernel =>
  (source, target, from, to) => {
    // The three colours stay 0: the target is new.
    for (let i = from; i < to; i++) target[i * 4 + 3] = 255 - source[i * step]
  }

const greyToYcbcr =
  (step: number): Kernel =>
  (source, target, from, to) => {
    for (let i = from, t = from * 3; i < to; i++, t += 3) {
      target[t] = source[i * step]
      target[t + 1] = 128
      target[t + 2] = 128
    }
  }

const greyToHsv =
  (step: number): Kernel =>
  (source, target, from, to) => {
    for (let i = from; i < to; i++) target[i * 3 + 2] = source[i * step]
  }

const bitToGrey: Kernel = (source, target, from, to) => {
  for (let i = from; i < to; i++) target[i] = source[i] === 0 ? 0 : 255
}

/** `I` and `F` to bytes: clipped and cut off; NaN is 0. */
const clipToGrey: Kernel = (source, target, from, to) => {
  for (let i = from; i < to; i++) {
    const value = source[i]
    target[i] = value >= 255 ? 255 : value > 0 ? value : 0
  }
}

/** Out of int32's range, and NaN, is the least int32: what the cast in C gives on x86-64. */
const floatToInt: Kernel = (source, target, from, to) => {
  for (let i = from; i < to; i++) {
    const value = source[i]
    target[i] = value > -2147483649 && value < 2147483648 ? Math.trunc(value) : -2147483648
  }
}

const luma = (source: RasterElements, s: number) =>
  (source[s] * 19595 + source[s + 1] * 38470 + source[s + 2] * 7471 + 0x8000) >>> 16

const thousandfoldLuma = (source: RasterElements, s: number) =>
  source[s] * 299 + source[s + 1] * 587 + source[s + 2] * 114

const colorToGrey =
  (step: number): Kernel =>
  (source, target, from, to) => {
    for (let i = from, s = from * step; i < to; i++, s += step) target[i] = luma(source, s)
  }

const colorToGreyAlpha =
  (step: number): Kernel =>
  (source, target, from, to) => {
    for (let i = from, s = from * step; i < to; i++, s += step) {
      target[i * 2] = luma(source, s)
      target[i * 2 + 1] = step === 4 ? source[s + 3] : 255
    }
  }

const colorToFloat =
  (step: number): Kernel =>
  (source, target, from, to) => {
    for (let i = from; i < to; i++) target[i] = thousandfoldLuma(source, i * step) / 1000
  }

const dropAlpha: Kernel = (source, target, from, to) => {
  for (let i = from, s = from * 4, t = from * 3; i < to; i++, s += 4, t += 3) {
    target[t] = source[s]
    target[t + 1] = source[s + 1]
    target[t + 2] = source[s + 2]
  }
}

const addAlpha: Kernel = (source, target, from, to) => {
  for (let i = from, s = from * 3, t = from * 4; i < to; i++, s += 3, t += 4) {
    target[t] = source[s]
    target[t + 1] = source[s + 1]
    target[t + 2] = source[s + 2]
    target[t + 3] = 255
  }
}

const colorToCmyk =
  (step: number): Kernel =>
  (source, target, from, to) => {
    for (let i = from, s = from * step, t = from * 4; i < to; i++, s += step, t += 4) {
      target[t] = 255 - source[s]
      target[t + 1] = 255 - source[s + 1]
      target[t + 2] = 255 - source[s + 2]
    }
  }

const cmykToRgb: Kernel = (source, target, from, to) => {
  for (let i = from, s = from * 4, t = from * 3; i < to; i++, s += 4, t += 3) {
    const white = 255 - source[s + 3]
    for (let c = 0; c < 3; c++) {
      // Pillow's rounded division by 255.
      const product = source[s + c] * white + 128
      target[t + c] = white - (((product >> 8) + product) >> 8)
    }
  }
}

const colorToHsv =
  (step: number): Kernel =>
  (source, target, from, to) => {
    for (let i = from, s = from * step, t = from * 3; i < to; i++, s += step, t += 3) {
      const [r, g, b] = [source[s], source[s + 1], source[s + 2]]
      const most = Math.max(r, g, b)
      const range = most - Math.min(r, g, b)
      target[t + 2] = most
      if (range === 0) continue
      target[t] = Math.trunc(hue(r, g, b, most, range) * 255)
      target[t + 1] = Math.trunc(Math.fround(range / most) * 255)
    }
  }

const { fround } = Math

/** Hue from 0 up to 1, rounded to float32 at every place where Pillow stores a float. */
function hue(r: number, g: number, b: number, most: number, range: number): number {
  const fromRed = fround((most - r) / range)
  const fromGreen = fround((most - g) / range)
  const fromBlue = fround((most - b) / range)
  const sixth =
    r === most
      ? fround(fromBlue - fromGreen)
      : g === most
        ? fround(2 + fromRed - fromBlue)
        : fround(4 + fromGreen - fromRed)
  return fround((sixth / 6 + 1) % 1)
}

const hsvToRgb: Kernel = (source, target, from, to) => {
  for (let i = from, s = from * 3; i < to; i++, s += 3) {
    const value = source[s + 2]
    const sixths = (source[s] * 6) / 255
    const sector = Math.floor(sixths)
    const rest = fround(sixths - sector)
    const saturation = fround(source[s + 1] / 255)
    const low = Math.round(value * (1 - saturation))
    const falling = Math.round(value * (1 - fround(saturation * rest)))
    const rising = Math.round(value * (1 - saturation * (1 - rest)))
    const [r, g, b] =
      saturation === 0
        ? [value, value, value]
        : sector === 1
          ? [falling, value, low]
          : sector === 2
            ? [low, value, rising]
            : sector === 3
              ? [low, falling, value]
              : sector === 4
                ? [rising, low, value]
                : sector === 5
                  ? [value, low, falling]
                  : [value, rising, low]
    target[s] = r
    target[s + 1] = g
    target[s + 2] = b
  }
}

const firstOfThree: Kernel = (source, target, from, to) => {
  for (let i = from; i < to; i++) target[i] = source[i * 3]
}

const firstOfThreeOpaque: Kernel = (source, target, from, to) => {
  for (let i = from; i < to; i++) {
    target[i * 2] = source[i * 3]
    target[i * 2 + 1] = 255
  }
}

const fromColor = (step: 3 | 4) => ({
  L: colorToGrey(step),
  LA: colorToGreyAlpha(step),
  I: colorToGrey(step),
  F: colorToFloat(step),
  CMYK: colorToCmyk(step),
  YCbCr: toYcbcr(step),
  HSV: colorToHsv(step),
})

const fromGrey = (step: 1 | 2) => ({
  RGB: greyToColor(step, 3),
  RGBA: greyToColor(step, 4),
  CMYK: greyToCmyk(step),
  YCbCr: greyToYcbcr(step),
  HSV: greyToHsv(step),
})

/** The direct conversions; all others go through `L` or `RGB`. Mode `1` as a target is {@link dither}. */
export const kernels: Readonly<Record<RasterMode, Readonly<Partial<Record<RasterMode, Kernel>>>>> = {
  1: { L: bitToGrey },
  L: { ...fromGrey(1), LA: greyToGreyAlpha, I: greyToGrey(1), F: greyToGrey(1) },
  LA: { ...fromGrey(2), L: greyToGrey(2) },
  I: { L: clipToGrey, F: greyToGrey(1) },
  F: { L: clipToGrey, I: floatToInt },
  RGB: { ...fromColor(3), RGBA: addAlpha },
  RGBA: { ...fromColor(4), RGB: dropAlpha },
  CMYK: { RGB: cmykToRgb },
  YCbCr: { RGB: fromYcbcr, L: firstOfThree, LA: firstOfThreeOpaque },
  HSV: { RGB: hsvToRgb },
}

/**
 * Floyd–Steinberg dithering to mode `1`, for `L` and `RGB` only, as in Pillow; undefined for the other modes. The kernel keeps the errors
 * of the row above, so it takes whole rows from top to bottom, once.
 */
export function dither(mode: RasterMode, width: number): Kernel | undefined {
  if (mode !== 'L' && mode !== 'RGB') return undefined
  // Pillow's dithering of colours cuts the luma off where its other conversions round it.
  const greyAt = (source: RasterElements, i: number) =>
    mode === 'L' ? source[i] : Math.trunc(thousandfoldLuma(source, i * 3) / 1000)
  const errors = new Int32Array(width + 1)
  return (source, target, from, to) => {
    for (let row = from; row < to; row += width) {
      let carried = 0
      let below = 0
      let diagonal = 0
      for (let x = 0; x < width; x++) {
        const wanted = greyAt(source, row + x) + Math.trunc((carried + errors[x + 1]) / 16)
        const level = wanted < 0 ? 0 : wanted > 255 ? 255 : wanted
        const bit = level > 128 ? 255 : 0
        target[row + x] = bit
        const error = level - bit
        // 3/16 to the lower left, 5/16 below, 1/16 to the lower right, 7/16 to the right.
        errors[x] = error * 3 + below
        below = error * 5 + diagonal
        diagonal = error
        carried = error * 7
      }
      errors[width] = below
    }
  }
}
