/** Writes GIF files of one frame, in TypeScript: @napi-rs/image is built without GIF. @module */
import { GrowableBytes } from '../../core/memory/growable-bytes.ts'
import { type Pixels, paletteOf } from './raster-modes.ts'
import { nextTurn, turnPixels } from './turn.ts'

const maxSide = 65_535
const minCodeBits = 8
const clearCode = 1 << minCodeBits
const endCode = clearCode + 1

/**
 * Writes mode `L` or `P` as a GIF. The palette's first colour without any alpha is transparent.
 *
 * @throws an Error for sides that are too long; the signal's reason.
 * @see GIF89a.
 */
export async function encodeGif(
  { width, height, data, palette }: Pixels,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  if (Math.max(width, height) > maxSide)
    throw new Error(`sides of GIF have at most ${maxSide} pixels`)
  const colors = paletteOf({ palette })
  const transparent = colors.findIndex((level, i) => i % 4 === 3 && level === 0) >> 2
  const out = new GrowableBytes(Buffer.allocUnsafe(1024 + (data.length >> 1)))
  out.append(Buffer.from(transparent === -1 ? 'GIF87a' : 'GIF89a', 'latin1'))
  const sides = [width & 255, width >> 8, height & 255, height >> 8]
  out.append(Uint8Array.of(...sides, 0xf7, 0, 0))
  out.append(colors.filter((_, i) => i % 4 !== 3))
  if (transparent !== -1) out.append(Uint8Array.of(0x21, 0xf9, 4, 1, 0, 0, transparent, 0))
  out.append(Uint8Array.of(0x2c, 0, 0, 0, 0, ...sides, 0, minCodeBits))
  await writeIndexes(out, data, signal)
  out.append(Uint8Array.of(0, 0x3b))
  return out.bytes
}

async function writeIndexes(
  out: GrowableBytes,
  indexes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  // A string and one index more → its code; 0: not defined.
  const codes = new Uint16Array(4096 * 256)
  const defined = new Uint32Array(4096)
  const block = new Uint8Array(256)
  let used = 0
  let held = 0
  let bits = 0
  let codeBits = minCodeBits + 1
  let next = endCode + 1
  const flush = () => {
    block[0] = used
    out.append(block.subarray(0, used + 1))
    used = 0
  }
  const write = (code: number) => {
    held |= code << bits
    for (bits += codeBits; bits >= 8; bits -= 8, held >>>= 8) {
      block[++used] = held
      if (used === 255) flush()
    }
  }
  write(clearCode)
  let string = indexes[0]
  for (let i = 1; i < indexes.length; i++) {
    if (i % turnPixels === 0) await nextTurn(signal)
    const index = indexes[i]
    const known = codes[string * 256 + index]
    if (known !== 0) {
      string = known
      continue
    }
    write(string)
    if (next < 4096) {
      defined[next] = string * 256 + index
      codes[defined[next]] = next
      if (next === 1 << codeBits) codeBits++
      next++
    } else {
      write(clearCode)
      for (let code = endCode + 1; code < next; code++) codes[defined[code]] = 0
      codeBits = minCodeBits + 1
      next = endCode + 1
    }
    string = index
  }
  write(string)
  write(endCode)
  if (bits > 0) block[++used] = held
  if (used > 0) flush()
}
