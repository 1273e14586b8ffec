import { NDArray } from 'serving'

/** A model that doubles a batch. */
export function load() {
  return {
    double: (input: NDArray<'float32'>) =>
      new NDArray(
        input.data.map((value) => value * 2),
        input.shape,
      ),
  }
}
