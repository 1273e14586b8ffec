/**
 * Runs a module of the command in a process of its own, so that this one has neither the user's code nor a compiler.
 * @module
 */
import { fork } from 'node:child_process'
import { InvalidArgument } from '../core/errors.ts'

/** What a process answers: a value, or why there is none. */
export type ChildAnswer<V> = { readonly value: V } | { readonly failure: string }

/** Called in such a process: sends the answer and ends it. */
export function answerParent(answer: ChildAnswer<unknown>): void {
  process.send?.(answer, undefined, undefined, () => process.exit(0))
}

/**
 * Returns the answer that a process sends before it ends.
 * **Errors**: InvalidArgument, which begins with `name`, when it ends without one. **Cost**: starts a process.
 */
export function childAnswer<V>(module: URL, args: readonly string[], name: string): Promise<ChildAnswer<V>> {
  return new Promise((resolve, reject) => {
    const child = fork(module, args, {
      serialization: 'advanced',
      // What the user's code prints does not belong into the output of the command.
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    let answer: ChildAnswer<V> | undefined
    child.on('message', (message: ChildAnswer<V>) => {
      answer = message
    })
    child.on('error', reject)
    child.on('close', (code) => {
      if (answer === undefined) reject(new InvalidArgument(`${name} ended its process with code ${code}`))
      else resolve(answer)
    })
  })
}
