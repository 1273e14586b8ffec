import { getHeapStatistics } from 'node:v8'

/** Ends its thread or process in the ways that a model may, and answers who it is otherwise. */
export function load() {
  const self = Math.random()
  return {
    self: () => self,
    exit: () => process.exit(3),
    abort: () => process.abort(),
    throwLater: () =>
      new Promise<void>(() => {
        setImmediate(() => {
          throw new Error('thrown outside of the call')
        })
      }),
    throwWhenIdle: () => {
      setImmediate(() => {
        throw new Error('thrown while idle')
      })
      return 'fine'
    },
    rejectLater: () => {
      setImmediate(() => void Promise.reject(new Error('left to nobody')))
      return 'fine'
    },
    wait: async (ms: number) => {
      await new Promise((resolve) => setTimeout(resolve, ms))
      return self
    },
    heapLimit: () => getHeapStatistics().heap_size_limit,
    fillMemory: () => {
      const lists: number[][] = []
      for (;;) lists.push(new Array(1_000_000).fill(1.5))
    },
  }
}
