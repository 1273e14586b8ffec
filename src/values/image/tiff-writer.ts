/** Writes the TIFF files that @napi-rs/image does not: palettes, L*a*b*, and numbers of four bytes. @module */
import { type Pixels, paletteOf, rasterModes } from './raster-modes.ts'

const photometrics = { P: 3, LAB: 8, I: 1, F: 1 } as const

/** Whether a mode is written here. */
export function isOwnTiffMode(mode: string): mode is keyof typeof photometrics {
  return Object.hasOwn(photometrics, mode)
}

const sampleFormats = { uint8: 1, int32: 2, float32: 3 } as const
const [short, long] = [3, 4]

/**
 * Writes pixels without compression, in one strip, as Pillow does.
 *
 * @see TIFF 6.0.
 */
export function encodeTiff(
  pixels: Pixels & { readonly mode: keyof typeof photometrics },
): Uint8Array {
  const { mode, width, height, data } = pixels
  const { channels, dtype } = rasterModes[mode]
  const bits = dtype === 'uint8' ? 8 : 32
  const colors = paletteOf(pixels)
  const levels = [0, 1, 2].flatMap((c) =>
    Array.from({ length: 256 }, (_, i) => colors[i * 4 + c] * 257),
  )
  const entries: readonly (readonly [tag: number, type: number, ...values: number[]])[] = [
    [256, long, width],
    [257, long, height],
    [258, short, ...Array<number>(channels).fill(bits)],
    [259, short, 1],
    [262, short, photometrics[mode]],
    [273, long, 0],
    [277, short, channels],
    [278, long, height],
    [279, long, data.length],
    ...(mode === 'P' ? [[320, short, ...levels] as const] : []),
    [339, short, ...Array<number>(channels).fill(sampleFormats[dtype])],
  ]
  const directory = 8
  const outside = directory + 2 + entries.length * 12 + 4
  const sizes = entries.map(([, type, ...values]) => values.length * (type === short ? 2 : 4))
  const start = outside + sizes.reduce((sum, size) => sum + (size > 4 ? size + (size % 4) : 0), 0)
  const file = Buffer.alloc(start + data.length)
  file.write('II*\0', 'latin1')
  file.writeUInt32LE(directory, 4)
  file.writeUInt16LE(entries.length, directory)
  let next = outside
  for (const [i, [tag, type, ...values]] of entries.entries()) {
    const entry = directory + 2 + i * 12
    file.writeUInt16LE(tag, entry)
    file.writeUInt16LE(type, entry + 2)
    file.writeUInt32LE(values.length, entry + 4)
    const isOutside = sizes[i] > 4
    if (isOutside) file.writeUInt32LE(next, entry + 8)
    const at = isOutside ? next : entry + 8
    if (isOutside) next += sizes[i] + (sizes[i] % 4)
    for (const [j, value] of (tag === 273 ? [start] : values).entries()) {
      if (type === short) file.writeUInt16LE(value, at + j * 2)
      else file.writeUInt32LE(value, at + j * 4)
    }
  }
  file.set(data, start)
  return file
}
