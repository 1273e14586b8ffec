import type { Api } from '../../api/api.ts'
import { paramNames } from '../../api/path-params.ts'
import { Query } from '../../api/query.ts'
import { isRecord, recordOf } from '../../core/options.ts'
import type { JsonSchema } from '../../descriptors/description.ts'
import type { StandardSchemaV1 } from '../../descriptors/run-schema.ts'
import { jsonSchemaOf } from '../../descriptors/standard-json-schema.ts'
import type { Components } from './components.ts'

/**
 * @returns the parameters of the path, then those that the query's schema names, or any that it
 * takes.
 */
export function parametersOf(
  { name, route, params, input }: Api,
  components: Components,
): readonly object[] {
  const known = params && namedIn(params, 'path', name, components)
  const path = paramNames(route).map(
    (each) => known?.find((one) => one.name === each) ?? pathParameter(each),
  )
  if (!(input instanceof Query)) return path
  if (input.schema === undefined) return path
  return [...path, ...(namedIn(input.schema, 'query', name, components) ?? [anyOthers])]
}

/** @returns a parameter of which only the name is known. */
export function pathParameter(name: string) {
  return { name, in: 'path', required: true, schema: { type: 'string' } }
}

function namedIn(
  of: StandardSchemaV1,
  place: 'path' | 'query',
  name: string,
  components: Components,
) {
  const schema = jsonSchemaOf(of, 'input')
  const defs = recordOf(schema.$defs)
  const root = rootOf(schema, defs)
  const required = [root.required].flat()
  if (!isRecord(root.properties)) return undefined
  return Object.entries(root.properties).map(([key, property]) => {
    const own = recordOf(property)
    return {
      name: key,
      in: place,
      required: place === 'path' || required.includes(key),
      description: own.description,
      schema: components.adopt({ ...own, $defs: defs }, `${name}_${key}`),
    }
  })
}

const anyOthers = {
  name: 'query',
  in: 'query',
  description: 'Any parameters.',
  schema: {
    type: 'object',
    additionalProperties: { type: ['string', 'array'], items: { type: 'string' } },
  },
}

/**
 * @returns the schema that a reference at the root means: zod writes one for a schema with a name.
 */
function rootOf(schema: JsonSchema, defs: Readonly<Record<string, unknown>>): JsonSchema {
  const [, name = ''] = /^#\/\$defs\/([^/]+)$/.exec(String(schema.$ref)) ?? []
  const named = defs[name]
  if (isRecord(named)) return named
  return schema
}
