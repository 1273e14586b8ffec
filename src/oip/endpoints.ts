/** The Open Inference Protocol v2 over REST. **Source**: open_inference_rest.yaml; Triton's extensions. @module */
import { BadInput, type ServingError } from '../core/errors.ts'
import { whenReady } from '../core/promise.ts'
import { parseJson } from '../core/text/parse-json.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { GenerateEndpoint } from './generate-endpoint.ts'
import { InferEndpoint } from './infer-endpoint.ts'
import { describeModel } from './inference.ts'
import { type Answer, JsonEndpoint, type Params, WithStatus } from './json-endpoint.ts'
import { extensions, modelConfig, modelMetadata, packageVersion } from './metadata.ts'
import type { Model, ModelDescription } from './model.ts'
import { changeModel, groupStatistics } from './model-group.ts'
import type { Models } from './models.ts'
import { errorResponse } from './oip-error.ts'
import { oipOperations } from './operations.ts'

/** What the endpoints need of their server. */
export interface OipServer {
  readonly models: Models
  readonly prefix: string
  /** Whether the names of all models are published. */
  readonly introspection: boolean
  unready(): string | undefined
  /** Called for an error that comes after the answer's status. */
  onLateError(error: ServingError, requestId: string): void
}

/** Returns the endpoints of the protocol. */
export function oipEndpoints({ models, prefix, introspection, unready, onLateError }: OipServer): Endpoint[] {
  const at = `${prefix}/v2`
  const get = (path: string, answer: Answer, isLimited?: boolean, isOpen?: boolean) =>
    new JsonEndpoint('GET', at + path, answer, isLimited, isOpen)
  const post = (path: string, answer: Answer) => new JsonEndpoint('POST', at + path, answer)
  const metadata = () => ({ name: 'serving', version: packageVersion, extensions })
  const one = ({ model, version }: Params) => models.find(model, version)
  const described = (params: Params, make: (model: Model, description: ModelDescription) => unknown) => {
    const model = one(params)
    return whenReady(describeModel(model), (description) => make(model, description))
  }
  const ofModel = (path: string): Endpoint[] => [
    get(path, (params) =>
      described(params, (model, description) => modelMetadata(model, models.versions(model.name), description)),
    ),
    get(`${path}/ready`, (params) => modelReadiness(one(params)), false, false),
    get(`${path}/config`, (params) => described(params, modelConfig)),
    get(`${path}/stats`, ({ model, version }) => statisticsOf(models, model, version)),
    new InferEndpoint(`${at}${path}/infer`, models),
    new GenerateEndpoint(`${at}${path}/generate`, models, onLateError),
    new GenerateEndpoint(`${at}${path}/generate_stream`, models, onLateError),
  ]
  const known = [
    get('', metadata),
    get('/', metadata),
    get('/health/live', () => ({ live: true }), false),
    get('/health/ready', () => readiness(unready()), false),
    ...ofModel('/models/{model}'),
    ...ofModel('/models/{model}/versions/{version}'),
    get('/models/{model}/trace/setting', () => traceSettings),
    ...(introspection ? lists(models, get, post) : []),
    post('/repository/models/{model}/load', ({ model }) => changeModel(models, 'load', model)),
    post('/repository/models/{model}/unload', ({ model }) => changeModel(models, 'unload', model)),
    ...absent(get, post),
  ]
  for (const endpoint of known) {
    const operation = oipOperations[`${endpoint.methods[0]} ${endpoint.path.slice(at.length)}`]
    if (operation !== undefined) Object.assign(endpoint, { operation })
  }
  return [...known, wrongPaths(`${at}/*`)]
}

function wrongPaths(path: string): Endpoint {
  const never = (): never => {
    throw new TypeError('no method goes here')
  }
  const flags = { isLimited: false, decompresses: false }
  return { name: path, path, methods: [], readsHeaders: [], ...flags, answer: never, problem: errorResponse }
}

async function statisticsOf(models: Models, name?: string, version?: string): Promise<object> {
  return { model_stats: await groupStatistics(models, name, version) }
}

type MakeEndpoint = (path: string, answer: Answer) => Endpoint

function lists(models: Models, get: MakeEndpoint, post: MakeEndpoint): Endpoint[] {
  return [
    get('/models', () => ({ models: [...new Set(models.all().map(({ name }) => name))] })),
    get('/models/stats', () => statisticsOf(models)),
    post('/repository/index', (_, request) => {
      const isReadyOnly = readsReady(request.peek())
      return models.index().filter(({ state }) => !isReadyOnly || state === 'READY')
    }),
  ]
}

/** Answers for what clients ask for and we do not have: shared memory, tracing, log settings. */
function absent(get: MakeEndpoint, post: MakeEndpoint): Endpoint[] {
  const refuse = () => {
    throw new BadInput('expected tensors in the body: this server uses no shared memory, received a region of it')
  }
  return [
    ...['/systemsharedmemory', '/cudasharedmemory'].flatMap((path) => [
      get(`${path}/status`, () => []),
      post(`${path}/unregister`, () => undefined),
      post(`${path}/region/{region}/unregister`, () => undefined),
      post(`${path}/region/{region}/register`, refuse),
    ]),
    ...[get, post].flatMap((make) => [
      make('/trace/setting', () => traceSettings),
      make('/logging', () => logSettings),
    ]),
  ]
}

function readsReady(body: Uint8Array): boolean {
  if (body.length === 0) return false
  const value = parseJson(body, 'the request')
  return typeof value === 'object' && value !== null && (value as { readonly ready?: unknown }).ready === true
}

// kserve's client needs bodies.
function readiness(reason: string | undefined): unknown {
  return reason === undefined ? { ready: true } : new WithStatus(503, { ready: false, error: reason })
}

function modelReadiness({ name, unready }: Model): unknown {
  return unready === undefined ? { name, ready: true } : new WithStatus(503, { name, ready: false, error: unready })
}

const traceSettings = {
  trace_level: ['OFF'],
  trace_rate: '1000',
  trace_count: '-1',
  log_frequency: '0',
  trace_file: '',
  trace_mode: 'triton',
}

const logSettings = {
  log_file: '',
  log_info: true,
  log_warning: true,
  log_error: true,
  log_verbose_level: 0,
  log_format: 'default',
}
