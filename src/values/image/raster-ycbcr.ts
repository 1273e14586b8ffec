/** RGB to YCbCr and back with the tables of Pillow's `libImaging/ConvertYCbCr.c`, computed. @module */
import type { RasterElements } from './raster-modes.ts'

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

/** Converts colour pixels of `step` channels to YCbCr; alpha is dropped. */
export const toYcbcr = (step: 3 | 4) => (source: RasterElements, target: RasterElements, from: number, to: number) => {
  for (let i = from, s = from * step, t = from * 3; i < to; i++, s += step, t += 3) {
    const r = source[s]
    const g = source[s + 1]
    const b = source[s + 2]
    target[t] = (yFromR[r] + yFromG[g] + yFromB[b]) >> 6
    target[t + 1] = ((cbFromR[r] + cbFromG[g] + half[b]) >> 6) + 128
    target[t + 2] = ((half[r] + crFromG[g] + crFromB[b]) >> 6) + 128
  }
}

const clip = (value: number) => Math.max(0, Math.min(255, value))

/** Converts YCbCr pixels to RGB. */
export function fromYcbcr(source: RasterElements, target: RasterElements, from: number, to: number): void {
  for (let s = from * 3; s < to * 3; s += 3) {
    const y = source[s]
    const cb = source[s + 1]
    const cr = source[s + 2]
    target[s] = clip(y + (rFromCr[cr] >> 6))
    target[s + 1] = clip(y + ((gFromCb[cb] + gFromCr[cr]) >> 6))
    target[s + 2] = clip(y + (bFromCb[cb] >> 6))
  }
}
