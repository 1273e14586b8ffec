/** Varints ⇄ typed arrays: protobufjs makes an object of each of 64 bits. @module */
import type { ProtoReader, ProtoWriter } from './protobuf.ts'

const block = 4096

/** The last byte of each is below 0x80. */
export function countVarints(bytes: Uint8Array, at: number, end: number): number {
  let count = 0
  for (; at < end; at++) if (bytes[at] < 0x80) count++
  return count
}

/**
 * `wide`: two words for each, low and high.
 *
 * @throws BadInput for more than 10 bytes.
 */
export function readVarints(
  reader: ProtoReader,
  words: Int32Array,
  at: number,
  end: number,
  wide: boolean,
): void {
  const bytes = reader.buf
  let { pos } = reader
  for (; at < end; at++) {
    let byte = bytes[pos++]
    let low = byte & 0x7f
    let high = 0
    for (let shift = 7; byte > 0x7f; shift += 7) {
      if (shift === 70) {
        reader.pos = pos
        throw reader.fault('a number of at most 10 bytes')
      }
      byte = bytes[pos++]
      const bits = byte & 0x7f
      if (shift < 32) low |= bits << shift
      if (shift === 28) high = bits >> 4
      else if (shift > 28) high |= bits << (shift - 32)
    }
    words[at] = low
    if (wide) words[++at] = high
  }
  reader.pos = pos
}

/** `wide`: two words for each, low and high. */
export function writeVarints(
  writer: ProtoWriter,
  words: Int32Array,
  wide: boolean,
  signed: boolean,
): void {
  for (let from = 0; from < words.length; from += block) {
    const to = Math.min(from + block, words.length)
    writer.reserve((to - from) * (wide ? 5 : 10))
    const { buf } = writer
    let { pos } = writer
    for (let i = from; i < to; i++) {
      let low = words[i]
      let high = 0
      if (wide) high = words[++i]
      // Negative numbers of 32 bits are sent as 64 bits: ten bytes.
      else if (signed) high = low >> 31
      for (; high !== 0; high >>>= 7) {
        buf[pos++] = low | 0x80
        low = (low >>> 7) | (high << 25)
      }
      for (; low >>> 0 > 0x7f; low >>>= 7) buf[pos++] = low | 0x80
      buf[pos++] = low
    }
    writer.pos = pos
  }
}
