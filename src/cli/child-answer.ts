/** Loads the user's code in a process of its own, so that the command has neither that code nor a compiler. @module */
import { fork } from 'node:child_process'
import { InvalidArgument } from '../core/errors.ts'

/** The message of such a process: the answer, or the reason for its absence. */
export type ChildMessage =
  | { readonly kind: 'answer'; readonly value: unknown }
  | { readonly kind: 'failure'; readonly message: string }

/**
 * @returns the default export of a configuration file, or the description of a service.
 * @throws InvalidArgument.
 */
export function childAnswer<V>(
  task: 'config' | 'service',
  [file, ...others]: readonly string[],
): Promise<V> {
  return new Promise((resolve, reject) => {
    const child = fork(new URL('./child-module.js', import.meta.url), [file, task, ...others], {
      serialization: 'advanced',
      // What the user's code prints does not belong into the output of the command.
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    child.on('message', (sent: ChildMessage) => {
      if (sent.kind === 'answer') resolve(sent.value as V)
      else reject(new InvalidArgument(sent.message))
    })
    child.on('error', reject)
    const name = task === 'service' ? 'the service' : file
    child.on('close', (code) =>
      reject(new InvalidArgument(`${name} ended its process with code ${code}`)),
    )
  })
}
