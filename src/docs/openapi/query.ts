/** The query of a GET API as OpenAPI parameters. @module */

import type { GetApi } from '../../api/get-api.ts'
import { isRecord } from '../../core/options.ts'
import type { JsonSchema } from '../../descriptors/description.ts'
import { jsonSchemaOf } from '../../descriptors/standard-json-schema.ts'
import type { Components } from './components.ts'

/** Returns the parameters of a query: those that its schema names, and any others that it takes. */
export function queryParameters({ name, query }: GetApi, components: Components): readonly object[] {
  if (query === undefined) return [anyOthers]
  const schema = jsonSchemaOf(query, 'input')
  const defs = isRecord(schema.$defs) ? schema.$defs : {}
  const root = rootOf(schema, defs)
  const required = Array.isArray(root.required) ? root.required : []
  if (!isRecord(root.properties)) return [anyOthers]
  return Object.entries(root.properties).map(([key, property]) => {
    const own = isRecord(property) ? property : {}
    return {
      name: key,
      in: 'query',
      required: required.includes(key),
      ...(typeof own.description === 'string' && { description: own.description }),
      schema: components.adopt({ ...own, $defs: defs }, `${name}_${key}`),
    }
  })
}

const anyOthers = {
  name: 'query',
  in: 'query',
  description: 'Any parameters.',
  schema: { type: 'object', additionalProperties: { type: ['string', 'array'], items: { type: 'string' } } },
}

/** Returns the schema that a reference at the root means: zod writes one for a schema with a name. */
function rootOf(schema: JsonSchema, defs: Readonly<Record<string, unknown>>): JsonSchema {
  const match = typeof schema.$ref === 'string' ? /^#\/\$defs\/([^/]+)$/.exec(schema.$ref) : null
  const named = match === null ? undefined : defs[match[1]]
  return isRecord(named) ? named : schema
}
