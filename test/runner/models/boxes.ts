import { NDArray, registerSerializer } from 'serving'
import { Box } from './box.ts'

/** A class that only the model's side knows. */
class Stranger {}
registerSerializer<Stranger>({
  name: 'Stranger',
  type: Stranger,
  toFields: () => ({}),
  fromFields: () => new Stranger(),
})

/** Methods that take and return objects of a user's class. */
export function load() {
  const grow = ({ label, corners, inside }: Box) =>
    new Box(
      `${label}!`,
      corners.map((corner) => 2 * corner),
      inside,
    )
  return {
    grow,
    growAll: (boxes: Box[]) => boxes.map(grow),
    async *boxes(count: number) {
      for (let i = 0; i < count; i++)
        yield new Box(`box ${i}`, new Float32Array(5_000), new NDArray(Float64Array.of(i)))
    },
    stranger: () => new Stranger(),
  }
}
