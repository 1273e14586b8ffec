/** Reductions of numeric elements along the last axis. The add-on does the sum. @module */
import type { DataOf, NumericDType } from '../../core/dtype.ts'
import { addon } from '../../core/native/add-on.ts'

/** Elements that are numbers in JavaScript. */
export type Numbers = Exclude<DataOf<NumericDType>, BigInt64Array | BigUint64Array>

// Below this the call into the add-on costs more than it saves. **Units**: elements.
const minNativeLength = 2048

/** @returns the mean in double precision; NaN for no elements. */
export function meanOf(data: Numbers): number {
  if (addon !== undefined && data.length >= minNativeLength)
    return addon.sumElements(data) / data.length
  let sum = 0
  for (let i = 0; i < data.length; i++) sum += data[i]
  return sum / data.length
}

/** Whether `a` comes before `b` in descending order. NaN is greater than all numbers, as in numpy's argmax. */
function isGreater(a: number, b: number): boolean {
  return a > b || (Number.isNaN(a) && !Number.isNaN(b))
}

/** @returns for each row the index of its greatest element, the first of equal ones. */
export function argmaxOf(data: Numbers, columns: number): Int32Array {
  const indexes = new Int32Array(data.length / columns)
  for (let row = 0, start = 0; row < indexes.length; row++, start += columns) {
    let best = 0
    for (let i = 1; i < columns; i++) if (isGreater(data[start + i], data[start + best])) best = i
    indexes[row] = best
  }
  return indexes
}

/**
 * The greatest element is subtracted first.
 *
 * @returns the softmax of each row: float32 for float32, else float64.
 */
export function softmaxOf(data: Numbers, columns: number): Float32Array | Float64Array {
  const result =
    data instanceof Float32Array ? new Float32Array(data.length) : new Float64Array(data.length)
  for (let start = 0; start < data.length; start += columns) {
    let max = Number.NEGATIVE_INFINITY
    for (let i = start; i < start + columns; i++) max = Math.max(max, data[i])
    let sum = 0
    for (let i = start; i < start + columns; i++) sum += result[i] = Math.exp(data[i] - max)
    for (let i = start; i < start + columns; i++) result[i] /= sum
  }
  return result
}

/**
 * @returns for each row the indexes of its `k` greatest elements, descending; the first of equal
 * ones first.
 */
export function topOf(data: Numbers, columns: number, k: number): Int32Array {
  const rows = data.length / columns
  const indexes = new Int32Array(rows * k)
  for (let row = 0; row < rows; row++) {
    const start = row * columns
    const isBefore = (a: number, b: number) =>
      isGreater(data[start + a], data[start + b]) ||
      (a < b && !isGreater(data[start + b], data[start + a]))
    const order = (a: number, b: number) => (isBefore(a, b) ? -1 : 1)
    // A heap, so that an element costs no more than the logarithm of k: the last one of the order lies at its top.
    const heap = indexes.subarray(row * k, (row + 1) * k)
    for (let i = 0; i < k; i++) heap[i] = i
    heap.sort(order).reverse()
    for (let i = k; i < columns; i++)
      if (isGreater(data[start + i], data[start + heap[0]])) sinkInto(heap, i, isBefore)
    heap.sort(order)
  }
  return indexes
}

/** Puts an index in place of the top of a heap, and brings it to its place. */
function sinkInto(
  heap: Int32Array,
  index: number,
  isBefore: (a: number, b: number) => boolean,
): void {
  let at = 0
  for (let child = 1; child < heap.length; child = 2 * at + 1) {
    if (child + 1 < heap.length && isBefore(heap[child], heap[child + 1])) child++
    if (!isBefore(index, heap[child])) break
    heap[at] = heap[child]
    at = child
  }
  heap[at] = index
}
