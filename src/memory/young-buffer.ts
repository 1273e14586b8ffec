/**
 * Buffers that die with their request.
 * @module
 */

/**
 * Returns the same memory under a new object; the old one is detached. While a body came, its own object was promoted
 * to the old generation, which only a whole collection frees: bodies that die with their request would bring one on for
 * every 64 MB. Measured with 600 KB over 64 connections: 7,000 instead of 4,200 requests a second.
 */
export function youngOf(buffer: ArrayBufferLike): ArrayBuffer {
  return structuredClone(buffer as ArrayBuffer, { transfer: [buffer as ArrayBuffer] })
}
