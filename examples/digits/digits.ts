/**
 * Prepares pictures of handwritten digits for the model of `train.py`, and reads its output.
 * @module
 */
import { BadInput, NDArray } from 'serving'

/** The model's cells along each side. */
const side = 8
/** The value of a cell that is all ink. */
const full = 16
/**
 * Share of the contrast from which on a pixel counts when the digit's edges are looked for; what is fainter is blur or
 * noise.
 */
const edgeShare = 0.25
/** The smallest difference between paper and ink. **Units**: levels of 255. */
const minContrast = 24

/** The answer for a picture. */
export interface Reading {
  readonly digit: number
  /** A number for each of the digits 0 to 9. */
  readonly probabilities: readonly number[]
}

/**
 * Converts a picture of one digit to the model's input.
 *
 * The training data were made of 32 × 32 bitmaps that the digit fills from top to bottom; each cell counts the pixels
 * of a 4 × 4 block. So: the paper's colour is the median of the picture's border, ink is the distance from it (dark on
 * light or light on dark), cut out around the ink, centred in a square, averaged to 8 × 8 and stretched to 16.
 * `prepare` in `pictures.py` is the same arithmetic.
 *
 * **Shape**: `[h, w]` or `[h, w, 3]` of any size; out `[1, 64]`, rows from the top.
 * **Units**: levels 0 to 255; out 0 (paper) to 16 (ink).
 * **Errors**: BadInput for another shape, and for a picture without contrast.
 * **Cost**: 5 ns a pixel, measured by `bench/micro/onnx-run.ts`.
 */
export function prepare(pixels: NDArray<'uint8'>): NDArray<'float32'> {
  const grey = toGrey(pixels)
  const { width, data } = grey
  const ink = inkByLevel(grey)
  const box = boundsOf(grey, ink)
  const square = Math.max(box.width, box.height)
  const rows = cellsAlong(box.height, square)
  const columns = cellsAlong(box.width, square)
  const cells = new Float64Array(side * side)
  rows.forEach((row, r) => {
    row.shares.forEach((share, i) => {
      const start = (box.top + row.first + i) * width + box.left
      for (let c = 0; c < side; c++) {
        const { first, shares } = columns[c]
        let sum = 0
        for (let j = 0; j < shares.length; j++) sum += shares[j] * ink[data[start + first + j]]
        cells[r * side + c] += share * sum
      }
    })
  })
  const scale = full / cells.reduce((a, b) => Math.max(a, b))
  return new NDArray(new Float32Array(cells.map((cell) => cell * scale)), [1, side * side])
}

/** Returns the likeliest digit and all probabilities from the model's output, `[1, 10]`. */
export function readDigit(probabilities: NDArray<'float32'>): Reading {
  const { data } = probabilities
  return {
    digit: data.indexOf(data.reduce((a, b) => Math.max(a, b))),
    probabilities: Array.from(data),
  }
}

interface Grey {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

/** Converts colours to luma, ITU-R BT.601, as Pillow does. */
function toGrey({ data, shape }: NDArray<'uint8'>): Grey {
  const [height, width, channels] = shape
  const colored = shape.length === 3 && channels === 3
  if ((shape.length !== 2 && !colored) || data.length === 0) {
    throw new BadInput(
      `expected pixels of shape (h, w) or (h, w, 3) for a picture, received (${shape.join(', ')})`,
      {
        reason: 'shape',
      },
    )
  }
  if (!colored) return { width, height, data }
  const grey = new Uint8Array(width * height)
  for (let i = 0, s = 0; i < grey.length; i++, s += 3) {
    // Of 65536, to the nearest level.
    grey[i] = (data[s] * 19595 + data[s + 1] * 38470 + data[s + 2] * 7471 + 0x8000) >>> 16
  }
  return { width, height, data: grey }
}

/** Maps levels to 0 (paper) to 1 (ink), whichever of them is darker. */
function inkByLevel(grey: Grey): Float64Array {
  const { data } = grey
  const paper = medianOfBorder(grey)
  let [min, max] = [255, 0]
  for (let i = 0; i < data.length; i++) {
    if (data[i] < min) min = data[i]
    if (data[i] > max) max = data[i]
  }
  const contrast = Math.max(paper - min, max - paper)
  if (contrast < minContrast) {
    throw new BadInput(
      `expected a digit for a picture, received one of hardly any contrast: ${contrast} levels`,
    )
  }
  const sign = paper - min > max - paper ? -1 : 1
  return new Float64Array(256).map((_, level) =>
    Math.min(1, Math.max(0, ((level - paper) * sign) / contrast)),
  )
}

/**
 * Returns the middle one of the border's levels; of a digit that touches the border, the paper is still the larger part
 * of it.
 */
function medianOfBorder({ width, height, data }: Grey): number {
  const counts = new Uint32Array(256)
  for (let x = 0; x < width; x++) {
    counts[data[x]]++
    counts[data[(height - 1) * width + x]]++
  }
  for (let y = 1; y < height - 1; y++) {
    counts[data[y * width]]++
    counts[data[y * width + width - 1]]++
  }
  const middle = (2 * width + 2 * Math.max(0, height - 2)) >> 1
  let level = 0
  for (let below = counts[0]; below <= middle; below += counts[level]) level++
  return level
}

/** Returns the smallest box around all ink; never empty, since the strongest pixel is 1. */
function boundsOf({ width, height, data }: Grey, ink: Float64Array) {
  let [top, bottom, left, right] = [height, -1, width, -1]
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (ink[data[y * width + x]] < edgeShare) continue
      if (y < top) top = y
      bottom = y
      if (x < left) left = x
      if (x > right) right = x
    }
  }
  return { top, left, width: right + 1 - left, height: bottom + 1 - top }
}

/** Returns the pixels from `first` on in a cell, each with the share of the cell that it covers. */
interface Cell {
  readonly first: number
  readonly shares: Float64Array
}

/** Returns the cells along one side of a square in whose middle `length` pixels are. **Units**: pixels. */
function cellsAlong(length: number, square: number): Cell[] {
  const start = (square - length) / 2
  const size = square / side
  return Array.from({ length: side }, (_, cell) => {
    const [from, to] = [cell * size - start, (cell + 1) * size - start]
    const first = Math.max(0, Math.floor(from))
    const end = Math.min(length, Math.ceil(to))
    const overlaps = new Float64Array(Math.max(0, end - first)).map((_, i) => {
      return Math.min(to, first + i + 1) - Math.max(from, first + i)
    })
    return { first, shares: overlaps.map((overlap) => Math.max(0, overlap) / size) }
  })
}
