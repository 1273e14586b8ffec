/**
 * The OpenAPI document of a service: all its APIs, from the descriptions of their descriptors.
 * @module
 */
import type { IODescriptor } from '../descriptors/descriptor.ts'
import type { Api } from '../service/api.ts'
import type { GetApi } from '../service/get-api.ts'
import { clientMetadata, type MetadataSource } from '../service/service-metadata.ts'
import { Components } from './components.ts'
import { contentOf } from './content.ts'
import { problemResponses } from './problems.ts'
import { queryParameters } from './query.ts'

/** The parts of a Service that its document describes. */
export interface DocumentSource extends MetadataSource {
  readonly gets: ReadonlyMap<string, GetApi>
}

/** An OpenAPI document. **Source**: OpenAPI 3.1.1. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly [member: string]: unknown
}

/** The extension member of an operation with the kinds and options of its descriptors. */
const descriptorsMember = 'x-serving'

/** Returns the document of a service whose APIs are below `prefix`, which has no slash at its end. */
export function openApiDocument(service: DocumentSource, prefix: string): OpenApiDocument {
  const { name, doc, apis, gets } = service
  const components = new Components()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const api of apis.values()) paths[`/${api.route}`] = { post: operationOf(api, name, components) }
  for (const api of gets.values()) {
    const path = `/${api.route}`
    paths[path] = { ...paths[path], get: getOperationOf(api, name, components) }
  }
  const about = doc === undefined ? {} : { description: doc }
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: { title: name, version: '0.0.0', ...about },
    servers: [{ url: prefix || '/' }],
    tags: [
      { name, ...about },
      { name: 'health', description: 'Whether the server runs, and whether it takes requests.' },
    ],
    paths: { ...paths, ...healthPaths(new Set([...apis.keys(), ...gets.keys()]), prefix) },
    components: { schemas: components.schemas },
  }
}

function operationOf(api: Api, tag: string, components: Components): Readonly<Record<string, unknown>> {
  const { name, input, output, doc } = api
  const { input: requests, errors } = input.describe()
  return {
    operationId: name,
    tags: [tag],
    ...(doc !== undefined && { description: doc }),
    requestBody: {
      required: true,
      content: contentOf(requests, components, `${name}_request`),
    },
    responses: { ...success(name, output, components), ...problemResponses(errors, components) },
    [descriptorsMember]: clientMetadata(api),
  }
}

const queryErrors = [{ code: 'bad_input', reasons: ['schema', 'size'] }] as const

function getOperationOf(api: GetApi, tag: string, components: Components): Readonly<Record<string, unknown>> {
  const { name, output, doc } = api
  return {
    operationId: name,
    tags: [tag],
    ...(doc !== undefined && { description: doc }),
    parameters: queryParameters(api, components),
    responses: { ...success(name, output, components), ...problemResponses(queryErrors, components) },
  }
}

function success(name: string, output: IODescriptor, components: Components) {
  const content = contentOf(output.describe().output, components, `${name}_response`)
  return { 200: { description: 'What the function returned.', content } }
}

const text = (description: string) => ({
  description,
  content: { 'text/plain': { schema: { type: 'string' } } },
})

/** Health is at the root of the server, whatever the APIs are below. */
function healthPaths(taken: ReadonlySet<string>, prefix: string): OpenApiDocument['paths'] {
  const page = (name: string, summary: string, unavailable?: string) => ({
    ...(prefix !== '' && { servers: [{ url: '/' }] }),
    get: {
      operationId: taken.has(name) ? `${name}_` : name,
      tags: ['health'],
      summary,
      responses: { 200: text('Yes.'), ...(unavailable !== undefined && { 503: text(unavailable) }) },
    },
  })
  return {
    '/livez': page('livez', 'Whether the process answers.'),
    '/healthz': page('healthz', 'As `/livez`.'),
    '/readyz': page('readyz', 'Whether requests should be sent.', 'No, and why.'),
  }
}
