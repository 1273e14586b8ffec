/**
 * The picture codecs: libjpeg-turbo for JPEG where it loads, else @napi-rs/image, both in libuv's pool. What takes more
 * than them is done in the thread for pixels. @module
 */

import { bytesOf } from '../../core/memory/byte-copy.ts'
import type { NDArray } from '../array/ndarray.ts'
import { type EncodableMimeType, jpegQuality, storableMode } from './encodable-modes.ts'
import { type ImageHeader, isCutOff } from './header.ts'
import { type JpegCodec, jpegCodec } from './jpeg.ts'
import { eightBitPixels, loadTransformer } from './napi-image.ts'
import { pictureQueue } from './picture-queue.ts'
import { convertPixels, copyBytes, copyPixels, pixelThread } from './pixel-work.ts'
import { copied, type Pixels, type RasterMode } from './raster-modes.ts'
import { freePixels } from './request-pixels.ts'
import type { TensorPlan } from './tensor.ts'
import { modesFor, tensorOf } from './tensor-of.ts'

/** Whom a picture is decoded for. */
export interface DecodeJob {
  readonly signal?: AbortSignal | undefined
  /** Called when it is the picture's turn, before its pixels or tensor take so many bytes; may throw. */
  readonly begin?: (bytes: number) => void
  /**
   * Modes that the picture may keep; it is converted from others to the first.
   *
   * @default it keeps its own
   */
  readonly modes?: readonly RasterMode[] | undefined
}

/** Options of encoding. */
export interface EncodeOptions {
  /**
   * Of JPEG, WebP and AVIF. **Units**: 1 to 100.
   *
   * @default Pillow's, which is 75, 80 and 75
   */
  readonly quality?: number | undefined
}

/**
 * Decodes and encodes off the event loop.
 *
 * @throws MissingDependencyException when @napi-rs/image is missing.
 */
export class ImageCodec {
  readonly #Transformer = loadTransformer()
  readonly #jpeg: JpegCodec | undefined

  /** With libjpeg-turbo for JPEG, or without it. */
  constructor(jpeg: JpegCodec | undefined) {
    this.#jpeg = jpeg
  }

  /**
   * Decodes a file, which must not change until then.
   *
   * @throws an Error; the signal's reason.
   */
  async decode(bytes: Uint8Array, header: ImageHeader, job: DecodeJob = {}): Promise<Pixels> {
    const { signal, begin, modes } = job
    signal?.throwIfAborted()
    if (isCutOff(bytes, header)) throw new Error('the data ends before the picture')
    const { width, height, mode } = header
    const isWanted = (mode: RasterMode) => modes === undefined || modes.includes(mode)
    return pictureQueue.run(width * height, signal, async () => {
      begin?.(width * height * decodedBytes(header))
      const jpeg = this.#jpegFor(header, [1, 3, 4])
      if (jpeg === undefined && (mode === undefined || !isWanted(mode))) {
        const file = await copyBytes(bytes, signal)
        return pixelThread.run('decode', [file, header, modes], [file], signal)
      }
      const pixels = jpeg
        ? await jpeg.decode(bytes, header, signal)
        : eightBitPixels(bytesOf(await new this.#Transformer(bytes).rawPixels(signal)), header)
      if (isWanted(pixels.mode)) return pixels
      const converted = await convertPixels(
        pixels,
        modes?.slice(0, 1) ?? [],
        signal,
        jpeg !== undefined,
      )
      freePixels(pixels)
      return converted
    })
  }

  /** As {@link ImageCodec.decode}, resized and normalised. */
  async decodeTensor<D extends 'float32' | 'uint8'>(
    bytes: Uint8Array,
    header: ImageHeader,
    plan: TensorPlan<D>,
    job: Omit<DecodeJob, 'modes'> = {},
  ): Promise<NDArray<D>> {
    const { signal } = job
    const { width, height } = header
    const jpeg = this.#jpegFor(header, [1, 3])
    if (jpeg === undefined) {
      const pixels = await this.decode(bytes, header, { ...job, modes: modesFor(plan) })
      const tensor = await tensorOf(pixels, plan, signal)
      freePixels(pixels)
      return tensor
    }
    return pictureQueue.run(width * height, signal, async () => {
      job.begin?.(plan.byteLength)
      const out = plan.allocate()
      const denominator = plan.denominator(width, height)
      await jpeg.decodeResized(
        bytes,
        header,
        denominator,
        plan.resize(width, height, denominator),
        out,
        signal,
      )
      return plan.arrayOf(out)
    })
  }

  /** @returns libjpeg-turbo for a JPEG of one of some numbers of channels. */
  #jpegFor(
    { mimeType, channels = 0 }: ImageHeader,
    counts: readonly number[],
  ): JpegCodec | undefined {
    const isJpeg = mimeType === 'image/jpeg' && counts.includes(channels)
    if (isJpeg) return this.#jpeg
    return undefined
  }

  /**
   * Encodes a copy of pixels, converted to `mode` and from there to the nearest mode that the
   * format holds.
   *
   * @throws an Error; the signal's reason.
   */
  async encode(
    pixels: Pixels,
    mimeType: EncodableMimeType,
    { quality, mode = pixels.mode }: EncodeOptions & { readonly mode?: RasterMode } = {},
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    signal?.throwIfAborted()
    const area = pixels.width * pixels.height
    const jpeg = mimeType === 'image/jpeg' ? this.#jpeg : undefined
    if (jpeg === undefined) {
      const copy = await copyPixels(pixels, signal)
      return pictureQueue.run(area, signal, () =>
        pixelThread.run('encode', [copy, mode, mimeType, quality], [copy.data], signal),
      )
    }
    const write = (stored: Pixels) =>
      pictureQueue.run(area, signal, () => jpeg.encode(stored, quality ?? jpegQuality, signal))
    const stored = storableMode({ mode, palette: undefined }, mimeType)
    if (pixels.mode === stored && mode === stored) return copied(pixels, write)
    const converted = await convertPixels(pixels, [mode, stored], signal)
    const file = await write(converted)
    freePixels(converted)
    return file
  }
}

/**
 * @returns a codec.
 * @throws MissingDependencyException when @napi-rs/image is not installed.
 */
export function imageCodec(): ImageCodec {
  return new ImageCodec(jpegCodec)
}

function decodedBytes({ channels = 4, bitDepth = 8 }: ImageHeader): number {
  return Math.min(channels, 4) * (bitDepth > 8 ? 4 : 1)
}
