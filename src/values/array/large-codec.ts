/** Large arrays of numbers, read and printed by the add-on on libuv's threads. @module */
import { type DType, dataConstructor, dtypes, elementTypes, itemSize } from '../../core/dtype.ts'
import { bufferPool } from '../../core/memory/buffer-pool.ts'
import { withCopy } from '../../core/memory/byte-copy.ts'
import { nativeLimiter } from '../../core/memory/limiter.ts'
import { type Addon, addon } from '../../core/native/add-on.ts'
import { nonFiniteCode, resultWord, statusCode } from '../../core/native/shared-numbers.ts'
import { allocate } from '../../core/platform.ts'
import { typescriptCodec } from './json.ts'
import { castCode, checkEncoding, parsedOf, resultWords } from './native-codec.ts'
import { NDArray } from './ndarray.ts'
import type { NonFinite, ParseFailure } from './number-codec.ts'

/** From this size on, threads that nothing else needs share the work. **Units**: bytes. */
const minSharedBytes = 4 * 1024 * 1024

/** Pieces begin where they should, but for so much. **Units**: bytes. */
const maxItemBytes = 256 * 1024

/** What comes before the first value is looked for no farther. **Units**: bytes. */
const maxStartBytes = 1024

const [opening, closing, comma] = new Uint8Array([0x5b, 0x5d, 0x2c])

/**
 * Reads a text by the add-on. `isPrivate`: nobody else can reach the text's buffer until the promise settles. Other
 * texts are copied.
 */
export async function parseLarge(
  json: Uint8Array,
  dtype: DType | undefined,
  enforced = false,
  isPrivate = false,
  maxBytes?: number,
): Promise<NDArray | ParseFailure> {
  if (!isPrivate) return withCopy(json, (copy) => parseLarge(copy, dtype, enforced, true, maxBytes))
  const code = castCode(dtype, enforced)
  const parsed = await nativeLimiter.run(async () => {
    const pieces = piecesOfText(json)
    const array = await parsePieces(pieces, code)
    if (array === undefined && pieces.length > 1) return parsePieces([json], code)
    return array
  })
  if (parsed === undefined) return typescriptCodec.parseNdarray(json, dtype, enforced, maxBytes)
  if ('failure' in parsed) return checkEncoding(json, parsed)
  if (parsed.dtype !== 'bool' || dtype !== undefined) return parsed
  return new NDArray((parsed.data as Uint8Array).slice(), parsed.shape, parsed.dtype)
}

/** @returns how many threads share work on some bytes, the caller's and those that no other request needs. */
function sharesOf(bytes: number): number {
  if (bytes < minSharedBytes) return 1
  return 1 + nativeLimiter.spare
}

/** @returns a text in pieces, each of some items of the outermost list; they need not fit each other. */
function piecesOfText(json: Uint8Array): readonly Uint8Array[] {
  const count = sharesOf(json.length)
  let depth = 0
  // A text of spaces or brackets alone must not hold the event loop.
  for (let i = 0; i < maxStartBytes && (json[i] <= 0x20 || json[i] === opening); i++)
    if (json[i] === opening) depth++
  if (count === 1 || depth === 0) return [json]
  const pieces: Uint8Array[] = []
  let start = 0
  for (let i = 1; i < count; i++) {
    const end = endOfItem(json, depth, Math.max(start, Math.floor((json.length * i) / count)))
    if (end === -1) break
    pieces.push(json.subarray(start, end))
    start = end + 1
  }
  return [...pieces, json.subarray(start)]
}

/** @returns a near comma behind some place that ends an item of the outermost list; -1 without one. */
function endOfItem(json: Uint8Array, depth: number, from: number): number {
  for (let at = from; at < from + maxItemBytes; at++) {
    if (json[at] !== comma) continue
    let brackets = 0
    while (brackets < depth - 1 && json[at - 1 - brackets] === closing) brackets++
    if (brackets === depth - 1) return at
  }
  return -1
}

/**
 * The outermost list begins in the first piece and ends in the last one.
 *
 * @returns undefined where the pieces are not all of one array, or JSON.parse has to read the text.
 */
async function parsePieces(
  pieces: readonly Uint8Array[],
  code: number,
): Promise<NDArray | ParseFailure | undefined> {
  const native = addon as Addon
  const words = pieces.map(() => resultWords())
  // For a text that is an array, exactly the size of the result: nothing is copied or grown.
  const sizes = await Promise.all(
    pieces.map((piece, i) => native.countElementsAsync(piece, code, words[i])),
  )
  const { buffer } = allocate(sizes.reduce((sum, size) => sum + size))
  let start = 0
  await Promise.all(
    pieces.map((piece, i) => {
      const place = new Uint8Array(buffer, start, sizes[i])
      start += sizes[i]
      return native.parseNdarrayAsync(piece, code, words[i], place, i > 0, i < pieces.length - 1)
    }),
  )
  const [first, ...others] = words
  if (others.length > 0) {
    const areOne = words.every((piece, i) => isLike(piece, first) && bytesOf(piece) === sizes[i])
    if (!areOne) return undefined
    for (const piece of others) first[resultWord.dims] += piece[resultWord.dims]
  }
  return parsedOf(first, buffer)
}

/** Whether two pieces have items of one shape and dtype. */
function isLike(a: Float64Array, b: Float64Array): boolean {
  const { status, dtype, rank, dims } = resultWord
  return (
    a[status] === statusCode.ok &&
    a[dtype] === b[dtype] &&
    a[rank] === b[rank] &&
    a.subarray(dims + 1, dims + a[rank]).every((dim, i) => dim === b[dims + 1 + i])
  )
}

/** **Units**: bytes. */
function bytesOf(words: Float64Array): number {
  const { dtype, rank, dims } = resultWord
  const shape = words.subarray(dims, dims + words[rank])
  return shape.reduce((size, dim) => size * dim, itemSize(dtypes[words[dtype]]))
}

/** Prints into a buffer of the pool, which the caller gives back. The array may change once this returns. */
export async function encodeLarge(
  { data, shape, dtype }: NDArray,
  nonFinite: NonFinite,
): Promise<Uint8Array | undefined> {
  const numbers = data as Float64Array
  const Container = dataConstructor(dtype as 'float64')
  // The function may change its array, or transfer it.
  const copy = new Container(bufferPool.take(numbers.byteLength), 0, numbers.length)
  copy.set(numbers)
  const codes = [elementTypes[dtype].code, nonFiniteCode[nonFinite]] as const
  try {
    return await nativeLimiter.run(() => encodePieces(piecesOfArray(copy, shape), ...codes))
  } finally {
    bufferPool.give(copy.buffer as ArrayBuffer)
  }
}

interface ArrayPiece {
  readonly values: Float64Array
  /** Its shape, and how printing it ended. */
  readonly words: Float64Array
}

/** @returns an array in pieces, each of some items of its first dimension. */
function piecesOfArray(values: Float64Array, shape: readonly number[]): readonly ArrayPiece[] {
  const [rows, ...row] = shape
  const count = Math.min(rows, sharesOf(values.byteLength))
  const each = values.length / rows
  return Array.from({ length: count }, (_, i) => {
    const start = Math.floor((rows * i) / count)
    const end = Math.floor((rows * (i + 1)) / count)
    const words = resultWords([end - start, ...row])
    return { values: values.subarray(start * each, end * each), words }
  })
}

async function encodePieces(
  pieces: readonly ArrayPiece[],
  dtype: number,
  nonFinite: number,
): Promise<Uint8Array | undefined> {
  const native = addon as Addon
  const rooms = pieces.map(({ values, words }) =>
    native.encodedBound(values, dtype, nonFinite, words),
  )
  const out = new Uint8Array(bufferPool.take(rooms.reduce((sum, room) => sum + room)))
  let start = 0
  const texts = rooms.map((room) => {
    start += room
    return out.subarray(start - room, start)
  })
  await Promise.all(
    pieces.map(({ values, words }, i) =>
      native.encodeNdarrayAsync(values, dtype, nonFinite, words, texts[i]),
    ),
  )
  if (pieces.every(({ words }) => words[resultWord.status] === statusCode.ok)) {
    return out.subarray(0, joined(out, texts, pieces))
  }
  bufferPool.give(out.buffer)
  return undefined
}

/** Moves the texts together, as one list. @returns its length. */
function joined(
  out: Uint8Array,
  texts: readonly Uint8Array[],
  pieces: readonly ArrayPiece[],
): number {
  let end = pieces[0].words[resultWord.length]
  for (let i = 1; i < texts.length; i++) {
    const { byteOffset } = texts[i]
    const start = byteOffset - out.byteOffset
    const length = pieces[i].words[resultWord.length]
    out[end - 1] = comma
    out.copyWithin(end, start + 1, start + length)
    end += length - 1
  }
  return end
}
