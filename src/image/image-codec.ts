/**
 * The picture codecs: @napi-rs/image behind a narrow contract, GIF, which it lacks, and libjpeg-turbo for JPEG where it is there.
 *
 * What the package (1.15) does, found by trying it against Pillow 11.3:
 * - `rawPixels` gives 8-bit or native-endian 16-bit channels and does not say which mode they are; palettes are resolved, transparent
 *   colours become alpha, CMYK becomes RGB (within 1 of Pillow), 1-bit and BMP grey become 8-bit.
 * - PNG, BMP, TIFF and WebP equal Pillow's bytes. JPEG is within 3 levels; where colour has half the resolution and is noise, single
 *   samples differ by up to 57, nearly all of them in the last column.
 * - It reads cut-off JPEG and WebP files without an error, the rest grey: those are refused before.
 * - EXIF orientation is left alone unless `rotate` is called (Pillow turns TIFF, and only TIFF).
 * - TIFF of float, 32-bit, palette or grey-with-alpha samples is refused; GIF and TGA are not built in.
 * - Input is not copied but read in the pool: its bytes must not change until the promise settles.
 * - A signal only takes out work that still waits for a thread; one that is aborted beforehand is ignored.
 * - There is no size limit but about 512 MiB, and `metadata` decodes everything: sizes are read by `header.ts`.
 * - AVIF is only written: one whose boxes say that it is small is decoded in full before it is refused (1.9 GB from 2 KB seen).
 * - A TIFF with a JPEG of another size inside is cut to its own limit of 256 MB.
 * - It encodes from files or RGBA only; PNM and PAM are files with a header of a few bytes, so other modes go in as those.
 * - JPEG is always written with three components of full resolution.
 * @module
 */

import { runInSlices, type Slices, slicePixels } from '../memory/slices.ts'
import { loadOptional } from '../modules/optional.ts'
import { decodeGif } from './gif.ts'
import { type ImageHeader, type ImageMimeType, isCutOff } from './header.ts'
import { readGif } from './header-gif.ts'
import { type JpegCodec, jpegCodec } from './jpeg.ts'
import { RasterImage, type RasterMode } from './raster.ts'

/** Decodes and encodes off the event loop. */
export interface ImageCodec {
  /**
   * A picture's bytes, with the header that was read of them, become its pixels in the mode they are stored in; 16-bit grey is `I`, other
   * 16-bit channels keep their high byte, as in Pillow. The bytes must stay as they are until then.
   * **Errors**: an Error that says what is damaged or not supported; the signal's reason.
   */
  decode(bytes: Uint8Array, header: ImageHeader, signal?: AbortSignal): Promise<RasterImage>
  /** A raster in one of {@link encodableModes} becomes a picture's bytes. **Errors**: an Error that says what cannot be written. */
  encode(raster: RasterImage, mimeType: EncodableMimeType, signal?: AbortSignal): Promise<Uint8Array>
}

/** What the codec can write, and the modes that each format keeps. */
export const encodableModes = {
  'image/jpeg': ['L', 'RGB'],
  'image/png': ['L', 'LA', 'RGB', 'RGBA', 'I'],
  'image/webp': ['RGB', 'RGBA'],
  'image/bmp': ['L', 'RGB', 'RGBA'],
  'image/tiff': ['L', 'RGB', 'RGBA', 'I'],
  'image/avif': ['RGB', 'RGBA'],
} as const satisfies Partial<Record<ImageMimeType | 'image/avif', readonly RasterMode[]>>

/** A media type of {@link encodableModes}. */
export type EncodableMimeType = keyof typeof encodableModes

/** The part of the package that is used. */
interface Package {
  readonly Transformer: new (bytes: Uint8Array) => Transformer
}

interface Transformer {
  rawPixels(signal?: AbortSignal): Promise<Buffer>
  jpeg(quality: number, signal?: AbortSignal): Promise<Buffer>
  png(options: { compressionType: number; filterType: number }, signal?: AbortSignal): Promise<Buffer>
  webp(quality: number, signal?: AbortSignal): Promise<Buffer>
  bmp(signal?: AbortSignal): Promise<Buffer>
  tiff(signal?: AbortSignal): Promise<Buffer>
  avif(options: { quality: number; speed: number; chromaSubsampling: number }, signal?: AbortSignal): Promise<Buffer>
}

const jpegQuality = 75
// Qualities are Pillow's defaults; 5 is the adaptive PNG filter, 2 is 4:2:0.
const encoders: Readonly<Record<EncodableMimeType, (image: Transformer, signal?: AbortSignal) => Promise<Buffer>>> = {
  'image/jpeg': (image, signal) => image.jpeg(jpegQuality, signal),
  'image/png': (image, signal) => image.png({ compressionType: 0, filterType: 5 }, signal),
  'image/webp': (image, signal) => image.webp(80, signal),
  'image/bmp': (image, signal) => image.bmp(signal),
  'image/tiff': (image, signal) => image.tiff(signal),
  'image/avif': (image, signal) => image.avif({ quality: 75, speed: 6, chromaSubsampling: 2 }, signal),
}

const sliceBytes = slicePixels * 4

let loaded: ImageCodec | undefined

/** The codec. **Errors**: MissingDependencyException when @napi-rs/image is not installed. */
export function imageCodec(): ImageCodec {
  loaded ??= imageCodecWith(jpegCodec)
  return loaded
}

/** The codec with libjpeg-turbo, or without it as where it does not load. **Errors**: as of {@link imageCodec}. */
export function imageCodecWith(jpeg: JpegCodec | undefined): ImageCodec {
  const { Transformer } = loadOptional<Package>('@napi-rs/image', '^1.15.0', 'Image')
  return {
    async decode(bytes, header, signal) {
      signal?.throwIfAborted()
      if (isCutOff(bytes, header)) throw new Error('the data ends before the picture')
      if (header.mimeType === 'image/gif') {
        const frame = readGif(bytes)
        if (frame === undefined) throw new Error('the first frame is missing')
        return runInSlices(decodeGif(bytes, frame), signal)
      }
      // Four channels, CMYK, are made RGB by the package.
      if (jpeg !== undefined && (header.channels === 1 || header.channels === 3)) {
        return jpeg.decode(bytes, header, signal)
      }
      return runInSlices(rasterOf(await new Transformer(bytes).rawPixels(signal), header), signal)
    },
    async encode(raster, mimeType, signal) {
      signal?.throwIfAborted()
      if (jpeg !== undefined && mimeType === 'image/jpeg') return jpeg.encode(raster, jpegQuality, signal)
      return encoders[mimeType](new Transformer(await runInSlices(pnmOf(raster), signal)), signal)
    },
  }
}

/** Raw pixels get their mode from their number of bytes; the header's depth tells 16-bit grey from 8-bit grey with alpha. */
function* rasterOf(raw: Buffer, { width, height, bitDepth }: ImageHeader): Slices<RasterImage> {
  const bytes = raw.length / (width * height)
  const data = new Uint8Array(raw.buffer, raw.byteOffset, raw.length)
  const deep = bitDepth === 16
  if (bytes === 1) return new RasterImage('L', width, height, data)
  if (bytes === 2 && deep) return new RasterImage('I', width, height, yield* widened(data))
  if (bytes === 2) return new RasterImage('LA', width, height, data)
  if (bytes === 3) return new RasterImage('RGB', width, height, data)
  if (bytes === 4 && deep) return new RasterImage('LA', width, height, yield* highBytes(data))
  if (bytes === 4) return new RasterImage('RGBA', width, height, data)
  if (bytes === 6) return new RasterImage('RGB', width, height, yield* highBytes(data))
  if (bytes === 8) return new RasterImage('RGBA', width, height, yield* highBytes(data))
  throw new Error(`pixels of ${bytes} bytes are not supported`)
}

/** Native-endian 16-bit numbers as int32. */
function* widened(data: Uint8Array): Slices<Uint8Array> {
  const wide = new Uint8Array(data.length * 2)
  for (let i = 0; i < data.length; i += 2) {
    if (i % sliceBytes === 0 && i > 0) yield
    wide[2 * i] = data[i]
    wide[2 * i + 1] = data[i + 1]
  }
  return wide
}

/** The upper halves of native-endian, that is little-endian, 16-bit numbers. */
function* highBytes(data: Uint8Array): Slices<Uint8Array> {
  const high = new Uint8Array(data.length / 2)
  for (let i = 0; i < high.length; i++) {
    if (i % sliceBytes === 0 && i > 0) yield
    high[i] = data[2 * i + 1]
  }
  return high
}

/** A raster as a PGM, PPM or PAM file. **Source**: netpbm's pgm(5), ppm(5) and pam(5). */
function* pnmOf(raster: RasterImage): Slices<Uint8Array> {
  const { mode, width, height } = raster
  const size = `${width} ${height}\n`
  const pam = (depth: number, type: string) =>
    `P7\nWIDTH ${width}\nHEIGHT ${height}\nDEPTH ${depth}\nMAXVAL 255\nTUPLTYPE ${type}\nENDHDR\n`
  if (mode === 'I') return Buffer.concat([Buffer.from(`P5\n${size}65535\n`), yield* bigEndianWords(raster)])
  const header = {
    L: `P5\n${size}255\n`,
    RGB: `P6\n${size}255\n`,
    LA: pam(2, 'GRAYSCALE_ALPHA'),
    RGBA: pam(4, 'RGB_ALPHA'),
  }[mode as 'L' | 'LA' | 'RGB' | 'RGBA']
  return Buffer.concat([Buffer.from(header), raster.data])
}

/** Mode `I` in 16 bits, clipped, as Pillow writes it to PNG. */
function* bigEndianWords(raster: RasterImage): Slices<Uint8Array> {
  const elements = raster.elements()
  const bytes = new Uint8Array(elements.length * 2)
  for (let i = 0; i < elements.length; i++) {
    if (i % sliceBytes === 0 && i > 0) yield
    const clipped = Math.max(0, Math.min(65535, elements[i]))
    bytes[2 * i] = clipped >> 8
    bytes[2 * i + 1] = clipped
  }
  return bytes
}
