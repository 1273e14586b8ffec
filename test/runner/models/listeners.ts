import type { NDArray } from 'serving'

/** Generators whose inputs come one by one; `ended` is how many runs of `sums` are over. */
export function load() {
  let ended = 0
  return {
    async *sums(arrays: AsyncIterable<NDArray<'float32'>>): AsyncGenerator<number> {
      let sum = 0
      try {
        for await (const { data } of arrays) {
          for (const each of data) sum += each
          yield sum
        }
        yield -sum
      } finally {
        ended++
      }
    },
    async *first(texts: AsyncIterable<string>): AsyncGenerator<string> {
      for await (const text of texts) {
        yield text
        return
      }
    },
    async *upper(texts: AsyncIterable<string>): AsyncGenerator<string> {
      for await (const text of texts) yield text.toUpperCase()
    },
    async *catches(texts: AsyncIterable<string>): AsyncGenerator<string> {
      try {
        for await (const text of texts) yield text
      } catch (error) {
        yield `caught ${(error as Error).message}`
      }
    },
    ended: () => ended,
  }
}
