/**
 * A buffer for bytes that Polars copies at once.
 * @module
 */

/** Larger ones are not kept. **Units**: bytes. */
export const maxKeptBytes = 2 ** 24

let kept = Buffer.alloc(0)

/**
 * A buffer that is free again when its caller returns: a new one for each frame brings on the garbage collector, which takes longer than what
 * the frame is read for. Its bytes are those of the last use.
 */
export function keptBuffer(size: number): Buffer {
  if (size > maxKeptBytes) return Buffer.allocUnsafeSlow(size)
  if (size > kept.length) kept = Buffer.allocUnsafeSlow(Math.min(maxKeptBytes, Math.max(size, kept.length * 2)))
  return kept.subarray(0, size)
}
