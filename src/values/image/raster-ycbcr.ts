/** RGB to YCbCr and back with the tables of Pillow's `libImaging/ConvertYCbCr.c`, computed. @module */
import type { Kernel } from './raster-modes.ts'

/** A table entry is the product with 6 binary places, plus a half, truncated toward zero, as in Pillow's tables. */
const table = (factor: number, zero = 0) =>
  Int16Array.from({ length: 256 }, (_, i) => Math.trunc((i - zero) * factor * 64 + 0.5))

const yFromR = table(0.299)
const yFromG = table(0.587)
const yFromB = table(0.114)
const cbFromR = table(-0.16874)
const cbFromG = table(-0.33126)
const half = table(0.5)
const crFromG = table(-0.41869)
const crFromB = table(-0.08131)
const rFromCr = table(1.402, 128)
const gFromCb = table(-0.34414, 128)
const gFromCr = table(-0.71414, 128)
const bFromCb = table(1.772, 128)

const clip = (value: number) => Math.max(0, Math.min(255, value))

/** Converts a colour to YCbCr; alpha is dropped. */
export const toYcbcr: Kernel = (source, s, target, t) => {
  const [r, g, b] = [source[s], source[s + 1], source[s + 2]]
  target[t] = (yFromR[r] + yFromG[g] + yFromB[b]) >> 6
  target[t + 1] = ((cbFromR[r] + cbFromG[g] + half[b]) >> 6) + 128
  target[t + 2] = ((half[r] + crFromG[g] + crFromB[b]) >> 6) + 128
}

/** Converts YCbCr to RGB. */
export const fromYcbcr: Kernel = (source, s, target, t) => {
  const [y, cb, cr] = [source[s], source[s + 1], source[s + 2]]
  target[t] = clip(y + (rFromCr[cr] >> 6))
  target[t + 1] = clip(y + ((gFromCb[cb] + gFromCr[cr]) >> 6))
  target[t + 2] = clip(y + (bFromCb[cb] >> 6))
}
