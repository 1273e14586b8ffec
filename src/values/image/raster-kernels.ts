/** The arithmetic of colour modes, after Pillow's `libImaging/Convert.c`. @module */

import { fromHsv, toHsv } from './raster-hsv.ts'
import { fromLab, toLab } from './raster-lab.ts'
import { luma, thousandfoldLuma } from './raster-luma.ts'
import type { Kernel, RasterMode } from './raster-modes.ts'
import { fromYcbcr, toYcbcr } from './raster-ycbcr.ts'

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

/** Converts `I` and `F` to bytes: clipped and truncated; NaN is 0. */
const clipToGrey: Kernel = (source, target, from, to) => {
  for (let i = from; i < to; i++) {
    const value = source[i]
    target[i] = Math.max(0, Math.min(255, value))
  }
}

const clipToWords: Kernel = (source, target, from, to) => {
  for (let i = from; i < to; i++) target[i] = Math.max(0, Math.min(65535, source[i]))
}

/** NaN and numbers out of int32's range are converted to the smallest int32, as by the cast in C on x86-64. */
const floatToInt: Kernel = (source, target, from, to) => {
  for (let i = from; i < to; i++) {
    const value = source[i]
    target[i] = value > -2147483649 && value < 2147483648 ? Math.trunc(value) : -2147483648
  }
}

const colorToGrey =
  (step: number): Kernel =>
  (source, target, from, to) => {
    for (let i = from, s = from * step; i < to; i++, s += step) target[i] = luma(source, s)
  }

const colorToGreyAlpha =
  (step: number, hasAlpha: boolean): Kernel =>
  (source, target, from, to) => {
    for (let i = from, s = from * step; i < to; i++, s += step) {
      target[i * 2] = luma(source, s)
      target[i * 2 + 1] = hasAlpha ? source[s + 3] : 255
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

const opaque: Kernel = (source, target, from, to) => {
  for (let s = from * 4; s < to * 4; s += 4) {
    target[s] = source[s]
    target[s + 1] = source[s + 1]
    target[s + 2] = source[s + 2]
    target[s + 3] = 255
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

const firstOfThree: Kernel = (source, target, from, to) => {
  for (let i = from; i < to; i++) target[i] = source[i * 3]
}

const firstOfThreeOpaque: Kernel = (source, target, from, to) => {
  for (let i = from; i < to; i++) {
    target[i * 2] = source[i * 3]
    target[i * 2 + 1] = 255
  }
}

const fromColor = (step: 3 | 4, hasAlpha = false) => ({
  L: colorToGrey(step),
  LA: colorToGreyAlpha(step, hasAlpha),
  I: colorToGrey(step),
  F: colorToFloat(step),
  CMYK: colorToCmyk(step),
  YCbCr: toYcbcr(step),
  HSV: toHsv(step),
})

const fromGrey = (step: 1 | 2) => ({
  RGB: greyToColor(step, 3),
  RGBA: greyToColor(step, 4),
  RGBX: greyToColor(step, 4),
  CMYK: greyToCmyk(step),
  YCbCr: greyToYcbcr(step),
  HSV: greyToHsv(step),
})

/** The direct conversions; all others go through `L` or `RGB`. Mode `1` is dithered: see raster-dither.ts. */
export const kernels: Readonly<Record<RasterMode, Readonly<Partial<Record<RasterMode, Kernel>>>>> = {
  1: { L: bitToGrey },
  L: { ...fromGrey(1), LA: greyToGreyAlpha, I: greyToGrey(1), F: greyToGrey(1), 'I;16': greyToGrey(1) },
  LA: { ...fromGrey(2), L: greyToGrey(2) },
  I: { L: clipToGrey, F: greyToGrey(1), 'I;16': clipToWords },
  F: { L: clipToGrey, I: floatToInt },
  'I;16': { L: clipToGrey, I: greyToGrey(1), F: greyToGrey(1) },
  RGB: { ...fromColor(3), 'I;16': colorToGrey(3), RGBA: addAlpha, RGBX: addAlpha, LAB: toLab(3) },
  RGBA: { ...fromColor(4, true), RGB: dropAlpha, RGBX: opaque, LAB: toLab(4) },
  RGBX: { ...fromColor(4), RGB: dropAlpha, LAB: toLab(4) },
  CMYK: { RGB: cmykToRgb },
  YCbCr: { RGB: fromYcbcr, L: firstOfThree, LA: firstOfThreeOpaque },
  HSV: { RGB: fromHsv },
  LAB: { RGB: fromLab },
  P: {},
  PA: {},
}
