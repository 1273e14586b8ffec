/** The values that a model yields, as an async iterator on the caller's side. @module */
import { InternalError } from '../core/errors.ts'
import type { OpenStream } from './job.ts'
import type { StreamDown, StreamResult, StreamUp } from './model-messages.ts'
import { abortReason, whenAborted } from './runner-call.ts'
import type { CallOptions } from './runner-options.ts'
import { unpack } from './transfer.ts'

/** How many values a model may be ahead of its reader. */
export const streamWindow = 16

const left = Symbol('the reader left')

/** A model's values. Leaving the loop ends it. **Errors**: those of the method; InternalError if its thread ended. */
export class RunnerStream<T> implements AsyncIterableIterator<T> {
  readonly #begin: () => Promise<OpenStream>
  readonly #options: CallOptions
  readonly #values: AsyncGenerator<T, undefined>
  readonly #received: (StreamResult | Error | typeof left)[] = []
  #wake = () => {}

  constructor(begin: () => Promise<OpenStream>, options: CallOptions) {
    this.#begin = begin
    this.#options = options
    this.#values = this.#read()
  }

  next(): Promise<IteratorResult<T>> {
    return this.#values.next()
  }

  return(): Promise<IteratorResult<T>> {
    this.#breakOff(left)
    return this.#values.return(undefined)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #receive(up: StreamResult | Error | typeof left): void {
    this.#received.push(up)
    this.#wake()
  }

  #breakOff(why: Error | typeof left): void {
    this.#received.length = 0
    this.#receive(why)
  }

  async *#read(): AsyncGenerator<T, undefined> {
    const { channel, done, inputs, abandon } = await this.#begin()
    const tell = (down: StreamDown) => channel.post(down)
    let isOpen = true
    const cancel = () => {
      isOpen = false
      tell({ kind: 'cancel' })
      abandon()
    }
    channel.listen((received) => {
      const up = received as StreamUp
      if (up.kind === 'next') inputs?.sendNext()
      else this.#receive(up)
    })
    // A regular end comes over the channel, perhaps after `done` resolves.
    done.catch((cause: Error) => this.#receive(new InternalError(`the stream broke off: ${cause.message}`, { cause })))
    tell({ kind: 'credit', count: streamWindow })
    const unsubscribe = whenAborted(this.#options, (reason) => {
      if (isOpen) cancel()
      this.#breakOff(abortReason(reason))
    })
    try {
      for (let taken = 1; ; taken++) {
        while (this.#received.length === 0) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
        }
        const up = this.#received.shift() as StreamResult | Error | typeof left
        if (up === left) return undefined
        if (up instanceof Error) throw up
        isOpen = up.kind === 'item'
        if (up.kind === 'end') return undefined
        if (up.kind === 'failure') throw inputs?.error ?? (unpack(up.item) as Error)
        if (taken % (streamWindow / 2) === 0) tell({ kind: 'credit', count: streamWindow / 2 })
        yield unpack(up.item) as T
      }
    } finally {
      unsubscribe?.()
      inputs?.end()
      if (isOpen) {
        cancel()
        await done.catch(() => {})
      }
    }
  }
}
