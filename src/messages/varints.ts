/**
 * Varints, one after another, ⇄ typed arrays.
 *
 * protobufjs reads and writes them one by one, those of 64 bits through an object each: a quarter to a twelfth as fast,
 * see bench/micro/packed.ts.
 * @module
 */
import type { ProtoReader, ProtoWriter } from './protobuf.ts'

// Words that are written before there is room for more.
const block = 4096

/** Counts the varints up to `end`: each has one byte below 0x80, its last. */
export function countVarints(view: DataView, at: number, end: number): number {
  let count = 0
  for (; at + 4 <= end; at += 4) count += Math.imul((~view.getInt32(at, true) >>> 7) & 0x01010101, 0x01010101) >>> 24
  for (; at < end; at++) count += view.getUint8(at) < 0x80 ? 1 : 0
  return count
}

/** Converts four bytes of a varint to the 28 bits in them. */
function squeeze(bytes: number): number {
  return (bytes & 0x7f) | ((bytes >> 1) & 0x3f80) | ((bytes >> 2) & 0x1fc000) | ((bytes >> 3) & 0xfe00000)
}

/** Converts 28 bits to four bytes of a varint; higher bits are dropped. */
function spread(bits: number): number {
  return (bits & 0x7f) | ((bits & 0x3f80) << 1) | ((bits & 0x1fc000) << 2) | ((bits & 0xfe00000) << 3)
}

// The bit of each byte that says that another one follows.
const more = 0x80808080 | 0

/**
 * Reads varints, each of which has an end within the message, into the words from `at` to `end`: two words for each
 * where they are `wide`, low and high.
 */
export function readVarints(
  reader: ProtoReader,
  view: DataView,
  words: Int32Array,
  at: number,
  end: number,
  wide: boolean,
) {
  let { pos } = reader
  const last = view.byteLength - 10
  for (; at < end && pos <= last; at++) {
    let low = view.getInt32(pos, true)
    let high = 0
    // Of one or two bytes are most, in runs that the processor foresees; the others without a branch for each byte.
    if ((low & 0x80) === 0) {
      low &= 0x7f
      pos++
    } else if ((low & 0x8000) === 0) {
      low = (low & 0x7f) | ((low >> 1) & 0x3f80)
      pos += 2
    } else {
      let ends = ~low & more
      if (ends !== 0) {
        low = squeeze(low & (ends ^ (ends - 1)))
        pos += (39 - Math.clz32(ends & -ends)) >> 3
      } else {
        let rest = view.getInt32(pos + 4, true)
        ends = ~rest & more
        if (ends !== 0) {
          rest &= ends ^ (ends - 1)
          pos += 4 + ((39 - Math.clz32(ends & -ends)) >> 3)
        } else {
          const top = view.getUint8(pos + 8)
          high = top << 24
          pos += 9
          if (top > 0x7f) {
            const sign = view.getUint8(pos++)
            if (sign > 0x7f) {
              reader.pos = pos
              throw reader.fault('a number of at most 10 bytes')
            }
            high = (high & 0x7fffffff) | (sign << 31)
          }
        }
        rest = squeeze(rest)
        low = squeeze(low) | (rest << 28)
        high |= rest >> 4
      }
    }
    words[at] = low
    if (wide) words[++at] = high
  }
  // Those at the end of the memory, where nothing may be read behind them.
  reader.pos = pos
  for (; at < end; at++) {
    const { low, high } = reader.uint64()
    words[at] = low
    if (wide) words[++at] = high
  }
}

/** Writes 32-bit words as varints: one for each, or for each two, low and high, where they are `wide`. */
export function writeVarints(writer: ProtoWriter, words: Int32Array, wide: boolean, signed: boolean): void {
  for (let from = 0; from < words.length; from += block) {
    const to = Math.min(from + block, words.length)
    writer.reserve((to - from) * (wide ? 5 : 10))
    const { buf } = writer
    const view = new DataView(buf.buffer, buf.byteOffset, buf.byteLength)
    let { pos } = writer
    for (let i = from; i < to; i++) {
      const low = words[i]
      // Negative numbers of 32 bits travel as those of 64: ten bytes.
      const high = wide ? words[++i] : signed ? low >> 31 : 0
      // One or two bytes in runs, as most are; the others without a branch for each byte.
      if ((high | (low & -0x80)) === 0) {
        buf[pos++] = low
        continue
      }
      if ((high | (low & -0x4000)) === 0) {
        buf[pos++] = low | 0x80
        buf[pos++] = low >> 7
        continue
      }
      const rest = (low >>> 28) | (high << 4)
      const top = high >>> 24
      if ((rest | top) === 0) {
        const size = varintSize28(low)
        view.setInt32(pos, spread(low) | (0x808080 >> (32 - size * 8)), true)
        pos += size
        continue
      }
      view.setInt32(pos, spread(low) | more, true)
      if (top === 0) {
        const size = varintSize28(rest)
        view.setInt32(pos + 4, spread(rest) | (0x808080 >> (32 - size * 8)), true)
        pos += 4 + size
        continue
      }
      view.setInt32(pos + 4, spread(rest) | more, true)
      // Seven bits, and an eighth just when there is a tenth byte for it.
      view.setUint8(pos + 8, top)
      view.setUint8(pos + 9, 1)
      pos += top > 0x7f ? 10 : 9
    }
    writer.pos = pos
  }
}

/** Bytes that a varint of at most 28 bits takes. */
function varintSize28(value: number): number {
  return ((38 - Math.clz32(value | 1)) * 37) >> 8
}
