/** Checks configuration files by their JSON schemas. @module */
import { InvalidArgument, show } from '../../core/errors.ts'
import { fits, type ValueSchema, wordsOf } from '../../core/value-schema.ts'
import { didYouMean } from './nearest-word.ts'

/**
 * Checks a value by a schema; `file` and `path` say in messages where it stands.
 *
 * @throws InvalidArgument for the first part that does not fit, with its path and the nearest name
 * that is known.
 */
export function checkValue(value: unknown, schema: ValueSchema, file: string, path = ''): void {
  const place = [file, path].filter(Boolean).join(': ')
  if (!fits(value, schema)) {
    throw new InvalidArgument(`${place}: expected ${wordsOf(schema)}, received ${show(value)}`)
  }
  const { properties = {}, additionalProperties: others, items } = schema
  if (Array.isArray(value)) {
    if (items !== undefined)
      for (const [i, item] of value.entries()) checkValue(item, items, file, `${path}[${i}]`)
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : others
    if (own === undefined || own === false) {
      const known = Object.keys(properties)
      const hint = didYouMean(name, known) || `; known are ${known.join(', ')}`
      throw new InvalidArgument(`${place}: unknown key ${JSON.stringify(name)}${hint}`)
    }
    checkValue(member, own, file, [path, name].filter(Boolean).join('.'))
  }
}
