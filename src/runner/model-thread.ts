/** The program of a runner's threads. @module */

import { parentPort } from 'node:worker_threads'
import { ModelHost } from './model-host.ts'
import { errorFields } from './remote-error.ts'
import { channelOf, moved, type StrayMessage, type Task } from './thread-worker.ts'
import type { Transfer } from './worker.ts'

const host = new ModelHost('thread')

// The default would end the thread, perhaps during another call.
process.on('unhandledRejection', (reason) =>
  parentPort?.postMessage({ kind: 'stray', error: errorFields(reason) } satisfies StrayMessage),
)

/** Handles one message. The option `name` of the pool names this export. */
export async function handle({ message, port }: Task): Promise<unknown> {
  if (message === undefined) return undefined
  const transfer: Transfer[] = []
  const reply = await host.handle(message, port && channelOf(port), transfer)
  return moved(reply, transfer as ArrayBuffer[])
}

// The await makes Piscina's `require` fail: under tsx it would load a second copy of our classes.
await undefined
