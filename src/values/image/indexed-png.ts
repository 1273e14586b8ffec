/**
 * PNG files of palettes, whose colours @napi-rs/image resolves: it reads and writes their indexes
 * as grey.
 *
 * @see PNG 3rd edition, sections 5 and 11.
 * @module
 */
import { crc32 } from 'node:zlib'
import { maxHeaderSteps } from './image-size.ts'
import { type Pixels, paletteOf } from './raster-modes.ts'
import { inTurns } from './turn.ts'

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const [greyType, indexedType] = [0, 3]

/** Whether a PNG, whose header has been read, has a palette. */
export function isIndexedPng(bytes: Uint8Array): boolean {
  return bytes[25] === indexedType
}

/**
 * Decodes the indexes of a PNG, as `decode` decodes them if they are grey.
 *
 * @throws an Error for damage.
 */
export async function decodeIndexedPng(
  file: Uint8Array,
  decode: (file: Uint8Array) => Promise<Buffer>,
  signal?: AbortSignal,
): Promise<Pixels> {
  const { IHDR: header, PLTE: colors, tRNS: alphas, IDAT } = readChunks(file)
  const count = colors.length / 3
  if (!Number.isInteger(count) || count < 1 || count > 256) throw new Error('there is no palette')
  const palette = Uint8Array.from({ length: count * 4 }, (_, i) =>
    i % 4 === 3 ? (alphas[i >> 2] ?? 255) : colors[(i >> 2) * 3 + (i % 4)],
  )
  const bits = header[8]
  header[9] = greyType
  const data = await decode(pngOf({ IHDR: header, IDAT }))
  // Grey of few bits is read as levels up to 255.
  const step = 255 / (2 ** bits - 1)
  await inTurns(step === 1 ? 0 : data.length, signal, (from, to) => {
    for (let i = from; i < to; i++) data[i] /= step
  })
  return { mode: 'P', width: header.readUInt32BE(0), height: header.readUInt32BE(4), data, palette }
}

/** @returns a PNG whose grey levels of 8 bits are indexes of a palette. */
export function indexedPng(grey: Uint8Array, { palette }: Pick<Pixels, 'palette'>): Buffer {
  const { IHDR, IDAT } = readChunks(grey)
  IHDR[9] = indexedType
  const colors = paletteOf({ palette })
  const [PLTE, alphas] = [
    colors.filter((_, i) => i % 4 !== 3),
    colors.filter((_, i) => i % 4 === 3),
  ]
  return pngOf({ IHDR, PLTE, ...(alphas.some((alpha) => alpha !== 255) && { tRNS: alphas }), IDAT })
}

/**
 * @returns copies of the contents by type; several chunks of a type are joined.
 * @throws an Error for damage.
 */
function readChunks(png: Uint8Array) {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.length)
  const chunks: Record<string, Buffer[]> = { IHDR: [], PLTE: [], tRNS: [], IDAT: [], IEND: [] }
  let steps = 0
  for (let at = signature.length; at + 12 <= bytes.length && chunks.IEND.length === 0; ) {
    const type = bytes.toString('latin1', at + 4, at + 8)
    const end = at + 8 + bytes.readUInt32BE(at)
    if (end + 4 > bytes.length) break
    if (++steps > maxHeaderSteps) throw new Error('there are too many chunks')
    if (crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end))
      throw new Error(`the chunk ${type} is damaged`)
    chunks[type]?.push(bytes.subarray(at + 8, end))
    at = end + 4
  }
  const [IHDR, PLTE, tRNS, IDAT] = ['IHDR', 'PLTE', 'tRNS', 'IDAT'].map((type) =>
    Buffer.concat(chunks[type]),
  )
  return { IHDR, PLTE, tRNS, IDAT }
}

function pngOf(contents: Readonly<Record<string, Uint8Array>>): Buffer {
  const chunks = Object.entries({ ...contents, IEND: new Uint8Array(0) }).map(([type, content]) => {
    const bytes = Buffer.alloc(content.length + 12)
    bytes.writeUInt32BE(content.length)
    bytes.write(type, 4, 'latin1')
    bytes.set(content, 8)
    bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + content.length)), 8 + content.length)
    return bytes
  })
  return Buffer.concat([signature, ...chunks])
}
