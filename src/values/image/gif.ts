/** Decodes the first frame of a GIF, in TypeScript: @napi-rs/image is built without GIF. @module */
import type { GifFrame } from './header-gif.ts'
import { greys, type Pixels } from './raster-modes.ts'
import { nextTurn, turnPixels } from './turn.ts'

/**
 * Decodes a GIF's first frame to `RGB`, or `RGBA` if it has a transparent colour; with `keepsPalette` to `P` or `L`.
 * **Errors**: an Error for damaged data; the signal's reason. **Source**: GIF89a, appendix F.
 */
export async function decodeGif(
  bytes: Uint8Array,
  frame: GifFrame,
  keepsPalette = false,
  signal?: AbortSignal,
): Promise<Pixels> {
  const { width, height, frameWidth, frameHeight, transparent } = frame
  const indexes = await decodeIndexes(bytes, frame.dataOffset, frameWidth * frameHeight, signal)
  const colors = colorTable(frame)
  const channels = keepsPalette ? 1 : transparent === undefined ? 3 : 4
  const pixels = new Uint8Array(width * height * channels)
  const uncovered = transparent ?? 0
  for (let y = 0; y < height; y++) {
    if (y > 0 && (y * width) % turnPixels < width) await nextTurn(signal)
    const row = y - frame.top
    const covered = row >= 0 && row < frameHeight
    const source = covered ? (frame.interlaced ? interlacedRow(row, frameHeight) : row) * frameWidth - frame.left : 0
    for (let x = 0, t = y * width * channels; x < width; x++, t += channels) {
      const inside = covered && x >= frame.left && x < frame.left + frameWidth
      const index = inside ? indexes[source + x] : uncovered
      if (channels === 1) pixels[t] = index
      else for (let c = 0; c < channels; c++) pixels[t + c] = colors[index * 4 + c]
    }
  }
  if (channels !== 1) return { mode: channels === 3 ? 'RGB' : 'RGBA', width, height, data: pixels }
  if (colors.every((level, i) => level === greys[i])) return { mode: 'L', width, height, data: pixels }
  return { mode: 'P', width, height, data: pixels, palette: colors }
}

/** 256 colours of red, green, blue and alpha; those that the table does not have are grey, as in Pillow. */
function colorTable({ palette, transparent }: GifFrame): Uint8Array {
  const colors = new Uint8Array(greys)
  for (let i = 0; i < palette.length / 3; i++) colors.set(palette.subarray(i * 3, i * 3 + 3), i * 4)
  if (transparent !== undefined) colors[transparent * 4 + 3] = 0
  return colors
}

/** Returns where row `row` stands in the data: every 8th from 0, 8th from 4, 4th from 2, 2nd from 1. */
function interlacedRow(row: number, height: number): number {
  const before = (first: number, step: number) => Math.max(0, Math.ceil((height - first) / step))
  if (row % 8 === 0) return row / 8
  if (row % 8 === 4) return before(0, 8) + (row - 4) / 8
  if (row % 4 === 2) return before(0, 8) + before(4, 8) + (row - 2) / 4
  return before(0, 8) + before(4, 8) + before(2, 4) + (row - 1) / 2
}

/** LZW with codes of up to 12 bits in blocks of up to 255 bytes; ends when the frame is full. */
async function decodeIndexes(
  bytes: Uint8Array,
  offset: number,
  length: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const output = new Uint8Array(length)
  const rootBits = bytes[offset]
  if (!(rootBits >= 1 && rootBits <= 11)) throw new Error('the code size is out of range')
  const clear = 1 << rootBits
  const prefixes = new Uint16Array(4096)
  const lasts = new Uint8Array(4096)
  const lengths = new Uint16Array(4096)
  for (let code = 0; code < clear; code++) {
    lasts[code] = code
    lengths[code] = 1
  }
  let at = offset + 1
  let blockEnd = at
  let bits = 0
  let held = 0
  let codeBits = rootBits + 1
  let next = clear + 2
  let previous = -1
  let written = 0
  // A code may stand for thousands of pixels, or for nothing.
  let work = 0
  while (written < length) {
    if (++work >= turnPixels) {
      work = 0
      await nextTurn(signal)
    }
    while (held < codeBits) {
      if (at === blockEnd) {
        blockEnd = at + 1 + (bytes[at] ?? 0)
        at++
        if (blockEnd === at || blockEnd > bytes.length) throw new Error('the data ends before the picture')
      }
      bits |= bytes[at++] << held
      held += 8
    }
    const code = bits & ((1 << codeBits) - 1)
    bits >>>= codeBits
    held -= codeBits
    if (code === clear) {
      codeBits = rootBits + 1
      next = clear + 2
      previous = -1
      continue
    }
    if (code === clear + 1) throw new Error('the data ends before the picture')
    if (code > next || (code === next && previous === -1)) throw new Error('a code stands for nothing yet')
    // A code that is just being defined is the string before it and that one's first index again.
    const known = code < next ? code : previous
    const size = lengths[known]
    const end = Math.min(length, written + size)
    let from = known
    for (let i = written + size - 1; i >= written; i--) {
      if (i < end) output[i] = lasts[from]
      from = prefixes[from]
    }
    const first = output[written]
    written = end
    if (known !== code && written < length) output[written++] = first
    if (previous !== -1 && next < 4096) {
      prefixes[next] = previous
      lasts[next] = first
      lengths[next] = lengths[previous] + 1
      if (++next === 1 << codeBits && codeBits < 12) codeBits++
    }
    previous = code
    work += size
  }
  return output
}
