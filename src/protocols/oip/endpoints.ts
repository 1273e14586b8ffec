/**
 * The Open Inference Protocol v2 over REST.
 *
 * @see open_inference_rest.yaml; Triton's extensions.
 * @module
 */
import { isPathSegment } from '../../api/api.ts'
import type { Endpoint } from '../../api/endpoint.ts'
import type { RequestTarget } from '../../api/visit.ts'
import { isRecord } from '../../core/options.ts'
import { type MaybePromise, whenReady } from '../../core/promise.ts'
import { parseJson } from '../../core/text/parse-json.ts'
import type { HttpRequest } from '../../http/message.ts'
import { generateEndpoint } from './generate.ts'
import { inferEndpoint } from './infer-endpoint.ts'
import { modelConfig, modelMetadata, serverMetadata } from './metadata.ts'
import { jsonResponse, type OipServer, oipEndpoint, probes } from './oip-endpoint.ts'

type Params = RequestTarget['params']
/**
 * May throw.
 *
 * @returns the JSON value of an answer; undefined is an empty body.
 */
type Value = (params: Params, request: HttpRequest) => MaybePromise<unknown>

/** @returns the endpoints of the protocol. */
export function oipEndpoints(server: OipServer): Endpoint[] {
  const values = Object.entries(valuesOf(server)).map(([key, value]) => {
    // Health is open to everybody, under any load.
    const isOpen = / \/health\//.test(key)
    const own = { isLimited: !/\/(live|ready)$/.test(key), ...(isOpen && { access: probes }) }
    return oipEndpoint(server, key, own, (request, { target }) =>
      whenReady(value(target.params, request), jsonResponse),
    )
  })
  const { models } = server
  const inferences = modelPaths.flatMap((path) => [
    inferEndpoint(`${path}/infer`, server),
    generateEndpoint(`${path}/generate`, server),
    generateEndpoint(`${path}/generate_stream`, server),
  ])
  // Found without reading the path.
  const named = models.ownNames.filter(isPathSegment).map((name) => {
    return inferEndpoint(`/models/${name}/infer`, server, models.find(name))
  })
  const others = oipEndpoint(
    server,
    'GET /*',
    { methods: [], readsHeaders: [], isLimited: false, decompresses: false },
    () => {
      throw new TypeError('no method goes here')
    },
  )
  return [...values, ...inferences, ...named, others]
}

const modelPaths = ['/models/{model}', '/models/{model}/versions/{version}']

function valuesOf({ host, models, group }: OipServer): Readonly<Record<string, Value>> {
  const ofModel = (path: string): Record<string, Value> => ({
    [`GET ${path}`]: ({ model, version }) => modelMetadata(models, model, version),
    [`GET ${path}/ready`]: ({ model, version }) => {
      const { name, unready } = models.find(model, version)
      return { name, ...readiness(unready) }
    },
    [`GET ${path}/config`]: ({ model, version }) => modelConfig(models, model, version),
    [`GET ${path}/stats`]: ({ model, version }) => group.statistics(model, version),
  })
  return {
    'GET ': () => serverMetadata,
    'GET /': () => serverMetadata,
    'GET /health/live': () => ({ live: true }),
    'GET /health/ready': () => readiness(host.unready()),
    ...Object.assign({}, ...modelPaths.map(ofModel)),
    ...(host.introspection && {
      'GET /models': () => ({ models: [...new Set(models.all().map(({ name }) => name))] }),
      'GET /models/stats': () => group.statistics(),
      'POST /repository/index': (_, request) => models.index(readsReady(request.peek())),
    }),
    'POST /repository/models/{model}/load': ({ model }) => group.change('load', model),
    'POST /repository/models/{model}/unload': ({ model }) => group.change('unload', model),
  }
}

const readiness = (error: string | undefined) => ({ ready: error === undefined, error })

function readsReady(body: Uint8Array): boolean {
  if (body.length === 0) return false
  const value = parseJson(body, 'the request')
  return isRecord(value) && value.ready === true
}
