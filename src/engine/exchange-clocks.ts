/**
 * The time limits of one exchange: of its body while it comes, and of its response while the client reads it.
 * @module
 */
import { ClientClosed, DeadlineExceeded, type ServingError } from '../core/errors.ts'
import type { Context } from '../http/context.ts'
import type { Limits } from './options.ts'
import { minRate, TransferClock } from './transfer-clock.ts'

/** What the clocks need of their exchange. */
export interface TimedExchange {
  /** Returns the bytes of the body so far. */
  received(): number
  /** Returns the bytes that the client has taken so far; only differences count. */
  taken(): number
  /** Called when the body is late. */
  bodyLate(error: ServingError): void
  /** Called when the client reads too slowly. */
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

  /** Starts the clocks of a body that did not come at once; later calls do nothing. */
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

  /** Starts the clock of what must be decided before the body is read, until `bodyOver`. */
  awaitHooks(ctx: Context): void {
    if (ctx.deadlineMs === undefined) return
    const late = () => new DeadlineExceeded('expected the hooks to end before the request deadline, they did not')
    this.#deadline = setTimeout(() => this.#exchange.bodyLate(late()), Math.min(ctx.remainingMs, 0x7fffffff))
  }

  /** Called when the answer begins: it is in time, and the body may still come. */
  answered(): void {
    clearTimeout(this.#deadline)
    this.#deadline = undefined
  }

  /** Called when the body is complete or given up. */
  bodyOver(): void {
    this.answered()
    this.#body?.pause()
    this.#body = undefined
  }

  /** Starts or resumes timing a client that does not take what was written. */
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

  /** Called when the client has read what was written. */
  readerReady(): void {
    this.#reader?.pause()
  }

  /** Called when the server stops waiting for the body. */
  pauseBody(): void {
    this.#body?.pause()
  }

  /** Called when the server waits for the body again. */
  resumeBody(): void {
    this.#body?.start()
  }

  /** Called when the exchange is over. */
  stop(): void {
    this.bodyOver()
    this.#reader?.pause()
  }
}

function withinText(timeMs: number): string {
  return `within ${timeMs} ms or at ${minRate} bytes a second`
}
