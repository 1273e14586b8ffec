/** Keeps the last calls of a process, for the page of `serving dev`. Loaded there alone. @module */

import type { CallRecord } from '../../http/call-record.ts'
import type { Context } from '../../http/context.ts'
import type { Outcome, RequestObserver } from '../../http/outcome.ts'
import { newHistory, RecordedTrace } from './recorded-trace.ts'

/** How many calls the page shows. */
export const maxCalls = 200

const maxPath = 200

/** Keeps the last calls. What observes is in two parts, since a tracer between them has to see its own traces. */
export class CallRecorder {
  readonly process = process.pid
  /** Comes before all other observers. */
  readonly first: RequestObserver = { onOutcome: (ctx, outcome) => this.#ended(ctx, outcome) }
  /** Comes after the tracer. */
  readonly last: RequestObserver
  /** @returns whether the calls of an endpoint are left out. */
  isQuiet = (_endpoint: string | undefined): boolean => false
  readonly #calls: CallRecord[] = []
  #sequence = 0

  constructor() {
    const history = newHistory()
    this.last = {
      onBegin: (ctx) => {
        ctx.trace = new RecordedTrace(ctx, history)
      },
    }
  }

  /** @returns those that ended after one of this process. */
  after(sequence: number): readonly CallRecord[] {
    return this.#calls.filter((each) => each.sequence > sequence)
  }

  #ended(ctx: Context, outcome: Outcome): void {
    const { trace } = ctx
    if (!(trace instanceof RecordedTrace)) return
    ctx.trace = trace.inner
    const { status, code, protocol, endpoint, route, bytesIn, bytesOut, durations } = outcome
    if (this.isQuiet(endpoint)) return
    const { method, path, api, id } = ctx
    this.#calls.push({
      sequence: ++this.#sequence,
      process: this.process,
      id,
      at: performance.timeOrigin + trace.begunAt,
      method,
      path: route ?? path.slice(0, maxPath),
      api,
      protocol,
      status,
      code,
      bytesIn,
      bytesOut,
      totalMs: durations.totalMs,
      ...trace.parts,
    })
    if (this.#calls.length > maxCalls) this.#calls.shift()
  }
}
