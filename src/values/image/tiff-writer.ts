/** Writes the TIFF files that @napi-rs/image does not: numbers of four bytes. @module */
import type { Pixels } from './raster-modes.ts'

/** How a TIFF calls the numbers of a mode. */
const sampleFormats = { I: 2, F: 3 } as const

/** Whether a mode is written here. */
export function isOwnTiffMode(mode: string): mode is keyof typeof sampleFormats {
  return Object.hasOwn(sampleFormats, mode)
}

const [short, long] = [3, 4]

/**
 * Writes pixels without compression, in one strip, as Pillow does.
 *
 * @see TIFF 6.0.
 */
export function encodeTiff({
  mode,
  width,
  height,
  data,
}: Pixels & { readonly mode: keyof typeof sampleFormats }): Uint8Array {
  const entry = (tag: number, type: number, value: number) => {
    const bytes = Buffer.alloc(12)
    bytes.writeUInt16LE(tag)
    bytes.writeUInt16LE(type, 2)
    bytes.writeUInt32LE(1, 4)
    // A short stands in the first two bytes of the four, which is the same in this byte order.
    bytes.writeUInt32LE(value, 8)
    return bytes
  }
  const entries = (start: number) => [
    entry(256, long, width),
    entry(257, long, height),
    entry(258, short, 32),
    entry(259, short, 1),
    entry(262, short, 1),
    entry(273, long, start),
    entry(277, short, 1),
    entry(278, long, height),
    entry(279, long, data.length),
    entry(339, short, sampleFormats[mode]),
  ]
  const [head, count] = [Buffer.from('II*\0\x08\0\0\0', 'latin1'), Buffer.of(10, 0)]
  const end = Buffer.alloc(4)
  const start = head.length + count.length + 10 * 12 + end.length
  return Buffer.concat([head, count, ...entries(start), end, data])
}
