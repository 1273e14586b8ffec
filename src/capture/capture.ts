/** Records calls of APIs, and what they answered, as files of Parquet. Loaded by services that ask for it. @module */
import { randomUUID } from 'node:crypto'
import type { Api } from '../api/api.ts'
import { type CaptureSettings, type Capturing, capturedApis } from '../api/capture-options.ts'
import type { LiveApi } from '../api/live-api.ts'
import type { ServedModel } from '../api/model-options.ts'
import type { Sampler } from '../api/sampler.ts'
import { clientMetadata } from '../api/service-metadata.ts'
import { within } from '../core/promise.ts'
import type { BlobStore } from '../jobs/blob-store.ts'
import { blobsOf } from '../jobs/open-store.ts'
import { modelRunners, modelVersion, type RunnerLife } from '../runner/runner.ts'
import { newHistory } from '../telemetry/calls/recorded-trace.ts'
import { counter, type MetricFamily } from '../telemetry/metrics/metric-family.ts'
import { encodeFile } from '../values/table/file-decoder.ts'
import { CallSample, type SampledApi } from './call-sample.ts'
import { placeOf, prune } from './place.ts'
import { type CaptureNotes, notesKey, tensorsId } from './read-rows.ts'
import { RowTable } from './row-table.ts'

/** What a process holds for calls that run, and for files that are not written yet. **Units**: bytes. */
const maxHeldBytes = 2 ** 26
/** A file is written when it has so much, and so often. **Units**: bytes; milliseconds. */
const maxFileBytes = 2 ** 24
const maxFileMs = 60_000
const pruneEveryMs = 3_600_000
const bytesOfMb = 2 ** 20

/** An API, live stream or model whose calls a server records. */
type Captured = Api | LiveApi | ServedModel

/** What a capture is told of a service. */
interface CapturedService extends Capturing<Api, LiveApi, ServedModel> {
  readonly name: string
  readonly version: string | undefined
  readonly runners: readonly RunnerLife[]
}

/** The part of a log that is written to. */
interface CaptureLog {
  error(fields: object, message: string): void
}

/** What the captures of a process share. */
interface SharedCapture extends Pick<SampledApi, 'history' | 'models'> {
  readonly log: CaptureLog
  /** **Units**: bytes. */
  heldBytes: number
}

/** The captures of one process. */
export type Capture = Awaited<ReturnType<typeof openCapture>>

/**
 * @returns what records the calls of a service from now on.
 * @throws InvalidArgument, MissingDependencyException for a place that cannot be.
 */
export async function openCapture(service: CapturedService, log: CaptureLog) {
  const { name, version } = service
  const models = new Map<string, string>()
  for (const runner of modelRunners(service.runners)) {
    const version = await modelVersion(runner)
    if (version !== undefined) models.set(runner.name, version)
  }
  // The option `models` goes first.
  for (const { runner, version } of service.models)
    models.set(runner.name, version ?? models.get(runner.name) ?? '1')
  const shared = { log, heldBytes: 0, history: newHistory(), models }
  /** By route: another version of a model is recorded with those before it. */
  const captures = new Map<string, ApiCapture>()
  let isClosed = false
  const add = async (api: Captured, settings: CaptureSettings) => {
    const { redact, to } = settings
    const notes = { format: 1, service: name, version, redact, ...describe(api) } as const
    const store = await blobsOf(placeOf(to, notes.api))
    if (isClosed) return
    const capture = captures.get(notes.route) ?? captureApi(notes, settings, store, shared)
    captures.set(notes.route, capture)
    api.sampler = capture
  }
  for (const { api, settings } of capturedApis(service)) {
    const follow = 'runner' in api && api.runner.models?.bind(api.runner)
    if (!follow) await add(api, settings)
    else
      follow((model) => {
        models.set(model.runner.name, model.version)
        add(model as ServedModel, settings).catch((err) =>
          log.error({ event: 'capture_failed', err }, 'a model is not recorded'),
        )
      })
  }
  return {
    /** Returns how many calls were recorded and dropped. */
    metrics: () => captureFamilies([...captures.values()]),
    /** Writes the last files, and stops. Gives up after a time. **Units**: milliseconds. */
    async close(timeoutMs: number) {
      isClosed = true
      await Promise.all([...captures.values()].map((each) => each.close(timeoutMs)))
    },
  }
}

/** @returns how calls look, and how they are made. */
function describe(api: Captured) {
  if ('runner' in api) {
    const { name = api.runner.name } = api
    const tensors = { descriptorId: tensorsId, args: {} }
    const descriptors = { input: tensors, output: tensors }
    const route = `v2/models/${encodeURIComponent(name)}/infer`
    return { api: name, method: 'POST' as const, route, descriptors, input: [], output: [] }
  }
  const { name, route, input, output } = api
  return {
    ...{ api: name, method: 'method' in api ? api.method : ('POST' as const), route },
    descriptors: clientMetadata(api),
    input: input.describe().input,
    output: output.describe().output,
  }
}

/** @returns the metrics of captures. */
export function captureFamilies(
  apis: readonly Pick<ApiCapture, 'name' | 'written' | 'dropped'>[],
): MetricFamily[] {
  const written = apis.map(({ name: api, written: value }) => ({ labels: { api }, value }))
  const dropped = apis.flatMap(({ name: api, dropped }) =>
    [...dropped].map(([reason, value]) => ({ labels: { api, reason }, value })),
  )
  return [
    counter('serving_captured_calls_total', 'Calls in files of the capture.', written),
    counter('serving_capture_dropped_total', 'Calls that were chosen and not recorded.', dropped),
  ]
}

/** Says why a value was not taken. */
class NoRoom extends Error {}

/** The capture of one API. */
type ApiCapture = ReturnType<typeof captureApi>

/** @returns what chooses calls, bounds what they hold, and writes their files. */
function captureApi(
  notes: CaptureNotes,
  settings: CaptureSettings,
  store: BlobStore,
  shared: SharedCapture,
) {
  const { rate, maxBytes, maxMbPerSecond, maxAge, redact } = settings
  const { api: name } = notes
  /** Calls by why they were not written. */
  const dropped = new Map<string, number>()
  /** Ends of calls, and files, that are waited for. */
  let open: Promise<unknown> = Promise.resolve()
  let [written, unwritten] = [0, 0]
  let table = new RowTable()
  let isClosed = false
  /** The bytes of one second. */
  let taken = { second: 0, bytes: 0 }

  const wait = (work: Promise<unknown>) => {
    open = open.then(() => work)
  }
  const tell = (event: string, message: string, err?: unknown) =>
    shared.log.error({ event, api: name, err }, message)
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
    if (table.rows === 0) return
    wait(write(table))
    table = new RowTable()
  }

  const addRow = ({ cells, failure }: CallSample) => {
    const isOdd = failure === undefined && !table.add(cells.list, cells.heldBytes)
    const refusal = isOdd ? new NoRoom('columns') : failure
    if (refusal === undefined) {
      unwritten++
      if (table.bytes >= maxFileBytes) closeFile()
      return
    }
    shared.heldBytes -= cells.heldBytes
    drop(refusal instanceof NoRoom ? refusal.message : 'failed')
    if (!(refusal instanceof NoRoom)) tell('capture_failed', 'a call was not recorded', refusal)
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
  const closing = setInterval(closeFile, maxFileMs).unref()
  const pruning = maxAge && setInterval(pruneOld, pruneEveryMs, maxAge).unref()

  return {
    name,
    dropped,
    get written() {
      return written
    },
    sample(...[ctx, protocol]: Parameters<Sampler['sample']>) {
      if (isClosed || Math.random() >= rate) return undefined
      const second = Math.floor(performance.now() / 1000)
      if (taken.second !== second) taken = { second, bytes: 0 }
      return new CallSample(api, ctx, protocol)
    },
    /** Writes the last file, and stops. Gives up after a time. **Units**: milliseconds. */
    async close(timeoutMs: number) {
      isClosed = true
      clearInterval(closing)
      clearInterval(pruning)
      const end = async () => {
        await open
        closeFile()
        await open
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
