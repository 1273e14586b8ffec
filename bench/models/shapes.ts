/**
 * Models that cost what the benchmark of runners wants.
 * @module
 */
import { move, NDArray } from 'serving'

/** Computes for that long. **Units**: milliseconds of wall-clock time. */
export function spin(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** Work of a fixed amount, whatever else runs on the core: what scaling is measured with. */
export function steps(count: number): number {
  let state = count
  for (let i = 0; i < count; i++) state = (Math.imul(state, 1664525) + 1013904223) | 0
  return state
}

/** The sums of an array's rows: the small call. */
export function rowSums(x: NDArray<'float32'>): NDArray<'float32'> {
  const [rows, columns] = x.shape
  const sums = new Float32Array(rows)
  for (let i = 0; i < x.data.length; i++) sums[Math.floor(i / columns)] += x.data[i]
  return new NDArray(sums, [rows], 'float32')
}

/** Loads all of them. */
export function load() {
  return {
    rowSums,
    empty: (): null => null,
    echo: (x: NDArray) => x,
    give: (x: NDArray) => move(x),
    /** 2 ms a call and 10 µs a row, as a small network on one core. */
    network: (x: NDArray<'float32'>) => {
      spin(2 + 0.01 * x.shape[0])
      return rowSums(x)
    },
    slow: () => spin(50),
    steps,
  }
}
