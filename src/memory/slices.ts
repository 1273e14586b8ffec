/**
 * Long work in slices: a generator that yields where the event loop may run other requests.
 * @module
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Pixels that a slice works on. **Units**: about a millisecond of work. */
export const slicePixels = 1 << 17

/** Work that yields between its slices and returns its result. */
export type Slices<T> = Generator<void, T, void>

/** Runs work without pauses and returns its result. */
export function runAtOnce<T>(work: Slices<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/**
 * Runs work with a turn of the event loop between slices, so that a large picture does not hold up small requests.
 * **Errors**: the signal's reason, between slices. **Cost**: nothing extra for work of one slice.
 */
export async function runInSlices<T>(work: Slices<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    await nextTurn()
    signal?.throwIfAborted()
  }
}
