import type { PageEntry } from '../../api/page-entry.ts'
import {
  type ApiInfo,
  type DescriptorInfo,
  type Operation,
  queryId,
  type SchemaObject,
} from '../../client/description.ts'
import type { ServiceDocument } from './operation.ts'

/** An API, or a path of a protocol or of a mounted handler. */
export interface ListedApi extends ApiInfo {
  /** Of a path that is no API: what it belongs to. */
  readonly group?: string
  /** Whether its path is at the root of the server, not below the base URL. */
  readonly isRoot?: boolean
  /** What it may be asked by, of a path that the reader chooses the method and the rest of. */
  readonly methods?: readonly string[]
}

/** What the server says to the page alone. */
export interface PageData {
  /** Whether the server tells the last calls. */
  readonly hasCalls: boolean
  readonly entries: readonly (PageEntry & { readonly isRoot: boolean })[]
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * @returns the paths of a document that are no APIs: of protocols, and of mounted handlers with a
 * document.
 */
export function otherApisOf({ paths = {} }: ServiceDocument): ReadonlyMap<string, ListedApi> {
  const others = Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method.toLowerCase()] as (Operation & Described) | undefined
      if (operation === undefined || operation['x-serving'] !== undefined) return []
      const {
        operationId: name = `${method} ${path}`,
        summary,
        description: doc = summary,
        tags: [group] = [],
      } = operation
      return {
        name,
        method,
        path,
        doc,
        group: group ?? `/${path.split('/')[1]}`,
        isRoot: (item as unknown as Described).servers !== undefined,
        isAsync: false,
        isLive: false,
        input: inputOf(operation),
        output: outputOf(operation),
      }
    }),
  )
  return new Map(others.map((api) => [api.name, api]))
}

/** @returns the paths that no document has: of mounted handlers, and of protocols. */
export function entryApisOf({ entries }: PageData): readonly ListedApi[] {
  return entries.flatMap(({ path, methods, doc, group, example, isRoot }) => {
    const isOpen = path.endsWith('*')
    const apiBy = (method: string, name: string): ListedApi => ({
      name,
      method: method as ListedApi['method'],
      path,
      doc,
      group,
      isRoot,
      isAsync: false,
      isLive: false,
      input: method === 'GET' ? anyQuery : exampleOf(example),
      output: anyAnswer,
    })
    if (isOpen) return { ...apiBy('GET', `ANY ${path}`), methods }
    return methods.map((method) => apiBy(method, `${method} ${path}`))
  })
}

const anyAnswer = { ...infoOf('text/plain', undefined), id: 'any type' }
const anyQuery = queryInfo({ type: 'object', additionalProperties: {} })

function queryInfo(schema: SchemaObject): DescriptorInfo {
  return { id: queryId, args: {}, mimeTypes: [], schema, example: undefined }
}

function exampleOf(
  { type, text }: PageEntry['example'] = { type: 'application/json', text: '{}' },
) {
  return infoOf(type, undefined, /json$/.test(type) ? JSON.parse(text) : text)
}

interface Described {
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly servers?: unknown
}

function inputOf({ requestBody, parameters = [] }: Operation): DescriptorInfo {
  const [[type, media] = []] = Object.entries(requestBody?.content ?? {})
  if (type !== undefined) return infoOf(type, media?.schema, media?.example)
  const query = parameters.filter((each) => each.in === 'query')
  return queryInfo({
    type: 'object',
    properties: Object.fromEntries(query.map((each) => [each.name, each.schema])),
    required: query.filter(({ required }) => required).map(({ name }) => name),
  })
}

function outputOf({ responses = {} }: Operation): DescriptorInfo {
  const [type = 'text/plain'] = Object.keys(responses['200']?.content ?? {})
  return infoOf(type, responses['200']?.content?.[type]?.schema)
}

function infoOf(type: string, schema: DescriptorInfo['schema'], example?: unknown): DescriptorInfo {
  const kinds: [RegExp, string][] = [
    [/^text\//, 'serving.io.Text'],
    [/json$/, 'serving.io.JSON'],
    [/^/, 'serving.io.File'],
  ]
  const [, id = ''] = kinds.find(([pattern]) => pattern.test(type)) ?? []
  return { id, args: {}, mimeTypes: [type], schema, example }
}
