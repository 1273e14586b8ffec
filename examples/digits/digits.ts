/**
 * Pictures of handwritten digits become what the model of `train.py` takes, and its answers become digits.
 * @module
 */
import { BadInput, NDArray } from 'serving'

/** The model's cells along each side. */
const side = 8
/** The most that a cell can hold. */
const full = 16
/** Share of the contrast from which on a pixel counts when the digit's edges are looked for; what is fainter is blur or noise. */
const edgeShare = 0.25
/** The least difference between paper and ink. **Units**: levels of 255. */
const minContrast = 24

/** What the service answers about a picture. */
export interface Reading {
  readonly digit: number
  /** Of the digits 0 to 9, in this order. */
  readonly probabilities: readonly number[]
}

/**
 * A picture of one digit becomes the model's input.
 *
 * The training data were made of 32 × 32 bitmaps that the digit fills from top to bottom; each cell counts the pixels of a 4 × 4 block.
 * So: the paper's colour is the median of the picture's border, ink is the distance from it (dark on light or light on dark), cut out
 * around the ink, centred in a square, averaged to 8 × 8 and stretched to 16. `prepare` in `pictures.py` is the same arithmetic.
 *
 * **Shape**: `[h, w]` or `[h, w, 3]` of any size; out `[1, 64]`, rows from the top.
 * **Units**: levels 0 to 255; out 0 (paper) to 16 (ink).
 * **Errors**: BadInput for another shape, and for a picture without contrast.
 */
export function prepare(pixels: NDArray<'uint8'>): NDArray<'float32'> {
  const grey = toGrey(pixels)
  const ink = toInk(grey)
  const box = boundsOf(ink)
  const square = Math.max(box.width, box.height)
  const rows = cellShares(box.height, square)
  const columns = cellShares(box.width, square)
  const cells = new Float64Array(side * side)
  for (let y = 0; y < box.height; y++) {
    for (let x = 0; x < box.width; x++) {
      const level = ink.data[(box.top + y) * ink.width + box.left + x]
      if (level === 0) continue
      for (const [row, share] of rows[y]) {
        for (const [column, part] of columns[x]) cells[row * side + column] += level * share * part
      }
    }
  }
  const most = cells.reduce((a, b) => Math.max(a, b))
  return new NDArray(
    Float32Array.from(cells, (cell) => cell * (full / most)),
    [1, side * side],
  )
}

/** Probabilities of the model, `[1, 10]`, become the likeliest digit with all of them. */
export function readDigit(probabilities: NDArray<'float32'>): Reading {
  const { data } = probabilities
  return { digit: data.indexOf(data.reduce((a, b) => Math.max(a, b))), probabilities: Array.from(data) }
}

interface Plane<A extends Uint8Array | Float64Array> {
  readonly width: number
  readonly height: number
  readonly data: A
}

/** Colours become their luma, ITU-R BT.601, as in Pillow. */
function toGrey({ data, shape }: NDArray<'uint8'>): Plane<Uint8Array> {
  const [height, width, channels] = shape
  const colored = shape.length === 3 && channels === 3
  if ((shape.length !== 2 && !colored) || data.length === 0) {
    throw new BadInput(`expected pixels of shape (h, w) or (h, w, 3) for a picture, received (${shape.join(', ')})`, {
      reason: 'shape',
    })
  }
  if (!colored) return { width, height, data }
  const grey = new Uint8Array(width * height)
  for (let i = 0, s = 0; i < grey.length; i++, s += 3) {
    // Of 65536, to the nearest level.
    grey[i] = (data[s] * 19595 + data[s + 1] * 38470 + data[s + 2] * 7471 + 0x8000) >>> 16
  }
  return { width, height, data: grey }
}

/** Levels become shares of the contrast between paper (0) and ink (1), whichever of them is the darker. */
function toInk(grey: Plane<Uint8Array>): Plane<Float64Array> {
  const { width, height, data } = grey
  const paper = medianOfBorder(grey)
  const darker = paper - data.reduce((a, b) => Math.min(a, b))
  const lighter = data.reduce((a, b) => Math.max(a, b)) - paper
  const contrast = Math.max(darker, lighter)
  if (contrast < minContrast) {
    throw new BadInput(`expected a digit for a picture, received one of ${contrast + 1} levels of grey`)
  }
  const sign = darker > lighter ? -1 : 1
  return { width, height, data: Float64Array.from(data, (level) => Math.max(0, ((level - paper) * sign) / contrast)) }
}

/** The middle one of the border's levels; of a digit that touches the border, the paper is still the larger part of it. */
function medianOfBorder({ width, height, data }: Plane<Uint8Array>): number {
  const border: number[] = []
  for (let x = 0; x < width; x++) border.push(data[x], data[(height - 1) * width + x])
  for (let y = 1; y < height - 1; y++) border.push(data[y * width], data[y * width + width - 1])
  return border.sort((a, b) => a - b)[border.length >> 1]
}

/** The smallest box around all that is ink; never empty, since the strongest pixel is 1. */
function boundsOf({ width, height, data }: Plane<Float64Array>) {
  let [top, bottom, left, right] = [height, -1, width, -1]
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (data[y * width + x] < edgeShare) continue
      top = Math.min(top, y)
      bottom = y
      left = Math.min(left, x)
      right = Math.max(right, x)
    }
  }
  return { top, left, width: right + 1 - left, height: bottom + 1 - top }
}

/** For each of `length` pixels in the middle of `square`: the cells that it lies in, with the share of the cell that it covers. */
function cellShares(length: number, square: number): (readonly [cell: number, share: number])[][] {
  const start = (square - length) / 2
  const size = square / side
  return Array.from({ length }, (_, i) => {
    const from = start + i
    const shares: [number, number][] = []
    for (let cell = Math.floor(from / size); cell < side && cell * size < from + 1; cell++) {
      const overlap = Math.min((cell + 1) * size, from + 1) - Math.max(cell * size, from)
      if (overlap > 0) shares.push([cell, overlap / size])
    }
    return shares
  })
}
