/** Records calls of APIs, and what they answered, as files of Parquet. Loaded by services that ask for it. @module */
import type { Api } from '../api/api.ts'
import { type CaptureSettings, type Capturing, capturedApis } from '../api/capture-options.ts'
import type { LiveApi } from '../api/live-api.ts'
import type { ServedModel } from '../api/model-options.ts'
import { Query } from '../api/query.ts'
import { clientMetadata } from '../api/service-metadata.ts'
import type { FormatDescription } from '../descriptors/description.ts'
import type { StandardSchemaV1 } from '../descriptors/run-schema.ts'
import { jsonSchemaOf } from '../descriptors/standard-json-schema.ts'
import { blobsOf } from '../jobs/open-store.ts'
import { modelRunners, modelVersion, type RunnerLife } from '../runner/runner.ts'
import { newHistory } from '../telemetry/calls/recorded-trace.ts'
import { counter, type MetricFamily } from '../telemetry/metrics/metric-family.ts'
import { type ApiCapture, type CaptureLog, captureApi } from './api-capture.ts'
import { placeOf } from './place.ts'
import { tensorsId } from './read-rows.ts'

/** An API, live stream or model whose calls a server records. */
type Captured = Api | LiveApi | ServedModel

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
  const models = new Map<string, string>()
  for (const runner of modelRunners(service.runners)) {
    const version = await modelVersion(runner)
    if (version !== undefined) models.set(runner.name, version)
  }
  // The option `models` goes first.
  for (const { runner, version } of service.models)
    models.set(runner.name, version ?? models.get(runner.name) ?? '1')
  const shared = { heldBytes: 0, history: newHistory(), models }
  /** By route: another version of a model is recorded with those before it. */
  const captures = new Map<string, ApiCapture>()
  let isClosed = false
  const add = async (api: Captured, settings: CaptureSettings) => {
    const { redact, to } = settings
    const notes = { format: 1, service: name, version, redact, ...describe(api) } as const
    const store = await blobsOf(placeOf(to, notes.api))
    if (isClosed) return
    const capture = captures.get(notes.route) ?? captureApi({ notes, settings, store, shared, log })
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
    input: input instanceof Query ? [formatOf(input)] : input.describe().input,
    output: output.describe().output,
  }
}

function formatOf({ mimeType, schema }: Query<StandardSchemaV1 | undefined>): FormatDescription {
  return { mimeType, ...(schema && { schema: jsonSchemaOf(schema, 'output') }) }
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
