/**
 * TIFF files whose samples @napi-rs/image does not read: palettes, L*a*b*, integers and floats. It unpacks them as
 * bytes of grey. @module
 */
import type { ImageSize } from './image-size.ts'
import type { Pixels } from './raster-modes.ts'

const [widthTag, heightTag, bitsTag, compressionTag, photometricTag, channelsTag] = [256, 257, 258, 259, 262, 277]
const [planesTag, predictorTag, colorsTag, tilesTag, formatTag] = [284, 317, 320, 322, 339]
const wanted = [256, 257, 258, 259, 262, 277, 284, 317, 320, 322, 339]
const longType = 4
/** The most numbers of a tag: those of a palette. */
const maxValues = 768

/** Returns the wanted tags of the first directory. BigTIFF is not a known type. **Source**: TIFF 6.0, section 2. */
function readDirectory(bytes: Uint8Array) {
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
  return { view, isLittle, tags }
}

/** Returns the whole numbers of an entry; an empty list for other types, and outside of the file. */
function valuesOf(view: DataView, entry: number, isLittle: boolean): readonly number[] {
  const size = { 1: 1, 3: 2, 4: 4 }[view.getUint16(entry + 2, isLittle)]
  const count = view.getUint32(entry + 4, isLittle)
  if (size === undefined || count > maxValues) return []
  const start = size * count > 4 ? view.getUint32(entry + 8, isLittle) : entry + 8
  if (start + size * count > view.byteLength) return []
  return Array.from({ length: count }, (_, i) => {
    const at = start + i * size
    return size === 1 ? view.getUint8(at) : size === 2 ? view.getUint16(at, isLittle) : view.getUint32(at, isLittle)
  })
}

/** Returns the size of the first picture. */
export function readTiff(bytes: Uint8Array): ImageSize | undefined {
  const tags = readDirectory(bytes)?.tags
  const [width, height, bitDepth] = [widthTag, heightTag, bitsTag].map((tag) => tags?.get(tag)?.values[0])
  return width === undefined || height === undefined ? undefined : { width, height, bitDepth }
}

/** Kinds of samples with their bytes, as Pillow has them. */
const kinds = {
  palette: { mode: 'P', bytes: 1 },
  lab: { mode: 'LAB', bytes: 3 },
  int16: { mode: 'I', bytes: 2 },
  int32: { mode: 'I', bytes: 4 },
  float32: { mode: 'F', bytes: 4 },
} as const

/** Uncompressed, LZW, Deflate and PackBits. */
const compressions = [1, 5, 8, 32_773, 32_946]

/**
 * Returns a file of the samples' bytes as grey, and what makes pixels of them, for a TIFF of one of those kinds, whose
 * header has been read; undefined for others. **Errors**: an Error for another compression.
 */
export function samplesOfTiff(bytes: Uint8Array) {
  const file = Buffer.from(bytes)
  const { view, isLittle, tags } = readDirectory(file) as NonNullable<ReturnType<typeof readDirectory>>
  const one = (tag: number, standard: number) => tags.get(tag)?.values[0] ?? standard
  const kind = kindOf(one(photometricTag, 1), one(bitsTag, 1), one(formatTag, 1))
  // Other channels, tiles and predictors are left to the package.
  if (kind === undefined || one(channelsTag, 1) !== (kind === 'lab' ? 3 : 1)) return undefined
  if (tags.has(tilesTag) || one(predictorTag, 1) !== 1 || (kind === 'lab' && one(planesTag, 1) !== 1)) return undefined
  const colors = tags.get(colorsTag)?.values ?? []
  if (kind === 'palette' && colors.length !== 768) return undefined
  const compression = one(compressionTag, 1)
  if (!compressions.includes(compression)) throw new Error(`compression ${compression} of TIFF is not supported`)
  const [width, height, size] = [one(widthTag, 0), one(heightTag, 0), kinds[kind].bytes]
  const greyTags = { [widthTag]: width * size, [bitsTag]: 8, [photometricTag]: 1, [channelsTag]: 1, [formatTag]: 1 }
  for (const [tag, { entry }] of tags) {
    if (!(tag in greyTags)) continue
    view.setUint16(entry + 2, longType, isLittle)
    view.setUint32(entry + 4, 1, isLittle)
    view.setUint32(entry + 8, greyTags[tag], isLittle)
  }
  const pixelsOf = (samples: Buffer): Pixels => {
    if (!isLittle && size === 2) samples.swap16()
    if (!isLittle && size === 4) samples.swap32()
    const { mode } = kinds[kind]
    const data = new Uint8Array(samples.buffer, samples.byteOffset, samples.length)
    if (kind === 'palette') return { mode, width, height, data, palette: paletteOfLevels(colors) }
    if (kind !== 'int16') return { mode, width, height, data }
    const numbers = new Int32Array(new Int16Array(data.slice().buffer))
    return { mode, width, height, data: new Uint8Array(numbers.buffer) }
  }
  return { file, pixelsOf }
}

function kindOf(photometric: number, bits: number, format: number): keyof typeof kinds | undefined {
  if (photometric === 3) return bits === 8 ? 'palette' : undefined
  if (photometric === 8) return bits === 8 ? 'lab' : undefined
  if (format === 3 && photometric <= 1) return bits === 32 ? 'float32' : undefined
  if (photometric !== 1) return undefined
  if (bits === 32 && (format === 1 || format === 2)) return 'int32'
  return bits === 16 && format === 2 ? 'int16' : undefined
}

function paletteOfLevels(colors: readonly number[]): Uint8Array {
  return Uint8Array.from({ length: 1024 }, (_, i) => (i % 4 === 3 ? 255 : colors[(i % 4) * 256 + (i >> 2)] >> 8))
}
