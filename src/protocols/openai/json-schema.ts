import { BadInput } from '../../core/errors.ts'
import { maxSteps, SchemaCheck } from '../../core/json-schema/fault.ts'

/**
 * @returns where and how a value does not fit a schema of a client; undefined if it does.
 * @throws BadInput for a schema that takes too long.
 */
export function misfitOf(value: unknown, schema: unknown): string | undefined {
  const check = new SchemaCheck(schema, false)
  const fault = check.fault(value, schema)
  if (check.stepsLeft < 0) {
    const message = `expected a schema that takes at most ${maxSteps} steps for response_format, received one of more`
    throw new BadInput(message, { reason: 'schema', path: 'response_format' })
  }
  if (fault === undefined) return undefined
  return `${fault.wanted.slice(0, 200)} for ${fault.path.replace(/^\./, '') || 'the value'}`
}
