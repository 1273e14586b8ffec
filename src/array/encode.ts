/**
 * Compact JSON text of arrays, in TypeScript.
 * @module
 */

import { isWideInteger } from '../dtype.ts'
import { ScratchBuffer } from '../memory/scratch-buffer.ts'
import { runAtOnce, type Slices } from '../memory/slices.ts'
import { asciiText, float16ToNumber, maxFloatBytes, writeDigits, writeFloat } from '../text/number-text.ts'
import type { NDArray } from './ndarray.ts'
import type { NonFinite } from './number-codec.ts'

/** For texts on their way to a string. */
const scratch = new ScratchBuffer(64 * 1024)
/** Text that one slice prints. **Units**: characters. */
const sliceChars = 1 << 14

/**
 * Prints an array as compact JSON text: `[[1.0,2.0],[3.0,4.0]]`.
 *
 * **Wire**: floats print the shortest text that reads back at their own width, `.0` on integral ones, in JavaScript's
 * layout; integers as integers; bool as true and false; str as JSON.stringify does. Lists stop at the first dimension
 * of length 0: `[2,0]` is `[[],[]]`, `[0,3]` is `[]`.
 * **Errors**: undefined for a non-finite element under `'error'`.
 */
export function encodeNdarray(array: NDArray, nonFinite: NonFinite): string | Uint8Array | undefined {
  const { shape, data, dtype } = array
  let depth = shape.indexOf(0)
  if (depth !== -1) return encodeEmpty(shape.slice(0, depth))
  depth = shape.length
  const last = depth === 0 ? 1 : shape[depth - 1]

  if (dtype === 'str' || isWideInteger(dtype)) return runAtOnce(printInSlices(array))

  const numbers = data as Float64Array
  // An element and its comma, a row's end of at most ']' × depth ',' '[' × depth.
  const bound = data.length * (maxFloatBytes + 1) + (data.length / last) * (2 * depth + 1) + 2 * depth
  const out = scratch.take(bound)
  const width = dtype === 'float64' ? 8 : dtype === 'float32' ? 4 : dtype === 'float16' ? 2 : 0
  let pos = 0
  for (let i = 0; i < depth; i++) out[pos++] = 0x5b
  for (let i = 0; i < numbers.length; ) {
    const end = i + last
    for (;;) {
      if (width !== 0) {
        const value = width === 2 ? float16ToNumber(numbers[i]) : numbers[i]
        if (value - value === 0) pos = writeFloat(out, pos, value, width)
        else if (nonFinite === 'error') return undefined
        else pos = writeText(out, pos, nonFinite === 'null' ? 'null' : String(value))
      } else if (dtype === 'bool') pos = writeText(out, pos, numbers[i] ? 'true' : 'false')
      else {
        if (numbers[i] < 0) out[pos++] = 0x2d
        pos = writeDigits(out, pos, Math.abs(numbers[i]))
      }
      if (++i === end) break
      out[pos++] = 0x2c
    }
    if (i === numbers.length) break
    if (depth === 2) {
      out[pos++] = 0x5d
      out[pos++] = 0x2c
      out[pos++] = 0x5b
    } else pos = writeText(out, pos, rowBreak(shape, i))
  }
  for (let i = 0; i < depth; i++) out[pos++] = 0x5d
  return asciiText(out, 0, pos)
}

/** As {@link encodeNdarray} in slices, for strings and 64-bit integers, with at least one element. */
export function* printInSlices({ shape, data, dtype }: NDArray): Slices<string | Uint8Array> {
  const depth = shape.length
  const last = depth === 0 ? 1 : shape[depth - 1]
  const pieces: Uint8Array[] = []
  let text = '['.repeat(depth)
  let column = 0
  for (let i = 0; i < data.length; i++) {
    if (column === last) {
      text += rowBreak(shape, i)
      column = 0
    } else if (i > 0) text += ','
    text += dtype === 'str' ? JSON.stringify(data[i]) : String(data[i])
    column++
    if (text.length < sliceChars) continue
    pieces.push(Buffer.from(text))
    text = ''
    yield
  }
  text += ']'.repeat(depth)
  if (pieces.length === 0) return text
  pieces.push(Buffer.from(text))
  return Buffer.concat(pieces)
}

/**
 * Returns the text between two rows of the last dimension: as many levels close and open as are filled at element
 * `index`.
 */
function rowBreak(shape: readonly number[], index: number): string {
  let levels = 0
  let size = 1
  for (let level = shape.length - 1; level > 0; level--) {
    size *= shape[level]
    if (index % size !== 0) break
    levels++
  }
  return `${']'.repeat(levels)},${'['.repeat(levels)}`
}

function encodeEmpty(shape: readonly number[]): string {
  let text = '[]'
  for (let level = shape.length - 1; level >= 0; level--) text = `[${`${text},`.repeat(shape[level]).slice(0, -1)}]`
  return text
}

function writeText(out: Uint8Array, pos: number, text: string): number {
  for (let i = 0; i < text.length; i++) out[pos++] = text.charCodeAt(i)
  return pos
}
