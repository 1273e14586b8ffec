/** Writes pictures by @napi-rs/image, and by our own code what it does not write: GIF, and some TIFF. @module */
import { type EncodableMimeType, jpegQuality } from './encodable-modes.ts'
import { encodeGif } from './gif-writer.ts'
import { indexedPng } from './indexed-png.ts'
import { loadTransformer, type Transformer } from './napi-image.ts'
import { convertRaster } from './raster-convert.ts'
import type { Pixels } from './raster-modes.ts'
import { encodeTiff, isOwnTiffMode } from './tiff-writer.ts'
import { inTurns } from './turn.ts'

type Encoder = (
  image: Transformer,
  quality: number | undefined,
  signal?: AbortSignal,
) => Promise<Buffer>

// Qualities are Pillow's defaults; 5 is the adaptive PNG filter, 2 is 4:2:0.
const encoders: Readonly<Record<Exclude<EncodableMimeType, 'image/gif'>, Encoder>> = {
  'image/jpeg': (image, quality = jpegQuality, signal) => image.jpeg(quality, signal),
  'image/png': (image, _quality, signal) =>
    image.png({ compressionType: 0, filterType: 5 }, signal),
  'image/webp': (image, quality = 80, signal) => image.webp(quality, signal),
  'image/bmp': (image, _quality, signal) => image.bmp(signal),
  'image/tiff': (image, _quality, signal) => image.tiff(signal),
  'image/avif': (image, quality = 75, signal) =>
    image.avif({ quality, speed: 6, chromaSubsampling: 2 }, signal),
}
// Neighbours in a palette say nothing about each other: no filter.
const encodeIndexes: Encoder = (image, _quality, signal) =>
  image.png({ compressionType: 0, filterType: 0 }, signal)

/**
 * @returns the bytes of a file of pixels in one of the format's modes.
 * @throws an Error; the signal's reason.
 */
export async function encodePicture(
  pixels: Pixels,
  mimeType: EncodableMimeType,
  quality: number | undefined,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const { mode } = pixels
  if (mimeType === 'image/tiff' && isOwnTiffMode(mode)) return encodeTiff({ ...pixels, mode })
  if (mimeType === 'image/gif') return gifOf(pixels, signal)
  const isIndexed = mode === 'P'
  const pnm = pnmOf(isIndexed ? { ...pixels, mode: 'L' } : pixels)
  const encoder = isIndexed ? encodeIndexes : encoders[mimeType]
  const file = await encoder(new (loadTransformer())(pnm), quality, signal)
  if (isIndexed) return indexedPng(file, pixels)
  return file
}

/** GIF has colours of a palette: those of the picture, or, where these are too many, the web's, dithered. */
async function gifOf(pixels: Pixels, signal?: AbortSignal): Promise<Uint8Array> {
  if (pixels.mode === 'L' || pixels.mode === 'P') return encodeGif(pixels, signal)
  const indexed = await withPalette(pixels, signal)
  return encodeGif(indexed ?? (await convertRaster(pixels, 'P', signal)), signal)
}

/** @returns a picture of at most 256 colours with a palette of them; undefined for one of more. */
async function withPalette(pixels: Pixels, signal?: AbortSignal): Promise<Pixels | undefined> {
  const { width, height, data } = await convertRaster(pixels, 'RGBA', signal)
  const colors = new Int32Array(new Uint8Array(data).buffer)
  const indexes = new Uint8Array(colors.length)
  const known = new Map<number, number>()
  await inTurns(indexes.length, signal, (from, to) => {
    for (let i = from; i < to && known.size <= 256; i++) {
      // The sign is the highest bit of alpha: half of it and more is opaque.
      const color = colors[i] < 0 ? colors[i] | 0xff000000 : 0
      const index = known.get(color) ?? known.size
      known.set(color, index)
      indexes[i] = index
    }
  })
  if (known.size > 256) return undefined
  const palette = new Uint8Array(new Int32Array(known.keys()).buffer)
  return { mode: 'P', width, height, data: indexes, palette }
}

function pnmOf(pixels: Pixels): Uint8Array {
  const { mode, width, height } = pixels
  const size = `${width} ${height}\n`
  const pam = (depth: number, type: string) =>
    `P7\nWIDTH ${width}\nHEIGHT ${height}\nDEPTH ${depth}\nMAXVAL 255\nTUPLTYPE ${type}\nENDHDR\n`
  const header = {
    'I;16': `P5\n${size}65535\n`,
    L: `P5\n${size}255\n`,
    RGB: `P6\n${size}255\n`,
    LA: pam(2, 'GRAYSCALE_ALPHA'),
    RGBA: pam(4, 'RGB_ALPHA'),
  }[mode as 'I;16' | 'L' | 'LA' | 'RGB' | 'RGBA']
  const data = mode === 'I;16' ? Buffer.from(pixels.data).swap16() : pixels.data
  const file = Buffer.allocUnsafeSlow(header.length + data.length)
  file.write(header, 'latin1')
  file.set(data, header.length)
  return file
}
