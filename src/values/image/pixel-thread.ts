/** The program of the thread for pixels: the only place that loads what walks over them. @module */
import { parentPort } from 'node:worker_threads'
import { decodePicture } from './decode-picture.ts'
import { type EncodableMimeType, storableMode } from './encodable-modes.ts'
import { encodePicture } from './encode-picture.ts'
import type { ImageHeader } from './header.ts'
import { convertRaster } from './raster-convert.ts'
import type { Pixels, RasterMode } from './raster-modes.ts'
import { freePixels } from './request-pixels.ts'
import { resampleRows } from './resample-rows.ts'
import type { Resize } from './resize.ts'

const works = {
  /** Decodes a file to one of some modes, by conversion to the first if need be; without modes to its own. */
  async decode(
    signal: AbortSignal,
    file: Uint8Array,
    header: ImageHeader,
    modes: readonly RasterMode[] | undefined,
  ): Promise<Pixels> {
    const pixels = await decodePicture(file, header, modes, signal)
    const isWanted = modes === undefined || modes.includes(pixels.mode)
    const wanted = isWanted ? [] : modes.slice(0, 1)
    const converted = await works.convert(signal, pixels, wanted)
    const data = whole(converted.data)
    if (data !== converted.data) freePixels(converted)
    return { ...converted, data }
  },

  async convert(
    signal: AbortSignal,
    pixels: Pixels,
    modes: readonly RasterMode[],
  ): Promise<Pixels> {
    let converted = pixels
    for (const mode of modes) {
      const before = converted
      converted = await convertRaster(before, mode, signal)
      if (converted !== before) freePixels(before)
    }
    return converted
  },

  /** Encodes pixels once they are in a mode, or in the nearest one that the format holds. */
  async encode(
    signal: AbortSignal,
    pixels: Pixels,
    mode: RasterMode,
    mimeType: EncodableMimeType,
    quality: number | undefined,
  ): Promise<Uint8Array> {
    const converted = await works.convert(signal, pixels, [mode])
    const stored = await works.convert(signal, converted, [storableMode(converted, mimeType)])
    const file = whole(await encodePicture(stored, mimeType, quality, signal))
    freePixels(stored)
    return file
  },

  /** Resizes into `out`, where the add-on is missing. */
  async resample(
    signal: AbortSignal,
    pixels: Pixels,
    resize: Resize,
    out: Uint8Array,
  ): Promise<Uint8Array> {
    await resampleRows(pixels, resize, out, signal)
    freePixels(pixels)
    return out
  },
}

/** What the thread does. */
export type PixelWorks = typeof works

/** A call of work, or, by its number alone, the end of one. */
export interface PixelMessage {
  readonly id: number
  readonly work?: keyof PixelWorks
  readonly given?: readonly unknown[]
}

/** The result of work, or its error. */
export interface PixelAnswer {
  readonly id: number
  readonly result?: Pixels | Uint8Array
  readonly error?: Error
}

/**
 * @returns bytes that can move to another thread: memory of a library or a pool cannot, which a
 * Buffer may have.
 */
function whole(bytes: Uint8Array): Uint8Array {
  if (Buffer.isBuffer(bytes) || bytes.length < bytes.buffer.byteLength) return new Uint8Array(bytes)
  return bytes
}

const running = new Map<number, AbortController>()

async function answer(
  { id, work, given }: Required<PixelMessage>,
  signal: AbortSignal,
): Promise<void> {
  const run = works[work] as (
    signal: AbortSignal,
    ...given: readonly unknown[]
  ) => Promise<Pixels | Uint8Array>
  const message = await run(signal, ...given).then(
    (result): PixelAnswer => ({ id, result }),
    (error): PixelAnswer => ({ id, error }),
  )
  running.delete(id)
  const { result } = message
  const data = result instanceof Uint8Array ? result : result?.data
  parentPort?.postMessage(message, data === undefined ? [] : [data.buffer as ArrayBuffer])
}

parentPort?.on('message', (message: PixelMessage) => {
  if (message.work === undefined) {
    running.get(message.id)?.abort()
    return
  }
  const controller = new AbortController()
  running.set(message.id, controller)
  void answer(message as Required<PixelMessage>, controller.signal)
})
