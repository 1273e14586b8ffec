/**
 * Imports a module of the user's in a process of its own, so that this one has neither its code nor a compiler.
 * @module
 */
import { fork } from 'node:child_process'
import { InvalidArgument } from '../errors.ts'

/** What the process answers. */
export type ImportAnswer = { readonly value: unknown } | { readonly failure: string }

/**
 * Returns the default export of a module, which must be plain data.
 * **Errors**: InvalidArgument with the module's own error. **Cost**: starts a process.
 */
export function importDefault(path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = fork(new URL('./import-module.js', import.meta.url), [path], {
      serialization: 'advanced',
      // What the module prints does not belong into the output of the command.
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    let answer: ImportAnswer | undefined
    child.on('message', (message: ImportAnswer) => {
      answer = message
    })
    child.on('error', reject)
    child.on('close', (code) => {
      if (answer === undefined) reject(new InvalidArgument(`${path} ended its process with code ${code}`))
      else if ('failure' in answer) reject(new InvalidArgument(answer.failure))
      else resolve(answer.value)
    })
  })
}
