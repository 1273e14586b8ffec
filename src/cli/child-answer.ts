/**
 * Runs a module of the command in a process of its own, so that this one has neither the user's code nor a compiler.
 * @module
 */
import { fork } from 'node:child_process'
import { InvalidArgument } from '../errors.ts'

/**
 * Returns the message that a process sends before it ends.
 * **Errors**: InvalidArgument, which begins with `name`, when it ends without one. **Cost**: starts a process.
 */
export function childAnswer<A>(module: URL, args: readonly string[], name: string): Promise<A> {
  return new Promise((resolve, reject) => {
    const child = fork(module, args, {
      serialization: 'advanced',
      // What the user's code prints does not belong into the output of the command.
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    let answer: A | undefined
    child.on('message', (message: A) => {
      answer = message
    })
    child.on('error', reject)
    child.on('close', (code) => {
      if (answer === undefined) reject(new InvalidArgument(`${name} ended its process with code ${code}`))
      else resolve(answer)
    })
  })
}
