/**
 * Models of a fixed cost for the benchmark of runners.
 * @module
 */
import { NDArray } from 'serving'

/** Computes for a time. **Units**: milliseconds of wall-clock time. */
export function spin(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** A fixed amount of work, to measure scaling. */
export function steps(count: number): number {
  let state = count
  for (let i = 0; i < count; i++) state = (Math.imul(state, 1664525) + 1013904223) | 0
  return state
}

/** Returns the sums of an array's rows: the small call. */
export function rowSums(x: NDArray<'float32'>): NDArray<'float32'> {
  const [rows, columns] = x.shape
  const sums = new Float32Array(rows)
  for (let i = 0; i < x.data.length; i++) sums[Math.floor(i / columns)] += x.data[i]
  return new NDArray(sums, [rows], 'float32')
}

/** Loads all models. */
export function load() {
  return {
    rowSums,
    empty: (): null => null,
    echo: (x: NDArray) => x,
    /** 2 ms a call and 10 µs a row, as a small network on one core. */
    network: (x: NDArray<'float32'>) => {
      spin(2 + 0.01 * x.shape[0])
      return rowSums(x)
    },
    slow: () => spin(50),
    spin,
    steps,
  }
}
