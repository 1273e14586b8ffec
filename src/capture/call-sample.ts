/** One call that is recorded, from before its function to its end. @module */
import { createHash } from 'node:crypto'
import { ownerOf } from '../api/caller-identity.ts'
import type { Sample } from '../api/sampler.ts'
import { functionFailureOf } from '../api/stages.ts'
import { ServingError } from '../core/errors.ts'
import type { FormatDescription } from '../descriptors/description.ts'
import type { RunnerCallRecord } from '../http/call-record.ts'
import type { Context } from '../http/context.ts'
import { RecordedTrace, type RunnerHistory } from '../telemetry/calls/recorded-trace.ts'
import { type CellLimits, Cells, messageBytes, type ScalarType, scalarTypes } from './cells.ts'
import type { Cell, Scalar } from './row-table.ts'

/** Why a call is not in a file. */
export type DropReason = 'memory' | 'rate' | 'columns' | 'failed' | 'unwritten'

/** What a sample is told of the capture of its API, and tells it. */
export interface SampledApi extends CellLimits {
  readonly service: string
  /** Versions of models by the names of their Runners. */
  readonly models: ReadonlyMap<string, string>
  readonly input: FormatDescription | undefined
  readonly output: FormatDescription | undefined
  readonly history: RunnerHistory
  /** Returns why the call of an error is dropped. */
  failed(error: unknown): DropReason
  /** Takes a call that is over. */
  add(call: CallSample): void
}

/** What an answer of any protocol has. */
interface Answer {
  readonly error?: ServingError
  readonly status?: number | undefined
}

/** Sees a call. It is the call's trace, too, where all stages look for one. */
export class CallSample extends RecordedTrace implements Sample {
  readonly sample: Sample = this
  readonly cells: Cells
  /** Of what all calls have. */
  readonly columns: Cell[] = []
  /** Set if the call cannot be recorded. */
  dropReason: DropReason | undefined
  readonly #api: SampledApi
  readonly #ctx: Context
  readonly #protocol: string
  readonly #time = Date.now() * 1000
  /** Add the columns of messages, which have no end. */
  readonly #counts: (() => void)[] = []
  #error: Error | undefined
  #status: number | undefined

  constructor(api: SampledApi, ctx: Context, protocol: string | undefined) {
    super(ctx, api.history)
    this.#api = api
    this.#ctx = ctx
    this.#protocol = [ctx.job && 'job', protocol, ctx.transport].filter(Boolean).join('+')
    this.cells = new Cells(api)
    ctx.trace = this
    ctx.onEnd(() => this.#ended())
  }

  input(value: unknown): void {
    this.attempt(() => this.cells.add('input', value, this.#api.input))
  }

  result(value: unknown): unknown {
    if (typeof (value as { readonly next?: unknown } | null | undefined)?.next === 'function')
      return this.messages('output', value as AsyncIterable<unknown>)
    this.attempt(() => this.cells.add('output', value, this.#api.output))
    return value
  }

  answered<R>(answer: R): R {
    this.#answered(answer as Answer)
    return answer
  }

  failed(error: ServingError): void {
    this.#answered({ error })
  }

  source(...picture: Parameters<Cells['source']>): void {
    this.attempt(() => this.cells.source(...picture))
  }

  messages(name: string, messages: AsyncIterable<unknown>): AsyncIterable<unknown> {
    const { cells } = this
    const hash = createHash('sha256')
    let [count, length] = [0, 0]
    this.#counts.push(() => {
      if (cells.isRedacted(name)) return
      cells.scalar(`${name}.messages`, count, 'whole')
      cells.scalar(`${name}.length`, length, 'whole')
      // A hash may tell what a message has.
      if (!cells.isRedacted(name, true)) cells.scalar(`${name}.sha256`, hash.digest('hex'))
    })
    const see = (message: unknown) => {
      const bytes = messageBytes(message)
      count++
      length += bytes.length
      hash.update(bytes)
    }
    return this.#seen(messages, see)
  }

  async *#seen(messages: AsyncIterable<unknown>, see: (message: unknown) => void) {
    try {
      for await (const message of messages) {
        this.attempt(() => see(message))
        yield message
      }
    } catch (error) {
      this.#error ??= functionFailureOf(error)
      throw error
    }
  }

  /** Recording must not fail a request. */
  attempt(work: () => void): void {
    if (this.dropReason !== undefined) return
    try {
      work()
    } catch (error) {
      // The answer says what the descriptor cannot encode.
      if (!ServingError.is(error)) this.dropReason = this.#api.failed(error)
    }
  }

  /** The first answer counts: a deadline comes before what the function still does. */
  #answered({ error, status }: Answer): void {
    const ctx = this.#ctx
    if (ctx.trace === this) ctx.trace = this.inner
    if (this.#status !== undefined) return
    this.#error ??= error
    this.#status = error?.status ?? status ?? ctx.ownResponse?.status ?? 200
  }

  #ended(): void {
    this.#answered({})
    this.attempt(() => {
      for (const add of this.#counts) add()
      this.#addColumns()
    })
    this.#api.add(this)
  }

  #addColumns(): void {
    const { cells } = this
    const ctx = this.#ctx
    const { models, service } = this.#api
    const { stages, runs } = this.parts
    const owner = ownerOf(ctx)
    const add = (name: string, value: Scalar | undefined, type = typeof value as ScalarType) => {
      if (value !== undefined) this.columns.push({ name, column: scalarTypes[type], value })
    }
    add('time', this.#time, 'time')
    add('request_id', ctx.id)
    add('protocol', this.#protocol)
    // The service is part of it, so that captures of two cannot be joined.
    add('caller', owner && hashOf(`${service}\n${owner}`))
    add('status', this.#status, 'whole')
    add('error', ServingError.is(this.#error) ? this.#error.code : undefined)
    add('total_ms', ctx.elapsedMs)
    // The others and the whole tell that of the function.
    for (const { name, from, to } of stages)
      if (name !== 'function') add(`${name}_ms`, msOf(from, to))
    if (runs.length > 0) {
      const names = runs.map(({ name }) => name.slice(0, name.lastIndexOf('.')))
      const versions = names.map((name) => [name, models.get(name) ?? null])
      add('models', JSON.stringify(Object.fromEntries(versions)))
      const sumOf = (each: (run: RunnerCallRecord) => number | undefined) =>
        runs.map(each).reduce((sum, ms) => (ms === undefined ? sum : (sum ?? 0) + ms), undefined)
      add(
        'queue_ms',
        sumOf(({ queuedAt, dispatchedAt }) => msOf(queuedAt, dispatchedAt)),
        'number',
      )
      add(
        'batch_ms',
        sumOf(({ dispatchedAt, job }) => msOf(dispatchedAt, job?.model.from)),
        'number',
      )
      add(
        'model_ms',
        sumOf(({ job }) => msOf(job?.model.from, job?.model.to)),
        'number',
      )
      add('batch_size', runs.find(({ job }) => job?.isBatch)?.job?.rows, 'whole')
    }
    if (Object.keys(ctx.params).length > 0) {
      const schema = { properties: ctx.params }
      cells.add('params', ctx.params, { mimeType: 'application/json', schema })
    }
    const redacted = [...cells.redacted]
    if (redacted.length > 0) cells.items('redacted', 'str', redacted)
  }
}

const msOf = (from: number | undefined, to: number | undefined) =>
  from === undefined || to === undefined ? undefined : to - from

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
