/** RGB to CIE L*a*b* (D50) and back, as between the profiles sRGB and LAB of Little CMS. @module */
import type { Kernel } from './raster-modes.ts'

const linear = Float64Array.from({ length: 256 }, (_, i) => {
  const level = i / 255
  if (level <= 0.04045) return level / 12.92
  return ((level + 0.055) / 1.055) ** 2.4
})

// sRGB's primaries adapted to D50 by Bradford's matrix; a row of them sums up to the white of that row.
const toXyz = [
  [0.4360747, 0.3850649, 0.1430804],
  [0.2225045, 0.7168786, 0.0606169],
  [0.0139322, 0.0971045, 0.7141733],
] as const
const fromXyz = [
  [3.1338561, -1.6168667, -0.4906146],
  [-0.9787684, 1.9161415, 0.033454],
  [0.0719453, -0.2289914, 1.4052427],
] as const
const white = toXyz.map(([r, g, b]) => r + g + b)

const root = (t: number) => (t > 216 / 24389 ? Math.cbrt(t) : (t * 24389) / 27 / 116 + 16 / 116)
const cube = (t: number) => (t > 6 / 29 ? t ** 3 : ((t - 16 / 116) * 116 * 27) / 24389)
const clip = (value: number) => Math.max(0, Math.min(255, Math.round(value)))

/** Converts a colour to LAB; alpha is dropped. */
export const toLab: Kernel = (source, s, target, t) => {
  const [r, g, b] = [linear[source[s]], linear[source[s + 1]], linear[source[s + 2]]]
  const [x, y, z] = toXyz.map((row, c) => root((row[0] * r + row[1] * g + row[2] * b) / white[c]))
  target[t] = clip((116 * y - 16) * 2.55)
  target[t + 1] = clip(500 * (x - y) + 128) ^ 128
  target[t + 2] = clip(200 * (y - z) + 128) ^ 128
}

/** Converts LAB to RGB; colours that sRGB has not are clipped. */
export const fromLab: Kernel = (source, s, target, t) => {
  const y = (source[s] / 2.55 + 16) / 116
  const xyz = [y + ((source[s + 1] ^ 128) - 128) / 500, y, y - ((source[s + 2] ^ 128) - 128) / 200]
  const [x, yy, z] = xyz.map((value, c) => cube(value) * white[c])
  for (let c = 0; c < 3; c++) {
    const level = fromXyz[c][0] * x + fromXyz[c][1] * yy + fromXyz[c][2] * z
    target[t + c] = clip(
      255 * (level <= 0.0031308 ? level * 12.92 : 1.055 * level ** (1 / 2.4) - 0.055),
    )
  }
}
