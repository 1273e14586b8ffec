/** Decodes TIFF files that @napi-rs/image does not: palettes, L*a*b*, integers and floats. @module */
import { promisify } from 'node:util'
import { inflate } from 'node:zlib'
import { type Pixels, pixelBytes } from './raster-modes.ts'
import { unpackBits, unpackLzw } from './tiff-compression.ts'
import { nextTurn, turnPixels } from './turn.ts'

/** Kinds of samples, after Pillow: palette to `P` or `RGB`, L*a*b* to `LAB`, integers to `I`, floats to `F`. */
type SampleKind = 'palette' | 'lab' | 'int16' | 'int32' | 'float32'

/** What the first directory says of pixels that are decoded here. */
export interface TiffLayout {
  readonly kind: SampleKind
  readonly isLittle: boolean
  readonly width: number
  readonly height: number
  readonly compression: number
  readonly rowsPerStrip: number
  readonly offsets: readonly number[]
  readonly lengths: readonly number[]
  readonly colors: readonly number[]
}

const sampleBytes = { palette: 1, lab: 3, int16: 2, int32: 4, float32: 4 } as const
const modes = { palette: 'RGB', lab: 'LAB', int16: 'I', int32: 'I', float32: 'F' } as const
const maxStrips = 1 << 16
const unpackDeflate = promisify(inflate)

/** Returns the layout of a TIFF of one of those kinds; undefined for others. **Source**: TIFF 6.0. */
export function readTiffLayout(bytes: Uint8Array): TiffLayout | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isLittle = bytes[0] === 0x49
  const directory = view.getUint32(4, isLittle)
  const tags = new Map<number, readonly number[]>()
  for (let i = 0; i < view.getUint16(directory, isLittle); i++) {
    const entry = directory + 2 + i * 12
    if (entry + 12 > bytes.length) return undefined
    const values = valuesOf(view, entry, isLittle)
    if (values !== undefined) tags.set(view.getUint16(entry, isLittle), values)
  }
  const one = (tag: number, standard: number) => tags.get(tag)?.[0] ?? standard
  const kind = kindOf(one(262, 1), one(258, 1), one(339, 1))
  // Other channels, tiles and predictors are left to the package.
  if (kind === undefined || one(277, 1) !== (kind === 'lab' ? 3 : 1) || tags.has(322) || one(317, 1) !== 1)
    return undefined
  if (kind === 'lab' && one(284, 1) !== 1) return undefined
  const height = one(257, 0)
  const colors = tags.get(320) ?? []
  if (kind === 'palette' && colors.length !== 768) return undefined
  return {
    kind,
    isLittle,
    width: one(256, 0),
    height,
    compression: one(259, 1),
    rowsPerStrip: Math.min(height, one(278, height)),
    offsets: tags.get(273) ?? [],
    lengths: tags.get(279) ?? [],
    colors,
  }
}

function kindOf(photometric: number, bits: number, format: number): SampleKind | undefined {
  if (photometric === 3) return bits === 8 ? 'palette' : undefined
  if (photometric === 8) return bits === 8 ? 'lab' : undefined
  if (format === 3 && photometric <= 1) return bits === 32 ? 'float32' : undefined
  if (photometric !== 1) return undefined
  if (bits === 32 && (format === 1 || format === 2)) return 'int32'
  return bits === 16 && format === 2 ? 'int16' : undefined
}

/** Returns the whole numbers of an entry; undefined for other types, and outside of the file. */
function valuesOf(view: DataView, entry: number, isLittle: boolean): readonly number[] | undefined {
  const size = { 1: 1, 3: 2, 4: 4 }[view.getUint16(entry + 2, isLittle)]
  const count = view.getUint32(entry + 4, isLittle)
  if (size === undefined || count > maxStrips) return undefined
  const start = size * count > 4 ? view.getUint32(entry + 8, isLittle) : entry + 8
  if (start + size * count > view.byteLength) return undefined
  return Array.from({ length: count }, (_, i) => {
    const at = start + i * size
    return size === 1 ? view.getUint8(at) : size === 2 ? view.getUint16(at, isLittle) : view.getUint32(at, isLittle)
  })
}

/**
 * Decodes the first picture: strips uncompressed, or by Deflate, LZW or PackBits. A palette to `RGB`, or `P` with
 * `keepsPalette`. **Errors**: an Error for damaged data and another compression; the signal's reason.
 */
export async function decodeTiff(
  bytes: Uint8Array,
  layout: TiffLayout,
  signal?: AbortSignal,
  keepsPalette = false,
): Promise<Pixels> {
  const { kind, width, height, rowsPerStrip, offsets, lengths } = layout
  const mode = kind === 'palette' && keepsPalette ? 'P' : modes[kind]
  const data = new Uint8Array(width * height * pixelBytes(mode))
  if (width < 1 || rowsPerStrip < 1) throw new Error('the picture is empty')
  // Strips that share their bytes would make much work of few.
  if (lengths.reduce((sum, length) => sum + length, 0) > bytes.length) throw new Error('the strips overlap')
  for (let row = 0, strip = 0; row < height; row += rowsPerStrip, strip++) {
    const rows = Math.min(rowsPerStrip, height - row)
    const [offset, length] = [offsets[strip], lengths[strip]]
    if (!(offset + length <= bytes.length)) throw new Error('the data ends before the picture')
    const rowBytes = width * sampleBytes[kind]
    const packed = bytes.subarray(offset, offset + length)
    const samples = await unpack(packed, layout.compression, rowsPerStrip * rowBytes, signal)
    if (samples.length < rows * rowBytes) throw new Error('the data ends before the picture')
    const at = row * width
    if (mode === 'RGB') placeColors(samples, layout, data, at, rows * width)
    else if (mode === 'P' || mode === 'LAB') data.set(samples.subarray(0, rows * rowBytes), row * rowBytes)
    else placeNumbers(samples, layout, data, at, rows * width)
    if (((row + rows) * width) % turnPixels < rows * width) await nextTurn(signal)
  }
  return { mode, width, height, data, ...(mode === 'P' && { palette: paletteOfLevels(layout) }) }
}

function paletteOfLevels({ colors }: TiffLayout): Uint8Array {
  return Uint8Array.from({ length: 1024 }, (_, i) => (i % 4 === 3 ? 255 : colors[(i % 4) * 256 + (i >> 2)] >> 8))
}

async function unpack(strip: Uint8Array, compression: number, size: number, signal?: AbortSignal): Promise<Uint8Array> {
  if (compression === 1) return strip
  if (compression === 5) return unpackLzw(strip, size, signal)
  if (compression === 32773) return unpackBits(strip, size, signal)
  if (compression === 8 || compression === 32946) {
    return unpackDeflate(strip, { maxOutputLength: size }).catch((cause) => {
      // More than `size` is a RangeError, like a lack of memory.
      throw new Error('a strip cannot be unpacked', { cause })
    })
  }
  throw new Error(`compression ${compression} of TIFF is not supported`)
}

function placeColors(indexes: Uint8Array, { colors }: TiffLayout, data: Uint8Array, at: number, count: number): void {
  const levels = Uint8Array.from(colors, (level) => level >> 8)
  for (let i = 0, to = at * 3; i < count; i++, to += 3) {
    const index = indexes[i]
    data[to] = levels[index]
    data[to + 1] = levels[256 + index]
    data[to + 2] = levels[512 + index]
  }
}

function placeNumbers(
  samples: Uint8Array,
  { kind, isLittle }: TiffLayout,
  data: Uint8Array,
  at: number,
  count: number,
): void {
  const from = new DataView(samples.buffer, samples.byteOffset, samples.byteLength)
  const to = new DataView(data.buffer, at * 4)
  for (let i = 0; i < count; i++) {
    if (kind === 'int16') to.setInt32(i * 4, from.getInt16(i * 2, isLittle), true)
    else to.setUint32(i * 4, from.getUint32(i * 4, isLittle), true)
  }
}
