/** Inputs of a stream that come one by one, as those of a live stream: the caller's side, and the model's. @module */
import { ClientClosed } from '../core/errors.ts'
import { Copies } from '../core/memory/copies.ts'
import { deferred } from '../core/promise.ts'
import type { InputDown, StreamUp } from './model-messages.ts'
import { serializerOf } from './serializers.ts'
import { type Boundary, pack, unpack } from './transfer.ts'
import type { Channel, Transfer } from './worker.ts'

/** Whether an argument is a stream of inputs, and not one value. */
export function isInputs(value: unknown): value is AsyncIterable<unknown> {
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return false
  return serializerOf(value) === undefined
}

/** Sends a caller's inputs over the channel of their stream, each when the model asks for it. */
export class InputSender {
  readonly #inputs: AsyncIterator<unknown>
  readonly #channel: Channel
  readonly #boundary: Boundary
  #sent: Promise<void> = Promise.resolve()
  #isOver = false
  /** What ended the inputs in place of a regular end. */
  error: Error | undefined

  constructor(inputs: AsyncIterable<unknown>, channel: Channel, boundary: Boundary) {
    this.#inputs = inputs[Symbol.asyncIterator]()
    this.#channel = channel
    this.#boundary = boundary
  }

  sendNext(): void {
    this.#sent = this.#sent.then(() => this.#send())
  }

  async #send(): Promise<void> {
    if (this.#isOver) return
    const transfer: Transfer[] = []
    let down: InputDown
    try {
      const next = await this.#inputs.next()
      if (next.done) down = { kind: 'last' }
      else if (this.#isOver) return
      else {
        const copies = new Copies()
        down = { kind: 'input', item: pack(next.value, this.#boundary, transfer, copies) }
        await copies.made()
      }
    } catch (thrown) {
      this.error = thrown instanceof Error ? thrown : new Error(String(thrown))
      down = { kind: 'broken', message: this.error.message }
      transfer.length = 0
    }
    if (!this.#isOver) this.#channel.post(down, transfer)
  }

  /** Called when the stream is over. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    // A generator that waits for something ends after that.
    Promise.resolve(this.#inputs.return?.()).catch(() => {})
  }
}

type Result = IteratorResult<unknown, undefined>

/** The inputs as the model gets them. */
export class ModelInputs implements AsyncIterableIterator<unknown, undefined> {
  readonly #channel: Channel
  readonly #waiting: ReturnType<typeof deferred<Result>>[] = []
  #isOver = false

  constructor(channel: Channel) {
    this.#channel = channel
  }

  next(): Promise<Result> {
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined })
    const waiting = deferred<Result>()
    this.#waiting.push(waiting)
    this.#channel.post({ kind: 'next' } satisfies StreamUp)
    return waiting.promise
  }

  receive(down: InputDown): void {
    if (down.kind === 'last') this.#end()
    else if (down.kind === 'broken') this.#end(new Error(down.message))
    else this.#give(down)
  }

  #give({ item }: InputDown & { readonly kind: 'input' }): void {
    const waiting = this.#waiting.shift()
    try {
      waiting?.resolve({ done: false, value: unpack(item) })
    } catch (error) {
      waiting?.reject(error as Error)
    }
  }

  /** Called if no caller wants the values of the stream any more. */
  abort(): void {
    this.#end(new ClientClosed('no caller wants the result any more'))
  }

  #end(error?: Error): void {
    this.#isOver = true
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      if (error === undefined) resolve({ done: true, value: undefined })
      else reject(error)
    }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
