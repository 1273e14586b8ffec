/** Arrays whose shape and dtype the service decides, not a client: tensors of pictures. @module */
import type { NDArray } from './ndarray.ts'

const elements = new WeakSet<object>()

/** Notes that no client chose the shape of an array; returns it. Its reshaped forms share its elements. */
export function withOwnShape<A extends NDArray>(array: A): A {
  elements.add(array.data)
  return array
}

/** Whether no client chose the shape of an array. */
export function hasOwnShape(array: NDArray): boolean {
  return elements.has(array.data)
}
