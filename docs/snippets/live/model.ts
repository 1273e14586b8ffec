import type { NDArray } from 'serving'

export function load() {
  return {
    async *totals(chunks: AsyncIterable<NDArray<'float32'>>) {
      let total = 0
      for await (const { data } of chunks) {
        for (const value of data) total += value
        yield total
      }
    },
  }
}
