/** Colour modes, and pixels in one of them. @module */
import { dataConstructor } from '../../core/dtype.ts'
import { InvalidArgument } from '../../core/errors.ts'
import { viewAs, withCopy } from '../../core/memory/byte-copy.ts'

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
  'I;16': { channels: 1, dtype: 'uint16' },
  RGBX: { channels: 4, dtype: 'uint8' },
  P: { channels: 1, dtype: 'uint8' },
  LAB: { channels: 3, dtype: 'uint8' },
} as const

/** A colour mode of `rasterModes`. */
export type RasterMode = `${keyof typeof rasterModes}`

/** The pixels of a raster as numbers: one element per channel. */
export type RasterElements = Uint8Array | Uint16Array | Int32Array | Float32Array

/** Converts the pixel at element `s` to the one at `t`, which is all 0. */
export type Kernel = (source: RasterElements, s: number, target: RasterElements, t: number) => void

/** Pixels in rows from top to bottom, channels side by side, without gaps. */
export interface Pixels {
  readonly mode: RasterMode
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
  /** The colours that `P` points at: red, green, blue and alpha of each, at most 256. Without them, greys. */
  readonly palette?: Uint8Array | undefined
}

/** The modes of 8-bit levels by their number of channels. */
export const modesByChannels = [undefined, 'L', 'LA', 'RGB', 'RGBA'] as const

/** Whether a mode has levels or numbers of grey. */
export function isGreyMode(mode: RasterMode): boolean {
  return ['1', 'L', 'LA', 'I', 'F', 'I;16'].includes(mode)
}

/**
 * @returns 256 colours of red, green, blue and alpha; those that a palette does not have are black,
 * as in Pillow.
 */
export function paletteOf({ palette = greys }: Pick<Pixels, 'palette'>): Uint8Array {
  const colors = Uint8Array.from({ length: 1024 }, (_, i) => (i % 4 === 3 ? 255 : 0))
  colors.set(palette)
  return colors
}

/** The palette of greys: the level of an index is the index itself. */
export const greys: Uint8Array = Uint8Array.from({ length: 1024 }, (_, i) =>
  i % 4 === 3 ? 255 : i >> 2,
)

/** Whether `value` is the name of a colour mode. */
export function isRasterMode(value: unknown): value is RasterMode {
  return typeof value === 'string' && Object.hasOwn(rasterModes, value)
}

/** @returns the bytes of one pixel. */
export function pixelBytes(mode: RasterMode): number {
  const { channels, dtype } = rasterModes[mode]
  return channels * dataConstructor(dtype).BYTES_PER_ELEMENT
}

/**
 * @returns the channels as numbers: a view of `data`, or a copy of `I`, `F` and `I;16` if
 * unaligned.
 */
export function elementsOf({ data, mode }: Pick<Pixels, 'data' | 'mode'>): RasterElements {
  const { dtype } = rasterModes[mode]
  if (dtype === 'uint8') return data
  // Not `slice`: on a Buffer that is another view of the same bytes.
  return viewAs(dataConstructor(dtype), data)
}

/**
 * @returns the parts of pixels that are still there.
 * @throws InvalidArgument if they are gone.
 */
export function presentPixels({ mode, width, height, data, palette }: Pixels): Pixels {
  if (data.length > 0) return { mode, width, height, data, palette }
  throw new InvalidArgument('the pixels of this picture are gone: moved, or of a request before')
}

/** Runs work on a pooled copy of a function's pixels, which it may change or transfer meanwhile. */
export async function copied<T>(pixels: Pixels, work: (copy: Pixels) => Promise<T>): Promise<T> {
  const present = presentPixels(pixels)
  return withCopy(present.data, (data) => work({ ...present, data }))
}
