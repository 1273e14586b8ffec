import type { ModelCall, NDArray } from 'serving'

/**
 * Methods that wait until the test lets them go. The test and the thread share memory: `flags[0]` counts calls that have
 * begun, `flags[1]` lets them end, `flags[2]` counts calls that heard of their cancellation.
 */
export function load(shared: SharedArrayBuffer) {
  const flags = new Int32Array(shared)
  const begin = () => {
    Atomics.add(flags, 0, 1)
    Atomics.notify(flags, 0)
  }
  return {
    /** Blocks its thread. */
    block: (x: number) => {
      begin()
      Atomics.wait(flags, 1, 0)
      return x
    },
    /** Waits for its cancellation. */
    wait: async (_x: number, call: ModelCall) => {
      begin()
      await new Promise<void>((resolve) => call.signal.addEventListener('abort', () => resolve()))
      Atomics.add(flags, 2, 1)
      Atomics.notify(flags, 2)
      throw new Error('cancelled')
    },
    rows: (x: NDArray) => {
      begin()
      Atomics.wait(flags, 1, 0)
      return x
    },
    begun: () => Atomics.load(flags, 0),
  }
}
