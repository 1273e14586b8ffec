/**
 * Where the numbers are in Thrift's compact form, and how to write others there: page headers and footers of Parquet
 * are made of it. Source: Thrift compact protocol specification.
 * @module
 */

/** A number, or the length or count of what follows. **Units**: bytes from the start of the buffer. */
export interface ThriftNumber {
  readonly at: number
  readonly size: number
}

/** Returns the numbers of the struct at `start`, in their order, and where it ends. Stops at what it cannot read. */
export function thriftNumbers(
  bytes: Uint8Array,
  start: number,
): { numbers: ThriftNumber[]; end: number } {
  const numbers: ThriftNumber[] = []
  let at = start
  const varint = () => {
    const from = at
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] ?? 0
      value += (byte & 0x7f) * scale
      if (byte < 0x80) break
    }
    numbers.push({ at: from, size: at - from })
    return value
  }
  const value = (type: number): void => {
    // Each value takes a byte at least here, or a false count would have no end.
    if (type <= 3) at++
    else if (type >= 4 && type <= 6) varint()
    else if (type === 7) at += 8
    else if (type === 8) {
      const length = varint()
      at += length
    } else if (type === 9 || type === 10) {
      const head = bytes[at++]
      const count = head >> 4 === 15 ? varint() : head >> 4
      for (let i = 0; i < count && at < bytes.length; i++) value(head & 0x0f)
    } else if (type === 12) struct()
  }
  const struct = () => {
    while (at < bytes.length) {
      const head = bytes[at++]
      if (head === 0) return
      if (head >> 4 === 0) varint()
      // A boolean field is told by its type alone.
      if ((head & 0x0f) > 2) value(head & 0x0f)
    }
  }
  struct()
  return { numbers, end: at }
}

/** Returns a number as a varint, its zigzag form already made. */
export function varintOf(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  bytes.push(Number(rest))
  return Buffer.from(bytes)
}

/** Returns a copy with another number in the place of one. */
export function withNumber(bytes: Uint8Array, { at, size }: ThriftNumber, value: bigint): Buffer {
  return Buffer.concat([bytes.subarray(0, at), varintOf(value), bytes.subarray(at + size)])
}
