/**
 * Pixels of a function's own, copied for work on other threads.
 * @module
 */
import { bufferPool } from '../memory/buffer-pool.ts'
import { runInSlices, type Slices } from '../memory/slices.ts'
import type { Pixels } from './raster-modes.ts'

/** Copied in one to three milliseconds. **Units**: bytes. */
const copyBytes = 4 * 1024 * 1024

/**
 * Runs `work` on a copy of the pixels in pooled memory: their function may change them, or transfer them to a thread of
 * a Runner, which would free them while native code reads. The copy must not be used once the promise of `work` has
 * settled.
 */
export async function copied<T>(
  pixels: Pixels,
  signal: AbortSignal | undefined,
  work: (copy: Pixels) => Promise<T>,
): Promise<T> {
  const { mode, width, height } = pixels
  const data = new Uint8Array(bufferPool.take(pixels.data.length), 0, pixels.data.length)
  try {
    // At once where that is short, so that the function may change its pixels as soon as it has called.
    await runInSlices(copySlices(pixels.data, data), signal)
    return await work({ mode, width, height, data })
  } finally {
    bufferPool.give(data.buffer as ArrayBuffer)
  }
}

/** Copies bytes to the start of others in slices. **Errors**: an Error when the source is detached meanwhile. */
export function* copySlices(from: Uint8Array, to: Uint8Array): Slices<void> {
  const { length } = from
  for (let at = 0; at < length; at += copyBytes) {
    if (at > 0) yield
    if (from.length !== length) throw new Error('the pixels were transferred to another thread before they were read')
    to.set(from.subarray(at, at + copyBytes), at)
  }
}
