/**
 * Colour modes, and pixels in one of them.
 * @module
 */
import { dataConstructor } from '../dtype.ts'

/** Colour modes, named as Pillow names them, with the channels of a pixel and the element type of a channel. */
export const rasterModes = {
  1: { channels: 1, dtype: 'uint8' },
  L: { channels: 1, dtype: 'uint8' },
  LA: { channels: 2, dtype: 'uint8' },
  RGB: { channels: 3, dtype: 'uint8' },
  RGBA: { channels: 4, dtype: 'uint8' },
  CMYK: { channels: 4, dtype: 'uint8' },
  YCbCr: { channels: 3, dtype: 'uint8' },
  HSV: { channels: 3, dtype: 'uint8' },
  I: { channels: 1, dtype: 'int32' },
  F: { channels: 1, dtype: 'float32' },
} as const

/** A colour mode of {@link rasterModes}. */
export type RasterMode = `${keyof typeof rasterModes}`

/** The pixels of a raster as numbers: one element per channel. */
export type RasterElements = Uint8Array | Int32Array | Float32Array

/**
 * Converts the pixels `from` up to `to`; pixel `i` starts at element `i` times the channels. The target is new, so all
 * 0.
 */
export type Kernel = (source: RasterElements, target: RasterElements, from: number, to: number) => void

/**
 * Pixels in rows from top to bottom, channels side by side, without gaps: what codecs and conversions take and return.
 */
export interface Pixels {
  readonly mode: RasterMode
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

/** Whether `value` is the name of a colour mode. */
export function isRasterMode(value: unknown): value is RasterMode {
  return typeof value === 'string' && Object.hasOwn(rasterModes, value)
}

/** Returns the bytes of one pixel. */
export function pixelBytes(mode: RasterMode): number {
  return rasterModes[mode].channels * (rasterModes[mode].dtype === 'uint8' ? 1 : 4)
}

/**
 * Returns the channels as numbers. **Cost**: a view of `data`; a copy only for `I` and `F` whose bytes start off a
 * multiple of four.
 */
export function elementsOf({ data, mode }: Pixels): RasterElements {
  const { dtype } = rasterModes[mode]
  if (dtype === 'uint8') return data
  // Every platform that Node's binaries are built for with these codecs is little-endian.
  // Not `slice`: on a Buffer that is another view of the same bytes.
  const aligned: Uint8Array = data.byteOffset % 4 === 0 ? data : new Uint8Array(data)
  return new (dataConstructor(dtype))(aligned.buffer, aligned.byteOffset, aligned.length / 4)
}
