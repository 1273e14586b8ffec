/** The model in its caller's thread, for `threads: 0`: nothing is copied. @module */

import { ModelHost } from './model-host.ts'
import { type Channel, type ModelWorker, WorkerEnded, type WorkerPool, type WorkerPoolOptions } from './worker.ts'

/** Starts the one worker of a runner with `threads: 0`. */
export function startInline(options: WorkerPoolOptions): WorkerPool {
  let isStopped = false
  const start = () => {
    const worker = new InlineWorker((cause) => {
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
class InlineWorker implements ModelWorker {
  readonly name = 'this thread'
  readonly index = 0
  readonly #host = new ModelHost('none')
  readonly #onEnd: (cause: WorkerEnded) => void
  readonly #running = new Set<(cause: WorkerEnded) => void>()

  constructor(onEnd: (cause: WorkerEnded) => void) {
    this.#onEnd = onEnd
  }

  run(message: unknown): Promise<unknown> {
    return this.#handle(message, undefined)
  }

  open(message: unknown) {
    const [channel, far] = channelPair()
    return { channel, done: this.#handle(message, far) }
  }

  kill(): void {
    const cause = new WorkerEnded('the model in this thread was given up')
    for (const reject of this.#running) reject(cause)
    this.#running.clear()
    this.#onEnd(cause)
  }

  #handle(message: unknown, channel: Channel | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#running.add(reject)
      void this.#host.handle(message, channel).then((reply) => {
        this.#running.delete(reject)
        resolve(reply)
      })
    })
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
