/** Encoded messages on the way to a client. @module */

/** A message. */
export interface EncodedMessage {
  readonly bytes: Uint8Array
  /** Whether the 5 bytes in front of it are free for the frame's prefix. */
  readonly hasRoom?: boolean
  /** Whether its memory goes back to the pool after it was sent. */
  readonly isPooled?: boolean
}

const prefixBytes = 5

/**
 * Puts the prefix of an uncompressed message in front.
 *
 * @see gRPC over HTTP/2.
 */
export function frameOf({ bytes, hasRoom = false }: EncodedMessage): Buffer {
  const { buffer, byteOffset, length } = bytes
  const frame = hasRoom
    ? Buffer.from(buffer, byteOffset - prefixBytes, prefixBytes + length)
    : Buffer.allocUnsafe(prefixBytes + length)
  if (!hasRoom) frame.set(bytes, prefixBytes)
  frame.writeUInt8(0)
  frame.writeUInt32BE(length, 1)
  return frame
}
