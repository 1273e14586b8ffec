/**
 * The greatest elements of an output as texts: `value:index` or `value:index:label`.
 *
 * **Source**: Triton's classification extension: values with six decimals, integers with none.
 * @module
 */
import { NDArray } from '../array/ndarray.ts'
import { showShape } from '../array/shape.ts'
import { BadInput } from '../errors.ts'
import { float16ToNumber } from '../text/number-text.ts'
import { shown, type Tensor } from './tensor.ts'

/**
 * Returns the `count` greatest elements of each row, in descending order, the first of equal ones first.
 * **Shape**: the first dimension of the array, and `count`, at most the elements of a row. **Errors**: BadInput for
 * texts.
 */
export function classify({ name, array }: Tensor, count: number, labels: readonly string[] = []): Tensor {
  const { shape, dtype, data } = array
  if (dtype === 'str' || dtype === 'bool') {
    const message = `expected an output of numbers for a classification, received ${shown(name)} of ${dtype}`
    throw new BadInput(message, { reason: 'dtype', path: name })
  }
  // Of one dimension: one row.
  const rows = shape.length > 1 ? shape[0] : 1
  const columns = rows === 0 ? 0 : array.size / rows
  if (columns === 0) {
    const message = `expected an output with elements for a classification, received shape ${showShape(shape)}`
    throw new BadInput(message, { reason: 'shape', path: name })
  }
  const classes = Math.min(count, columns)
  const isFloat = dtype.startsWith('float')
  const at = (i: number) => (dtype === 'float16' ? float16ToNumber(data[i] as number) : (data[i] as number))
  const texts: string[] = []
  for (let row = 0; row < rows; row++) {
    const order = Array.from({ length: columns }, (_, i) => i)
    const base = row * columns
    order.sort((a, b) => {
      const [left, right] = [at(base + a), at(base + b)]
      return left === right ? a - b : right > left ? 1 : -1
    })
    for (const i of order.slice(0, classes)) {
      const value = isFloat ? at(base + i).toFixed(6) : String(data[base + i])
      texts.push(labels[i] === undefined ? `${value}:${i}` : `${value}:${i}:${labels[i]}`)
    }
  }
  const own = shape.length > 1 ? [rows, classes] : [classes]
  return { name, datatype: 'BYTES', array: new NDArray(texts, own, 'str') }
}
