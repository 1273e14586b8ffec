import { NDArray } from 'serving'

export function load({ bias }: { readonly bias: number }) {
  return {
    predict: (x: NDArray<'float32'>) =>
      new NDArray(
        x.data.map((value) => value + bias),
        x.shape,
      ),
  }
}
