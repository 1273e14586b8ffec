/** Records calls of APIs, and what they answered, as files of Parquet. Loaded by services that ask for it. @module */
import type { Api } from '../api/api.ts'
import { type CaptureSettings, type Capturing, capturedApis } from '../api/capture-options.ts'
import type { LiveApi } from '../api/live-api.ts'
import type { ServedModel } from '../api/model-options.ts'
import { blobsOf } from '../jobs/open-store.ts'
import { modelRunners, modelVersion, type RunnerLife } from '../runner/runner.ts'
import { counter, type MetricFamily } from '../telemetry/metrics/metric-family.ts'
import {
  type ApiCapture,
  type Captured,
  type CaptureLog,
  captureApi,
  describe,
} from './api-capture.ts'
import { placeOf } from './place.ts'

/** What a capture is told of a service. */
interface CapturedService extends Capturing<Api, LiveApi, ServedModel> {
  readonly name: string
  readonly version: string | undefined
  readonly runners: readonly RunnerLife[]
}

/** The captures of one process. */
export type Capture = Awaited<ReturnType<typeof openCapture>>

/**
 * @returns what records the calls of a service from now on.
 * @throws InvalidArgument, MissingDependencyException for a place that cannot be.
 */
export async function openCapture(service: CapturedService, log: CaptureLog) {
  const { name, version } = service
  let jobs = 0
  const history = { nextId: () => `${process.pid}-${++jobs}`, lastEnded: new Map() }
  const shared = { heldBytes: 0, history, models: await versionsOf(service) }
  const captures = new Map<string, ApiCapture>()
  let isClosed = false
  const add = async (api: Captured, settings: CaptureSettings) => {
    const described = describe(api)
    const store = await blobsOf(placeOf(settings.to, described.api))
    if (isClosed) return
    // Another version of a model is recorded with those before it.
    const key = `${'runner' in api} ${described.api}`
    const parts = { service: { service: name, version }, settings, store, shared, log }
    const capture = captures.get(key) ?? captureApi(described, parts)
    captures.set(key, capture)
    api.sampler = capture
  }
  for (const { api, settings } of capturedApis(service)) {
    const follow = 'runner' in api && api.runner.models?.bind(api.runner)
    if (!follow) await add(api, settings)
    else
      follow((model) => {
        shared.models.set(model.runner.name, model.version)
        add(model as ServedModel, settings).catch((err) =>
          log.error({ event: 'capture_failed', err }, 'a model is not recorded'),
        )
      })
  }
  return {
    /** Returns how many calls were recorded and dropped. */
    metrics: () => captureFamilies([...captures.values()]),
    /** Writes the last files, and stops. */
    async close() {
      isClosed = true
      await Promise.all([...captures.values()].map((each) => each.close()))
    },
  }
}

/** By the names of Runners; that of the option `models` goes first. */
async function versionsOf({ runners, models }: CapturedService): Promise<Map<string, string>> {
  const versions = new Map<string, string>()
  for (const runner of modelRunners(runners)) {
    const version = await modelVersion(runner)
    if (version !== undefined) versions.set(runner.name, version)
  }
  for (const { runner, version } of models)
    versions.set(runner.name, version ?? versions.get(runner.name) ?? '1')
  return versions
}

/** @returns the metrics of captures. */
export function captureFamilies(
  apis: readonly Pick<ApiCapture, 'name' | 'written' | 'dropped'>[],
): MetricFamily[] {
  const dropped = apis.flatMap(({ name: api, dropped }) =>
    [...dropped].map(([reason, value]) => ({ labels: { api, reason }, value })),
  )
  return [
    counter(
      'serving_captured_calls_total',
      'Calls in files of the capture.',
      apis.map(({ name: api, written: value }) => ({ labels: { api }, value })),
    ),
    counter('serving_capture_dropped_total', 'Calls that were chosen and not recorded.', dropped),
  ]
}
