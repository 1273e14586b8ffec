/** The JSON schema of configuration files; `npm run build` publishes it as dist/cli/config/schema.json. @module */

import type { ValueSchema } from '../../core/value-schema.ts'
import { buildSchema } from './build-options.ts'
import { helpOf, optionEntry, optionNames } from './option-table.ts'

/** The schema of a `serving.config` file. */
export const configSchema: ValueSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    $schema: { type: 'string', description: 'where this schema is, for editors' },
    service: { type: 'string', description: 'file of the service, relative to this one' },
    ...Object.fromEntries(
      optionNames.map((name) => {
        const { option, default: value, shown } = optionEntry(name)
        const help = helpOf(name)
        const known = shown === undefined && value !== undefined ? { default: value } : {}
        const description = shown === undefined ? help : `${help} (default: ${shown})`
        return [name, { ...(option.parts.schema as ValueSchema), description, ...known }]
      }),
    ),
    build: buildSchema,
  },
}

/** @returns the published schema as text. */
export function schemaText(): string {
  const meta = { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'serving.config' }
  return `${JSON.stringify({ ...meta, ...configSchema }, null, 2)}\n`
}
