import { bufferPool } from './buffer-pool.ts'

/** Runs `work` on a pooled copy, since the owner may change or transfer the bytes. The copy is invalid afterwards. */
export async function withCopy<T>(
  bytes: Uint8Array,
  work: (copy: Uint8Array) => Promise<T>,
): Promise<T> {
  const copy = new Uint8Array(bufferPool.take(bytes.length), 0, bytes.length)
  try {
    copy.set(bytes)
    return await work(copy)
  } finally {
    bufferPool.give(copy.buffer as ArrayBuffer)
  }
}

/** @returns the bytes of elements in memory. */
export function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
