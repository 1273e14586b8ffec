/** The format and size of a picture from its header alone: a hostile size costs nothing. @module */
import { readGif } from './gif-frame.ts'
import { type ImageSize, maxHeaderSteps } from './image-size.ts'
import type { RasterMode } from './raster-modes.ts'
import { readTiff } from './tiff-directory.ts'

/** Media types of the pictures that are known by their bytes. */
export const imageMimeTypes = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'image/bmp',
  'image/tiff',
] as const

/** A media type of `imageMimeTypes`. */
export type ImageMimeType = (typeof imageMimeTypes)[number]

/** Type and size. */
export interface ImageHeader extends ImageSize {
  readonly mimeType: ImageMimeType
}

/**
 * @returns the type of a picture by its first bytes; undefined for others than `imageMimeTypes`.
 */
export function imageTypeOf(bytes: Uint8Array): ImageMimeType | undefined {
  if (startsWith(bytes, '\x89PNG\r\n\x1a\n')) return 'image/png'
  if (startsWith(bytes, '\xff\xd8\xff')) return 'image/jpeg'
  if (startsWith(bytes, 'RIFF') && startsWith(bytes, 'WEBP', 8)) return 'image/webp'
  if (startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a')) return 'image/gif'
  if (startsWith(bytes, 'BM')) return 'image/bmp'
  if (startsWith(bytes, 'II*\0') || startsWith(bytes, 'MM\0*')) return 'image/tiff'
  return undefined
}

/** Whether bytes are a TIFF with offsets of 64 bits, which is not read. */
export function isBigTiff(bytes: Uint8Array): boolean {
  return startsWith(bytes, 'II+\0') || startsWith(bytes, 'MM\0+')
}

const readers: Readonly<
  Record<ImageMimeType, (bytes: Uint8Array, view: DataView) => ImageSize | undefined>
> = {
  'image/png': readPng,
  'image/jpeg': readJpeg,
  'image/webp': readWebp,
  'image/gif': gifSize,
  'image/bmp': readBmp,
  'image/tiff': readTiff,
}

/** @returns the header; undefined for an unknown type, damage before the size, or a side of 0. */
export function readImageHeader(bytes: Uint8Array): ImageHeader | undefined {
  const mimeType = imageTypeOf(bytes)
  if (mimeType === undefined) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const size = readers[mimeType](bytes, view)
  if (size === undefined || size.width < 1 || size.height < 1) return undefined
  return { mimeType, ...size }
}

/** Whether a JPEG or WebP was cut off, which decoders would fill with grey without an error. */
export function isCutOff(bytes: Uint8Array, { mimeType, dataOffset }: ImageHeader): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (mimeType === 'image/webp') return buffer.readUInt32LE(4) + 8 > buffer.length
  if (mimeType !== 'image/jpeg') return false
  // Coded pixels never hold the end marker; a thumbnail's own one stands before them.
  return (
    buffer
      .subarray((dataOffset ?? buffer.length) + 1)
      .lastIndexOf('\xff\xd9', undefined, 'latin1') === -1
  )
}

function startsWith(bytes: Uint8Array, text: string, at = 0): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false
  return true
}

/** The modes of the colour types of PNG; type 3 is a palette. */
const pngModes: readonly (RasterMode | undefined)[] = [
  'L',
  undefined,
  'RGB',
  undefined,
  'LA',
  undefined,
  'RGBA',
]

function readPng(bytes: Uint8Array, view: DataView): ImageSize | undefined {
  if (bytes.length < 29 || !startsWith(bytes, 'IHDR', 12)) return undefined
  const bitDepth = bytes[24]
  const mode = bitDepth > 8 ? undefined : pngModes[bytes[25]]
  return { width: view.getUint32(16), height: view.getUint32(20), bitDepth, mode }
}

/** Walks the markers to the frame header. Two frame headers are refused: a decoder may go by the other one. */
function readJpeg(bytes: Uint8Array, view: DataView): ImageSize | undefined {
  let found: ImageSize | undefined
  let at = 2
  let steps = 0
  while (at + 4 <= bytes.length) {
    if (++steps > maxHeaderSteps) return undefined
    // Fill bytes may stand before a marker; decoders also skip other bytes there.
    if (bytes[at] !== 0xff || bytes[at + 1] === 0xff || bytes[at + 1] === 0) {
      at++
      continue
    }
    const marker = bytes[at + 1]
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += 2
      continue
    }
    if (marker === 0xda || marker === 0xd9) return found && { ...found, dataOffset: at }
    // C4, C8 and CC are tables and extensions, the other C… are frame headers.
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      if (found !== undefined || at + 10 > bytes.length) return undefined
      const [bitDepth, channels] = [bytes[at + 4], bytes[at + 9]]
      const mode = ({ 1: 'L', 3: 'RGB' } as const)[channels]
      found = {
        height: view.getUint16(at + 5),
        width: view.getUint16(at + 7),
        bitDepth,
        channels,
        mode,
      }
    }
    at += 2 + Math.max(2, view.getUint16(at + 2))
  }
  return found
}

function readWebp(bytes: Uint8Array, view: DataView): ImageSize | undefined {
  if (bytes.length < 30) return undefined
  if (startsWith(bytes, 'VP8X', 12)) {
    const side = (at: number) => 1 + view.getUint16(at, true) + bytes[at + 2] * 65536
    return { width: side(24), height: side(27), mode: bytes[20] & 0x10 ? 'RGBA' : 'RGB' }
  }
  if (startsWith(bytes, 'VP8L', 12) && bytes[20] === 0x2f) {
    const bits = view.getUint32(21, true)
    const mode = bits & 0x10000000 ? 'RGBA' : 'RGB'
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, mode }
  }
  if (startsWith(bytes, 'VP8 ', 12) && startsWith(bytes, '\x9d\x01\x2a', 23)) {
    return {
      width: view.getUint16(26, true) & 0x3fff,
      height: view.getUint16(28, true) & 0x3fff,
      mode: 'RGB',
    }
  }
  return undefined
}

function gifSize(bytes: Uint8Array): ImageSize | undefined {
  const frame = readGif(bytes)
  return frame && { width: frame.width, height: frame.height }
}

/** Reads a BMP header: of 12 bytes with 16-bit sides, else 32-bit ones; a height below 0 means top-down rows. */
function readBmp(bytes: Uint8Array, view: DataView): ImageSize | undefined {
  if (bytes.length < 26) return undefined
  const length = view.getUint32(14, true)
  if (length === 12) return { width: view.getUint16(18, true), height: view.getUint16(20, true) }
  if (length < 16 || length > 124) return undefined
  const mode = bytes[28] === 24 ? 'RGB' : undefined
  return { width: view.getInt32(18, true), height: Math.abs(view.getInt32(22, true)), mode }
}
