/** RGB to HSV and back, rounded to float32 wherever Pillow's `libImaging/Convert.c` stores a float. @module */
import type { Kernel } from './raster-modes.ts'

const { fround } = Math

/** Converts a colour to HSV; alpha is dropped. */
export const toHsv: Kernel = (source, s, target, t) => {
  const [r, g, b] = [source[s], source[s + 1], source[s + 2]]
  const max = Math.max(r, g, b)
  const range = max - Math.min(r, g, b)
  target[t + 2] = max
  if (range === 0) return
  target[t] = Math.trunc(hue(r, g, b, max, range) * 255)
  target[t + 1] = Math.trunc(fround(range / max) * 255)
}

function hue(r: number, g: number, b: number, max: number, range: number): number {
  const fromRed = fround((max - r) / range)
  const fromGreen = fround((max - g) / range)
  const fromBlue = fround((max - b) / range)
  let sixth = fround(4 + fromGreen - fromRed)
  if (r === max) sixth = fround(fromBlue - fromGreen)
  else if (g === max) sixth = fround(2 + fromRed - fromBlue)
  return fround((sixth / 6 + 1) % 1)
}

// Per sixth of the circle, which of value, falling, low and rising is red, green and blue.
const sectors = [
  [0, 3, 2],
  [1, 0, 2],
  [2, 0, 3],
  [2, 1, 0],
  [3, 2, 0],
  [0, 2, 1],
] as const

const levels = new Uint8Array(4)

/** Converts HSV to RGB. */
export const fromHsv: Kernel = (source, s, target, t) => {
  const value = source[s + 2]
  const sixths = (source[s] * 6) / 255
  const sector = Math.floor(sixths)
  const rest = fround(sixths - sector)
  const saturation = fround(source[s + 1] / 255)
  levels[0] = value
  levels[1] = Math.round(value * (1 - fround(saturation * rest)))
  levels[2] = Math.round(value * (1 - saturation))
  levels[3] = Math.round(value * (1 - saturation * (1 - rest)))
  for (let c = 0; c < 3; c++) target[t + c] = levels[sectors[sector % 6][c]]
}
