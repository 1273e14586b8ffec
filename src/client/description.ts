import type { ApiMethod } from '../api/api.ts'
import { ServingError } from './serving-error.ts'

/** A JSON Schema as it stands in an OpenAPI document: its references are relative to the document. */
export interface SchemaObject {
  readonly [keyword: string]: unknown
}

/** A descriptor: its kind, its options, its formats, and the parts of a form. */
export interface DescriptorInfo {
  /** `serving.io.NumpyNdarray`, …; a name of its own for a custom one. */
  readonly id: string
  readonly args: Readonly<Record<string, unknown>>
  readonly mimeTypes: readonly string[]
  readonly schema: SchemaObject | undefined
  readonly example: unknown
  readonly parts?: ReadonlyMap<string, PartInfo>
}

/** A part of a form. */
export interface PartInfo extends DescriptorInfo {
  readonly occurrence: 'one' | 'optional' | 'many'
}

/** An API. */
export interface ApiInfo {
  readonly name: string
  readonly method: ApiMethod
  /** Whether it can be submitted as a job. */
  readonly isAsync: boolean
  /** Whether it is a stream both ways, over a WebSocket. */
  readonly isLive: boolean
  /** Of a live stream: how long a message to it may be. **Units**: bytes. */
  readonly maxMessage?: number | undefined
  readonly path: string
  readonly doc: string | undefined
  readonly input: DescriptorInfo
  readonly output: DescriptorInfo
}

/** The id of the input of a GET or DELETE API: its query, whose parameters are the properties of the schema. */
export const queryId = 'query'

/** The members of an OpenAPI document that are read. `serving openapi FILE` prints one. */
export interface OpenApiDocument {
  readonly paths?: Readonly<Record<string, unknown>>
}

/** An operation of the document. */
export interface Operation {
  readonly operationId?: string
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly description?: string
  readonly requestBody?: Body
  readonly responses?: Readonly<Record<string, Body>>
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly Parameter[]
  readonly 'x-serving'?: {
    readonly input?: Descriptor
    readonly output: Descriptor
    readonly live?: { readonly maxMessage?: number; readonly input: Body; readonly output: Body }
  }
}

interface Parameter {
  readonly name: string
  readonly in?: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: SchemaObject
}

interface Body {
  readonly description?: string
  readonly content?: Readonly<Record<string, MediaType>>
}

interface MediaType {
  readonly schema?: SchemaObject
  readonly example?: unknown
  readonly examples?: Readonly<
    Record<string, { readonly value?: unknown; readonly externalValue?: string }>
  >
  readonly encoding?: Readonly<Record<string, { readonly contentType?: string } | undefined>>
}

interface Descriptor {
  readonly descriptorId: string
  readonly args: DescriptorInfo['args']
  readonly parts?: readonly (Descriptor & {
    readonly name: string
    readonly occurrence: PartInfo['occurrence']
  })[]
}

/** Walks over the operations of a document. */
export function* operationsOf({ paths = {} }: OpenApiDocument) {
  for (const [path, given] of Object.entries(paths)) {
    const item = given as Partial<Record<string, Operation>>
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      const operation = item[method.toLowerCase()]
      if (operation !== undefined) yield { path, item, method, operation }
    }
  }
}

/** @returns the APIs of a document by name. */
export function apisOf(document: OpenApiDocument): ReadonlyMap<string, ApiInfo> {
  const apis = new Map<string, ApiInfo>()
  for (const { path, method, operation } of operationsOf(document)) {
    const { operationId: name, description: doc, responses = {}, 'x-serving': kinds } = operation
    if (name === undefined || kinds === undefined) continue
    const { input, output, live } = kinds
    const bodies = live ?? { input: operation.requestBody, output: responses['200'] }
    apis.set(name, {
      name,
      method,
      isAsync: '202' in responses,
      isLive: live !== undefined,
      maxMessage: live?.maxMessage,
      path,
      doc,
      input: input === undefined ? queryInfo(operation) : infoOf(input, bodies.input),
      output: infoOf(output, bodies.output),
    })
  }
  return apis
}

const anyOthers: Pick<Parameter, 'schema'> = {
  schema: { type: 'object', additionalProperties: {} },
}

/** @returns the input of an operation that has no body. */
export function queryInfo({ parameters: all = [] }: Operation): DescriptorInfo {
  const parameters = all.filter((each) => each.in === 'query')
  const [first = anyOthers] = parameters
  // One object stands for parameters of which nothing is known.
  const isOpen = parameters.length <= 1 && first.schema.additionalProperties !== undefined
  const schema = isOpen
    ? first.schema
    : {
        type: 'object',
        properties: Object.fromEntries(parameters.map((each) => [each.name, each.schema])),
        required: parameters.filter(({ required }) => required).map(({ name }) => name),
      }
  return { id: queryId, args: {}, mimeTypes: [], schema, example: undefined }
}

function infoOf(
  { descriptorId: id, args, parts }: Descriptor,
  { content = {} }: Body = {},
): DescriptorInfo {
  const [media = {}] = Object.values(content)
  const { schema, examples = {}, example = Object.values(examples)[0]?.value } = media
  const info = { id, args, mimeTypes: Object.keys(content), schema, example }
  if (parts === undefined) return info
  return { ...info, parts: new Map(parts.map((part) => [part.name, partInfo(part, media)])) }
}

function partInfo(
  part: NonNullable<Descriptor['parts']>[number],
  { schema, encoding }: MediaType,
): PartInfo {
  const { name, occurrence } = part
  const field: SchemaObject = Object(Object(schema?.properties)[name])
  const one: SchemaObject = occurrence === 'many' ? Object(field.items) : field
  const isJson = one.contentSchema !== undefined
  const [example] = (one.examples ?? []) as readonly unknown[]
  return {
    ...infoOf(part),
    occurrence,
    mimeTypes: encoding?.[name]?.contentType?.split(', ') ?? [],
    schema: isJson ? (one.contentSchema as SchemaObject) : one,
    example: isJson && typeof example === 'string' ? JSON.parse(example) : example,
  }
}

/**
 * @returns an API by name.
 * @throws ServingError `not_found`.
 */
export function findApi(apis: ReadonlyMap<string, ApiInfo>, name: string): ApiInfo {
  const api = apis.get(name)
  if (api !== undefined) return api
  const names = [...apis.keys()].join(', ')
  throw new ServingError(`expected one of ${names} for the name of an API, received ${name}`, {
    code: 'not_found',
  })
}
