/** Records how one request ends. @module */
// The global of this name is a slow getter.
import { Buffer } from 'node:buffer'
import { ClientClosed, ServingError } from '../core/errors.ts'
import type { Context } from '../http/context.ts'
import type { Chunk } from '../http/message.ts'
import type { Outcome, ProtocolName, RequestObserver } from '../http/outcome.ts'

/** The part of an endpoint that outcomes have. */
export interface RecordedEndpoint {
  readonly name: string
  readonly protocol?: ProtocolName
  readonly path?: string
}

/** Made only if there is an observer. */
export class OutcomeRecorder {
  readonly #observer: RequestObserver
  readonly #ctx: Context
  readonly #endpoint: RecordedEndpoint | undefined
  #bodyMs: number | undefined
  #statusMs: number | undefined
  #status: number | undefined
  #error: Error | undefined
  #bytesOut = 0
  #isOver = false

  constructor(observer: RequestObserver, ctx: Context, endpoint: RecordedEndpoint | undefined) {
    this.#observer = observer
    this.#ctx = ctx
    this.#endpoint = endpoint
    // An engine may forget it with the request.
    if (observer.needsAddress) void ctx.remoteAddress
    observer.onBegin?.(ctx)
  }

  bodyComplete(): void {
    if (this.#observer.needsStages) this.#bodyMs = this.#elapsed
  }

  answered(status: number): void {
    this.#status = status
    if (this.#observer.needsStages) this.#statusMs = this.#elapsed
  }

  /** Called before the error is answered; the last one counts. */
  failed(error: Error): void {
    this.#error = error
    this.#observer.onError?.(this.#ctx, error)
  }

  left(): void {
    this.#error ??= new ClientClosed()
  }

  sent(piece: Chunk): void {
    this.#bytesOut += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length
  }

  /** Only the first call counts. */
  end(bytesIn: number): void {
    if (this.#isOver) return
    this.#isOver = true
    const error = this.#error
    const outcome: Outcome = {
      status: this.#status ?? (error instanceof ClientClosed ? error.status : 500),
      code: error === undefined ? undefined : ServingError.is(error) ? error.code : 'internal',
      error,
      protocol: this.#endpoint?.protocol ?? 'http',
      endpoint: this.#endpoint?.name,
      route: this.#endpoint?.path,
      bytesIn,
      bytesOut: this.#bytesOut,
      durations: { bodyMs: this.#bodyMs, statusMs: this.#statusMs, totalMs: this.#elapsed },
    }
    this.#observer.onOutcome?.(this.#ctx, outcome)
  }

  get #elapsed(): number {
    return this.#ctx.elapsedMs
  }
}
