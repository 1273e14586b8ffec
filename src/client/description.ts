/**
 * What a service says of its APIs in its OpenAPI document, as far as calls need it.
 * @module
 */
import { ServingError } from './serving-error.ts'

/** A descriptor: its kind, its options in the specification's names, and the parts of a form. */
export interface DescriptorInfo {
  /** `serving.io.NumpyNdarray`, … */
  readonly id: string
  /** `mime_type`, `orient`, `dtype`, `shape`, … */
  readonly args: Readonly<Record<string, unknown>>
  /** Of a form, by name. */
  readonly parts?: ReadonlyMap<string, PartInfo>
}

/** A part of a form. */
export interface PartInfo extends DescriptorInfo {
  readonly occurrence: 'one' | 'optional' | 'many'
}

/** An API. */
export interface ApiInfo {
  readonly name: string
  /** Below the URL of the service: `/classify`. */
  readonly path: string
  readonly input: DescriptorInfo
  readonly output: DescriptorInfo
}

/** The members of an OpenAPI document that are read. `serving openapi FILE` prints one. */
export interface OpenApiDocument {
  readonly paths?: Readonly<Record<string, unknown>>
}

interface Operation {
  readonly operationId?: string
  readonly 'x-serving'?: { readonly input: Metadata; readonly output: Metadata }
}

interface Metadata {
  readonly descriptorId: string
  readonly args: Readonly<Record<string, unknown>>
  readonly parts?: readonly (Metadata & { readonly name: string; readonly occurrence: PartInfo['occurrence'] })[]
}

/** Returns the APIs of a document by name. */
export function apisOf({ paths = {} }: OpenApiDocument): ReadonlyMap<string, ApiInfo> {
  const apis = new Map<string, ApiInfo>()
  for (const [path, item] of Object.entries(paths)) {
    const { operationId, 'x-serving': own } = (item as { post?: Operation }).post ?? {}
    if (operationId === undefined || own === undefined) continue
    apis.set(operationId, { name: operationId, path, input: infoOf(own.input), output: infoOf(own.output) })
  }
  return apis
}

function infoOf({ descriptorId, args, parts }: Metadata): DescriptorInfo {
  const info = { id: descriptorId, args }
  if (parts === undefined) return info
  return { ...info, parts: new Map(parts.map((part) => [part.name, { ...infoOf(part), occurrence: part.occurrence }])) }
}

/** Returns an API by name. **Errors**: ServingError `not_found`. */
export function findApi(apis: ReadonlyMap<string, ApiInfo>, name: string): ApiInfo {
  const api = apis.get(name)
  if (api !== undefined) return api
  const names = [...apis.keys()].join(', ')
  throw new ServingError(`expected one of ${names} for the name of an API, received ${name}`, {
    status: 0,
    code: 'not_found',
  })
}
