import { decodeFailureOf } from '../api/stages.ts'
import { Overloaded } from '../core/errors.ts'
import type { HeldMemory } from '../core/memory/held-memory.ts'
import { isPromise, type MaybePromise } from '../core/promise.ts'
import { Context } from '../http/context.ts'
import type { RequestHeaders } from '../http/message.ts'
import { messageCost } from './framing.ts'
import type { LivePlace } from './live-place.ts'

/** Decodes the messages of an inbox. */
interface Decoder {
  /** Whether `decode` gets a context for what the message takes, such as memory of pixels. */
  readonly takesContext: boolean
  decode(
    bytes: Uint8Array,
    isText: boolean,
    borrowed: boolean,
    ctx: Context | undefined,
  ): MaybePromise<unknown>
}

type Result = IteratorResult<unknown, undefined>

interface Waiting {
  resolve(result: MaybePromise<Result>): void
  reject(error: unknown): void
}

interface Held {
  readonly bytes: Uint8Array
  readonly isText: boolean
}

const done: Result = { done: true, value: undefined }

/** The messages of a client on their way to the function, which decodes each when it takes it. */
export class LiveInbox implements AsyncIterableIterator<unknown, undefined> {
  readonly #decoder: Decoder
  readonly #onTaken: (cost: number) => void
  readonly #place: LivePlace
  readonly #headers: RequestHeaders
  readonly #memory: HeldMemory
  /** Of the messages that the function has: they end when it takes the next one. */
  readonly #given: Context[] = []
  readonly #held: Held[] = []
  readonly #waiting: Waiting[] = []
  #end: { readonly error?: Error } | undefined
  #isLeft = false
  /** Cost of the messages held: their bytes and {@link messageCost} for each. **Units**: bytes. */
  cost = 0

  /**
   * `onTaken`: called with the cost of each message that the function has taken. `place`, `headers`: of the stream.
   */
  constructor(
    decoder: Decoder,
    onTaken: (cost: number) => void,
    place: LivePlace,
    headers: RequestHeaders,
  ) {
    this.#decoder = decoder
    this.#onTaken = onTaken
    this.#place = place
    this.#headers = headers
    this.#memory = place.account()
  }

  /**
   * The bytes are borrowed during the call.
   *
   * @throws Overloaded if there is too little memory to hold them.
   */
  push(bytes: Uint8Array, isText: boolean): void {
    const cost = bytes.length + messageCost
    const waiting = this.#end === undefined ? this.#waiting.shift() : undefined
    if (waiting !== undefined) {
      this.#give(waiting, bytes, isText, true)
      this.#onTaken(cost)
    } else if (this.#isLeft || this.#end !== undefined) this.#onTaken(cost)
    else {
      if (!this.#memory.hold(this.cost + cost))
        throw new Overloaded('too little memory for another message', { limit: 'memory' })
      this.cost += cost
      this.#held.push({ bytes: new Uint8Array(bytes), isText })
    }
  }

  /** No message comes any more; with an error the function gets it in place of those that it has not taken. */
  end(error?: Error): void {
    if (this.#end !== undefined && error === undefined) return
    this.#end = { ...(error !== undefined && { error }) }
    if (error !== undefined) this.#drop()
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      if (error === undefined) resolve(done)
      else reject(error)
    }
  }

  next(): Promise<Result> {
    this.#endGiven()
    return new Promise((resolve, reject) => {
      const held = this.#held.shift()
      if (held !== undefined) {
        const cost = held.bytes.length + messageCost
        this.cost -= cost
        this.#memory.hold(this.cost)
        this.#give({ resolve, reject }, held.bytes, held.isText, false)
        this.#onTaken(cost)
      } else if (this.#end?.error !== undefined) reject(this.#end.error)
      else if (this.#end !== undefined || this.#isLeft) resolve(done)
      else this.#waiting.push({ resolve, reject })
    })
  }

  #give({ resolve, reject }: Waiting, bytes: Uint8Array, isText: boolean, borrowed: boolean): void {
    const ctx = this.#decoder.takesContext ? this.#context() : undefined
    try {
      const value = this.#decoder.decode(bytes, isText, borrowed, ctx)
      if (isPromise(value)) resolve(this.#awaited(value, ctx))
      else resolve(this.#resultOf(value, ctx))
    } catch (error) {
      reject(failureOf(error, ctx))
    }
  }

  async #awaited(value: PromiseLike<unknown>, ctx: Context | undefined): Promise<Result> {
    try {
      return this.#resultOf(await value, ctx)
    } catch (error) {
      throw failureOf(error, ctx)
    }
  }

  #resultOf(value: unknown, ctx: Context | undefined): Result {
    if (ctx !== undefined) this.#given.push(ctx)
    if (this.#isLeft) this.#endGiven()
    return { done: false, value }
  }

  #context(): Context {
    const memory = this.#place.account()
    const reserve = (bytes: number, isSpare?: boolean) => memory.hold(memory.bytes + bytes, isSpare)
    const ctx = new Context({ headers: this.#headers, reservation: { reserve } })
    ctx.onEnd(() => memory.end())
    return ctx
  }

  #endGiven(): void {
    for (let ctx = this.#given.pop(); ctx !== undefined; ctx = this.#given.pop()) ctx.end()
  }

  /** Called if the function takes no more messages: others are dropped. */
  async return(): Promise<Result> {
    this.#isLeft = true
    this.#endGiven()
    const dropped = this.#drop()
    if (dropped > 0) this.#onTaken(dropped)
    for (const { resolve } of this.#waiting.splice(0)) resolve(done)
    return done
  }

  /** @returns the cost of the messages that it drops. */
  #drop(): number {
    const { cost } = this
    this.#held.length = 0
    this.#memory.hold(0)
    this.cost = 0
    return cost
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

function failureOf(error: unknown, ctx: Context | undefined): Error {
  ctx?.end()
  return decodeFailureOf(error)
}
