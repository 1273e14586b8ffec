/**
 * The largest frame that coded AV1 data may ask a decoder for.
 * @module
 */

/** **Units**: pixels. */
export interface FrameSize {
  readonly width: number
  readonly height: number
}

/**
 * The largest size of the sequence headers in a series of open bitstream units; undefined when there is none. `budget` counts the units
 * down over all calls. **Source**: AV1 bitstream specification, sections 5.3 and 5.5.
 */
export function largestFrame(data: Uint8Array, budget: { units: number }): FrameSize | undefined {
  let largest: FrameSize | undefined
  let at = 0
  while (at < data.length && budget.units-- > 0) {
    const header = data[at]
    at += header & 4 ? 2 : 1
    let length = data.length - at
    if (header & 2) {
      const size = readLeb128(data, at)
      if (size === undefined || size.next + size.value > data.length) break
      at = size.next
      length = size.value
    }
    // Type 1 is a sequence header. The forbidden bit is passed over, as decoders do.
    if (((header >> 3) & 15) === 1) {
      const size = readSequenceHeader(data.subarray(at, at + length))
      if (largest === undefined || size.width * size.height > largest.width * largest.height) largest = size
    }
    at += length
  }
  return largest
}

function readLeb128(data: Uint8Array, from: number): { value: number; next: number } | undefined {
  let value = 0
  for (let i = 0; i < 8 && from + i < data.length; i++) {
    value += (data[from + i] & 0x7f) * 128 ** i
    if (data[from + i] < 0x80) return { value, next: from + i + 1 }
  }
  return undefined
}

/** Bits from the high one down; zeros behind the end, as a cut-off header makes decoders fail anyway. */
class Bits {
  readonly #data: Uint8Array
  #at = 0

  constructor(data: Uint8Array) {
    this.#data = data
  }

  read(count: number): number {
    let value = 0
    for (let i = 0; i < count; i++, this.#at++) {
      value = value * 2 + (((this.#data[this.#at >> 3] ?? 0) >> (7 - (this.#at & 7))) & 1)
    }
    return value
  }

  skipUvlc(): void {
    let zeros = 0
    while (zeros < 32 && this.read(1) === 0) zeros++
    if (zeros < 32) this.read(zeros)
  }
}

function readSequenceHeader(data: Uint8Array): FrameSize {
  const bits = new Bits(data)
  bits.read(4)
  const reduced = bits.read(1) === 1
  if (reduced) bits.read(5)
  else skipOperatingPoints(bits)
  const widthBits = bits.read(4) + 1
  const heightBits = bits.read(4) + 1
  const width = bits.read(widthBits) + 1
  const height = bits.read(heightBits) + 1
  // Without the reduced header a frame may bring a size of its own of so many bits. Encoders write no more bits than the size needs; more
  // count in full.
  const most = (size: number, count: number) => (reduced || 2 ** count < 2 * size ? size : 2 ** count)
  return { width: most(width, widthBits), height: most(height, heightBits) }
}

function skipOperatingPoints(bits: Bits): void {
  let delayBits = 0
  let hasModel = false
  if (bits.read(1)) {
    bits.read(64)
    if (bits.read(1)) bits.skipUvlc()
    hasModel = bits.read(1) === 1
    if (hasModel) {
      delayBits = bits.read(5) + 1
      bits.read(42)
    }
  }
  const hasDelay = bits.read(1) === 1
  const points = bits.read(5) + 1
  for (let i = 0; i < points; i++) {
    bits.read(12)
    if (bits.read(5) > 7) bits.read(1)
    if (hasModel && bits.read(1)) bits.read(2 * delayBits + 1)
    if (hasDelay && bits.read(1)) bits.read(4)
  }
}
