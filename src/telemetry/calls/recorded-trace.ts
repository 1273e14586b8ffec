import { isPromise } from '../../core/promise.ts'
import type { CallSpan, RunnerCallRecord, RunnerJobRecord } from '../../http/call-record.ts'
import type { Context } from '../../http/context.ts'
import type { CallTrace, JobTrace, RequestTrace, StageName } from '../../http/request-trace.ts'
import { headersOf } from '../tracing/active-trace.ts'

/** Of one call: what a function may make of them has no bound. */
const maxSpans = 40

/** What the calls of a process share. */
export interface RunnerHistory {
  nextId(): string
  /** Of each Runner, the job that ended last. */
  readonly lastEnded: Map<string, { readonly id: string; readonly endedAt: number }>
}

/** @returns the history of a process without calls. */
export function newHistory(): RunnerHistory {
  let jobs = 0
  return { nextId: () => `${process.pid}-${++jobs}`, lastEnded: new Map() }
}

/** The times of one request, beside the spans of a tracer where there is one. */
export class RecordedTrace implements RequestTrace {
  /** That of the tracer. */
  readonly inner: RequestTrace | undefined
  readonly begunAt: number
  readonly #ctx: Context
  readonly #history: RunnerHistory
  readonly #stages: RecordedSpan[] = []
  readonly #runs: RecordedCall[] = []
  #dropped = 0

  constructor(ctx: Context, history: RunnerHistory) {
    this.inner = ctx.trace
    this.begunAt = performance.now() - ctx.elapsedMs
    this.#ctx = ctx
    this.#history = history
  }

  get traceId(): string | undefined {
    return this.inner?.traceId
  }

  stage<T>(name: StageName, work: () => T): T {
    const span = new RecordedSpan(name)
    this.#keep(this.#stages, span)
    try {
      const result = this.inner === undefined ? work() : this.inner.stage(name, work)
      if (isPromise(result)) return Promise.resolve(result).finally(() => span.end()) as T
      span.end()
      return result
    } catch (error) {
      span.end()
      throw error
    }
  }

  call(runner: string, method: string): CallTrace {
    const call = new RecordedCall(runner, method, this.#history, this.inner?.call(runner, method))
    this.#keep(this.#runs, call)
    return call
  }

  headers(): Record<string, string> {
    return this.inner?.headers() ?? headersOf(this.#ctx)
  }

  /** @returns stages and calls of Runners, relative to the start of the request. */
  get parts() {
    const { begunAt } = this
    return {
      stages: this.#stages.map((span) => span.since(begunAt)),
      runs: this.#runs.map((call) => call.since(begunAt)),
      dropped: this.#dropped,
    }
  }

  #keep<T>(list: T[], one: T): void {
    if (list.length < maxSpans) list.push(one)
    else this.#dropped++
  }
}

class RecordedSpan {
  readonly #name: string
  readonly #from = performance.now()
  #to: number | undefined

  constructor(name: string) {
    this.#name = name
  }

  end(): void {
    this.#to = performance.now()
  }

  since(begunAt: number): CallSpan {
    const to = this.#to === undefined ? undefined : this.#to - begunAt
    return { name: this.#name, from: this.#from - begunAt, to }
  }
}

class RecordedCall implements CallTrace {
  readonly inner: CallTrace | undefined
  readonly #runner: string
  readonly #method: string
  readonly #history: RunnerHistory
  readonly #queuedAt = performance.now()
  #dispatchedAt: number | undefined
  #endedAt: number | undefined
  #isFailed = false
  #waitedFor: string | undefined
  #job: ((begunAt: number) => RunnerJobRecord) | undefined

  constructor(
    runner: string,
    method: string,
    history: RunnerHistory,
    inner: CallTrace | undefined,
  ) {
    this.#runner = runner
    this.#method = method
    this.#history = history
    this.inner = inner
  }

  dispatched(): void {
    this.inner?.dispatched()
    this.#dispatchedAt = performance.now()
    const last = this.#history.lastEnded.get(this.#runner)
    if (last !== undefined && last.endedAt >= this.#queuedAt) this.#waitedFor = last.id
  }

  settled(error: Error | undefined): void {
    this.inner?.settled(error)
    this.#endedAt = performance.now()
    this.#isFailed = error !== undefined
  }

  job(name: string, calls: readonly (CallTrace | undefined)[], rows: number | undefined): JobTrace {
    const inner = calls.map((call) => (call instanceof RecordedCall ? call.inner : call))
    const traced = inner.find((call) => call !== undefined)
    const job = traced?.job(name, inner, rows)
    const id = this.#history.nextId()
    const model = new RecordedSpan('model')
    const record = (begunAt: number): RunnerJobRecord => {
      return {
        id,
        isBatch: rows !== undefined,
        calls: calls.length,
        rows,
        model: model.since(begunAt),
      }
    }
    for (const call of calls) if (call instanceof RecordedCall) call.#job = record
    return {
      traceparent: job?.traceparent,
      settled: (error) => {
        job?.settled(error)
        model.end()
        this.#history.lastEnded.set(this.#runner, { id, endedAt: performance.now() })
      },
    }
  }

  since(begunAt: number): RunnerCallRecord {
    const since = (at: number | undefined) => (at === undefined ? undefined : at - begunAt)
    return {
      name: `${this.#runner}.${this.#method}`,
      queuedAt: this.#queuedAt - begunAt,
      dispatchedAt: since(this.#dispatchedAt),
      endedAt: since(this.#endedAt),
      isFailed: this.#isFailed,
      job: this.#job?.(begunAt),
      waitedFor: this.#waitedFor,
    }
  }
}
