/** Records the calls of one API: chooses them, bounds what they hold, and writes their files. @module */
import { randomUUID } from 'node:crypto'
import type { CaptureSettings } from '../api/capture-options.ts'
import type { Sample } from '../api/sampler.ts'
import { within } from '../core/promise.ts'
import type { Context } from '../http/context.ts'
import type { BlobStore } from '../jobs/blob-store.ts'
import { encodeFile } from '../values/table/file-decoder.ts'
import { CallSample, type SampledApi } from './call-sample.ts'
import { prune } from './place.ts'
import { type CaptureNotes, notesKey } from './read-rows.ts'
import { RowTable } from './row-table.ts'

/** What a process holds for calls that run, and for files that are not written yet. **Units**: bytes. */
const maxHeldBytes = 2 ** 26
/** A file is written when it has so much, or its first row is so old. **Units**: bytes; milliseconds. */
const maxFileBytes = 2 ** 24
const maxFileMs = 60_000
const pruneEveryMs = 3_600_000
const bytesOfMb = 2 ** 20

/** The part of a log that is written to. */
export interface CaptureLog {
  error(fields: object, message: string): void
}

/** What a capture is made of, beside what it records. */
export interface CaptureParts {
  /** What the footers of its files say. */
  readonly notes: CaptureNotes
  readonly settings: CaptureSettings
  readonly store: BlobStore
  readonly log: CaptureLog
  /** What the captures of a process share. */
  readonly shared: Pick<SampledApi, 'history' | 'models'> & { heldBytes: number }
}

/** Says why a value was not taken. */
class NoRoom extends Error {}

/** The capture of one API. */
export type ApiCapture = ReturnType<typeof captureApi>

/** @returns what chooses calls, bounds what they hold, and writes their files. */
export function captureApi({ notes, settings, store, log, shared }: CaptureParts) {
  const { rate, maxBytes, maxMbPerSecond, maxAge, redact } = settings
  const { api: name } = notes
  /** Calls by why they were not written. */
  const dropped = new Map<string, number>()
  /** Ends of calls, and files, that are waited for. */
  const open = new Set<Promise<unknown>>()
  let [written, unwritten] = [0, 0]
  let table = new RowTable()
  let closing: NodeJS.Timeout | undefined
  let isClosed = false
  /** The bytes of one second. */
  let taken = { second: 0, bytes: 0 }

  const wait = (work: Promise<unknown>) => {
    open.add(work)
    void work.finally(() => open.delete(work))
  }
  const tell = (event: string, message: string, err?: unknown) =>
    log.error({ event, api: name, err }, message)
  const drop = (reason: string, calls = 1) =>
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
      tell('capture_unwritten', 'recorded calls were not written', err)
    } finally {
      unwritten -= rows
      shared.heldBytes -= valueBytes
    }
  }
  const closeFile = () => {
    clearTimeout(closing)
    closing = undefined
    if (table.rows > 0) wait(write(table))
    table = new RowTable()
  }

  /** @returns why a call is not recorded. */
  const refuse = ({ cells, failure }: CallSample) => {
    if (failure instanceof NoRoom) return failure.message
    if (failure === undefined) return table.add(cells.list, cells.heldBytes) ? undefined : 'columns'
    tell('capture_failed', 'a call was not recorded', failure)
    return 'failed'
  }
  const addRow = (call: CallSample) => {
    const reason = refuse(call)
    if (reason !== undefined) {
      shared.heldBytes -= call.cells.heldBytes
      drop(reason)
      return
    }
    unwritten++
    closing ??= setTimeout(closeFile, maxFileMs).unref()
    if (table.bytes >= maxFileBytes) closeFile()
  }

  const api: SampledApi = {
    ...{ notes, maxBytes, models: shared.models, history: shared.history },
    redact: new Set(redact),
    hold(bytes) {
      if (taken.bytes + bytes > maxMbPerSecond * bytesOfMb) throw new NoRoom('rate')
      if (shared.heldBytes + bytes > maxHeldBytes) throw new NoRoom('memory')
      taken.bytes += bytes
      shared.heldBytes += bytes
    },
    add(call) {
      const { pending } = call.cells
      if (pending.length === 0) addRow(call)
      else wait(Promise.all(pending).then(() => addRow(call)))
    },
  }

  const pruneOld = (age: number) =>
    wait(
      prune(store, Date.now() - age).catch((err) =>
        tell('capture_unpruned', 'old captures were not deleted', err),
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
    sample(ctx: Context, protocol?: string): Sample | undefined {
      if (isClosed || Math.random() >= rate) return undefined
      const second = Math.floor(performance.now() / 1000)
      if (taken.second !== second) taken = { second, bytes: 0 }
      return new CallSample(api, ctx, protocol)
    },
    /** Writes the last file, and stops. Gives up after a time. **Units**: milliseconds. */
    async close(timeoutMs: number) {
      isClosed = true
      clearInterval(pruning)
      const end = async () => {
        await Promise.all(open)
        closeFile()
        await Promise.all(open)
      }
      if ((await within(end(), timeoutMs, 'late')) === undefined) return
      drop('unwritten', unwritten)
      tell(
        'capture_unwritten',
        `${unwritten} recorded calls were not written before the server stopped`,
      )
    },
  }
}
