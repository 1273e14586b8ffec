/**
 * Imports a module of the user's in a process of its own.
 * @module
 */
import { InvalidArgument } from '../errors.ts'
import { childAnswer } from './child-answer.ts'

/** What the process answers. */
export type ImportAnswer = { readonly value: unknown } | { readonly failure: string }

/**
 * Returns the default export of a module, which must be plain data.
 * **Errors**: InvalidArgument with the module's own error. **Cost**: starts a process.
 */
export async function importDefault(path: string): Promise<unknown> {
  const answer = await childAnswer<ImportAnswer>(new URL('./import-module.js', import.meta.url), [path], path)
  if ('failure' in answer) throw new InvalidArgument(answer.failure)
  return answer.value
}
