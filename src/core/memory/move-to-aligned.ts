const fromBytes = 4096

/**
 * Moves bytes down to a multiple of `alignment`, over at most `room` unneeded bytes in front of them, so that typed
 * arrays can be views. Returns the old bytes if there is no room.
 */
export function moveToAligned(bytes: Uint8Array, alignment: number, room: number): Uint8Array {
  const off = bytes.byteOffset % alignment
  if (off === 0 || off > room || bytes.length < fromBytes) return bytes
  const target = new Uint8Array(bytes.buffer, bytes.byteOffset - off, bytes.length)
  target.set(bytes)
  return target
}
