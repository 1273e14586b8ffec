import { NDArray } from 'serving'

type Rows = NDArray<'float32'>

/** What it was given, in batches: rows and their length. */
const shapes: (readonly number[])[] = []

function sums({ data, shape: [rows, length] }: Rows): Rows {
  const each = Float32Array.from({ length: rows }, (_, row) =>
    data
      .subarray(row * length, (row + 1) * length)
      .reduce((sum, value) => sum + Math.max(0, value), 0),
  )
  return new NDArray(each, [rows, 1], 'float32')
}

const doubled = ({ data, shape }: Rows): Rows =>
  new NDArray(
    data.map((value) => 2 * value),
    shape,
    'float32',
  )

/** Methods of rows of any length, where negative numbers pad. */
export function load() {
  const noted = (x: Rows) => {
    shapes.push(x.shape)
    return x
  }
  return {
    doubled: (x: Rows) => doubled(noted(x)),
    both: (x: Rows) => ({ sums: sums(noted(x)), doubled: doubled(x) }),
    sums: (x: Rows) => sums(noted(x)),
    shapes: () => shapes.splice(0),
  }
}
