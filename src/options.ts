/**
 * The check that every constructor makes of its options.
 * @module
 */
import { InvalidArgument } from './errors.ts'

/**
 * Options are checked for names that the descriptor does not have: a misspelled option must not be silently ignored.
 * **Errors**: InvalidArgument naming the option and those that there are.
 */
export function checkOptions(name: string, options: object, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new InvalidArgument(`expected an object of options for ${name}, received ${String(options)}`)
  }
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue
    throw new InvalidArgument(`unknown option ${JSON.stringify(key)} for ${name}; it has ${known.join(', ')}`)
  }
}
