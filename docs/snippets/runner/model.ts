import { NDArray } from 'serving'

export async function load() {
  // Read weights from a file, or open a session of a native library.
  const bias = 1
  return {
    predict(x: NDArray<'float32'>) {
      return new NDArray(
        x.data.map((value) => value + bias),
        x.shape,
      )
    },
  }
}
