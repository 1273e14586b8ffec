/** Turns pictures upright. @module */
import { type Pixels, pixelBytes } from './raster-modes.ts'
import { inTurns } from './turn.ts'

/** Where the first pixel of the upright picture is stored, and how far its neighbours to the right and below are. */
type Walk = readonly [first: number, right: number, below: number]

/**
 * The ways to walk over a stored picture.
 *
 * @see tag 274 of TIFF 6.0.
 */
const walks: Readonly<Record<number, (width: number, height: number) => Walk>> = {
  2: (width) => [width - 1, -1, width],
  3: (width, height) => [width * height - 1, -1, -width],
  4: (width, height) => [width * (height - 1), 1, -width],
  5: (width) => [0, width, 1],
  6: (width, height) => [width * (height - 1), -width, 1],
  7: (width, height) => [width * height - 1, -width, -1],
  8: (width) => [width - 1, width, -1],
}
/** From here on width and height change places. */
const firstTransposed = 5

/**
 * @returns the picture as its viewer wants it; the same object if it is stored so.
 * @throws the signal's reason.
 */
export async function turnUpright(
  pixels: Pixels,
  orientation: number,
  signal?: AbortSignal,
): Promise<Pixels> {
  const walk = walks[orientation]
  if (walk === undefined) return pixels
  const { data } = pixels
  const isTransposed = orientation >= firstTransposed
  const sides = [pixels.width, pixels.height]
  const [width, height] = isTransposed ? sides.toReversed() : sides
  const [first, right, below] = walk(pixels.width, pixels.height)
  const size = pixelBytes(pixels.mode)
  const turned = new Uint8Array(data.length)
  const turnRows = (from: number, to: number) => {
    let target = from * width * size
    for (let y = from; y < to; y++) {
      for (let x = 0; x < width; x++) {
        const source = (first + x * right + y * below) * size
        for (let i = 0; i < size; i++) turned[target++] = data[source + i]
      }
    }
  }
  await inTurns(height, signal, turnRows, width)
  return { ...pixels, width, height, data: turned }
}
