/** Bits, lowest first, as Arrow packs flags. @module */

/** @returns as many bits, each as `isSet` says. */
export function bitsOf(count: number, isSet: (at: number) => unknown): Uint8Array {
  const bits = new Uint8Array((count + 7) >> 3)
  for (let i = 0; i < count; i++) if (isSet(i)) bits[i >> 3] |= 1 << (i & 7)
  return bits
}

/** Packs flags of one element each into bits, lowest first. */
export function packBits(flags: ArrayLike<unknown>): Uint8Array {
  return bitsOf(flags.length, (i) => flags[i])
}

/** @returns bits as elements of one byte each. */
export function unpackBits(bits: Uint8Array, count: number): Uint8Array {
  const flags = new Uint8Array(count)
  for (let i = 0; i < count; i++) flags[i] = (bits[i >> 3] >> (i & 7)) & 1
  return flags
}

/** Whether a bit is set. */
export function isBit(bits: Uint8Array, at: number): boolean {
  return (bits[at >> 3] & (1 << (at & 7))) !== 0
}

/** @returns bits `start` to `end`: a view from the start of a byte, else a copy. */
export function sliceBits(bits: Uint8Array, start: number, end: number): Uint8Array {
  const bytes = bits.subarray(start >> 3, (end + 7) >> 3)
  const shift = start & 7
  if (shift === 0) return bytes
  const moved = new Uint8Array((end - start + 7) >> 3)
  for (let i = 0; i < moved.length; i++)
    moved[i] = (bytes[i] >> shift) | ((bytes[i + 1] ?? 0) << (8 - shift))
  return moved
}
