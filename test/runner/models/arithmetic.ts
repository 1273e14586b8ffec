import { move, NDArray } from 'serving'

/** Methods that are told apart by what they return. */
export function load(init: { readonly factor?: number } = {}) {
  const { factor = 2 } = init
  let kept: NDArray
  return {
    scale: (x: NDArray<'float32'>) =>
      new NDArray(
        x.data.map((value) => value * factor),
        x.shape,
      ),
    echo: (x: NDArray) => x,
    give: (x: NDArray) => move(x),
    remember: (x: NDArray) => {
      kept = x
    },
    remembered: (_: null) => kept,
    add: ({ a, b }: { a: number; b: number }) => a + b,
    later: async (text: string) => `${text}, later`,
    isArray: (x: NDArray) => x instanceof NDArray,
  }
}
