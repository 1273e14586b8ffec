/** The arithmetic of colour modes, pixel by pixel, after Pillow's `libImaging/Convert.c`. @module */
import { fromHsv, toHsv } from './raster-hsv.ts'
import { fromLab, toLab } from './raster-lab.ts'
import type { Kernel, RasterElements, RasterMode } from './raster-modes.ts'
import { fromYcbcr, toYcbcr } from './raster-ycbcr.ts'

/**
 * @returns the luma (ITU-R 601-2) of the colour at element `s`, rounded: for modes `L`, `LA` and
 * `I`.
 */
export function luma(source: RasterElements, s: number): number {
  return (source[s] * 19595 + source[s + 1] * 38470 + source[s + 2] * 7471 + 0x8000) >>> 16
}

/** @returns a thousand times the luma, exact: for mode `F` and for dithering. */
export function thousandfoldLuma(source: RasterElements, s: number): number {
  return source[s] * 299 + source[s + 1] * 587 + source[s + 2] * 114
}

/** Copies the first channel. */
export const first: Kernel = (source, s, target, t) => {
  target[t] = source[s]
}

/** Adds an alpha of 255 in channel `to` to what a kernel makes. */
export const opaque =
  (kernel: Kernel, to: number): Kernel =>
  (source, s, target, t) => {
    kernel(source, s, target, t)
    target[t + to] = 255
  }

/** Adds the source's alpha, which is in channel `from`, in channel `to`. */
const keepAlpha =
  (kernel: Kernel, from: number, to: number): Kernel =>
  (source, s, target, t) => {
    kernel(source, s, target, t)
    target[t + to] = source[s + from]
  }

const greyToColor: Kernel = (source, s, target, t) => {
  target[t] = target[t + 1] = target[t + 2] = source[s]
}

const greyToCmyk: Kernel = (source, s, target, t) => {
  target[t + 3] = 255 - source[s]
}

const greyToYcbcr: Kernel = (source, s, target, t) => {
  target[t] = source[s]
  target[t + 1] = target[t + 2] = 128
}

const greyToHsv: Kernel = (source, s, target, t) => {
  target[t + 2] = source[s]
}

const bitToGrey: Kernel = (source, s, target, t) => {
  target[t] = source[s] === 0 ? 0 : 255
}

/** Clips numbers, which the target truncates; NaN is 0. */
const clipTo =
  (max: number): Kernel =>
  (source, s, target, t) => {
    target[t] = Math.max(0, Math.min(max, source[s]))
  }

/** NaN and numbers out of int32's range are converted to the smallest int32, as by the cast in C on x86-64. */
const floatToInt: Kernel = (source, s, target, t) => {
  target[t] =
    source[s] > -2147483649 && source[s] < 2147483648 ? Math.trunc(source[s]) : -2147483648
}

const colorToGrey: Kernel = (source, s, target, t) => {
  target[t] = luma(source, s)
}

const colorToFloat: Kernel = (source, s, target, t) => {
  target[t] = thousandfoldLuma(source, s) / 1000
}

const copyColor: Kernel = (source, s, target, t) => {
  for (let c = 0; c < 3; c++) target[t + c] = source[s + c]
}

const colorToCmyk: Kernel = (source, s, target, t) => {
  for (let c = 0; c < 3; c++) target[t + c] = 255 - source[s + c]
}

const cmykToRgb: Kernel = (source, s, target, t) => {
  const white = 255 - source[s + 3]
  for (let c = 0; c < 3; c++) {
    // Pillow's rounded division by 255.
    const product = source[s + c] * white + 128
    target[t + c] = white - (((product >> 8) + product) >> 8)
  }
}

const fromGrey = {
  RGB: greyToColor,
  RGBA: opaque(greyToColor, 3),
  RGBX: opaque(greyToColor, 3),
  CMYK: greyToCmyk,
  YCbCr: greyToYcbcr,
  HSV: greyToHsv,
}

const fromColor = {
  L: colorToGrey,
  LA: opaque(colorToGrey, 1),
  I: colorToGrey,
  F: colorToFloat,
  CMYK: colorToCmyk,
  YCbCr: toYcbcr,
  HSV: toHsv,
  LAB: toLab,
}

/** The direct conversions; all others go through `L` or `RGB`. Palettes and mode `1`: see raster-palette.ts. */
export const kernels: Readonly<Record<RasterMode, Readonly<Partial<Record<RasterMode, Kernel>>>>> =
  {
    1: { L: bitToGrey },
    L: { ...fromGrey, LA: opaque(first, 1), I: first, F: first, 'I;16': first },
    LA: {
      ...fromGrey,
      RGBA: keepAlpha(greyToColor, 1, 3),
      RGBX: keepAlpha(greyToColor, 1, 3),
      L: first,
    },
    I: { L: clipTo(255), F: first, 'I;16': clipTo(65_535) },
    F: { L: clipTo(255), I: floatToInt },
    'I;16': { L: clipTo(255), I: first, F: first },
    RGB: {
      ...fromColor,
      'I;16': colorToGrey,
      RGBA: opaque(copyColor, 3),
      RGBX: opaque(copyColor, 3),
    },
    RGBA: {
      ...fromColor,
      LA: keepAlpha(colorToGrey, 3, 1),
      RGB: copyColor,
      RGBX: opaque(copyColor, 3),
    },
    RGBX: { ...fromColor, RGB: copyColor },
    CMYK: { RGB: cmykToRgb },
    YCbCr: { RGB: fromYcbcr, L: first, LA: opaque(first, 1) },
    HSV: { RGB: fromHsv },
    LAB: { RGB: fromLab },
    P: {},
  }
