/**
 * A model in the thread of its caller: nothing to start, nothing to copy, and nothing else runs while it computes.
 * @module
 */

import { ModelHost } from './model-host.ts'
import type { Channel, ModelWorker, WorkerPool, WorkerPoolOptions } from './worker.ts'

/** Starts the one worker of a runner with `threads: 0`. */
export function startInline(options: WorkerPoolOptions): WorkerPool {
  const host = new ModelHost(true)
  const handle = async (message: unknown, channel?: Channel) => (await host.handle(message, channel)).reply
  const worker: ModelWorker = {
    name: 'this thread',
    run: (message) => handle(message),
    open(message) {
      const [channel, far] = channelPair()
      return { channel, done: handle(message, far) }
    },
    // Nothing can end a call in our own thread.
    kill() {},
  }
  queueMicrotask(() => options.up(worker))
  return { moves: true, stop: async () => {} }
}

function channelPair(): [Channel, Channel] {
  const listeners: [((message: unknown) => void)?, ((message: unknown) => void)?] = []
  const end = (own: 0 | 1): Channel => ({
    // Later, as between threads: a listener may come after the message.
    post: (message) => queueMicrotask(() => listeners[1 - own]?.(message)),
    listen: (listener) => {
      listeners[own] = listener
    },
    close() {},
  })
  return [end(0), end(1)]
}
