/** Where the first frame of a GIF is. @module */
import { maxHeaderSteps } from './image-size.ts'

/** The first frame of a GIF: its place on the screen, its colours and its data. **Units**: pixels; offsets in bytes. */
export type GifFrame = NonNullable<ReturnType<typeof readGif>>

/**
 * Finds the first frame; undefined for a file that ends before it.
 *
 * @see GIF89a, sections 18 to 23.
 */
export function readGif(bytes: Uint8Array) {
  if (bytes.length < 13) return undefined
  const u16 = (at: number) => bytes[at] | (bytes[at + 1] << 8)
  let at = 13
  let palette: Uint8Array = new Uint8Array(0)
  const readPalette = (flags: number) => {
    if (!(flags & 0x80)) return
    const start = at
    at += 3 << ((flags & 7) + 1)
    palette = bytes.subarray(start, at)
  }
  readPalette(bytes[10])
  let transparent: number | undefined
  let steps = 0
  while (at < bytes.length && ++steps <= maxHeaderSteps) {
    const kind = bytes[at]
    if (kind === 0x21) {
      if (bytes[at + 1] === 0xf9 && bytes[at + 2] >= 4 && bytes[at + 3] & 1)
        transparent = bytes[at + 6]
      at += 2
      while (at < bytes.length && bytes[at] !== 0 && ++steps <= maxHeaderSteps) at += bytes[at] + 1
      at++
    } else if (kind === 0x2c) {
      if (at + 10 >= bytes.length) return undefined
      const [left, top, frameWidth, frameHeight] = [
        u16(at + 1),
        u16(at + 3),
        u16(at + 5),
        u16(at + 7),
      ]
      const flags = bytes[at + 9]
      at += 10
      readPalette(flags)
      return {
        // As Pillow: a frame beyond the screen makes the screen larger.
        width: Math.max(u16(6), left + frameWidth),
        height: Math.max(u16(8), top + frameHeight),
        left,
        top,
        frameWidth,
        frameHeight,
        interlaced: (flags & 0x40) !== 0,
        palette,
        transparent,
        dataOffset: at,
      }
    } else if (kind === 0x3b) return undefined
    else at++
  }
  return undefined
}
