/** Mode `1` from grey and colour. @module */

import { thousandfoldLuma } from './raster-luma.ts'
import type { Kernel, RasterElements, RasterMode } from './raster-modes.ts'

/** Floyd–Steinberg dithering of `L` and `RGB` to mode `1`, by whole rows from top to bottom, once. */
export function dither(mode: RasterMode, width: number): Kernel | undefined {
  if (mode !== 'L' && mode !== 'RGB') return undefined
  // Pillow's dithering truncates the luma of colours; its other conversions round it.
  const greyAt = (source: RasterElements, i: number) =>
    mode === 'L' ? source[i] : Math.trunc(thousandfoldLuma(source, i * 3) / 1000)
  const errors = new Int32Array(width + 1)
  return (source, target, from, to) => {
    for (let row = from; row < to; row += width) {
      let carried = 0
      let below = 0
      let diagonal = 0
      for (let x = 0; x < width; x++) {
        const exact = greyAt(source, row + x) + Math.trunc((carried + errors[x + 1]) / 16)
        const level = Math.max(0, Math.min(255, exact))
        const bit = level > 128 ? 255 : 0
        target[row + x] = bit
        const error = level - bit
        errors[x] = error * 3 + below
        below = error * 5 + diagonal
        diagonal = error
        carried = error * 7
      }
      errors[width] = below
    }
  }
}
