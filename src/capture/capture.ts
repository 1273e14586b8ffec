/** Records calls of APIs, and what they answered, as files of Parquet. Loaded by services that ask for it. @module */
import { capturedApis } from '../api/capture-options.ts'
import { blobsOf } from '../jobs/open-store.ts'
import { modelRunners, modelVersion } from '../runner/runner.ts'
import { counter, type MetricFamily } from '../telemetry/metrics/metric-family.ts'
import { ApiCapture, type CapturedService, type CaptureLog, describe } from './api-capture.ts'
import { placeOf } from './place.ts'

/** The captures of one process. */
export class Capture {
  readonly #apis: readonly ApiCapture[]

  /** @throws InvalidArgument, MissingDependencyException for a place that cannot be. */
  static async open(service: CapturedService, log: CaptureLog): Promise<Capture> {
    let jobs = 0
    const nextId = () => `${process.pid}-${++jobs}`
    const models = await versionsOf(service)
    const shared = { heldBytes: 0, history: { nextId, lastEnded: new Map() }, models }
    const captures: ApiCapture[] = []
    for (const { api, settings } of capturedApis(service)) {
      const described = describe(api)
      const store = await blobsOf(placeOf(settings.to, described.api))
      captures.push(new ApiCapture(service, api, described, { settings, store, shared, log }))
    }
    return new Capture(captures)
  }

  private constructor(apis: readonly ApiCapture[]) {
    this.#apis = apis
  }

  /** @returns how many calls were recorded and dropped. */
  metrics(): readonly MetricFamily[] {
    return captureFamilies(this.#apis)
  }

  /** Writes the last file, and stops. */
  async close(): Promise<void> {
    await Promise.all(this.#apis.map((api) => api.close()))
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
