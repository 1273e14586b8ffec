/** Checks of what a client wrote: native code follows offsets without looking. @module */
import { isUtf8 } from 'node:buffer'
import { type Column, columnWords, isValid } from '../columns.ts'
import { damagedColumn } from './file-refusal.ts'

/**
 * Checks that offsets rise from 0 or more to `end` or less.
 *
 * @throws FileRefusal with the column.
 */
export function checkOffsets(offsets: Int32Array, rows: number, end: number, path: string): void {
  let before = 0
  for (let row = 0; row <= rows; row++) {
    if (offsets[row] < before) throw damagedColumn(path, 'offsets that fall')
    before = offsets[row]
  }
  if (before > end)
    throw damagedColumn(path, `an offset of ${before} where there are ${end} elements`)
}

/**
 * @returns a text column if its offsets lie within its data, which is UTF-8 between them.
 * @throws FileRefusal.
 */
export function checkedText(column: Column, rows: number, path: string): Column {
  const { data, offsets = noOffsets, isBinary } = column
  checkOffsets(offsets, rows, data.length, path)
  if (isBinary || rows === 0) return column
  if (!isUtf8(data.subarray(offsets[0], offsets[rows])))
    throw damagedColumn(path, 'text that is not UTF-8')
  for (let row = 0; row < rows; row++) {
    if ((data[offsets[row]] & 0xc0) === 0x80 && offsets[row] < offsets[rows]) {
      throw damagedColumn(path, 'text that starts within a character')
    }
  }
  return column
}

const noOffsets = new Int32Array(1)
const shortText = 12

/**
 * Checks views; returns the length of all texts.
 *
 * @throws FileRefusal with the column.
 */
export function checkViews(column: Column, rows: number, path: string): number {
  const { heaps = [] } = column
  const words = columnWords(column)
  let total = 0
  for (let row = 0; row < rows; row++) {
    if (!isValid(column, row)) continue
    const [length, heap, start] = [words[row * 4], words[row * 4 + 2], words[row * 4 + 3]]
    const isInside =
      length <= shortText ||
      (heap >= 0 && start >= 0 && start + length <= (heaps[heap]?.length ?? -1))
    if (length < 0 || !isInside) throw damagedColumn(path, 'a text beyond its buffer')
    total += length
  }
  return total
}
