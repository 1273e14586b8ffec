import type { Api } from '../../api/api.ts'
import { isPublicPath, type RequestHook } from '../../api/hooks.ts'
import type { LiveApi } from '../../api/live-api.ts'
import type { LiveRoute } from '../../api/live-route.ts'
import type { Mount } from '../../api/mount.ts'
import { Query } from '../../api/query.ts'
import {
  clientDescriptor,
  clientMetadata,
  type MetadataSource,
} from '../../api/service-metadata.ts'
import type { ErrorDescription } from '../../descriptors/description.ts'
import { isLive } from '../../live/live-streams.ts'
import { Components } from './components.ts'
import { contentOf, withExamples } from './content.ts'
import { asyncMembers, jobPaths } from './job-paths.ts'
import { mergeMount } from './mounted.ts'
import { partAnswers, problemResponses } from './problems.ts'
import { type DescribedEndpoint, pathBelow, protocolPaths, protocolTags } from './protocol-paths.ts'
import { parametersOf } from './query.ts'
import { authErrors, SecuritySchemes } from './security.ts'

/** The parts of a Service that its document describes. */
export interface DocumentSource extends MetadataSource {
  readonly lives: ReadonlyMap<string, LiveApi>
  readonly routes: ReadonlyMap<string, Api>
  readonly mounts: ReadonlyMap<string, Mount>
  readonly openapi: { readonly include: readonly string[] }
  readonly auth: RequestHook | undefined
  readonly publicPaths: readonly string[]
  readonly version: string | undefined
}

interface Shared {
  readonly service: DocumentSource
  readonly components: Components
  readonly security: SecuritySchemes
}

/**
 * An OpenAPI document.
 *
 * @see OpenAPI 3.1.1.
 */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly [member: string]: unknown
}

/**
 * `others`: endpoints beside the APIs.
 *
 * @returns the document of a service whose APIs are below `prefix`.
 */
export function openApiDocument(
  service: DocumentSource,
  prefix: string,
  others: readonly DescribedEndpoint[] = [],
): OpenApiDocument {
  const { name, doc, lives, mounts, version = '0.0.0' } = service
  const shared: Shared = { service, components: new Components(), security: new SecuritySchemes() }
  const paths: Record<string, Record<string, unknown>> = {}
  const add = (path: string, method: string, operation: object) => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  const apis = [...service.apis.values(), ...service.routes.values()]
  for (const api of apis) add(`/${api.route}`, api.method, operationOf(api, shared))
  for (const api of lives.values()) add(`/${api.route}`, 'get', liveOperationOf(api, shared))
  const taken = new Set([...apis.map((api) => api.name), ...lives.keys()])
  for (const { route, path } of others.filter(isLive)) {
    const below = pathBelow(prefix, path)
    if (below === undefined || paths[below]?.get !== undefined) continue
    const live = liveOf(route, service)
    const name = taken.has(live.name) ? `${live.name}_` : live.name
    add(below, 'get', liveOperationOf({ ...live, name }, shared))
    taken.add(name)
  }
  const { include } = service.openapi
  const included = others.filter(({ operation }) => {
    const group = pathsOfTag[String(operation?.tags)]
    return group === undefined || include.includes(group)
  })
  const all = [...jobPaths(service.apis.values(), prefix, shared.components), ...included]
  const securityOf = (path: string) =>
    isPublicPath(service.publicPaths, path) ? [] : shared.security.requirementsOf(service.auth)
  const protocols = protocolPaths(all, prefix, taken, securityOf)
  const document = {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: { title: name, version, description: doc },
    servers: [{ url: prefix || '/' }],
    security: [],
    tags: [{ name, description: doc }, ...protocolTags(protocols)],
    paths: { ...paths, ...protocols },
    components: {
      schemas: shared.components.schemas,
      securitySchemes: shared.security.schemes,
    },
  }
  return [...mounts.values()].reduce<OpenApiDocument>(
    (whole, mount) => mergeMount(whole, mount, (path) => securityOf(prefix + path)),
    document,
  )
}

function operationOf(api: Api, shared: Shared): Readonly<Record<string, unknown>> {
  const { name, input, output } = api
  const { components } = shared
  const { parameters: headers, accepted } = asyncMembers(api, components)
  const parameters = [...parametersOf(api, components), ...headers]
  const { input: requests, errors: bodyErrors } = input.describe()
  const responsesFor = (errors: readonly ErrorDescription[]) => {
    return { ...success(api, components), ...accepted, ...problems(api, errors, shared) }
  }
  const common = { ...commonMembers(api, shared), ...(parameters.length > 0 && { parameters }) }
  if (input instanceof Query) {
    const described = { output: clientDescriptor(output) }
    return { ...common, responses: responsesFor(queryErrors), 'x-serving': described }
  }
  const content = withExamples(contentOf(requests, components, `${name}_request`), api)
  return {
    ...common,
    requestBody: { required: true, content },
    responses: responsesFor(bodyErrors),
    'x-serving': clientMetadata(api),
  }
}

/** What {@link DocumentSource.openapi} calls the paths of a tag. */
const pathsOfTag: Readonly<Record<string, string | undefined>> = {
  health: 'health',
  metrics: 'metrics',
  Connect: 'connect',
  'Open Inference Protocol': 'oip',
}

const queryErrors = [{ code: 'bad_input', reasons: ['schema', 'size'] }] as const

/** A live stream, as documents describe it. */
type DescribedLive = Pick<LiveApi, 'name' | 'doc' | 'input' | 'output' | 'auth' | 'maxMessage'>

/** @returns the live stream of a route: that of a protocol has the auth of the service, if any. */
export function liveOf(route: LiveRoute, service: DocumentSource): DescribedLive {
  const { name, doc, input, output, maxMessage, access, path } = route
  const called = access.kind === 'api' ? access.api : ''
  const api = service.lives.get(called) ?? service.apis.get(called)
  const isForAll =
    access.kind === 'open' || access.kind === 'public' || isPublicPath(service.publicPaths, path)
  const auth = api === undefined && isForAll ? false : api?.auth
  return { name, doc, input, output, maxMessage, auth }
}

/** A live stream is the GET that is upgraded; what its messages are is no part of OpenAPI. */
function liveOperationOf(api: DescribedLive, shared: Shared): Readonly<Record<string, unknown>> {
  const { name, input, output } = api
  const { components } = shared
  const requests = input.describe()
  return {
    ...commonMembers(api, shared),
    responses: {
      101: { description: 'A WebSocket; asyncapi.json describes its messages.' },
      ...problems(api, requests.errors, shared),
    },
    'x-serving': {
      ...clientMetadata(api),
      live: {
        maxMessage: api.maxMessage,
        input: { content: contentOf(requests.input, components, `${name}_request`) },
        output: { content: contentOf(output.describe().output, components, `${name}_response`) },
      },
    },
  }
}

function commonMembers(api: Pick<Api, 'name' | 'doc' | 'auth'>, { service, security }: Shared) {
  const { name, doc } = api
  const requirements = security.requirementsOf(authOf(api, service))
  return {
    operationId: name,
    summary: doc?.split('\n', 1)[0] || name,
    tags: [service.name],
    description: doc,
    ...(requirements.length > 0 && { security: requirements }),
  }
}

/** @returns who may call an API. */
export function authOf(
  { auth }: Pick<Api, 'auth'>,
  service: DocumentSource,
): RequestHook | undefined {
  if (auth === undefined) return service.auth
  return auth || undefined
}

function problems(
  api: Pick<Api, 'auth'>,
  errors: readonly ErrorDescription[],
  { service, components }: Shared,
) {
  return problemResponses([...errors, ...authErrors(authOf(api, service))], components)
}

function success(api: Api, components: Components) {
  const { name, isGenerator, output } = api
  const described = output.describe()
  const formats = isGenerator ? described.stream : described.output
  const content = contentOf(formats, components, `${name}_response`)
  const hasParts = api.method === 'GET' && (described.hasRevisions || api.cache !== undefined)
  return {
    200: { description: 'What the function returned.', content },
    ...(hasParts && partAnswers(content)),
  }
}
