/** Bytes that somebody else owns, copied for work on other threads. @module */
import { bufferPool } from './buffer-pool.ts'

/**
 * Runs `work` on a copy of bytes in pooled memory: their owner may change them, or transfer them to another thread,
 * which would free them while native code reads. The copy must not be used once the promise of `work` has settled.
 */
export async function withCopy<T>(bytes: Uint8Array, work: (copy: Uint8Array) => Promise<T>): Promise<T> {
  const copy = new Uint8Array(bufferPool.take(bytes.length), 0, bytes.length)
  try {
    copy.set(bytes)
    return await work(copy)
  } finally {
    bufferPool.give(copy.buffer as ArrayBuffer)
  }
}
