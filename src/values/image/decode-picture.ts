/** Reads files whose bytes are not yet the pixels, by @napi-rs/image or, GIF, by our own code. @module */
import { decodeGif } from './gif.ts'
import type { ImageHeader } from './header.ts'
import { decodeIndexedPng, isIndexedPng } from './indexed-png.ts'
import { eightBitPixels, loadTransformer } from './napi-image.ts'
import type { Pixels, RasterMode } from './raster-modes.ts'
import { decodeTiff } from './tiff.ts'
import { inTurns } from './turn.ts'

/**
 * Decodes to the stored mode; keeps a palette where modes ask for one.
 *
 * @throws an Error; the signal's reason.
 */
export async function decodePicture(
  file: Uint8Array,
  header: ImageHeader,
  modes: readonly RasterMode[] | undefined,
  signal: AbortSignal,
): Promise<Pixels> {
  const { mimeType } = header
  const decode = async (bytes: Uint8Array) => new (loadTransformer())(bytes).rawPixels(signal)
  const keepsPalette = modes === undefined || modes.includes('P')
  if (mimeType === 'image/gif') return decodeGif(file, signal)
  if (mimeType === 'image/png' && keepsPalette && isIndexedPng(file))
    return decodeIndexedPng(file, decode, signal)
  const pixelsOf = (raw: Buffer) => pixelsOfRaw(raw, header, signal)
  if (mimeType === 'image/tiff') return decodeTiff(file, decode, pixelsOf, signal)
  return pixelsOf(await decode(file))
}

/** Finds the mode by the number of bytes; the header's depth tells 16-bit grey from `LA`. */
async function pixelsOfRaw(raw: Buffer, header: ImageHeader, signal: AbortSignal): Promise<Pixels> {
  const { width, height, bitDepth } = header
  const bytes = raw.length / (width * height)
  if (!(bytes > 4 || (bitDepth === 16 && bytes % 2 === 0))) return eightBitPixels(raw, header)
  if (bytes === 2) return { mode: 'I;16', width, height, data: raw }
  return eightBitPixels(await highBytes(raw, signal), header)
}

async function highBytes(data: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
  const high = new Uint8Array(data.length / 2)
  await inTurns(high.length, signal, (from, to) => {
    for (let i = from; i < to; i++) high[i] = data[2 * i + 1]
  })
  return high
}
