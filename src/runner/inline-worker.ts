/** The model in its caller's thread, for `threads: 0`: nothing is copied. @module */

import { deferred } from '../core/promise.ts'
import { Questions } from '../core/questions.ts'
import { ModelHost } from './model-host.ts'
import {
  type Channel,
  type ModelWorker,
  type StartWorker,
  type Transfer,
  WorkerEnded,
} from './worker.ts'

/** Starts the one worker of a runner with `threads: 0`. */
export const startInline: StartWorker = () => new InlineWorker()

/** Ends by forgetting its calls: nothing can stop a computation in our own thread. */
class InlineWorker implements ModelWorker {
  readonly name = 'this thread'
  readonly #host = new ModelHost('none')
  readonly #calls = new Questions()
  readonly #ended = deferred<WorkerEnded>()
  readonly ended = this.#ended.promise

  open(message: unknown) {
    const [channel, far] = channelPair()
    return { channel, done: this.run(message, [], far) }
  }

  kill(): void {
    const cause = new WorkerEnded('the model in this thread was given up')
    this.#calls.end(cause)
    this.#ended.resolve(cause)
  }

  async end(): Promise<void> {
    this.#ended.resolve(new WorkerEnded('the runner has stopped'))
  }

  run(message: unknown, _: readonly Transfer[], channel?: Channel): Promise<unknown> {
    return this.#calls.ask((id) => {
      void this.#host.handle(message, channel).then((reply) => this.#calls.answer(id, reply))
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
