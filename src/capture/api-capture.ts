/** Records the calls of one API: chooses them, bounds what they hold, and writes their files. @module */
import { randomUUID } from 'node:crypto'
import type { Api } from '../api/api.ts'
import type { CaptureSettings } from '../api/capture-options.ts'
import type { LiveApi } from '../api/live-api.ts'
import type { ServedModel } from '../api/model-options.ts'
import { Query } from '../api/query.ts'
import type { Sample } from '../api/sampler.ts'
import { clientMetadata } from '../api/service-metadata.ts'
import { ServingError } from '../core/errors.ts'
import type { FormatDescription } from '../descriptors/description.ts'
import type { StandardSchemaV1 } from '../descriptors/run-schema.ts'
import { jsonSchemaOf } from '../descriptors/standard-json-schema.ts'
import type { Context } from '../http/context.ts'
import type { BlobStore } from '../jobs/blob-store.ts'
import { encodeFile } from '../values/table/file-decoder.ts'
import { type SampledApi, sampleCall } from './call-sample.ts'
import { formatOf, maxHeldBytes, newCells } from './cells.ts'
import { prune } from './place.ts'
import { type CaptureNotes, notesKey, tensorsId } from './read-rows.ts'
import { pathsOf } from './redaction.ts'
import { type RowTable, rowTable } from './row-table.ts'

/** A file is written when it has so much, or its first row is so old. **Units**: bytes; milliseconds. */
const maxFileBytes = 2 ** 24
const maxFileMs = 60_000
const pruneEveryMs = 3_600_000
const bytesOfMb = 2 ** 20

/** An API, live stream or model whose calls a server records. */
export type Captured = Api | LiveApi | ServedModel

/** The part of a log that is written to. */
export interface CaptureLog {
  error(fields: object, message: string): void
}

/** What a capture is made of, beside what it records. */
interface CaptureParts {
  readonly service: Pick<CaptureNotes, 'service' | 'version'>
  readonly settings: CaptureSettings
  readonly store: BlobStore
  readonly log: CaptureLog
  /** What the captures of a process share. */
  readonly shared: Pick<SampledApi, 'history' | 'models'> & { heldBytes: number }
}

type DropReason = 'memory' | 'rate' | 'columns' | 'failed' | 'unwritten'

/** Says why a value was not taken. */
class NoRoom extends Error {}

/** The capture of one API. */
export type ApiCapture = ReturnType<typeof captureApi>

/** @returns what chooses calls, bounds what they hold, and writes their files. */
export function captureApi(
  described: Described,
  { service, settings, store, log, shared }: CaptureParts,
) {
  const { rate, maxBytes, maxMbPerSecond, maxAge } = settings
  const { api: name } = described
  const redact = pathsOf(settings.redact)
  const notes: CaptureNotes = {
    ...{ format: 1, ...service, redact: settings.redact },
    ...described,
  }
  const sampled = {
    ...{ ...service, name, models: shared.models, history: shared.history },
    ...{ input: formatOf(described.input), output: formatOf(described.output) },
  }
  /** Calls by why they were not written. */
  const dropped = new Map<DropReason, number>()
  /** Ends of calls, and files, that are waited for. */
  const open = new Set<Promise<void>>()
  let written = 0
  let table = rowTable()
  let closing: NodeJS.Timeout | undefined
  let isClosed = false
  /** The bytes of one second. */
  let taken = { second: 0, bytes: 0 }

  const wait = (work: Promise<void>) => {
    open.add(work)
    void work.finally(() => open.delete(work))
  }
  const logged = (event: string, message: string, err: unknown) =>
    log.error({ event, api: name, err }, message)
  const drop = (reason: DropReason, calls: number) =>
    void dropped.set(reason, (dropped.get(reason) ?? 0) + calls)

  const write = async (full: RowTable) => {
    const { rows, valueBytes } = full
    const time = new Date().toISOString().replaceAll(/[-:.]/g, '')
    try {
      const file = await encodeFile(full.finish(), { [notesKey]: JSON.stringify(notes) })
      await store.put(`${time}-${randomUUID().slice(0, 8)}.parquet`, file)
      written += rows
    } catch (err) {
      drop('unwritten', rows)
      logged('capture_unwritten', 'recorded calls were not written', err)
    } finally {
      shared.heldBytes -= valueBytes
    }
  }
  const closeFile = () => {
    clearTimeout(closing)
    closing = undefined
    if (table.rows > 0) wait(write(table))
    table = rowTable()
  }

  /** @throws NoRoom. */
  const hold = (bytes: number) => {
    const second = Math.floor(performance.now() / 1000)
    if (taken.second !== second) taken = { second, bytes: 0 }
    if (taken.bytes + bytes > maxMbPerSecond * bytesOfMb) throw new NoRoom('rate')
    if (shared.heldBytes + bytes > maxHeldBytes) throw new NoRoom('memory')
    taken.bytes += bytes
    shared.heldBytes += bytes
  }

  const sample = (ctx: Context, protocol?: string): Sample | undefined => {
    if (isClosed || Math.random() >= rate) return undefined
    let heldBytes = 0
    let isOver = false
    let reason: DropReason | undefined
    /** Recording must not fail a request. */
    const attempt = (work: () => void) => {
      if (isOver || reason !== undefined) return
      try {
        work()
      } catch (err) {
        // The answer says what the descriptor cannot encode.
        if (ServingError.is(err)) return
        reason = err instanceof NoRoom ? (err.message as DropReason) : 'failed'
        if (reason === 'failed') logged('capture_failed', 'a call was not recorded', err)
      }
    }
    const cells = newCells({
      ...{ redact, maxBytes, shared },
      hold(bytes) {
        hold(bytes)
        heldBytes += bytes
      },
    })
    const call = sampleCall(sampled, ctx, protocol, cells, attempt)
    const add = () => {
      attempt(() => {
        if (!table.add(cells.list, heldBytes)) throw new NoRoom('columns')
      })
      isOver = true
      if (reason === undefined) closing ??= setTimeout(closeFile, maxFileMs).unref()
      else {
        shared.heldBytes -= heldBytes
        drop(reason, 1)
      }
      if (table.bytes >= maxFileBytes) closeFile()
    }
    ctx.onEnd(() => {
      call.end()
      if (cells.pending.length === 0) add()
      else wait(Promise.all(cells.pending).then(add))
    })
    return call
  }

  const pruneOld = (age: number) =>
    wait(
      prune(store, Date.now() - age).then(
        () => {},
        (err) => logged('capture_unpruned', 'old captures were not deleted', err),
      ),
    )
  if (maxAge !== undefined) pruneOld(maxAge)
  const pruning = maxAge && setInterval(pruneOld, pruneEveryMs, maxAge).unref()

  return {
    name,
    dropped,
    get written() {
      return written
    },
    sample,
    /** Writes the last file, and stops. */
    async close() {
      isClosed = true
      clearInterval(pruning)
      await Promise.all(open)
      closeFile()
      await Promise.all(open)
    },
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
    const route = `v2/models/${encodeURIComponent(name)}/infer`
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
