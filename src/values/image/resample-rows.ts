/** Resizing of 8-bit pixels in TypeScript, bit for bit as Pillow's `Image.resize`. @module */
import { luma } from './raster-kernels.ts'
import { type Pixels, rasterModes } from './raster-modes.ts'
import type { Axis, Resize, ResizeFilter } from './resize.ts'
import { inTurns } from './turn.ts'

const places = 22
const half = 2 ** (places - 1)

const filters: Readonly<
  Record<ResizeFilter, { readonly support: number; readonly at: (x: number) => number }>
> = {
  bilinear: { support: 1, at: (x) => (x < 1 ? 1 - x : 0) },
  bicubic: { support: 2, at: cubic },
  lanczos: { support: 3, at: (x) => (x < 3 ? sinc(x) * sinc(x / 3) : 0) },
}

function cubic(x: number): number {
  const a = -0.5
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a
  return 0
}

function sinc(x: number): number {
  if (x === 0) return 1
  return Math.sin(x * Math.PI) / (x * Math.PI)
}

type Window = ReturnType<typeof windowAt>

function windowAt(i: number, { extent, full, first }: Axis, input: number, filter: ResizeFilter) {
  const scale = extent / full
  const spread = Math.max(1, scale)
  const { support, at } = filters[filter]
  const center = (first + i + 0.5) * scale
  const start = Math.max(0, Math.trunc(center - support * spread + 0.5))
  const end = Math.min(input, Math.trunc(center + support * spread + 0.5))
  const exact = Float64Array.from({ length: end - start }, (_, t) =>
    at(Math.abs((t + start - center + 0.5) / spread)),
  )
  const total = exact.reduce((sum, weight) => sum + weight, 0)
  const weights = Int32Array.from(exact, (weight) => {
    const scaled = (total === 0 ? weight : weight / total) * 2 ** places
    return Math.trunc(scaled < 0 ? scaled - 0.5 : scaled + 0.5)
  })
  return { first: start, weights }
}

/**
 * Resizes 8-bit channels into `out`.
 *
 * @throws the signal's reason.
 */
export async function resampleRows(
  pixels: Pixels,
  resize: Resize,
  out: Uint8Array,
  signal?: AbortSignal,
): Promise<void> {
  const { x, y, channels, filter } = resize
  const windows: Window[] = []
  for (let i = 0; i < x.count; i++) windows.push(windowAt(i, x, pixels.width, filter))
  const from = windowAt(0, y, pixels.height, filter).first
  const last = windowAt(y.count - 1, y, pixels.height, filter)
  const to = last.first + last.weights.length
  const samples = x.count * channels
  const rows = new Uint8Array((to - from) * samples)
  const converted = new Uint8Array(pixels.width * channels)
  const convertRows = (first: number, end: number) => {
    for (let row = first; row < end; row++) {
      convertRow(pixels, from + row, resize, converted)
      const start = row * samples
      for (const [i, window] of windows.entries())
        sumUp(converted, 0, channels, window, rows, start + i * channels)
    }
  }
  await inTurns(to - from, signal, convertRows, pixels.width + x.count)
  const levels = new Uint8Array(samples)
  const writeRows = (first: number, end: number) => {
    for (let i = first; i < end; i++) {
      sumUp(rows, -from, samples, windowAt(i, y, pixels.height, filter), levels, 0)
      if (resize.hasAlpha) unpremultiply(levels, channels)
      writeRow(levels, i, resize, out)
    }
  }
  await inTurns(y.count, signal, writeRows, x.count)
}

function convertRow(
  { data, width, mode }: Pixels,
  row: number,
  { channels, hasAlpha }: Resize,
  to: Uint8Array,
): void {
  const step = rasterModes[mode].channels
  for (let i = 0, s = row * width * step, t = 0; i < width; i++, s += step, t += channels) {
    if (hasAlpha) {
      for (let c = 0; c < step - 1; c++) to[t + c] = scaled(data[s + c], data[s + step - 1])
      to[t + step - 1] = data[s + step - 1]
    } else if (step === channels) {
      for (let c = 0; c < step; c++) to[t + c] = data[s + c]
    } else if (step <= 2) {
      for (let c = 0; c < channels; c++) to[t + c] = data[s]
    } else if (channels === 1) {
      to[t] = luma(data, s)
    } else {
      for (let c = 0; c < 3; c++) to[t + c] = data[s + c]
    }
  }
}

function scaled(c: number, a: number): number {
  const product = c * a + 128
  return (product + (product >> 8)) >> 8
}

function unpremultiply(levels: Uint8Array, channels: number): void {
  for (let i = 0; i < levels.length; i += channels) {
    const alpha = levels[i + channels - 1]
    if (alpha === 0 || alpha === 255) continue
    for (let c = 0; c < channels - 1; c++)
      levels[i + c] = Math.min(255, Math.trunc((255 * levels[i + c]) / alpha))
  }
}

/** Writes the weighted sums of `size` samples side by side at `at`; `offset`: place of the first ones in `input`. */
function sumUp(
  input: Uint8Array,
  offset: number,
  size: number,
  { first, weights }: Window,
  to: Uint8Array,
  at: number,
): void {
  for (let c = 0; c < size; c++) {
    let sum = half
    for (let t = 0, s = (first + offset) * size + c; t < weights.length; t++, s += size)
      sum += input[s] * weights[t]
    to[at + c] = Math.max(0, Math.min(255, sum >> places))
  }
}

/** Writes a row of the output: bytes, or their entries in the table of floats, by pixels or by planes. */
function writeRow(levels: Uint8Array, y: number, resize: Resize, out: Uint8Array): void {
  const { channels, width, height, left, top, isPlanar, table } = resize
  const start = (top + y) * width + left
  const target =
    table === undefined ? out : new Float32Array(out.buffer, out.byteOffset, out.length / 4)
  const step = isPlanar ? 1 : channels
  for (let c = 0; c < channels; c++) {
    let to = isPlanar ? c * width * height + start : start * channels + c
    for (let s = c; s < levels.length; s += channels, to += step) {
      target[to] = table === undefined ? levels[s] : table[256 * c + levels[s]]
    }
  }
}
