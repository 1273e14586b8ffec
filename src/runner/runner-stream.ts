/** The values that a model yields, as an async iterator on the caller's side. @module */
import { InternalError } from '../core/errors.ts'
import type { OpenStream } from './job.ts'
import type { StreamDown, StreamUp } from './model-messages.ts'
import { errorFromFields } from './remote-error.ts'
import { abortReason, whenAborted } from './runner-call.ts'
import type { CallOptions } from './runner-options.ts'
import { unpack } from './transfer.ts'

/** How many values a model may be ahead of its reader. */
export const streamWindow = 16

/** A model's values. Leaving the loop ends it. **Errors**: those of the method; InternalError if its thread ended. */
export class RunnerStream<T> implements AsyncIterableIterator<T> {
  readonly #begin: () => Promise<OpenStream>
  readonly #options: CallOptions
  #open: Promise<OpenStream | undefined> | undefined
  #stream: OpenStream | undefined
  readonly #items: T[] = []
  readonly #readers: { resolve(result: IteratorResult<T>): void; reject(error: Error): void }[] = []
  #taken = 0
  #end: { readonly error?: Error } | undefined
  #unsubscribe: (() => void) | undefined

  constructor(begin: () => Promise<OpenStream>, options: CallOptions) {
    this.#begin = begin
    this.#options = options
  }

  next(): Promise<IteratorResult<T>> {
    this.#open ??= this.#start()
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject })
      this.#serve()
    })
  }

  async return(): Promise<IteratorResult<T>> {
    await this.#cancel({})
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async #start(): Promise<OpenStream | undefined> {
    try {
      const stream = await this.#begin()
      this.#stream = stream
      stream.channel.listen((up) => this.#receive(up as StreamUp))
      // A regular end comes over the channel, perhaps after `done` resolves.
      stream.done.catch((error: Error) =>
        this.#finish({ error: new InternalError(`the stream broke off: ${error.message}`, { cause: error }) }),
      )
      this.#tell({ kind: 'credit', count: streamWindow })
      this.#follow()
      return stream
    } catch (error) {
      this.#finish({ error: error as Error })
      return undefined
    }
  }

  #follow(): void {
    if (this.#end !== undefined) return
    const cancel = (reason: unknown) => void this.#cancel({ error: abortReason(reason) })
    this.#unsubscribe = whenAborted(this.#options, cancel)
  }

  #receive(up: StreamUp): void {
    if (up.kind === 'end') this.#finish({})
    else if (up.kind === 'failure') this.#finish({ error: errorFromFields(up.error) })
    else if (this.#end === undefined) {
      try {
        this.#items.push(unpack(up.item) as T)
        this.#serve()
      } catch (error) {
        void this.#cancel({ error: error as Error })
      }
    }
  }

  #serve(): void {
    while (this.#readers.length > 0 && this.#items.length > 0) {
      this.#readers.shift()?.resolve({ done: false, value: this.#items.shift() as T })
      this.#taken++
      if (this.#taken === streamWindow / 2) {
        this.#tell({ kind: 'credit', count: this.#taken })
        this.#taken = 0
      }
    }
    if (this.#end === undefined) return
    for (const reader of this.#readers.splice(0)) {
      const error = this.#end.error
      this.#end = {}
      if (error === undefined) reader.resolve({ done: true, value: undefined })
      else reader.reject(error)
    }
  }

  async #cancel(end: { readonly error?: Error }): Promise<void> {
    if (this.#end !== undefined) {
      this.#items.length = 0
      return
    }
    this.#items.length = 0
    const begun = this.#open
    this.#open ??= Promise.resolve(undefined)
    this.#finish(end)
    const stream = await begun?.catch(() => undefined)
    if (stream === undefined) return
    stream.channel.post({ kind: 'cancel' } satisfies StreamDown)
    stream.abandon()
    await stream.done.catch(() => {})
  }

  #finish(end: { readonly error?: Error }): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#unsubscribe?.()
    this.#serve()
  }

  #tell(down: StreamDown): void {
    if (this.#end === undefined) this.#stream?.channel.post(down)
  }
}
