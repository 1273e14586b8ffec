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

/** A class of typed arrays. */
export type Elements<T> = (new (
  buffer: ArrayBufferLike,
  start?: number,
  length?: number,
) => T) & { readonly BYTES_PER_ELEMENT: number }

/** @returns bytes as elements: a view if they are aligned in memory, else a copy. */
export function viewAs<T>(Container: Elements<T>, bytes: Uint8Array, count?: number): T {
  const size = Container.BYTES_PER_ELEMENT
  const isAligned = bytes.byteOffset % size === 0
  const { buffer, byteOffset, length } = isAligned ? bytes : new Uint8Array(bytes)
  return new Container(buffer, byteOffset, count ?? length / size)
}

/** @returns the bytes of elements in memory. */
export function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
