/**
 * JSON Schemas of Standard Schemas: by their standard interface, else by their library's own converter. What JSON
 * Schema cannot express is left open, so that one date does not fail a document. @module
 */
import { loadOptional } from '../core/modules/optional.ts'
import type { JsonSchema } from './description.ts'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from './run-schema.ts'

/** What a body is: what the schema takes, or what it gives. */
export type Direction = 'input' | 'output'

type Convert = (schema: StandardSchemaV1, direction: Direction) => unknown

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

/** Each library's option to leave open what it cannot express. */
const libraryOptions: Readonly<Record<string, Record<string, unknown>>> = {
  zod: zodOptions,
  arktype: {
    fallback: {
      default: ({ base }: { base: object }) => base,
      date: () => ({ type: 'string', format: 'date-time' }),
    },
  },
}

const byInterface: Convert = (schema, direction) => {
  const { jsonSchema, vendor } =
    (schema as unknown as Partial<StandardJSONSchemaV1>)['~standard'] ?? {}
  return jsonSchema?.[direction]({ target, libraryOptions: libraryOptions[vendor ?? ''] })
}

type Converter = (schema: unknown, options: Record<string, unknown>) => unknown

const byVendor: Readonly<Record<string, Convert>> = {
  zod: (schema, io) =>
    loadOptional<{ toJSONSchema: Converter }>('zod', '4', 'JSON').toJSONSchema(schema, {
      ...zodOptions,
      target,
      io,
    }),
  valibot: (schema, typeMode) =>
    loadOptional<{ toJsonSchema: Converter }>('@valibot/to-json-schema', '1', 'JSON').toJsonSchema(
      schema,
      {
        target,
        typeMode,
        errorMode: 'ignore',
      },
    ),
  arktype: (schema) =>
    (schema as unknown as { toJsonSchema(options: unknown): unknown }).toJsonSchema({ target }),
}

/**
 * @returns a JSON Schema; without a converter, one that accepts everything and names the vendor in
 * a comment.
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
    } catch {}
  }
  return { $comment: `what a schema of ${vendor} accepts` }
}
