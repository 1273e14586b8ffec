import { BadInput, type ModelCall } from 'serving'

/** Yields tokens; `flags[0]` counts those that were made, `flags[1]` the generators whose `finally` has run. */
export function load(shared?: SharedArrayBuffer) {
  const flags = new Int32Array(shared ?? new SharedArrayBuffer(8))
  return {
    async *count(to: number): AsyncGenerator<string> {
      try {
        for (let i = 0; i < to; i++) {
          Atomics.add(flags, 0, 1)
          Atomics.notify(flags, 0)
          yield `${i} `
        }
      } finally {
        Atomics.add(flags, 1, 1)
        Atomics.notify(flags, 1)
      }
    },
    async *failAfter(count: number): AsyncGenerator<number> {
      for (let i = 0; i < count; i++) yield i
      throw new BadInput('no more', { reason: 'schema' })
    },
    async *untilAborted(_: null, call: ModelCall): AsyncGenerator<string> {
      try {
        yield 'begun'
        await new Promise<void>((resolve) => call.signal.addEventListener('abort', () => resolve()))
      } finally {
        Atomics.add(flags, 1, 1)
        Atomics.notify(flags, 1)
      }
    },
    *endThread(): Generator<number> {
      yield 1
      process.exit(4)
    },
    made: (index: 0 | 1) => Atomics.load(flags, index),
  }
}
