const fromBytes = 4096

/** Moves bytes down to a multiple of `alignment`, over `room` unneeded bytes; returns the old ones without room. */
export function moveToAligned(bytes: Uint8Array, alignment: number, room: number): Uint8Array {
  const off = bytes.byteOffset % alignment
  if (off === 0 || off > room || bytes.length < fromBytes) return bytes
  const target = new Uint8Array(bytes.buffer, bytes.byteOffset - off, bytes.length)
  target.set(bytes)
  return target
}
