/** Bytes with free room in front, where an RPC message puts its tag and length without a copy. @module */

import { allocate } from '../platform.ts'

/** Room for a tag and a length; a cache line, so that data behind it stays aligned. **Units**: bytes. */
export const headroomBytes = 64
const withHeadroom = new WeakSet<Uint8Array>()

/** @returns uninitialised bytes that a message needs not copy. */
export function allocateWithHeadroom(size: number): Uint8Array {
  const bytes = allocate(headroomBytes + size).subarray(headroomBytes)
  withHeadroom.add(bytes)
  return bytes
}

/** Uses up the room in front of bytes; false if they have no room, or no longer. */
export function takeHeadroom(bytes: Uint8Array): boolean {
  return withHeadroom.delete(bytes)
}
