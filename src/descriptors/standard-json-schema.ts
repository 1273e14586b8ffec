/**
 * JSON Schemas of Standard Schemas.
 *
 * Libraries that implement the Standard JSON Schema interface (zod from 4.2, arktype) are asked by it, others by their
 * own converter. What JSON Schema cannot say is left open: a document must not fail for one date.
 * @module
 */
import { loadOptional } from '../core/modules/optional.ts'
import type { JsonSchema } from './description.ts'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from './run-schema.ts'

/** What a body is: what the schema takes, or what it gives. */
export type Direction = 'input' | 'output'

type Convert = (schema: StandardSchemaV1, direction: Direction) => unknown

/** The interface's target, which libraries spell so. Unknown ones were answered in draft 7 by zod 4.6. */
const target = 'draft-2020-12'

interface ZodNode {
  readonly zodSchema: { readonly _zod: { readonly def: { readonly type: string } } }
  readonly jsonSchema: Record<string, unknown>
}

/** Dates are written as texts, and bigints as integers. */
function describeZodNode({ zodSchema, jsonSchema }: ZodNode): void {
  const { type } = zodSchema._zod.def
  if (type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' })
  else if (type === 'bigint') jsonSchema.type = 'integer'
}

const zodOptions = { unrepresentable: 'any', override: describeZodNode }

/** What each library calls leaving open what it cannot say. */
const libraryOptions: Readonly<Record<string, Record<string, unknown>>> = {
  zod: zodOptions,
  arktype: {
    fallback: { default: ({ base }: { base: object }) => base, date: () => ({ type: 'string', format: 'date-time' }) },
  },
}

const byInterface: Convert = (schema, direction) => {
  const { jsonSchema, vendor } = (schema as unknown as Partial<StandardJSONSchemaV1>)['~standard'] ?? {}
  return jsonSchema?.[direction]({ target, libraryOptions: libraryOptions[vendor ?? ''] })
}

type Converter = (schema: unknown, options: Record<string, unknown>) => unknown

/** The converters of the libraries themselves, by vendor. */
const byVendor: Readonly<Record<string, Convert>> = {
  zod: (schema, io) =>
    loadOptional<{ toJSONSchema: Converter }>('zod', '4', 'JSON').toJSONSchema(schema, { ...zodOptions, target, io }),
  valibot: (schema, typeMode) =>
    loadOptional<{ toJsonSchema: Converter }>('@valibot/to-json-schema', '1', 'JSON').toJsonSchema(schema, {
      target,
      typeMode,
      errorMode: 'ignore',
    }),
  arktype: (schema) => (schema as unknown as { toJsonSchema(options: unknown): unknown }).toJsonSchema({ target }),
}

/**
 * Returns the JSON Schema of what a schema takes or gives. One that accepts everything, with the vendor's name in a
 * comment, where the library has no converter or the converter's package is not installed.
 */
export function jsonSchemaOf(schema: StandardSchemaV1, direction: Direction): JsonSchema {
  const { vendor } = schema['~standard']
  for (const convert of [byInterface, byVendor[vendor]]) {
    try {
      const found = convert?.(schema, direction)
      if (typeof found === 'object' && found !== null) {
        const { $schema: _, ...rest } = found as Record<string, unknown>
        return rest
      }
    } catch {
      // The next one is asked.
    }
  }
  return { $comment: `what a schema of ${vendor} accepts` }
}
