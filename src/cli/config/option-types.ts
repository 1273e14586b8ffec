/** Options as text: of the command line, and for people. @module */
import { InvalidArgument } from '../../core/errors.ts'
import type { Option } from '../../core/option.ts'
import { fits, type ValueSchema, wordsOf } from '../../core/value-schema.ts'

/**
 * Reads text of the command line or the environment.
 *
 * @throws InvalidArgument.
 */
export function readText<G, V, A>({ parts }: Option<G, V, A>, text: string): V {
  const schema = parts.schema as ValueSchema
  const value = valueOf(text, [schema.type].flat())
  if (fits(value, schema)) return parts.read('', value)
  throw new InvalidArgument(
    `Expected ${schema.type === 'boolean' ? 'on or off' : wordsOf(schema)}.`,
  )
}

function valueOf(text: string, types: readonly string[]): unknown {
  if (types.includes('boolean') && (text === 'on' || text === 'off')) return text === 'on'
  if (types.includes('integer') && /^\d+$/.test(text)) return Number(text)
  return types.includes('number') && /^\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

/** Shows a value as the command line takes it. */
export function optionText(value: unknown): string {
  if (typeof value !== 'boolean') return String(value)
  return value ? 'on' : 'off'
}
