/** A model for the cases of Runners. */
import { NDArray } from 'serving'

export const load = () => ({
  double: (x) => 2 * x,
  scale: (rows) =>
    new NDArray(
      rows.data.map((value) => value * 2),
      rows.shape,
    ),
  shout: (text) => text.toUpperCase(),
  pid: () => process.pid,
  fail() {
    throw new TypeError('no model for it')
  },
  async *count(n) {
    for (let i = 0; i < n; i++) yield i
  },
})
