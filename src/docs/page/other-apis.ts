import type { PageEntry } from '../../api/page-entry.ts'
import {
  type ApiInfo,
  type DescriptorInfo,
  type Operation,
  operationsOf,
  queryInfo,
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

const common = { isAsync: false, isLive: false }

/**
 * @returns the paths of a document that are no APIs: of protocols, and of mounted handlers with a
 * document.
 */
export function otherApisOf(document: ServiceDocument): readonly ListedApi[] {
  return [...operationsOf(document)].flatMap(({ path, item, method, operation }) => {
    if (operation['x-serving'] !== undefined) return []
    const { operationId: name = `${method} ${path}`, summary, tags = [] } = operation
    const { requestBody, responses = {}, description: doc = summary } = operation
    const [group = `/${path.split('/')[1]}`] = tags
    const input = requestBody === undefined ? queryInfo(operation) : infoOf(requestBody)
    const output = infoOf(responses['200'])
    return { ...common, name, method, path, doc, group, isRoot: 'servers' in item, input, output }
  })
}

/** @returns the paths that no document has: of mounted handlers, and of protocols. */
export function entryApisOf({ entries }: PageData): readonly ListedApi[] {
  return entries.flatMap(({ path, methods, doc, group, example, isRoot }) => {
    const { type, text } = example ?? { type: 'application/json', text: '{}' }
    const value: unknown = /json$/.test(type) ? JSON.parse(text) : text
    const body = infoOf({ content: { [type]: { example: value } } })
    const output = { ...infoOf(undefined), id: 'any type' }
    const apiBy = (method: string, name: string): ListedApi => ({
      ...common,
      name,
      method: method as ListedApi['method'],
      path,
      doc,
      group,
      isRoot,
      input: method === 'GET' ? queryInfo({}) : body,
      output,
    })
    if (path.endsWith('*')) return { ...apiBy('GET', `ANY ${path}`), methods }
    return methods.map((method) => apiBy(method, `${method} ${path}`))
  })
}

const kinds: readonly (readonly [pattern: RegExp, id: string])[] = [
  [/^text\//, 'serving.io.Text'],
  [/json$/, 'serving.io.JSON'],
  [/^/, 'serving.io.File'],
]

/** @returns a body without a descriptor, by its first media type. */
export function infoOf({
  content = {},
}: NonNullable<Operation['requestBody']> = {}): DescriptorInfo {
  const [[type, { schema, example }] = ['text/plain', {}]] = Object.entries(content)
  const [, id = ''] = kinds.find(([pattern]) => pattern.test(type)) ?? []
  return { id, args: {}, mimeTypes: [type], schema, example }
}
