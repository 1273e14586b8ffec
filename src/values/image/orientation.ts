/** Turns pictures upright. @module */
import { type Pixels, pixelBytes } from './raster-modes.ts'
import { inTurns } from './turn.ts'

/**
 * The turns of a stored picture: `x` and `y` mirror its rows and columns, `t` then exchanges them.
 *
 * @see tag 274 of TIFF 6.0.
 */
const turns: readonly string[] = ['', '', 'x', 'xy', 'y', 't', 'yt', 'xyt', 'xt']

/**
 * @returns the picture as its viewer wants it; the same object if it is stored so.
 * @throws the signal's reason.
 */
export async function turnUpright(
  pixels: Pixels,
  orientation: number,
  signal?: AbortSignal,
): Promise<Pixels> {
  const turn = turns[orientation] ?? ''
  if (turn === '') return pixels
  const { data, width: stored, height: rows } = pixels
  // Where the first pixel of the upright picture is stored, and how far its neighbours to the right and below are.
  let first = 0
  let steps = [1, stored]
  let sides = [stored, rows]
  if (turn.includes('x')) {
    first += stored - 1
    steps[0] = -1
  }
  if (turn.includes('y')) {
    first += stored * (rows - 1)
    steps[1] = -stored
  }
  if (turn.includes('t')) {
    steps = steps.toReversed()
    sides = sides.toReversed()
  }
  const [right, below] = steps
  const [width, height] = sides
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
