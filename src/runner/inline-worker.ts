/** The model in its caller's thread, for `threads: 0`: nothing is copied. @module */

import { ModelHost } from './model-host.ts'
import {
  type Channel,
  type ModelWorker,
  WorkerEnded,
  type WorkerPool,
  type WorkerPoolOptions,
} from './worker.ts'

/** Starts the one worker of a runner with `threads: 0`. */
export function startInline(options: WorkerPoolOptions): WorkerPool {
  let isStopped = false
  const start = () => {
    const worker = inlineWorker((cause) => {
      if (isStopped) return
      options.down(worker, cause)
      start()
    })
    queueMicrotask(() => options.up(worker))
  }
  start()
  return {
    async stop() {
      isStopped = true
    },
  }
}

/** Ends by forgetting its calls: nothing can stop a computation in our own thread. */
function inlineWorker(onEnd: (cause: WorkerEnded) => void): ModelWorker {
  const host = new ModelHost('none')
  const running = new Set<(cause: WorkerEnded) => void>()
  const handle = (message: unknown, channel?: Channel) =>
    new Promise<unknown>((resolve, reject) => {
      running.add(reject)
      void host.handle(message, channel).then((reply) => {
        running.delete(reject)
        resolve(reply)
      })
    })
  return {
    name: 'this thread',
    index: 0,
    run: (message) => handle(message),
    open(message) {
      const [channel, far] = channelPair()
      return { channel, done: handle(message, far) }
    },
    kill() {
      const cause = new WorkerEnded('the model in this thread was given up')
      for (const reject of running) reject(cause)
      running.clear()
      onEnd(cause)
    },
  }
}

function channelPair(): [Channel, Channel] {
  const listeners: [((message: unknown) => void)?, ((message: unknown) => void)?] = []
  const end = (own: 0 | 1): Channel => ({
    // Later, as between threads: the listener may be set after the message was posted.
    post: (message) => queueMicrotask(() => listeners[1 - own]?.(message)),
    listen: (listener) => {
      listeners[own] = listener
    },
    close() {},
  })
  return [end(0), end(1)]
}
