/** Moves bytes by a little, so that typed arrays can be views of them. @module */

// Below this a copy costs no more than the check.
const fromBytes = 4096

/**
 * Moves bytes down to a multiple of `alignment` in memory, over at most `room` bytes in front of them that are no
 * longer needed. Returns the bytes at their new place, or at the old one where there is no room.
 */
export function moveToAligned(bytes: Uint8Array, alignment: number, room: number): Uint8Array {
  const off = bytes.byteOffset % alignment
  if (off === 0 || off > room || bytes.length < fromBytes) return bytes
  const target = new Uint8Array(bytes.buffer, bytes.byteOffset - off, bytes.length)
  target.set(bytes)
  return target
}
