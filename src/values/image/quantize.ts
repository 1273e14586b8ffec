/** Colours to a palette: the picture's own up to 256, else the best that repeated cuts find. @module */
import { type Pixels, paletteOf, rasterModes } from './raster-modes.ts'
import { nextTurn, turnPixels } from './turn.ts'

const maxColors = 256

/**
 * Converts `RGB` or `RGBA` to `P`, without dithering.
 *
 * @throws the signal's reason.
 */
export async function quantize(pixels: Pixels, signal?: AbortSignal): Promise<Pixels> {
  return (await exactly(pixels, signal)) ?? nearly(pixels, signal)
}

/** @returns the picture with exactly its colours; undefined when there are more than 256. */
async function exactly(
  { mode, width, height, data }: Pixels,
  signal: AbortSignal | undefined,
): Promise<Pixels | undefined> {
  const { channels } = rasterModes[mode]
  const indexes = new Uint8Array(width * height)
  const known = new Map<number, number>()
  for (let i = 0, at = 0; i < indexes.length; i++, at += channels) {
    if (i % turnPixels === 0 && i > 0) await nextTurn(signal)
    const alpha = channels === 4 ? data[at + 3] : 255
    const color = data[at] | (data[at + 1] << 8) | (data[at + 2] << 16) | (alpha << 24)
    let index = known.get(color)
    if (index === undefined) {
      if (known.size === maxColors) return undefined
      index = known.size
      known.set(color, index)
    }
    indexes[i] = index
  }
  const palette = new Uint8Array(new Int32Array(known.keys()).buffer)
  return { mode: 'P', width, height, data: indexes, palette }
}

interface Histogram {
  readonly bits: number
  readonly channels: number
  readonly counts: Uint32Array
  readonly sums: Float64Array
}

type Box = ReturnType<typeof boxAround>

async function nearly(
  { mode, width, height, data }: Pixels,
  signal: AbortSignal | undefined,
): Promise<Pixels> {
  const { channels } = rasterModes[mode]
  const bits = channels === 4 ? 4 : 5
  const cells = 2 ** (bits * channels)
  const histogram = {
    bits,
    channels,
    counts: new Uint32Array(cells),
    sums: new Float64Array(cells * channels),
  }
  for (let i = 0; i < width * height; i++) {
    if (i % turnPixels === 0 && i > 0) await nextTurn(signal)
    const cell = cellOf(data, i * channels, histogram)
    histogram.counts[cell]++
    for (let c = 0; c < channels; c++) histogram.sums[cell * channels + c] += data[i * channels + c]
  }
  const boxes = cutBoxes(histogram)
  const palette = paletteOf({ palette: new Uint8Array(0) })
  const boxOf = new Uint8Array(cells)
  for (const [index, box] of boxes.entries()) {
    palette.set(box.color.map(Math.round), index * 4)
    for (const cell of box.cells) boxOf[cell] = index
  }
  const indexes = new Uint8Array(width * height)
  for (let i = 0; i < indexes.length; i++) {
    if (i % turnPixels === 0 && i > 0) await nextTurn(signal)
    indexes[i] = boxOf[cellOf(data, i * channels, histogram)]
  }
  return { mode: 'P', width, height, data: indexes, palette: palette.subarray(0, boxes.length * 4) }
}

function cellOf(data: Uint8Array, at: number, { bits, channels }: Histogram): number {
  let cell = 0
  for (let c = 0; c < channels; c++) cell = (cell << bits) | (data[at + c] >> (8 - bits))
  return cell
}

/** Cuts the box with the greatest error at its mean, until there are 256 or no box can be cut. */
function cutBoxes(histogram: Histogram): Box[] {
  const used = Uint32Array.from(histogram.counts.keys()).filter(
    (cell) => histogram.counts[cell] > 0,
  )
  const boxes = [boxAround(used, histogram)]
  while (boxes.length < maxColors) {
    const worst = boxes.reduce((most, box, i) => (box.error > boxes[most].error ? i : most), 0)
    const { cells, color, channel, error } = boxes[worst]
    if (error === 0) break
    const isBelow = (cell: number) => levelOf(cell, channel, histogram) <= color[channel]
    const [below, above] = [cells.filter(isBelow), cells.filter((cell) => !isBelow(cell))]
    // One cell, whose own levels differ, cannot be cut.
    if (below.length === 0 || above.length === 0) boxes[worst] = { ...boxes[worst], error: 0 }
    else boxes.splice(worst, 1, boxAround(below, histogram), boxAround(above, histogram))
  }
  return boxes
}

function levelOf(cell: number, channel: number, { counts, sums, channels }: Histogram): number {
  return sums[cell * channels + channel] / counts[cell]
}

function boxAround(cells: Uint32Array, histogram: Histogram) {
  const { counts, sums, channels } = histogram
  const count = cells.reduce((sum, cell) => sum + counts[cell], 0)
  const range = Array.from({ length: channels }, (_, c) => c)
  const color = range.map(
    (c) => cells.reduce((sum, cell) => sum + sums[cell * channels + c], 0) / count,
  )
  const errors = range.map((c) =>
    cells.reduce(
      (sum, cell) => sum + counts[cell] * (levelOf(cell, c, histogram) - color[c]) ** 2,
      0,
    ),
  )
  const channel = errors.indexOf(Math.max(...errors))
  return { cells, color, channel, error: errors[channel] }
}
