/** The OpenAPI document of a service: all its APIs, from the descriptions of their descriptors. @module */

import type { Api } from '../../api/api.ts'
import type { GetApi } from '../../api/get-api.ts'
import { isPublicPath, type RequestHook } from '../../api/hooks.ts'
import type { LiveApi } from '../../api/live-api.ts'
import { clientDescriptor, clientMetadata, type MetadataSource } from '../../api/service-metadata.ts'
import type { ErrorDescription } from '../../descriptors/description.ts'
import { Components } from './components.ts'
import { contentOf, withExamples } from './content.ts'
import { asyncMembers, jobPaths } from './job-paths.ts'
import { problemResponses } from './problems.ts'
import { type DescribedEndpoint, protocolPaths, protocolTags } from './protocol-paths.ts'
import { queryParameters } from './query.ts'
import { authErrors, SecuritySchemes } from './security.ts'

/** The parts of a Service that its document describes. */
export interface DocumentSource extends MetadataSource {
  readonly gets: ReadonlyMap<string, GetApi>
  readonly lives: ReadonlyMap<string, LiveApi>
  readonly auth: RequestHook | undefined
  readonly publicPaths: readonly string[]
  readonly version: string | undefined
}

interface Shared {
  readonly service: DocumentSource
  readonly components: Components
  readonly security: SecuritySchemes
}

/** An OpenAPI document. **Source**: OpenAPI 3.1.1. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly [member: string]: unknown
}

const descriptorsMember = 'x-serving'

/** Returns the document of a service whose APIs are below `prefix`. `others`: endpoints beside the APIs. */
export function openApiDocument(
  service: DocumentSource,
  prefix: string,
  others: readonly DescribedEndpoint[] = [],
): OpenApiDocument {
  const { name, doc, apis, gets, lives, version = '0.0.0' } = service
  const shared: Shared = { service, components: new Components(), security: new SecuritySchemes() }
  const paths: Record<string, Record<string, unknown>> = {}
  for (const api of apis.values()) paths[`/${api.route}`] = { post: operationOf(api, shared) }
  for (const api of gets.values()) {
    const path = `/${api.route}`
    paths[path] = { ...paths[path], get: getOperationOf(api, shared) }
  }
  for (const api of lives.values()) {
    const path = `/${api.route}`
    paths[path] = { ...paths[path], get: liveOperationOf(api, shared) }
  }
  const taken = new Set([...apis.keys(), ...gets.keys(), ...lives.keys()])
  const all = [...jobPaths(apis.values(), prefix, shared.components), ...others]
  const protocols = protocolPaths(all, prefix, taken, (path) =>
    isPublicPath(service.publicPaths, path) ? [] : shared.security.requirementsOf(service.auth),
  )
  const about = doc === undefined ? {} : { description: doc }
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: { title: name, version, ...about },
    servers: [{ url: prefix || '/' }],
    tags: [{ name, ...about }, ...protocolTags(protocols)],
    paths: { ...paths, ...protocols },
    components: {
      schemas: shared.components.schemas,
      ...(shared.security.schemes && { securitySchemes: shared.security.schemes }),
    },
  }
}

function operationOf(api: Api, shared: Shared): Readonly<Record<string, unknown>> {
  const { name, input } = api
  const { components } = shared
  const { input: requests, errors } = input.describe()
  const { parameters, accepted } = asyncMembers(api, components)
  return {
    ...commonMembers(api, shared),
    ...parameters,
    requestBody: {
      required: true,
      content: withExamples(contentOf(requests, components, `${name}_request`), api),
    },
    responses: { ...success(api, components), ...accepted, ...problems(api, errors, shared) },
    [descriptorsMember]: clientMetadata(api),
  }
}

const queryErrors = [{ code: 'bad_input', reasons: ['schema', 'size'] }] as const

function getOperationOf(api: GetApi, shared: Shared): Readonly<Record<string, unknown>> {
  const { output } = api
  const { components } = shared
  return {
    ...commonMembers(api, shared),
    parameters: queryParameters(api, components),
    responses: { ...success(api, components), ...problems(api, queryErrors, shared) },
    [descriptorsMember]: { output: clientDescriptor(output) },
  }
}

/** A live stream is the GET that is upgraded; what its messages are is no part of OpenAPI. */
function liveOperationOf(api: LiveApi, shared: Shared): Readonly<Record<string, unknown>> {
  const { name, input, output } = api
  const { components } = shared
  const requests = input.describe()
  return {
    ...commonMembers(api, shared),
    responses: {
      101: { description: 'A WebSocket; asyncapi.json describes its messages.' },
      ...problems(api, requests.errors, shared),
    },
    [descriptorsMember]: {
      ...clientMetadata(api),
      live: {
        input: { content: contentOf(requests.input, components, `${name}_request`) },
        output: { content: contentOf(output.describe().output, components, `${name}_response`) },
      },
    },
  }
}

function commonMembers(api: Api | GetApi | LiveApi, { service, security }: Shared) {
  const { name, doc } = api
  const requirements = security.requirementsOf(authOf(api, service))
  return {
    operationId: name,
    tags: [service.name],
    ...(doc !== undefined && { description: doc }),
    ...(requirements.length > 0 && { security: requirements }),
  }
}

/** Returns who may call an API. */
export function authOf({ auth }: Api | GetApi | LiveApi, service: DocumentSource): RequestHook | undefined {
  return auth === undefined ? service.auth : auth || undefined
}

function problems(api: Api | GetApi | LiveApi, errors: readonly ErrorDescription[], { service, components }: Shared) {
  return problemResponses([...errors, ...authErrors(authOf(api, service))], components)
}

function success({ name, fn, output }: Api | GetApi, components: Components) {
  const described = output.describe()
  const isGenerator = /^(Async)?GeneratorFunction$/.test(fn.constructor.name)
  const content = contentOf(isGenerator ? described.stream : described.output, components, `${name}_response`)
  return { 200: { description: 'What the function returned.', content } }
}
