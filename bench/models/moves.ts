/**
 * A model that gives back what it was given, for the benchmark of what copies cost.
 * @module
 */
import { move, type NDArray } from 'serving'

/** Loads it. */
export function load() {
  return { empty: (): null => null, echo: (x: NDArray) => x, give: (x: NDArray) => move(x) }
}
