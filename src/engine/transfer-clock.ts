/** Limits the time in which a client sends a body or reads a response. @module */
import { ClientClosed, DeadlineExceeded, type ServingError } from '../core/errors.ts'
import type { Context } from '../http/context.ts'
import type { Limits } from './options.ts'

/** Rate that a longer transfer must keep. **Units**: bytes a second. */
export const minRate = 16 * 1024

/** Gives a transfer a time to end, and as much again while it keeps the rate. */
export class TransferClock {
  readonly #timeMs: number
  readonly #transferred: () => number
  readonly #onLate: () => void
  #before = 0
  #leftMs: number
  #startedAt = 0
  #timer: NodeJS.Timeout | undefined

  /** `transferred`: bytes so far. `onLate` is called at most once. **Units**: `timeMs` in milliseconds. */
  constructor(timeMs: number, transferred: () => number, onLate: () => void) {
    this.#timeMs = Math.min(timeMs, 0x7fffffff)
    this.#leftMs = this.#timeMs
    this.#transferred = transferred
    this.#onLate = onLate
  }

  start(): void {
    if (this.#timer !== undefined) return
    this.#startedAt = performance.now()
    this.#timer = setTimeout(() => this.#endPeriod(), Math.max(1, this.#leftMs))
  }

  pause(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#leftMs -= performance.now() - this.#startedAt
  }

  #endPeriod(): void {
    this.#timer = undefined
    const now = this.#transferred()
    if (now - this.#before < (minRate * this.#timeMs) / 1000) {
      this.#onLate()
      return
    }
    this.#before = now
    this.#leftMs = this.#timeMs
    this.start()
  }
}

/** What the clocks need of their exchange. */
export interface TimedExchange {
  received(): number
  taken(): number
  bodyLate(error: ServingError): void
  readerLate(error: ServingError): void
}

/** Starts and stops the clocks of one exchange. */
export class ExchangeClocks {
  readonly #limits: Limits
  readonly #exchange: TimedExchange
  #deadline: NodeJS.Timeout | undefined
  #body: TransferClock | undefined
  #reader: TransferClock | undefined

  constructor(limits: Limits, exchange: TimedExchange) {
    this.#limits = limits
    this.#exchange = exchange
  }

  awaitBody(ctx: Context): void {
    const { bodyTimeoutMs } = this.#limits
    const exchange = this.#exchange
    const late = (within: string) =>
      exchange.bodyLate(new DeadlineExceeded(`expected the whole body ${within}, it did not come`))
    if (this.#body === undefined && bodyTimeoutMs > 0) {
      const within = withinText(bodyTimeoutMs)
      this.#body = new TransferClock(
        bodyTimeoutMs,
        () => exchange.received(),
        () => late(within),
      )
      this.#body.start()
    }
    if (this.#deadline !== undefined || ctx.deadlineMs === undefined) return
    this.#deadline = setTimeout(() => late('before the request deadline'), Math.min(ctx.remainingMs, 0x7fffffff))
  }

  awaitHooks(ctx: Context): void {
    if (ctx.deadlineMs === undefined) return
    const late = () => new DeadlineExceeded('expected the hooks to end before the request deadline, they did not')
    this.#deadline = setTimeout(() => this.#exchange.bodyLate(late()), Math.min(ctx.remainingMs, 0x7fffffff))
  }

  answered(): void {
    clearTimeout(this.#deadline)
    this.#deadline = undefined
  }

  bodyOver(): void {
    this.answered()
    this.#body?.pause()
    this.#body = undefined
  }

  awaitReader(): void {
    const { sendTimeoutMs } = this.#limits
    if (sendTimeoutMs === 0) return
    if (this.#reader === undefined) {
      const exchange = this.#exchange
      const before = exchange.taken()
      const error = () =>
        new ClientClosed(`expected the client to read the response ${withinText(sendTimeoutMs)}, it was slower`)
      this.#reader = new TransferClock(
        sendTimeoutMs,
        () => exchange.taken() - before,
        () => exchange.readerLate(error()),
      )
    }
    this.#reader.start()
  }

  readerReady(): void {
    this.#reader?.pause()
  }

  pauseBody(): void {
    this.#body?.pause()
  }

  resumeBody(): void {
    this.#body?.start()
  }

  stop(): void {
    this.bodyOver()
    this.#reader?.pause()
  }
}

function withinText(timeMs: number): string {
  return `within ${timeMs} ms or at ${minRate} bytes a second`
}
