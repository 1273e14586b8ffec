/** Triton's classification extension: the greatest elements as texts, `value:index` or `value:index:label`. @module */

import { BadInput } from '../../core/errors.ts'
import { float16ToNumber } from '../../core/text/number-text.ts'
import { showShape } from '../../values/array/shape.ts'
import { maxClassified, maxTexts, quotaOf } from './limits.ts'
import { shown, type Tensor, tensorOf } from './tensor.ts'

/** @returns what the answer to one request may take. */
export function classQuotas() {
  return {
    elements: quotaOf(maxClassified, 'elements to classify in an answer'),
    classes: quotaOf(maxTexts, 'classes in an answer'),
  }
}

/**
 * The first of equal elements first; NaN counts as -Infinity.
 *
 * @throws BadInput for texts; PayloadTooLarge.
 */
export function classify(
  { name, array }: Tensor,
  count: number,
  labels: readonly string[] = [],
  quotas = classQuotas(),
): Tensor {
  const { shape, dtype, data } = array
  if (dtype === 'str' || dtype === 'bool') {
    const message = `expected an output of numbers for a classification, received ${shown(name)} of ${dtype}`
    throw new BadInput(message, { reason: 'dtype', path: name })
  }
  const rows = shape.length > 1 ? shape[0] : 1
  const columns = array.size / (rows || 1)
  if (columns === 0) {
    const message = `expected an output with elements for a classification, received shape ${showShape(shape)}`
    throw new BadInput(message, { reason: 'shape', path: name })
  }
  const classes = Math.min(count, columns)
  quotas.elements(array.size)
  quotas.classes(rows * classes)
  const isFloat = dtype.startsWith('float')
  const values = (
    dtype === 'float16' ? Float32Array.from(data as Uint16Array, float16ToNumber) : data
  ) as Float64Array
  const texts: string[] = []
  for (let row = 0; row < rows; row++) {
    const base = row * columns
    for (const at of greatest(values, base, base + columns, classes)) {
      const value = isFloat ? values[at].toFixed(6) : String(values[at])
      const label = labels[at - base]
      const text = `${value}:${at - base}`
      texts.push(label === undefined ? text : `${text}:${label}`)
    }
  }
  const own = shape.length > 1 ? [rows, classes] : [classes]
  return tensorOf({ name, datatype: 'BYTES', shape: own }, texts)
}

function greatest(values: Float64Array, start: number, end: number, count: number): number[] {
  const row = values.slice(start, end)
  for (let i = 0; i < row.length; i++) if (Number.isNaN(row[i])) row[i] = Number.NEGATIVE_INFINITY
  const least = ascendingAt(row.slice(), row.length - count)
  const found: number[] = []
  const equal: number[] = []
  for (let i = 0; i < row.length; i++) {
    if (row[i] > least) found.push(i)
    else if (row[i] === least && equal.length < count) equal.push(i)
  }
  // A difference may be a bigint, or NaN for two infinities.
  found.sort((a, b) => Number(row[b] - row[a]) || a - b)
  return [...found, ...equal.slice(0, count - found.length)].map((i) => start + i)
}

/** @returns the value at a position of the sorted values, by quickselect in place. */
function ascendingAt(values: Float64Array, position: number): number {
  let low = 0
  let high = values.length - 1
  while (low < high) {
    // A random pivot, so that no order of the values is the worst one.
    const pivot = values[low + Math.floor(Math.random() * (high - low + 1))]
    let [i, j] = [low, high]
    while (i <= j) {
      while (values[i] < pivot) i++
      while (values[j] > pivot) j--
      if (i > j) break
      const value = values[i]
      values[i++] = values[j]
      values[j--] = value
    }
    if (position <= j) high = j
    else if (position >= i) low = i
    else break
  }
  return values[position]
}
