/**
 * JPEG by libjpeg-turbo, bit for bit as Pillow's. Refuses a frame header of another size than `header.ts` read (which
 * was checked), data that ends early, and more than 100 scans. @module
 */
import type { ImageHeader } from './header.ts'
import { type JpegAddon, jpegAddon, runWithStop } from './image-addon.ts'
import type { Pixels, RasterMode } from './raster-modes.ts'
import { planFields, type Resize } from './resize.ts'

/** Modes by the number of channels. */
const modes: Readonly<Record<number, RasterMode>> = { 1: 'L', 3: 'RGB', 4: 'CMYK' }

const codecOf = (addon: JpegAddon) => ({
  /**
   * Decodes to a mode of `modes`. The bytes must not change until then.
   *
   * @throws an Error; the signal's reason.
   */
  async decode(bytes: Uint8Array, header: ImageHeader, signal?: AbortSignal): Promise<Pixels> {
    const { width, height, channels = 0 } = header
    // Not touched before the library has read the header, so that a picture that is refused takes no memory.
    const data = new Uint8Array(Buffer.allocUnsafeSlow(width * height * channels).buffer)
    const plan = planFields(width, height, channels, 1)
    await runWithStop(signal, (stop) => addon.decode(bytes, plan, stop, data, undefined))
    return { mode: modes[channels], width, height, data }
  },

  /**
   * Decodes at 1/`denominator` of the size, resizes row by row, and writes into `out`.
   *
   * @throws as of decode.
   */
  async decodeResized(
    bytes: Uint8Array,
    { width, height, channels = 0 }: ImageHeader,
    denominator: number,
    resize: Resize,
    out: Uint8Array,
    signal?: AbortSignal,
  ): Promise<void> {
    const plan = planFields(width, height, channels, denominator, resize)
    await runWithStop(signal, (stop) => addon.decode(bytes, plan, stop, out, resize.table))
  },

  /**
   * Encodes `L` or `RGB`, which must not change until then. `quality`: 1 to 100.
   *
   * @throws as of decode.
   */
  async encode(
    { mode, width, height, data }: Pixels,
    quality: number,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    const plan = planFields(width, height, mode === 'L' ? 1 : 3, quality)
    return new Uint8Array(await runWithStop(signal, (stop) => addon.encode(data, plan, stop)))
  },
})

/** JPEG in grey, RGB and, read only, CMYK, off the event loop. */
export type JpegCodec = ReturnType<typeof codecOf>

/** The codec; undefined where the add-on with libjpeg-turbo does not load. */
export const jpegCodec: JpegCodec | undefined = jpegAddon && codecOf(jpegAddon)
