/**
 * Bytes that somebody else owns, copied for work on other threads.
 * @module
 */
import { bufferPool } from './buffer-pool.ts'
import { runInSlices, type Slices } from './slices.ts'

/** Copied in one to three milliseconds. **Units**: bytes. */
const copyBytes = 4 * 1024 * 1024

/**
 * Runs `work` on a copy of bytes in pooled memory: their owner may change them, or transfer them to another thread,
 * which would free them while native code reads. Up to 4 MiB are copied at once. The copy must not be used once the
 * promise of `work` has settled.
 */
export async function withCopy<T>(
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
  work: (copy: Uint8Array) => Promise<T>,
): Promise<T> {
  const copy = new Uint8Array(bufferPool.take(bytes.length), 0, bytes.length)
  try {
    await runInSlices(copySlices(bytes, copy), signal)
    return await work(copy)
  } finally {
    bufferPool.give(copy.buffer as ArrayBuffer)
  }
}

/** Copies bytes to the start of others in slices. **Errors**: an Error when the source is detached meanwhile. */
export function* copySlices(from: Uint8Array, to: Uint8Array): Slices<void> {
  const { length } = from
  for (let at = 0; at < length; at += copyBytes) {
    if (at > 0) yield
    if (from.length !== length) throw new Error('the bytes were transferred to another thread before they were read')
    to.set(from.subarray(at, at + copyBytes), at)
  }
}
