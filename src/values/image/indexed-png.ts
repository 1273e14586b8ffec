/** PNG files of palettes, read and written with their palette, which @napi-rs/image resolves. @module */
import { promisify } from 'node:util'
import { crc32, deflate, inflate } from 'node:zlib'
import { type Pixels, paletteOf } from './raster-modes.ts'
import { nextTurn, turnPixels } from './turn.ts'

const unpack = promisify(inflate)
const pack = promisify(deflate)
const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const indexedType = 3

/** Whether a PNG, whose header has been read, has a palette. */
export function isIndexedPng(bytes: Uint8Array): boolean {
  return bytes[25] === indexedType
}

interface Content {
  readonly bitDepth: number
  readonly isInterlaced: boolean
  readonly palette: Uint8Array
  readonly data: Uint8Array
}

/**
 * Decodes a PNG of a palette to `P`. The bytes must not change until the promise settles. **Errors**: an Error for
 * damaged data; the signal's reason. **Source**: PNG 3rd edition, sections 7 to 11.
 */
export async function decodeIndexedPng(
  bytes: Uint8Array,
  { width, height }: { readonly width: number; readonly height: number },
  signal?: AbortSignal,
): Promise<Pixels> {
  const { bitDepth, isInterlaced, palette, data } = readChunks(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
  )
  const passes = (isInterlaced ? adam7 : wholePicture)
    .map((pass) => ({
      ...pass,
      columns: Math.ceil((width - pass.left) / pass.xStep),
      rows: Math.ceil((height - pass.top) / pass.yStep),
    }))
    .filter(({ columns, rows }) => columns > 0 && rows > 0)
  const rowBytes = (columns: number) => Math.ceil((columns * bitDepth) / 8)
  const size = passes.reduce((sum, { columns, rows }) => sum + rows * (1 + rowBytes(columns)), 0)
  const lines = await unpack(data, { maxOutputLength: size }).catch((cause) => {
    // More than `size` is a RangeError, like a lack of memory.
    throw new Error('the pixels cannot be unpacked', { cause })
  })
  if (lines.length < size) throw new Error('the data ends before the picture')
  const pixels = new Uint8Array(width * height)
  let at = 0
  for (const pass of passes) {
    const bytesOfRow = rowBytes(pass.columns)
    const part = lines.subarray(at, at + pass.rows * (1 + bytesOfRow))
    await placePass(part, bytesOfRow, bitDepth, pass, pixels, width, signal)
    at += part.length
  }
  return { mode: 'P', width, height, data: pixels, palette }
}

function readChunks(bytes: Buffer): Content {
  let colors: Buffer | undefined
  let alphas: Buffer = Buffer.alloc(0)
  const parts: Buffer[] = []
  for (let at = signature.length; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const type = bytes.toString('latin1', at + 4, at + 8)
    const end = at + 8 + length
    if (end + 4 > bytes.length) break
    if (crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) throw new Error(`the chunk ${type} is damaged`)
    const content = bytes.subarray(at + 8, end)
    if (type === 'PLTE') colors = content
    else if (type === 'tRNS') alphas = content
    else if (type === 'IDAT') parts.push(content)
    else if (type === 'IEND') break
    at = end + 4
  }
  const [bitDepth, interlace] = [bytes[24], bytes[28]]
  const count = (colors?.length ?? 0) / 3
  if (colors === undefined || !Number.isInteger(count) || count < 1 || count > 256)
    throw new Error('there is no palette')
  if (![1, 2, 4, 8].includes(bitDepth) || interlace > 1) throw new Error('the header is damaged')
  const palette = new Uint8Array(count * 4)
  for (let i = 0; i < count; i++) {
    palette.set(colors.subarray(i * 3, i * 3 + 3), i * 4)
    palette[i * 4 + 3] = alphas[i] ?? 255
  }
  return { bitDepth, isInterlaced: interlace === 1, palette, data: Buffer.concat(parts) }
}

interface Pass {
  readonly left: number
  readonly top: number
  readonly xStep: number
  readonly yStep: number
}

const wholePicture: readonly Pass[] = [{ left: 0, top: 0, xStep: 1, yStep: 1 }]
const adam7: readonly Pass[] = [
  { left: 0, top: 0, xStep: 8, yStep: 8 },
  { left: 4, top: 0, xStep: 8, yStep: 8 },
  { left: 0, top: 4, xStep: 4, yStep: 8 },
  { left: 2, top: 0, xStep: 4, yStep: 4 },
  { left: 0, top: 2, xStep: 2, yStep: 4 },
  { left: 1, top: 0, xStep: 2, yStep: 2 },
  { left: 0, top: 1, xStep: 1, yStep: 2 },
]

async function placePass(
  lines: Uint8Array,
  rowBytes: number,
  bitDepth: number,
  { left, top, xStep, yStep, columns, rows }: Pass & { readonly columns: number; readonly rows: number },
  pixels: Uint8Array,
  width: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const mask = (1 << bitDepth) - 1
  const perByte = 8 / bitDepth
  let above: Uint8Array = new Uint8Array(rowBytes)
  let done = 0
  for (let row = 0; row < rows; row++) {
    done += columns
    if (done >= turnPixels) {
      done = 0
      await nextTurn(signal)
    }
    const start = row * (1 + rowBytes)
    const line = lines.subarray(start + 1, start + 1 + rowBytes)
    unfilter(lines[start], line, above)
    above = line
    let to = (top + row * yStep) * width + left
    for (let x = 0; x < columns; x++, to += xStep) {
      pixels[to] = (line[Math.floor(x / perByte)] >> (8 - bitDepth * ((x % perByte) + 1))) & mask
    }
  }
}

function unfilter(filter: number, line: Uint8Array, above: Uint8Array): void {
  if (filter > 4) throw new Error(`the filter ${filter} is unknown`)
  if (filter === 0) return
  for (let i = 0; i < line.length; i++) {
    const a = i === 0 ? 0 : line[i - 1]
    const b = above[i]
    if (filter === 1) line[i] += a
    else if (filter === 2) line[i] += b
    else if (filter === 3) line[i] += (a + b) >> 1
    else line[i] += paeth(a, b, i === 0 ? 0 : above[i - 1])
  }
}

function paeth(a: number, b: number, c: number): number {
  const [toA, toB, toC] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)]
  if (toA <= toB && toA <= toC) return a
  return toB <= toC ? b : c
}

/** Writes `P` as a PNG of 8 bits a pixel. The pixels must not change until the promise settles. */
export async function encodeIndexedPng(
  { width, height, data, palette }: Pixels,
  signal?: AbortSignal,
): Promise<Buffer> {
  const colors = paletteOf({ palette })
  const lines = new Uint8Array((width + 1) * height)
  for (let row = 0; row < height; row++) lines.set(data.subarray(row * width, (row + 1) * width), row * (width + 1) + 1)
  const size = Buffer.alloc(13)
  size.writeUInt32BE(width)
  size.writeUInt32BE(height, 4)
  size.set([8, indexedType], 8)
  const alphas = colors.filter((_, i) => i % 4 === 3)
  const chunks = [
    chunk('IHDR', size),
    chunk(
      'PLTE',
      colors.filter((_, i) => i % 4 !== 3),
    ),
  ]
  if (alphas.some((alpha) => alpha !== 255)) chunks.push(chunk('tRNS', alphas))
  chunks.push(chunk('IDAT', await pack(lines)), chunk('IEND', new Uint8Array(0)))
  signal?.throwIfAborted()
  return Buffer.concat([signature, ...chunks])
}

function chunk(type: string, content: Uint8Array): Buffer {
  const bytes = Buffer.alloc(content.length + 12)
  bytes.writeUInt32BE(content.length)
  bytes.write(type, 4, 'latin1')
  bytes.set(content, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + content.length)), 8 + content.length)
  return bytes
}
