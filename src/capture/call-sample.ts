/** One call that is recorded, from before its function to its end. @module */
import { createHash } from 'node:crypto'
import { ownerOf } from '../api/caller-identity.ts'
import type { Sample } from '../api/sampler.ts'
import { functionFailureOf } from '../api/stages.ts'
import { ServingError } from '../core/errors.ts'
import type { Context } from '../http/context.ts'
import { RecordedTrace, type RunnerHistory } from '../telemetry/calls/recorded-trace.ts'
import { type CellLimits, Cells, contentOf, formatOf } from './cells.ts'
import type { CaptureNotes } from './read-rows.ts'

/** What a sample is told of the capture of its API, and tells it. */
export interface SampledApi extends CellLimits {
  readonly notes: CaptureNotes
  /** Versions of models by the names of their Runners. */
  readonly models: ReadonlyMap<string, string>
  readonly history: RunnerHistory
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
  /** Why the call cannot be recorded. */
  failure: unknown
  readonly #api: SampledApi
  readonly #ctx: Context
  readonly #protocol: string
  readonly #time = BigInt(Date.now()) * 1000n
  /** Of messages, which have no end, by what they are. */
  readonly #streams = new Map<string, ReturnType<typeof newStream>>()
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
    this.#add('input', value)
  }

  result(value: unknown): unknown {
    if (typeof (value as { readonly next?: unknown } | null | undefined)?.next === 'function')
      return this.messages('output', value as AsyncIterable<unknown>)
    this.#add('output', value)
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
    this.#attempt(() => this.cells.source(...picture))
  }

  messages(name: string, messages: AsyncIterable<unknown>): AsyncIterable<unknown> {
    const stream = newStream()
    this.#streams.set(name, stream)
    const see = (message: unknown) => {
      const content = contentOf(message)
      stream.count++
      stream.length += Buffer.byteLength(content)
      stream.hash.update(content)
    }
    return this.#seen(messages, see)
  }

  async *#seen(messages: AsyncIterable<unknown>, see: (message: unknown) => void) {
    try {
      for await (const message of messages) {
        this.#attempt(() => see(message))
        yield message
      }
    } catch (error) {
      this.#error ??= functionFailureOf(error)
      throw error
    }
  }

  #add(name: 'input' | 'output', value: unknown): void {
    this.#attempt(() => this.cells.add(name, value, formatOf(this.#api.notes[name])))
  }

  /** Recording must not fail a request. */
  #attempt(work: () => void): void {
    if (this.failure !== undefined) return
    try {
      work()
    } catch (error) {
      // The answer says what the descriptor cannot encode.
      if (!ServingError.is(error)) this.failure = error
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
    this.#attempt(() => {
      for (const [name, stream] of this.#streams) this.#addStream(name, stream)
      this.#addFacts()
    })
    this.#api.add(this)
  }

  #addStream(name: string, { count, length, hash }: ReturnType<typeof newStream>): void {
    const { cells } = this
    if (cells.isRedacted(name)) return
    cells.put(`${name}.messages`, BigInt(count))
    if (cells.putLength(name, length)) cells.put(`${name}.sha256`, hash.digest('hex'))
  }

  /** Adds what all calls have. */
  #addFacts(): void {
    const { cells } = this
    const ctx = this.#ctx
    const { params } = ctx
    const { api, service, version } = this.#api.notes
    const owner = ownerOf(ctx)
    const facts = {
      time: this.#time,
      request_id: ctx.id,
      ...{ api, service, service_version: version },
      protocol: this.#protocol,
      // The service is part of it, so that captures of two cannot be joined.
      caller: owner && sha256(`${service}\n${owner}`).slice(0, 16),
      status: this.#status && BigInt(this.#status),
      error: ServingError.is(this.#error) ? this.#error.code : undefined,
      total_ms: ctx.elapsedMs,
      ...this.#times(),
    }
    for (const [name, value] of Object.entries(facts)) cells.put(name, value)
    const schema = { properties: params }
    if (Object.keys(params).length > 0)
      cells.add('params', params, { mimeType: 'application/json', schema })
    const redacted = [...cells.redacted]
    if (redacted.length > 0) cells.put('redacted', { kind: 'str', elements: redacted })
  }

  /** @returns how long the parts of the call took, and what its Runners tell. **Units**: milliseconds. */
  #times() {
    const { stages, runs } = this.parts
    const times: Record<string, number> = {}
    const add = (name: string, from: number | undefined, to: number | undefined) => {
      if (from !== undefined && to !== undefined) times[name] = (times[name] ?? 0) + to - from
    }
    // The others and the whole tell that of the function.
    for (const { name, from, to } of stages) if (name !== 'function') add(`${name}_ms`, from, to)
    if (runs.length === 0) return times
    for (const { queuedAt, dispatchedAt, job } of runs) {
      add('queue_ms', queuedAt, dispatchedAt)
      add('batch_ms', dispatchedAt, job?.model.from)
      add('model_ms', job?.model.from, job?.model.to)
    }
    const names = runs.map(({ name }) => name.slice(0, name.lastIndexOf('.')))
    const versions = names.map((name) => [name, this.#api.models.get(name) ?? null])
    const rows = runs.find(({ job }) => job?.isBatch)?.job?.rows
    return {
      ...times,
      models: JSON.stringify(Object.fromEntries(versions)),
      batch_size: rows && BigInt(rows),
    }
  }
}

const newStream = () => ({ count: 0, length: 0, hash: createHash('sha256') })

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
