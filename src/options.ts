/**
 * The check of option names that every public constructor and function makes.
 * @module
 */
import { expected, InvalidArgument } from './errors.ts'

/**
 * Refuses options that `name` does not have: a misspelled option must not be ignored silently.
 * **Errors**: InvalidArgument naming the option and the known ones.
 */
export function checkOptions(name: string, options: object, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new InvalidArgument(expected('an object of options', name, options))
  }
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue
    throw new InvalidArgument(`unknown option ${JSON.stringify(key)} for ${name}; it has ${known.join(', ')}`)
  }
}
