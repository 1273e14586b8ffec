import { BadInput } from '../core/errors.ts'
import type { StandardSchemaV1 } from './run-schema.ts'

const maxIssues = 64

/** @returns the error for a schema's issues; `name` is that of the checked value. */
export function schemaError(issues: readonly StandardSchemaV1.Issue[], name: string): BadInput {
  const listed = issues
    .slice(0, maxIssues)
    .map(({ message, path }) => ({ path: pathOf(path), message }))
  const shown = listed
    .slice(0, 5)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const more = issues.length > 5 ? ` (and ${issues.length - 5} more)` : ''
  const path = listed[0]?.path ?? ''
  return new BadInput(
    `expected a value that fits the schema for ${name}, received one that does not: ${shown.join('; ')}${more}`,
    { reason: 'schema', issues: listed, path: path || undefined },
  )
}

function pathOf(path: StandardSchemaV1.Issue['path']): string {
  let text = ''
  for (const part of path ?? []) {
    const key = typeof part === 'object' ? part.key : part
    text += typeof key === 'number' ? `[${key}]` : `${text === '' ? '' : '.'}${String(key)}`
  }
  return text
}
