import { BadInput, type ModelCall, NDArray } from 'serving'

/** What a version of the model does beside answering. */
export interface Version {
  readonly name: string
  /** Added to each number. */
  readonly offset?: number
  /** `rejects`: the input. `streams`: values where others answer one. */
  readonly how?: 'throws' | 'rejects' | 'hangs' | 'streams'
}

/** A version of a model: its methods tell which one answers, or do what it is told. */
export function load({ name, offset = 0, how }: Version) {
  const counts = { begun: 0, aborted: 0, ended: 0 }
  const wait = (call: ModelCall) =>
    new Promise<never>((_, reject) => {
      call.signal.addEventListener('abort', () => {
        counts.aborted++
        reject(call.signal.reason)
      })
    })
  const act = async (call: ModelCall) => {
    counts.begun++
    if (how === 'throws') throw new Error(`${name} is broken`)
    if (how === 'rejects') throw new BadInput('expected something else')
    if (how === 'hangs') await wait(call)
  }
  return {
    async who(_: unknown, call: ModelCall): Promise<string> {
      await act(call)
      return name
    },
    async add(x: NDArray<'float32'>, call: ModelCall): Promise<NDArray<'float32'>> {
      await act(call)
      return new NDArray(
        x.data.map((value) => value + offset),
        x.shape,
        'float32',
      )
    },
    async *count(to: number, call: ModelCall): AsyncGenerator<string | number> {
      try {
        for (let i = 0; i < to; i++) {
          if (i === 2) await act(call)
          yield i + offset
        }
      } finally {
        counts.ended++
      }
    },
    counts: (_: unknown) => ({ ...counts }),
  }
}
