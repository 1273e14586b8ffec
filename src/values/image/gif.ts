/** Reads the first frame of a GIF, in TypeScript: @napi-rs/image is built without GIF. @module */
import { type GifFrame, readGif } from './gif-frame.ts'
import { greys, type Pixels } from './raster-modes.ts'
import { nextTurn, turnPixels } from './turn.ts'

const passes = [
  [0, 8],
  [4, 8],
  [2, 4],
  [1, 2],
] as const

/**
 * Decodes a GIF's first frame to `P`, or `L` if its colours are the greys.
 *
 * @throws an Error for damaged data; the signal's reason.
 * @see GIF89a, appendix F.
 */
export async function decodeGif(bytes: Uint8Array, signal?: AbortSignal): Promise<Pixels> {
  const frame = readGif(bytes)
  if (frame === undefined) throw new Error('the first frame is missing')
  const { width, height, left, top, frameWidth, frameHeight, interlaced, transparent = 0 } = frame
  const indexes = await decodeIndexes(bytes, frame.dataOffset, frameWidth * frameHeight, signal)
  const data = new Uint8Array(width * height).fill(transparent)
  let from = 0
  for (const [first, step] of interlaced ? passes : [[0, 1]]) {
    for (let row = first; row < frameHeight; row += step, from += frameWidth) {
      if (from % turnPixels < frameWidth) await nextTurn(signal)
      data.set(indexes.subarray(from, from + frameWidth), (top + row) * width + left)
    }
  }
  const palette = colorTable(frame)
  const isGrey = palette.every((level, i) => level === greys[i])
  if (isGrey) return { mode: 'L', width, height, data }
  return { mode: 'P', width, height, data, palette }
}

/** 256 colours of red, green, blue and alpha; those that the table does not have are grey, as in Pillow. */
function colorTable({ palette, transparent }: GifFrame): Uint8Array {
  const colors = new Uint8Array(greys)
  for (let i = 0; i < palette.length / 3; i++) colors.set(palette.subarray(i * 3, i * 3 + 3), i * 4)
  if (transparent !== undefined) colors[transparent * 4 + 3] = 0
  return colors
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
        if (blockEnd === at || blockEnd > bytes.length)
          throw new Error('the data ends before the picture')
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
    if (code > next || (code === next && previous === -1))
      throw new Error('a code stands for nothing yet')
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
