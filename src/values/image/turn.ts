/** Turns of the event loop within long work on the pixels of a request. @module */
import { setImmediate } from 'node:timers/promises'

/** Pixels that JavaScript works on between two turns: some milliseconds. */
export const turnPixels = 1 << 17

/**
 * Lets other requests run in the middle of long work.
 *
 * @throws the signal's reason.
 */
export async function nextTurn(signal?: AbortSignal): Promise<void> {
  await setImmediate()
  signal?.throwIfAborted()
}

/**
 * Works on `count` units of `size` pixels, from one to another, with turns of the event loop
 * between parts of them.
 *
 * @throws the signal's reason.
 */
export async function inTurns(
  count: number,
  signal: AbortSignal | undefined,
  work: (from: number, to: number) => void,
  size = 1,
): Promise<void> {
  const step = Math.max(1, Math.floor(turnPixels / size))
  for (let from = 0; from < count; from += step) {
    if (from > 0) await nextTurn(signal)
    work(from, Math.min(count, from + step))
  }
}
