import type { Api } from '../../api/api.ts'
import { paramNames } from '../../api/path-params.ts'
import { Query } from '../../api/query.ts'
import { membersIn, pointed } from '../../core/json-schema/shape.ts'
import { isRecord, recordOf } from '../../core/options.ts'
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
  if (!(input instanceof Query) || input.schema === undefined) return path
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
  // zod writes a reference at the root for a schema with a name.
  const root = { ...schema, ...recordOf(pointed(schema, String(schema.$ref ?? '#'))) }
  if (!isRecord(root.properties)) return undefined
  return membersIn(root).map(({ name: key, schema: given, isRequired }) => {
    const member = recordOf(given)
    return {
      name: key,
      in: place,
      required: place === 'path' || isRequired,
      description: member.description,
      schema: components.adopt({ ...member, $defs: schema.$defs }, `${name}_${key}`),
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
