/** ITU-R 601-2 luma in the two ways that Pillow computes it. @module */
import type { RasterElements } from './raster-modes.ts'

/** Returns the luma of the colour at element `s`, rounded: for modes `L`, `LA` and `I`. */
export function luma(source: RasterElements, s: number): number {
  return (source[s] * 19595 + source[s + 1] * 38470 + source[s + 2] * 7471 + 0x8000) >>> 16
}

/** Returns a thousand times the luma, exact: for mode `F` and for dithering. */
export function thousandfoldLuma(source: RasterElements, s: number): number {
  return source[s] * 299 + source[s + 1] * 587 + source[s + 2] * 114
}
