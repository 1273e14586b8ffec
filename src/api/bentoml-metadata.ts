/**
 * Metadata for BentoML's own clients. They fail for an unknown kind or option, so custom descriptors have no metadata
 * here, and options are exactly those of BentoML 1.1. @module
 */

import { parseDType } from '../core/dtype.ts'
import type { IODescriptor } from '../descriptors/descriptor.ts'
import { parseFrameType } from '../values/table/frame-dtype.ts'
import { type MetadataSource, publicOptions, type ServiceMetadata } from './service-metadata.ts'

/** A descriptor as BentoML's documents have it. */
export interface BentomlSpec {
  readonly id: string
  readonly args?: Readonly<Record<string, unknown>>
}

type Args = Readonly<Record<string, unknown>>

/** Maps our options to BentoML's, by kind of descriptor. */
const argsOf: Readonly<Record<string, (args: Args) => Args | undefined>> = {
  NumpyNdarray: ({ dtype = null, shape = null, enforce_dtype, enforce_shape }) => ({
    dtype,
    shape,
    enforce_dtype,
    enforce_shape,
  }),
  PandasDataFrame: ({
    orient,
    columns = null,
    dtype,
    shape,
    enforce_dtype,
    enforce_shape,
    default_format,
  }) => ({
    orient,
    columns,
    dtype: typeof dtype === 'object' && dtype !== null ? pandasTypes(dtype) : null,
    // The clients would also compare the number of rows.
    shape: Array.isArray(shape) ? [-1, shape[1]] : null,
    enforce_dtype: typeof dtype === 'object' && enforce_dtype === true,
    enforce_shape,
    default_format,
  }),
  // BentoML's client fails on the text "null" that BentoML writes for no dtype.
  PandasSeries: ({ orient, dtype, shape = null, enforce_dtype, enforce_shape }) => {
    const type = numpyType(dtype)
    return {
      orient,
      dtype: type,
      shape,
      enforce_dtype: type !== null && enforce_dtype === true,
      enforce_shape,
    }
  },
  JSON: () => ({ has_pydantic_model: false, has_json_encoder: false }),
  Text: () => undefined,
  Image: ({ pilmode = null, mime_type, allowed_mime_types = null }) => ({
    pilmode,
    mime_type,
    allowed_mime_types,
  }),
  File: ({ mime_type }) => ({
    kind: 'binaryio',
    mime_type: mime_type === 'application/octet-stream' ? null : mime_type,
  }),
}

/** Undefined for a descriptor that BentoML does not have. */
export function bentomlSpec(descriptor: IODescriptor): BentomlSpec | undefined {
  const { options, parts } = publicOptions(descriptor)
  const kind = /^serving\.io\.(\w+)$/.exec(descriptor.descriptorId)?.[1]
  const id = `bentoml.io.${kind}`
  if (kind === 'Multipart') {
    const specs = [...parts].map(([name, part]) => [name, bentomlSpec(part)] as const)
    return specs.every(([, spec]) => spec !== undefined)
      ? { id, args: Object.fromEntries(specs) }
      : undefined
  }
  if (kind === undefined || !Object.hasOwn(argsOf, kind)) return undefined
  const args = argsOf[kind](options)
  return args === undefined ? { id } : { id, args }
}

/** Describes the APIs whose descriptors BentoML has. */
export function bentomlMetadata({ name, doc, apis }: MetadataSource): ServiceMetadata {
  return {
    name: bentomlName(name),
    docs: doc ?? '',
    apis: [...apis.values()].flatMap((api) => {
      const [input, output] = [bentomlSpec(api.input), bentomlSpec(api.output)]
      if (input === undefined || output === undefined) return []
      return [
        {
          name: api.name,
          input: metadataOf(input),
          output: metadataOf(output),
          docs: api.doc ?? '',
        },
      ]
    }),
  }
}

function metadataOf({ id, args }: BentomlSpec) {
  return { descriptorId: id, attributes: args === undefined ? {} : { args } }
}

/**
 * @returns a name for BentoML's tags: lower-case, alphanumeric at its ends, at most 63 characters.
 */
export function bentomlName(name: string): string {
  const trimmed = name.toLowerCase().replace(/^[^a-z0-9]+/, '')
  return trimmed.slice(0, 63).replace(/[^a-z0-9]+$/, '') || 'service'
}

function pandasTypes(dtypes: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(dtypes).map(([column, dtype]) => [column, pandasType(dtype)]),
  )
}

function pandasType(dtype: string): string {
  const type = parseFrameType(dtype, 'dtype')
  if (type === 'Utf8') return 'str'
  if (type === 'Categorical') return 'category'
  if (type === 'Date') return 'datetime64[ns]'
  return type.startsWith('Datetime')
    ? type.replace(/^Datetime\((.*)\)$/, 'datetime64[$1]')
    : type.toLowerCase()
}

/** Null for a dtype that numpy does not have. */
function numpyType(dtype: unknown): string | null {
  try {
    return parseDType(dtype)
  } catch {
    return null
  }
}
