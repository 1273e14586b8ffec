/** The program of a runner's threads. @module */

import { ModelHost } from './model-host.ts'
import { moved, threadEntry } from './thread-workers.ts'

const host = new ModelHost('thread')

/** Handles one message. The option `name` of the pool names this export. */
export const handle = threadEntry(async (message, channel) => {
  const { reply, transfer } = await host.handle(message, channel)
  return moved(reply, transfer as ArrayBuffer[])
})

// The await makes Piscina's `require` fail: under tsx it would load a second copy of our classes.
await undefined
