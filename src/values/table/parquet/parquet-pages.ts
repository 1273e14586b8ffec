/**
 * The pages of flat Parquet columns.
 *
 * @see parquet-format 2.10, "Data Pages".
 * @module
 */
import { type ColumnKind, elementTypes, itemSize } from '../../../core/dtype.ts'
import { nativeLimiter } from '../../../core/memory/limiter.ts'
import type { Addon } from '../../../core/native/add-on.ts'
import {
  addRecord,
  pageWord,
  parquetColumnWord,
  parquetWord,
  readColumnWord,
  wordsOf,
} from '../../../core/native/shared-numbers.ts'
import type { MaybePromise } from '../../../core/promise.ts'
import type { Column } from '../columns.ts'
import { type PageHeader, type ParquetChunk, readPageHeader } from './parquet-metadata.ts'
import { codecs, unpackPage, WorkBudget } from './parquet-unpack.ts'
import { ThriftReader, Unreadable } from './thrift.ts'

const pageTypes = { data: 0, dictionary: 2, dataV2: 3 } as const

/** Kinds that physical types hold, by their number in the enum Type. 3 is a time of 96 bits. */
export const physicalKinds: readonly (ColumnKind | undefined)[] = [
  'bool',
  'int32',
  'int64',
  undefined,
  'float32',
  'float64',
  'str',
]

/** Kinds of integers, by their number in the enum ConvertedType from {@link firstInteger} up. */
export const integerKinds = [
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'int8',
  'int16',
  'int32',
  'int64',
] as const

/** UINT_8 in the enum ConvertedType. */
export const firstInteger = 11

/** @returns the physical type that holds a kind. */
export function physicalOf(kind: ColumnKind): number {
  const own = physicalKinds.indexOf(kind)
  if (own === -1) return physicalKinds.indexOf(itemSize(kind) === 8 ? 'int64' : 'int32')
  return own
}

/** A column to be read: the kind of its elements, whether it may have nulls, and its pages in each row group. */
export interface RequestedColumn {
  readonly kind: ColumnKind
  readonly isOptional: boolean
  readonly chunks: readonly ParquetChunk[]
}

/** Where pages are, and the work that they may cause: on the event loop, and by what they make in all. */
interface Source {
  readonly parts: [file: Uint8Array, ...unpacked: Uint8Array[]]
  readonly loop: WorkBudget
  readonly decoding: WorkBudget
  readonly mayUnpack: boolean
}

/** What reading headers, and unpacking by zlib, may cost the event loop, whatever the footer says. */
const maxLoopWork = 2 ** 22

/**
 * Decodes columns, off the event loop if they are large; undefined for what does not fit. The file
 * must not change. `maxBytes`: what the pages may make.
 *
 * @throws Unreadable.
 */
export function decodeColumns(
  addon: Addon,
  file: Uint8Array,
  rows: number,
  requested: readonly RequestedColumn[],
  maxBytes: number,
  isLarge: boolean,
): MaybePromise<DecodedColumn[] | undefined> {
  const budgets = { loop: new WorkBudget(maxLoopWork), decoding: new WorkBudget(maxBytes) }
  const source: Source = { parts: [file], ...budgets, mayUnpack: !isLarge }
  const columns: number[] = []
  const pages: number[] = []
  for (const { kind, isOptional, chunks } of requested) {
    const before = pages.length
    for (const chunk of chunks) if (chunk.values > 0) addPages(chunk, source, pages)
    addRecord(columns, parquetColumnWord, {
      kind: elementTypes[kind].code,
      isOptional: Number(isOptional),
      pages: (pages.length - before) / pageWords,
    })
  }
  const head: number[] = []
  addRecord(head, parquetWord, {
    rows,
    textBytes: budgets.decoding.left,
    columns: requested.length,
    pages: pages.length / pageWords,
  })
  const program = new Float64Array([...head, ...columns, ...pages])
  const answer = (buffers: readonly ArrayBuffer[] | undefined) =>
    buffers && columnsOf(buffers, requested, rows)
  if (!isLarge) return answer(addon.readParquet(program, source.parts))
  return nativeLimiter.run(async () => answer(await addon.readParquetAsync(program, source.parts)))
}

/** Adds the pages of a column in one row group. */
function addPages(chunk: ParquetChunk, source: Source, pages: number[]): void {
  const { start, end, values } = chunk
  const [file] = source.parts
  if (start < 4 || end < start || end > file.length) throw new Unreadable()
  let rows = 0
  for (let at = start; rows < values; ) {
    const header = readPageHeader(new ThriftReader(file, at, end))
    source.loop.takePage(header.start - at)
    source.decoding.takeBytes(header.packedBytes, header.unpackedBytes)
    const isDictionary = header.type === pageTypes.dictionary
    const levelBytes = levelBytesOf(header)
    checkPage(header, values - rows, end)
    const content = contentOf(header, Math.max(0, levelBytes), chunk.codec, source)
    // Each word alone: a file of 1,000 rows has 20 pages, and a loop over names takes a tenth of its reading.
    const words = new Array<number>(pageWords)
    words[pageWord.isDictionary] = Number(isDictionary)
    words[pageWord.encoding] = header.encoding
    words[pageWord.values] = header.values
    words[pageWord.isSnappy] = content.isSnappy
    words[pageWord.part] = content.part
    words[pageWord.at] = content.at
    words[pageWord.bytes] = content.bytes
    words[pageWord.unpackedBytes] = content.unpackedBytes
    words[pageWord.levelBytes] = levelBytes
    words[pageWord.startsChunk] = Number(at === start)
    pages.push(...words)
    at = header.start + header.packedBytes
    if (!isDictionary) rows += header.values
  }
}

/** @throws Unreadable for a page of another kind, beyond its chunk, or of more values than are left. */
function checkPage(
  { type, start, packedBytes, encoding, values }: PageHeader,
  left: number,
  end: number,
) {
  const isData = type === pageTypes.data || type === pageTypes.dataV2
  if (start + packedBytes > end || values < 0 || encoding < 0) throw new Unreadable()
  if (!isData && type !== pageTypes.dictionary) throw new Unreadable()
  if (isData && (values === 0 || values > left)) throw new Unreadable()
}

/** @returns the bytes of levels, which version 2 has in front; -1 in version 1. */
function levelBytesOf({ type, levels, packedBytes }: PageHeader): number {
  if (type !== pageTypes.dataV2) return -1
  const bytes = levels?.definition ?? -1
  if (levels?.repetition !== 0 || bytes < 0 || bytes > packedBytes) throw new Unreadable()
  return bytes
}

/** @returns where the content of a page is: in the file, or unpacked by zlib in a part of its own. */
function contentOf(
  { start, packedBytes, unpackedBytes, levels }: PageHeader,
  levelBytes: number,
  codec: number,
  { parts, loop, mayUnpack }: Source,
) {
  const packing = levels?.isPacked === false ? codecs.none : codec
  if (packing === codecs.none || packing === codecs.snappy) {
    const isSnappy = Number(packing === codecs.snappy)
    return { isSnappy, part: 0, at: start, bytes: packedBytes, unpackedBytes }
  }
  if (!mayUnpack) throw new Unreadable()
  const page = parts[0].subarray(start, start + packedBytes)
  const own = unpackPage(page.subarray(levelBytes), packing, unpackedBytes - levelBytes, loop)
  const part = levelBytes === 0 ? own : Buffer.concat([page.subarray(0, levelBytes), own])
  const bytes = part.length
  return { isSnappy: 0, part: parts.push(part) - 1, at: 0, bytes, unpackedBytes: bytes }
}

function columnsOf(
  buffers: readonly ArrayBuffer[],
  requested: readonly RequestedColumn[],
  rows: number,
): DecodedColumn[] {
  const [whole] = buffers
  const words = new Float64Array(whole, 0, requested.length * readColumnWords)
  let text = 1
  return requested.map(({ kind }, i): DecodedColumn => {
    const word = (name: keyof typeof readColumnWord) =>
      words[i * readColumnWords + readColumnWord[name]]
    const bits = word('validityAt')
    const validity = bits === -1 ? undefined : new Uint8Array(whole, bits, (rows + 7) >> 3)
    if (kind !== 'str')
      return { data: new Uint8Array(whole, word('dataAt'), word('dataLength')), validity }
    const offsets = new Int32Array(whole, word('offsetsAt'), rows + 1)
    return { data: new Uint8Array(buffers[text++]), offsets, validity }
  })
}

/** The buffers of a column. */
export type DecodedColumn = Pick<Column, 'data' | 'validity' | 'offsets'>

const pageWords = wordsOf(pageWord)
const readColumnWords = wordsOf(readColumnWord)
