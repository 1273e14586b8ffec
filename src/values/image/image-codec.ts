/**
 * The picture codecs: @napi-rs/image, libjpeg-turbo for JPEG where it loads, and our own code for what the package
 * does not read: GIF, and TIFF of floats, 32 bits, palettes or L*a*b*. The package states no mode of `rawPixels`, reads
 * cut-off JPEG and WebP files without an error, has no limit of pixels, and may take GBs for an AVIF, so that AVIF is
 * only written. Input must not change until the promise settles; a signal only removes work that still waits. @module
 */
import { loadOptional } from '../../core/modules/optional.ts'
import type { NDArray } from '../array/ndarray.ts'
import { decodeGif } from './gif.ts'
import { encodeGif } from './gif-writer.ts'
import { type ImageHeader, type ImageMimeType, isCutOff } from './header.ts'
import { indexedPng, indexesOfPng, isIndexedPng } from './indexed-png.ts'
import { type JpegCodec, jpegCodec } from './jpeg.ts'
import { pictureQueue } from './picture-queue.ts'
import { quantize } from './quantize.ts'
import { copied, greys, isGreyMode, type Pixels, type RasterMode } from './raster-modes.ts'
import { freePixels } from './request-pixels.ts'
import type { TensorPlan } from './tensor.ts'
import { tensorOf } from './tensor-of.ts'
import { samplesOfTiff } from './tiff.ts'
import { encodeTiff, isOwnTiffMode } from './tiff-writer.ts'

/** Whom a picture is decoded for. */
export interface DecodeJob {
  readonly signal?: AbortSignal | undefined
  /** Called when it is the picture's turn, before its pixels or tensor take so many bytes; may throw. */
  readonly begin?: (bytes: number) => void
  readonly keepsPalette?: boolean
}

/** Options of encoding. */
export interface EncodeOptions {
  /** Of JPEG, WebP and AVIF. **Units**: 1 to 100. Default: Pillow's, which is 75, 80 and 75. */
  readonly quality?: number | undefined
}

/** What the codec can write, and the modes that each format holds. */
export const encodableModes = {
  'image/jpeg': ['L', 'RGB'],
  'image/png': ['L', 'LA', 'RGB', 'RGBA', 'I;16', 'P'],
  'image/webp': ['RGB', 'RGBA'],
  'image/bmp': ['L', 'RGB', 'RGBA'],
  'image/tiff': ['L', 'RGB', 'RGBA', 'I;16', 'I', 'F', 'P', 'LAB'],
  'image/gif': ['L', 'P', 'RGB', 'RGBA'],
  'image/avif': ['RGB', 'RGBA'],
} as const satisfies Partial<Record<ImageMimeType | 'image/avif', readonly RasterMode[]>>

/** A media type of `encodableModes`. */
export type EncodableMimeType = keyof typeof encodableModes

/** Returns the nearest mode that a format holds. `I` and `F` are clipped, as Pillow does. */
export function storableMode(
  { mode, palette }: Pick<Pixels, 'mode' | 'palette'>,
  mimeType: EncodableMimeType,
): RasterMode {
  const modes: readonly RasterMode[] = encodableModes[mimeType]
  if (modes.includes(mode)) return mode
  if (mode === 'I' && modes.includes('I;16')) return 'I;16'
  const hasAlpha = mode === 'LA' || mode === 'PA' || (mode === 'P' && isTransparent(palette))
  if (hasAlpha && modes.includes('RGBA')) return 'RGBA'
  return isGreyMode(mode) && modes.includes('L') ? 'L' : 'RGB'
}

function isTransparent(palette: Uint8Array = greys): boolean {
  return palette.some((level, i) => i % 4 === 3 && level !== 255)
}

type Package = typeof import('@napi-rs/image')
type Transformer = InstanceType<Package['Transformer']>
type Encoder = (image: Transformer, quality: number | undefined, signal?: AbortSignal) => Promise<Buffer>

const jpegQuality = 75
// Qualities are Pillow's defaults; 5 is the adaptive PNG filter, 2 is 4:2:0.
const encoders: Readonly<Record<Exclude<EncodableMimeType, 'image/gif'>, Encoder>> = {
  'image/jpeg': (image, quality = jpegQuality, signal) => image.jpeg(quality, signal),
  'image/png': (image, _quality, signal) => image.png({ compressionType: 0, filterType: 5 }, signal),
  'image/webp': (image, quality = 80, signal) => image.webp(quality, signal),
  'image/bmp': (image, _quality, signal) => image.bmp(signal),
  'image/tiff': (image, _quality, signal) => image.tiff(signal),
  'image/avif': (image, quality = 75, signal) => image.avif({ quality, speed: 6, chromaSubsampling: 2 }, signal),
}
// Neighbours in a palette say nothing about each other: no filter.
const encodeIndexes: Encoder = (image, _quality, signal) => image.png({ compressionType: 0, filterType: 0 }, signal)

/** Decodes and encodes off the event loop. **Errors**: MissingDependencyException when @napi-rs/image is missing. */
export class ImageCodec {
  readonly #Transformer = loadOptional<Package>('@napi-rs/image', '^1.15.0', 'Image').Transformer
  readonly #jpeg: JpegCodec | undefined

  /** With libjpeg-turbo for JPEG, or without it. */
  constructor(jpeg: JpegCodec | undefined) {
    this.#jpeg = jpeg
  }

  /** Decodes in the stored mode. The bytes must not change until then. **Errors**: an Error; the signal's reason. */
  async decode(bytes: Uint8Array, header: ImageHeader, job: DecodeJob = {}): Promise<Pixels> {
    const { signal, begin, keepsPalette } = job
    signal?.throwIfAborted()
    if (isCutOff(bytes, header)) throw new Error('the data ends before the picture')
    const { mimeType, width, height } = header
    return pictureQueue.run(width * height, signal, async () => {
      begin?.(width * height * decodedBytes(header))
      if (mimeType === 'image/gif') return decodeGif(bytes, signal)
      const jpeg = this.#jpegFor(header)
      if (jpeg !== undefined) return jpeg.decode(bytes, header, signal)
      const raw = (file: Uint8Array) => new this.#Transformer(file).rawPixels(signal)
      const isIndexed = keepsPalette && mimeType === 'image/png' && isIndexedPng(bytes)
      const own = mimeType === 'image/tiff' ? samplesOfTiff(bytes) : isIndexed ? indexesOfPng(bytes) : undefined
      return own === undefined ? pixelsOf(await raw(bytes), header) : own.pixelsOf(await raw(own.file))
    })
  }

  /** As {@link ImageCodec.decode}, resized and normalised. */
  async decodeTensor<D extends 'float32' | 'uint8'>(
    bytes: Uint8Array,
    header: ImageHeader,
    plan: TensorPlan<D>,
    job: DecodeJob = {},
  ): Promise<NDArray<D>> {
    const { signal } = job
    const jpeg = this.#jpegFor(header)
    if (jpeg === undefined) {
      const pixels = await this.decode(bytes, header, job)
      const tensor = await tensorOf(pixels, plan, signal)
      freePixels(pixels)
      return tensor
    }
    const { width, height } = header
    return pictureQueue.run(width * height, signal, async () => {
      job.begin?.(plan.byteLength)
      const out = plan.allocate()
      const denominator = plan.denominator(width, height)
      await jpeg.decodeResized(bytes, header, denominator, plan.resize(width, height, denominator), out, signal)
      return plan.arrayOf(out)
    })
  }

  #jpegFor({ mimeType, channels }: ImageHeader): JpegCodec | undefined {
    return mimeType === 'image/jpeg' && (channels === 1 || channels === 3) ? this.#jpeg : undefined
  }

  /** Encodes a copy of pixels in one of `encodableModes`. **Errors**: an Error; the signal's reason. */
  async encode(
    pixels: Pixels,
    mimeType: EncodableMimeType,
    { quality }: EncodeOptions = {},
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    signal?.throwIfAborted()
    const { mode, width, height } = pixels
    const jpeg = this.#jpeg
    if (jpeg !== undefined && mimeType === 'image/jpeg') {
      const write = (copy: Pixels) => jpeg.encode(copy, quality ?? jpegQuality, signal)
      return copied(pixels, (copy) => pictureQueue.run(width * height, signal, () => write(copy)))
    }
    if (mimeType === 'image/tiff' && isOwnTiffMode(mode)) return encodeTiff({ ...pixels, mode })
    if (mimeType === 'image/gif') return copied(pixels, (copy) => gifOf(copy, signal))
    const isIndexed = mode === 'P'
    const pnm = pnmOf(isIndexed ? { ...pixels, mode: 'L' } : pixels)
    const encoder = isIndexed ? encodeIndexes : encoders[mimeType]
    const file = await pictureQueue.run(width * height, signal, () =>
      encoder(new this.#Transformer(pnm), quality, signal),
    )
    return isIndexed ? indexedPng(file, pixels) : file
  }
}

let loaded: ImageCodec | undefined

/** Returns the codec. **Errors**: MissingDependencyException when @napi-rs/image is not installed. */
export function imageCodec(): ImageCodec {
  loaded ??= new ImageCodec(jpegCodec)
  return loaded
}

async function gifOf(pixels: Pixels, signal?: AbortSignal): Promise<Uint8Array> {
  const { mode } = pixels
  if (mode === 'L' || mode === 'P') return encodeGif(pixels)
  return encodeGif(await quantize(mode === 'RGBA' ? hardAlpha(pixels) : pixels, signal))
}

function hardAlpha(pixels: Pixels): Pixels {
  const levels = pixels.data
  const data = levels.map((level, i) => (levels[i | 3] < 128 ? 0 : (i & 3) === 3 ? 255 : level))
  return { ...pixels, data }
}

function decodedBytes({ channels = 4, bitDepth = 8 }: ImageHeader): number {
  return Math.min(channels, 4) * (bitDepth > 8 ? 4 : 1)
}

/** Finds the mode by the number of bytes; the header's depth tells 16-bit grey from `LA`. */
function pixelsOf(raw: Buffer, { width, height, bitDepth }: ImageHeader): Pixels {
  const bytes = raw.length / (width * height)
  const data = new Uint8Array(raw.buffer, raw.byteOffset, raw.length)
  const isDeep = bytes > 4 || (bitDepth === 16 && bytes % 2 === 0)
  if (isDeep && bytes === 2) return { mode: 'I;16', width, height, data }
  const mode = ([undefined, 'L', 'LA', 'RGB', 'RGBA'] as const)[isDeep ? bytes / 2 : bytes]
  if (mode === undefined) throw new Error(`pixels of ${bytes} bytes are not supported`)
  return { mode, width, height, data: isDeep ? highBytes(data) : data }
}

function highBytes(data: Uint8Array): Uint8Array {
  const high = new Uint8Array(data.length / 2)
  for (let i = 0; i < high.length; i++) high[i] = data[2 * i + 1]
  return high
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
