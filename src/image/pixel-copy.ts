/**
 * Pixels of a function's own, copied for work on other threads.
 * @module
 */
import { bufferPool } from '../memory/buffer-pool.ts'
import type { Pixels } from './raster-modes.ts'

/**
 * Runs `work` on a copy of the pixels in pooled memory: their function may change them, or transfer them to a thread of a Runner, which
 * would free them while native code reads. The copy must not be used once the promise of `work` has settled.
 */
export async function copied<T>(pixels: Pixels, work: (copy: Pixels) => Promise<T>): Promise<T> {
  const { mode, width, height } = pixels
  const data = new Uint8Array(bufferPool.take(pixels.data.length), 0, pixels.data.length)
  data.set(pixels.data)
  try {
    return await work({ mode, width, height, data })
  } finally {
    bufferPool.give(data.buffer as ArrayBuffer)
  }
}
