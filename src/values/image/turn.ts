/** Turns of the event loop within long work on the pixels of a request. @module */
import { setImmediate } from 'node:timers/promises'

/** Pixels that JavaScript works on between two turns: some milliseconds. */
export const turnPixels = 1 << 17

/** Lets other requests run in the middle of long work. **Errors**: the signal's reason. */
export async function nextTurn(signal?: AbortSignal): Promise<void> {
  await setImmediate()
  signal?.throwIfAborted()
}
