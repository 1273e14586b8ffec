/** One call that is recorded, from before its decoding to its end. @module */
import { createHash } from 'node:crypto'
import { ownerOf } from '../api/caller-identity.ts'
import type { Sample } from '../api/sampler.ts'
import { functionFailureOf } from '../api/stages.ts'
import { ServingError } from '../core/errors.ts'
import type { FormatDescription } from '../descriptors/description.ts'
import type { CallSpan, RunnerCallRecord } from '../http/call-record.ts'
import type { Context } from '../http/context.ts'
import { RecordedTrace, type RunnerHistory } from '../telemetry/calls/recorded-trace.ts'
import { type Cells, scalarTypes } from './cells.ts'
import { MessageCount } from './message-count.ts'

/** What samples of one API share. */
export interface SampledApi {
  readonly name: string
  readonly service: string
  readonly version: string | undefined
  /** Versions of models by the names of their Runners. */
  readonly models: ReadonlyMap<string, string>
  readonly input: FormatDescription | undefined
  readonly output: FormatDescription | undefined
  readonly history: RunnerHistory
}

/** Sees the bytes of pictures, too. */
class SampleTrace extends RecordedTrace {
  readonly source: Cells['source']

  constructor(ctx: Context, history: RunnerHistory, source: Cells['source']) {
    super(ctx, history)
    this.source = source
  }
}

/** See {@link Sample}. Its `cells` are a row once the request has ended. */
export class CallSample implements Sample {
  readonly cells: Cells
  readonly #api: SampledApi
  readonly #ctx: Context
  readonly #trace: SampleTrace
  readonly #time = Date.now()
  /** Runs what records. Never throws. */
  readonly #try: (work: () => void) => void
  readonly #counts: MessageCount[] = []
  readonly #protocol: string | undefined
  #error: Error | undefined
  #status: number | undefined

  constructor(
    api: SampledApi,
    ctx: Context,
    protocol: string | undefined,
    cells: Cells,
    attempt: (work: () => void) => void,
  ) {
    this.cells = cells
    this.#api = api
    this.#ctx = ctx
    this.#try = attempt
    this.#protocol = protocol
    const source: Cells['source'] = (...picture) => void attempt(() => cells.source(...picture))
    this.#trace = new SampleTrace(ctx, api.history, source)
    ctx.trace = this.#trace
  }

  input(value: unknown): unknown {
    this.#try(() => this.cells.add('input', value, this.#api.input))
    return value
  }

  result(value: unknown): unknown {
    if (typeof (value as { readonly next?: unknown } | null | undefined)?.next === 'function')
      return this.messages('output', value as AsyncIterable<unknown>)
    this.#try(() => this.cells.add('output', value, this.#api.output))
    return value
  }

  answered<R>(answer: R): R {
    this.#end(answer as Answer)
    return answer
  }

  failed(error: ServingError): void {
    this.#end({ error })
  }

  messages(name: string, messages: AsyncIterable<unknown>): AsyncIterable<unknown> {
    const count = new MessageCount(name)
    this.#counts.push(count)
    return count.over(messages, (error) => {
      this.#error ??= functionFailureOf(error)
    })
  }

  /** Adds the columns of every call. */
  end(): void {
    const { cells } = this
    this.#end({})
    this.#try(() => {
      for (const count of this.#counts) count.addTo(cells)
      // The columns of all calls come first.
      const values = cells.list.splice(0)
      this.#addCall()
      cells.list.push(...values)
    })
  }

  /** The first answer counts: a deadline comes before what the function still does. */
  #end({ error, status }: Answer): void {
    const ctx = this.#ctx
    if (ctx.trace === this.#trace) ctx.trace = this.#trace.inner
    if (this.#status !== undefined) return
    this.#error ??= error
    this.#status = error?.status ?? status ?? ctx.ownResponse?.status ?? 200
  }

  #addCall(): void {
    const { cells } = this
    const ctx = this.#ctx
    const { name, service, version, models } = this.#api
    const { stages, runs } = this.#trace.parts
    const owner = ownerOf(ctx)
    const text = (column: string, value: string | undefined) =>
      cells.scalar(column, scalarTypes.text, value)
    const number = (column: string, value: number | undefined) =>
      cells.scalar(column, scalarTypes.number, value)
    cells.scalar('time', scalarTypes.time, BigInt(this.#time) * 1000n)
    text('request_id', ctx.id)
    text('api', name)
    text('service', service)
    text('service_version', version)
    text('protocol', [ctx.job && 'job', this.#protocol, ctx.transport].filter(Boolean).join('+'))
    // The service is part of it, so that captures of two cannot be joined.
    text('caller', owner && hashOf(`${service}\n${owner}`))
    cells.scalar('status', scalarTypes.whole, this.#status)
    text('error', ServingError.is(this.#error) ? this.#error.code : undefined)
    for (const stage of stages)
      if (stage.name !== 'function') number(`${stage.name}_ms`, lengthOf(stage))
    number('total_ms', ctx.elapsedMs)
    if (runs.length > 0) {
      text('models', JSON.stringify(versionsOf(runs, models)))
      for (const [column, momentsOf] of Object.entries(runTimes))
        number(column, sumOf(runs, momentsOf))
      cells.scalar('batch_size', scalarTypes.whole, runs.find(({ job }) => job?.isBatch)?.job?.rows)
    }
    if (Object.keys(ctx.params).length > 0)
      cells.add('params', ctx.params, paramsFormat(ctx.params))
    cells.texts('redacted', [...cells.redacted])
  }
}

/** From one moment of a call of a Runner to another. */
type MomentsOf = (run: RunnerCallRecord) => readonly [number | undefined, number | undefined]

const runTimes: Readonly<Record<string, MomentsOf>> = {
  queue_ms: ({ queuedAt, dispatchedAt }) => [queuedAt, dispatchedAt],
  batch_ms: ({ dispatchedAt, job }) => [dispatchedAt, job?.model.from],
  model_ms: ({ job }) => [job?.model.from, job?.model.to],
}

/** Each parameter of the path is a field; a path without any has no column. */
function paramsFormat(params: Context['params']): FormatDescription {
  return { mimeType: 'application/json', schema: { properties: params } }
}

/** What an answer of any protocol has. */
interface Answer {
  readonly error?: ServingError
  readonly status?: number | undefined
}

function versionsOf(runs: readonly RunnerCallRecord[], models: ReadonlyMap<string, string>) {
  const names = runs.map(({ name }) => name.slice(0, name.lastIndexOf('.')))
  return Object.fromEntries(names.map((name) => [name, models.get(name) ?? null]))
}

function lengthOf(span: CallSpan | undefined): number | undefined {
  return span?.to === undefined ? undefined : span.to - span.from
}

/** @returns the time of all calls of Runners; undefined without one. */
function sumOf(runs: readonly RunnerCallRecord[], momentsOf: MomentsOf): number | undefined {
  const spans = runs
    .map(momentsOf)
    .flatMap(([from, to]) => (from === undefined || to === undefined ? [] : [to - from]))
  return spans.length === 0 ? undefined : spans.reduce((sum, ms) => sum + ms)
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
