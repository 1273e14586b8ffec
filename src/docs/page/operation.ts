import {
  type ApiInfo,
  type DescriptorInfo,
  type Operation,
  queryId,
} from '../../client/description.ts'
import { filenameOf, partsOf, type Content as ReceivedContent } from '../../client/multipart.ts'
import { fold, h, table } from './dom.ts'
import type { Content } from './field.ts'
import { printRows, typeText } from './schema.ts'

/** A credential: `prefix` stands before it in its header. */
export interface Scheme {
  readonly label: string
  readonly header: string
  readonly prefix: string
}

/** The document of a service. */
export interface ServiceDocument {
  readonly info?: {
    readonly title?: string
    readonly description?: string
    readonly version?: string
  }
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly servers?: readonly { readonly url?: string }[]
  readonly components?: {
    readonly securitySchemes?: Readonly<Record<string, Readonly<Record<string, string>>>>
  }
}

const kinds: Readonly<Record<string, readonly [one: string, many: string]>> = {
  'serving.io.NumpyNdarray': ['Array', 'Arrays'],
  'serving.io.PandasDataFrame': ['Table', 'Tables'],
  'serving.io.PandasSeries': ['Series', 'Series'],
  'serving.io.JSON': ['JSON', 'JSON'],
  'serving.io.Text': ['Text', 'Texts'],
  'serving.io.Image': ['Picture', 'Pictures'],
  'serving.io.File': ['File', 'Files'],
  'serving.io.Multipart': ['Form', 'Forms'],
  [queryId]: ['Query', 'Queries'],
}

/**
 * @returns the heading under which an API is listed: the first name of its path, else the kind of
 * its input.
 */
export function groupOf({ path, input, isLive }: ApiInfo): string {
  const [first, ...others] = path.split('/').filter(Boolean)
  if (others.length > 0) return `/${first}`
  if (isLive) return 'Live streams'
  return kinds[input.id]?.[1] ?? 'Others'
}

/** @returns a descriptor in words: `Array · float32 · shape (any, 4)`. */
export function kindText({ id, args }: DescriptorInfo, isOutput = false): string {
  const { dtype, shape, columns, pilmode, mime_type: type } = args
  const types: Readonly<Record<string, string>> = typeof dtype === 'string' ? {} : Object(dtype)
  const names = Array.isArray(columns) ? columns.map(String) : Object.keys(types)
  const named = names.map((name) => `${name} ${types[name] ?? ''}`.trimEnd()).join(', ')
  const lengths =
    Array.isArray(shape) && shape.map((length) => (length === -1 ? 'any' : length)).join(', ')
  return [
    kinds[id]?.[0] ?? id,
    typeof dtype === 'string' && dtype,
    named,
    lengths !== false && named === '' && `shape (${lengths})`,
    pilmode,
    isOutput && type !== 'application/json' && type,
  ]
    .filter(Boolean)
    .join(' · ')
}

const unknownSchemes: readonly Scheme[] = [
  { label: 'x-api-key', header: 'x-api-key', prefix: '' },
  { label: 'Bearer token', header: 'authorization', prefix: 'Bearer ' },
]

/**
 * @returns the credentials that an API takes; those of any service where the document is not known.
 */
export function schemesOf(
  { security = [] }: Operation,
  document: ServiceDocument | undefined,
): readonly Scheme[] {
  if (document === undefined) return unknownSchemes
  return security.flatMap(Object.keys).flatMap((name) => {
    const {
      type,
      in: place,
      name: header = '',
    } = document.components?.securitySchemes?.[name] ?? {}
    if (type === 'apiKey') return place === 'header' ? { label: header, header, prefix: '' } : []
    return unknownSchemes[1]
  })
}

/** An input that the service offers. */
export type Example = ReturnType<typeof examplesOf>[number]

/** @returns the examples of an API. */
export function examplesOf({ requestBody }: Operation, base: string) {
  return Object.entries(requestBody?.content ?? {}).flatMap(([type, media]) =>
    Object.entries(media.examples ?? {}).map(([name, { value, externalValue }]) => {
      const text = exampleText(value, type)
      const content = externalValue === undefined ? { type, data: text, name } : undefined
      const load = async (headers: Record<string, string>): Promise<Content> => {
        if (content !== undefined) return content
        const response = await fetch(`${base}/${externalValue}`, { headers })
        if (!response.ok) throw new Error(`The example ${name} answered ${response.status}.`)
        return contentOf(response)
      }
      return { name, type, content, load }
    }),
  )
}

async function contentOf(received: ReceivedContent): Promise<Content> {
  const type = received.headers.get('content-type') ?? ''
  if (type.startsWith('multipart/')) {
    const contents = (await partsOf(received)).map(
      async (part) => [part.name, await contentOf(part)] as const,
    )
    return { type: undefined, data: '', parts: await Promise.all(contents) }
  }
  const name = filenameOf(received)
  const isText = name === undefined && /^text\/|json$/.test(type.split(';')[0])
  return {
    type,
    data: isText ? await received.text() : new Blob([await received.blob()], { type }),
    name,
  }
}

/** The members of an error that have words of their own. */
type ErrorWords = Readonly<Record<string, { readonly enum?: readonly string[] } | undefined>>

/** Shows what may be sent and what may come back: media types with schemas, errors, headers. */
export function reference(
  { input, output }: ApiInfo,
  { responses = {} }: Operation,
  document: ServiceDocument,
): HTMLElement {
  const body = (title: string, { schema, mimeTypes }: DescriptorInfo) => [
    h('h3', title),
    mimeTypes.length > 0 && h('p', ...mimeTypes.flatMap((type) => [h('code', type), ' '])),
    schema !== undefined && h('pre', { tabindex: '0' }, typeText(schema, document)),
  ]
  const errors = Object.entries(responses).flatMap(([status, { description, content }]) => {
    const { allOf = [] } = content?.['application/problem+json']?.schema ?? {}
    const [, own] = allOf as readonly { readonly properties?: ErrorWords }[]
    const { code, reason } = own?.properties ?? {}
    if (code === undefined) return []
    const words = [code, reason].map((each) => each?.enum?.join(', '))
    return [[status, ...words, description?.replaceAll('`', '')]]
  })
  return fold(
    'Schemas and errors',
    ...body('Request', input),
    ...body('Response', output),
    h('h3', 'Errors'),
    table('errors', ['status', 'code', 'reason', 'meaning'], errors),
  )
}

function exampleText(value: unknown, type: string): string {
  if (typeof value === 'string' && !type.endsWith('json')) return value
  if (Array.isArray(value)) return printRows(value)
  return JSON.stringify(value, null, 2)
}
