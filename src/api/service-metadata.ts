import type { IODescriptor } from '../descriptors/descriptor.ts'
import { ProtoWriter } from '../messages/protobuf.ts'
import { writeStruct } from '../messages/value.ts'
import type { Api } from './api.ts'

/** @see `ServiceMetadataResponse.DescriptorMetadata`. */
export interface DescriptorMetadata {
  /** `serving.io.NumpyNdarray`; of a custom descriptor its own name, else its class's. */
  readonly descriptorId: string
  readonly attributes: { readonly args?: Readonly<Record<string, unknown>> }
}

/** A service as metadata has it. */
export interface ServiceMetadata {
  readonly name: string
  readonly docs: string
  readonly apis: readonly {
    readonly name: string
    readonly input: DescriptorMetadata
    readonly output: DescriptorMetadata
    readonly docs?: string
  }[]
}

/** The parts of a Service that metadata describes. */
export interface MetadataSource {
  readonly name: string
  readonly doc: string | undefined
  readonly apis: ReadonlyMap<string, Api>
}

/**
 * Descriptors publish `mimeType` and `publicOptions` only.
 *
 * @returns metadata, also its JSON form.
 */
export function serviceMetadata({ name, doc, apis }: MetadataSource): ServiceMetadata {
  return {
    name,
    docs: doc ?? '',
    apis: [...apis.values()].map((api) => ({
      name: api.name,
      input: descriptorMetadata(api.input),
      output: descriptorMetadata(api.output),
      ...(api.doc !== undefined && { docs: api.doc }),
    })),
  }
}

function descriptorMetadata(descriptor: IODescriptor): DescriptorMetadata {
  const { options, parts } = publicOptions(descriptor)
  const nested = [...parts].map(([name, part]) => [name, descriptorMetadata(part)] as const)
  return {
    descriptorId: descriptor.descriptorId,
    attributes: { args: { ...options, ...Object.fromEntries(nested) } },
  }
}

/** A descriptor for clients and pages: kind, options in the spec's names, parts. */
export interface ClientDescriptor {
  readonly descriptorId: string
  readonly args: Readonly<Record<string, unknown>>
  readonly parts?: readonly (ClientDescriptor & {
    readonly name: string
    readonly occurrence: string
  })[]
}

/** @returns the OpenAPI document's extension `x-serving`. */
export function clientMetadata({ input, output }: Pick<Api, 'input' | 'output'>) {
  return { input: clientDescriptor(input), output: clientDescriptor(output) }
}

/** @returns the metadata of one descriptor. */
export function clientDescriptor(descriptor: IODescriptor): ClientDescriptor {
  const { descriptorId } = descriptor
  const { options: args, parts } = publicOptions(descriptor)
  if (parts.size === 0) return { descriptorId, args }
  const fields = descriptor.describe().input[0].fields ?? []
  const each = fields.flatMap(({ name, occurrence }) => {
    const part = parts.get(name)
    return part === undefined ? [] : [{ name, occurrence, ...clientDescriptor(part) }]
  })
  return { descriptorId, args, parts: each }
}

/** @returns published options in the spec's names, and the parts' descriptors. */
export function publicOptions(descriptor: IODescriptor) {
  const options: Record<string, unknown> = {}
  const parts = new Map<string, IODescriptor>()
  for (const key of new Set(['mimeType', ...descriptor.publicOptions])) {
    const value: unknown = descriptor[key as keyof IODescriptor]
    if (value instanceof Map) for (const [name, part] of value) parts.set(name, part)
    else if (isPlain(value))
      options[key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value
  }
  return { options, parts }
}

/** False for objects of a class, which may be deep or cyclic. */
function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isPlain)
  if (typeof value === 'object' && value !== null) {
    const prototype = Object.getPrototypeOf(value)
    return (
      (prototype === null || prototype === Object.prototype) && Object.values(value).every(isPlain)
    )
  }
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

/** Encodes metadata as a ServiceMetadataResponse. */
export function encodeServiceMetadata({ name, docs, apis }: ServiceMetadata): Buffer {
  const writer = new ProtoWriter(1024)
  const text = (field: number, value: string | undefined) => {
    if (value) writer.text(field, value)
  }
  const descriptor = (field: number, { descriptorId, attributes }: DescriptorMetadata) =>
    writer.message(field, () => {
      text(1, descriptorId)
      writer.message(2, () => writeStruct(writer, attributes))
    })
  text(1, name)
  for (const api of apis) {
    writer.message(2, () => {
      text(1, api.name)
      descriptor(2, api.input)
      descriptor(3, api.output)
      text(4, api.docs)
    })
  }
  text(3, docs)
  return writer.finish()
}
