/** The first directory of a TIFF: the tags that say how large its picture is and what its samples mean. @module */
import type { ImageSize } from './image-size.ts'

/**
 * The numbers of those tags.
 *
 * @see TIFF 6.0, section 8.
 */
export const tiffTags = {
  width: 256,
  height: 257,
  bits: 258,
  compression: 259,
  photometric: 262,
  fillOrder: 266,
  orientation: 274,
  channels: 277,
  planes: 284,
  predictor: 317,
  colors: 320,
  tiles: 322,
  extraSamples: 338,
  format: 339,
} as const
const wanted: readonly number[] = Object.values(tiffTags)
/** The most numbers of a tag: those of a palette. */
const maxValues = 768

/**
 * BigTIFF is not a known type.
 *
 * @returns the wanted tags of the first directory.
 * @see TIFF 6.0, section 2.
 */
export function readDirectory(bytes: Uint8Array) {
  if (bytes.length < 8) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isLittle = bytes[0] === 0x49
  const directory = view.getUint32(4, isLittle)
  if (directory + 2 > bytes.length) return undefined
  const end = Math.min(bytes.length - 11, directory + 2 + 12 * view.getUint16(directory, isLittle))
  const tags = new Map<number, { entry: number; values: readonly number[] }>()
  for (let entry = directory + 2; entry < end; entry += 12) {
    const tag = view.getUint16(entry, isLittle)
    if (!wanted.includes(tag)) continue
    // A decoder may go by the other one.
    if (tags.has(tag)) return undefined
    tags.set(tag, { entry, values: valuesOf(view, entry, isLittle) })
  }
  const one = (tag: keyof typeof tiffTags, standard: number) =>
    tags.get(tiffTags[tag])?.values[0] ?? standard
  return { view, isLittle, tags, one }
}

/**
 * @returns the whole numbers of an entry; an empty list for other types, and outside of the file.
 */
function valuesOf(view: DataView, entry: number, isLittle: boolean): readonly number[] {
  const size = { 1: 1, 3: 2, 4: 4 }[view.getUint16(entry + 2, isLittle)]
  const count = view.getUint32(entry + 4, isLittle)
  if (size === undefined || count > maxValues) return []
  const start = size * count > 4 ? view.getUint32(entry + 8, isLittle) : entry + 8
  if (start + size * count > view.byteLength) return []
  return Array.from({ length: count }, (_, i) => {
    const at = start + i * size
    if (size === 1) return view.getUint8(at)
    if (size === 2) return view.getUint16(at, isLittle)
    return view.getUint32(at, isLittle)
  })
}

/** @returns the size of the first picture. */
export function readTiff(bytes: Uint8Array): ImageSize | undefined {
  const one = readDirectory(bytes)?.one
  return one && { width: one('width', 0), height: one('height', 0), bitDepth: one('bits', 1) }
}
