/** The ways of packing strips of TIFF that Node has not. @module */
import { nextTurn, turnPixels } from './turn.ts'

/** Unpacks at most `size` bytes of PackBits; fewer where the data ends. **Source**: TIFF 6.0, section 9. */
export async function unpackBits(packed: Uint8Array, size: number, signal?: AbortSignal): Promise<Uint8Array> {
  const output = new Uint8Array(size)
  let written = 0
  for (let at = 0, steps = 1; at + 1 < packed.length && written < size; steps++) {
    if (steps % turnPixels === 0) await nextTurn(signal)
    const header = packed[at]
    if (header < 128) {
      const run = packed.subarray(at + 1, at + 2 + Math.min(header, size - written - 1))
      output.set(run, written)
      written += run.length
      at += header + 2
    } else {
      const count = header === 128 ? 0 : 257 - header
      output.fill(packed[at + 1], written, written + count)
      written = Math.min(size, written + count)
      at += header === 128 ? 1 : 2
    }
  }
  return output.subarray(0, written)
}

const [clearCode, endCode] = [256, 257]

/** Unpacks at most `size` bytes of LZW; fewer where the data ends. **Errors**: an Error. **Source**: TIFF 6.0, 13. */
export async function unpackLzw(packed: Uint8Array, size: number, signal?: AbortSignal): Promise<Uint8Array> {
  const output = new Uint8Array(size)
  // A code is a string that was written before and one byte more: where it starts in the output, and its length.
  const starts = new Uint32Array(4097)
  const lengths = new Uint32Array(4097)
  let written = 0
  let next = endCode + 1
  let codeBits = 9
  let held = 0
  let bits = 0
  let previous = -1
  let work = 0
  for (let at = 0; written < size; ) {
    // A code may stand for thousands of bytes, or for nothing.
    if (++work >= turnPixels) {
      work = 0
      await nextTurn(signal)
    }
    while (bits < codeBits && at < packed.length) {
      held = ((held << 8) | packed[at++]) & 0xfffff
      bits += 8
    }
    if (bits < codeBits) break
    bits -= codeBits
    const code = (held >> bits) & ((1 << codeBits) - 1)
    if (code === endCode) break
    if (code === clearCode) {
      next = endCode + 1
      codeBits = 9
      previous = -1
      continue
    }
    if (code >= next && (previous === -1 || code > next)) throw new Error('a code stands for nothing yet')
    const start = written
    if (previous !== -1 && next < 4096) {
      // The string of the code before and the first byte of this one stand one after the other in the output.
      const length = previous < 256 ? 1 : lengths[previous]
      starts[next] = written - length
      lengths[next] = length + 1
      next++
    }
    if (code < 256) output[written++] = code
    else {
      const end = Math.min(size, written + lengths[code])
      // Byte by byte: the string may reach into what it writes.
      for (let from = starts[code]; written < end; ) output[written++] = output[from++]
    }
    if (next + 1 >= 1 << codeBits && codeBits < 12) codeBits++
    previous = code
    work += written - start
  }
  return output.subarray(0, written)
}
