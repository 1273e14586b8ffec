/**
 * The program of a runner's threads.
 * @module
 */

import { ModelHost } from './model-host.ts'
import { moved, threadEntry } from './thread-workers.ts'

const host = new ModelHost('thread')

/** Handles one message. The pool's option `name` is this export. */
export const handle = threadEntry(async (message, channel) => {
  const { reply, transfer } = await host.handle(message, channel)
  return moved(reply, transfer as ArrayBuffer[])
})

// Keeps this an ES module: Piscina tries `require` first, and where tsx's CommonJS hooks are there (a service started
// by `npx tsx`), that would make a second copy of every file of ours, whose NDArray is not the model's. With an await,
// it fails and Piscina imports.
await undefined
