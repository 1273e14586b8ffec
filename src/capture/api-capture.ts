/** Records the calls of one API: chooses them, bounds what they hold, and writes their files. @module */
import { randomUUID } from 'node:crypto'
import type { Api } from '../api/api.ts'
import type { CaptureSettings, Capturing } from '../api/capture-options.ts'
import type { LiveApi } from '../api/live-api.ts'
import type { ServedModel } from '../api/model-options.ts'
import { Query } from '../api/query.ts'
import type { Sample, Sampler } from '../api/sampler.ts'
import { clientMetadata } from '../api/service-metadata.ts'
import { ServingError } from '../core/errors.ts'
import type { FormatDescription } from '../descriptors/description.ts'
import type { StandardSchemaV1 } from '../descriptors/run-schema.ts'
import { jsonSchemaOf } from '../descriptors/standard-json-schema.ts'
import type { Context } from '../http/context.ts'
import type { BlobStore } from '../jobs/blob-store.ts'
import type { RunnerLife } from '../runner/runner.ts'
import type { RunnerHistory } from '../telemetry/calls/recorded-trace.ts'
import { encodeFile } from '../values/table/file-decoder.ts'
import { CallSample, type SampledApi } from './call-sample.ts'
import { Cells, formatOf } from './cells.ts'
import { prune } from './place.ts'
import { type CaptureNotes, notesKey, tensorsId } from './read-rows.ts'
import { RowTable } from './row-table.ts'

/** A file is written when it has so much, or its first row is so old. **Units**: bytes; milliseconds. */
const maxFileBytes = 2 ** 24
const maxFileMs = 60_000
/** What a process holds for calls that run, and for files that are not written yet. **Units**: bytes. */
const maxHeldBytes = 2 ** 26
const pruneEveryMs = 3_600_000
const bytesOfMb = 2 ** 20

/** What a capture is told of a service. */
export interface CapturedService extends Capturing<Api, LiveApi, ServedModel> {
  readonly name: string
  readonly version: string | undefined
  readonly runners: readonly RunnerLife[]
}

/** An API, live stream or model whose calls a server records. */
export type Captured = Api | LiveApi | ServedModel

/** The part of a log that is written to. */
export interface CaptureLog {
  error(fields: object, message: string): void
}

/** What the captures of a process share. */
interface SharedState {
  heldBytes: number
  readonly history: RunnerHistory
  readonly models: SampledApi['models']
}

/** What a capture is made of, beside its API. */
export interface CaptureParts {
  readonly settings: CaptureSettings
  readonly store: BlobStore
  readonly shared: SharedState
  readonly log: CaptureLog
}

type DropReason = 'memory' | 'rate' | 'columns' | 'failed' | 'unwritten'

/** Why a value was not taken. */
class NoRoom extends Error {
  readonly reason: DropReason

  constructor(reason: DropReason) {
    super(reason)
    this.reason = reason
  }
}

/** What one call holds, and why it was given up. */
interface Holding {
  bytes: number
  isOver: boolean
  reason?: DropReason
}

/** See {@link Sampler}. */
export class ApiCapture implements Sampler {
  readonly name: string
  /** Calls by why they were not written. */
  readonly dropped = new Map<DropReason, number>()
  #written = 0
  readonly #api: Captured
  readonly #sampled: SampledApi
  readonly #parts: CaptureParts
  readonly #notes: Readonly<Record<string, string>>
  readonly #pruning: NodeJS.Timeout | undefined
  /** Ends of calls, and files, that are waited for. */
  readonly #open = new Set<Promise<void>>()
  #table = new RowTable()
  #closing: NodeJS.Timeout | undefined
  /** What may be taken now. **Units**: bytes; milliseconds. */
  #allowance: number
  #allowedAt = performance.now()

  constructor(
    { name: service, version }: CapturedService,
    api: Captured,
    described: Described,
    parts: CaptureParts,
  ) {
    const { settings, shared } = parts
    this.name = described.api
    this.#api = api
    this.#parts = parts
    this.#allowance = settings.maxMbPerSecond * bytesOfMb
    this.#sampled = {
      ...{ name: this.name, service, version },
      ...{ models: shared.models, history: shared.history },
      input: formatOf(described.input),
      output: formatOf(described.output),
    }
    const notes: CaptureNotes = {
      ...{ format: 1, service, version, redact: settings.redact },
      ...described,
    }
    this.#notes = { [notesKey]: JSON.stringify(notes) }
    api.sampler = this
    if (settings.maxAge !== undefined) {
      this.#prune()
      this.#pruning = setInterval(() => this.#prune(), pruneEveryMs).unref()
    }
  }

  get written(): number {
    return this.#written
  }

  sample(ctx: Context, protocol?: string): Sample | undefined {
    const { settings, shared } = this.#parts
    if (Math.random() >= settings.rate) return undefined
    const holding: Holding = { bytes: 0, isOver: false }
    const { redact, maxBytes } = settings
    const cells = new Cells({
      redact,
      maxBytes,
      hold: (bytes) => this.#hold(holding, bytes),
      lend: (bytes) => {
        if (shared.heldBytes + bytes > maxHeldBytes) return undefined
        shared.heldBytes += bytes
        return () => {
          shared.heldBytes -= bytes
        }
      },
    })
    const sample = new CallSample(this.#sampled, ctx, protocol, cells, (work) =>
      this.#try(holding, work),
    )
    ctx.onEnd(() => {
      sample.end()
      const { pending } = cells
      if (pending.length === 0) this.#add(cells, holding)
      else this.#wait(Promise.all(pending).then(() => this.#add(cells, holding)))
    })
    return sample
  }

  /** Writes the last file, and stops. */
  async close(): Promise<void> {
    if (this.#api.sampler === this) this.#api.sampler = undefined
    clearInterval(this.#pruning)
    await Promise.all(this.#open)
    this.#closeFile()
    await Promise.all(this.#open)
  }

  /** @throws NoRoom. */
  #hold(holding: Holding, bytes: number): void {
    const { settings, shared } = this.#parts
    if (bytes > this.#allowance) {
      const now = performance.now()
      const perSecond = settings.maxMbPerSecond * bytesOfMb
      const more = ((now - this.#allowedAt) / 1000) * perSecond
      this.#allowance = Math.min(perSecond, this.#allowance + more)
      this.#allowedAt = now
    }
    if (bytes > this.#allowance) throw new NoRoom('rate')
    if (shared.heldBytes + bytes > maxHeldBytes) throw new NoRoom('memory')
    this.#allowance -= bytes
    shared.heldBytes += bytes
    holding.bytes += bytes
  }

  /** Recording must not fail a request. */
  #try(holding: Holding, work: () => void): void {
    if (holding.isOver || holding.reason !== undefined) return
    try {
      work()
    } catch (err) {
      // The answer says what the descriptor cannot encode.
      if (ServingError.is(err)) return
      holding.reason = err instanceof NoRoom ? err.reason : 'failed'
      if (holding.reason === 'failed')
        this.#parts.log.error(
          { event: 'capture_failed', api: this.name, err },
          'a call was not recorded',
        )
    }
  }

  #add(cells: Cells, holding: Holding): void {
    this.#try(holding, () => {
      if (!this.#table.add(cells.list, holding.bytes)) throw new NoRoom('columns')
    })
    holding.isOver = true
    if (holding.reason !== undefined) {
      this.#parts.shared.heldBytes -= holding.bytes
      this.#drop(holding.reason, 1)
      return
    }
    this.#closing ??= setTimeout(() => this.#closeFile(), maxFileMs).unref()
    if (this.#table.bytes >= maxFileBytes) this.#closeFile()
  }

  #closeFile(): void {
    clearTimeout(this.#closing)
    this.#closing = undefined
    const table = this.#table
    if (table.rows === 0) return
    this.#table = new RowTable()
    this.#wait(this.#write(table))
  }

  async #write(table: RowTable): Promise<void> {
    const { store, shared, log } = this.#parts
    const { rows } = table
    const time = new Date().toISOString().replaceAll(/[-:.]/g, '')
    try {
      const file = await encodeFile(table.finish(), this.#notes)
      await store.put(`${time}-${randomUUID().slice(0, 8)}.parquet`, file)
      this.#written += rows
    } catch (err) {
      this.#drop('unwritten', rows)
      log.error(
        { event: 'capture_unwritten', api: this.name, rows, err },
        'recorded calls were not written',
      )
    } finally {
      shared.heldBytes -= table.valueBytes
    }
  }

  #drop(reason: DropReason, calls: number): void {
    this.dropped.set(reason, (this.dropped.get(reason) ?? 0) + calls)
  }

  #prune(): void {
    const { store, settings, log } = this.#parts
    const failed = (err: unknown) =>
      log.error({ event: 'capture_unpruned', api: this.name, err }, 'old captures were not deleted')
    this.#wait(prune(store, Date.now() - (settings.maxAge ?? 0)).then(() => {}, failed))
  }

  #wait(work: Promise<void>): void {
    this.#open.add(work)
    void work.finally(() => this.#open.delete(work))
  }
}

/** What the footer of a file says of its API. */
export type Described = Pick<
  CaptureNotes,
  'api' | 'method' | 'route' | 'descriptors' | 'input' | 'output'
>

/** @returns how calls look, and how they are made. */
export function describe(api: Captured): Described {
  if ('runner' in api) {
    const { name = api.runner.name } = api
    const tensors = { descriptorId: tensorsId, args: {} }
    const descriptors = { input: tensors, output: tensors }
    const route = `v2/models/${name}/infer`
    return { api: name, method: 'POST', route, descriptors, input: [], output: [] }
  }
  const { name, route, input, output } = api
  return {
    ...{ api: name, method: 'method' in api ? api.method : 'POST', route },
    descriptors: clientMetadata(api),
    input: input instanceof Query ? [queryFormat(input)] : input.describe().input,
    output: output.describe().output,
  }
}

function queryFormat({ mimeType, schema }: Query<StandardSchemaV1 | undefined>): FormatDescription {
  return schema === undefined ? { mimeType } : { mimeType, schema: jsonSchemaOf(schema, 'output') }
}
