/**
 * The pages of flat Parquet columns.
 *
 * @see parquet-format 2.10, "Data Pages".
 * @module
 */
import { type ColumnKind, elementTypes, itemSize } from '../../../core/dtype.ts'
import { nativeLimiter } from '../../../core/memory/limiter.ts'
import type { Addon } from '../../../core/native/add-on.ts'
import type { MaybePromise } from '../../../core/promise.ts'
import type { Column } from '../columns.ts'
import { type ParquetChunk, readPageHeader } from './parquet-metadata.ts'
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
  return own === -1 ? physicalKinds.indexOf(itemSize(kind) === 8 ? 'int64' : 'int32') : own
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
    columns.push(elementTypes[kind].code, isOptional ? 1 : 0, (pages.length - before) / pageWords)
  }
  const counts = [rows, budgets.decoding.left, requested.length, pages.length / pageWords]
  const program = new Float64Array([...counts, ...columns, ...pages])
  const answer = (buffers: readonly ArrayBuffer[] | undefined) =>
    buffers && columnsOf(buffers, requested, rows)
  if (!isLarge) return answer(addon.readParquet(program, source.parts))
  return nativeLimiter.run(async () => answer(await addon.readParquetAsync(program, source.parts)))
}

/** Adds the words of the pages of a column in one row group. */
function addPages(
  { codec, start, end, values }: ParquetChunk,
  source: Source,
  words: number[],
): void {
  const { parts, loop, decoding, mayUnpack } = source
  const [file] = parts
  if (start < 4 || end < start || end > file.length) throw new Unreadable()
  let at = start
  let rows = 0
  while (rows < values) {
    const header = readPageHeader(new ThriftReader(file, at, end))
    const { type, packedBytes, unpackedBytes, levels, encoding } = header
    loop.takePage(header.start - at)
    decoding.takeBytes(packedBytes, unpackedBytes)
    const isFirst = at === start ? 1 : 0
    at = header.start + packedBytes
    if (at > end || header.values < 0 || encoding < 0) throw new Unreadable()
    const isData = type === pageTypes.data || type === pageTypes.dataV2
    if (!isData && type !== pageTypes.dictionary) throw new Unreadable()
    if (isData) rows += header.values
    if (rows > values || (isData && header.values === 0)) throw new Unreadable()
    const isSecond = type === pageTypes.dataV2
    const levelBytes = isSecond ? (levels?.definition ?? -1) : 0
    if (isSecond && (levels?.repetition !== 0 || levelBytes < 0 || levelBytes > packedBytes))
      throw new Unreadable()
    const packing = levels?.isPacked === false ? codecs.none : codec
    words.push(isData ? 0 : 1, encoding, header.values)
    if (packing === codecs.none || packing === codecs.snappy) {
      words.push(packing === codecs.snappy ? 1 : 0, 0, header.start, packedBytes, unpackedBytes)
    } else {
      if (!mayUnpack) throw new Unreadable()
      const page = file.subarray(header.start, at)
      const own = unpackPage(page.subarray(levelBytes), packing, unpackedBytes - levelBytes, loop)
      const part = levelBytes === 0 ? own : Buffer.concat([page.subarray(0, levelBytes), own])
      words.push(0, parts.push(part) - 1, 0, part.length, part.length)
    }
    words.push(isSecond ? levelBytes : -1, isFirst)
  }
}

function columnsOf(
  buffers: readonly ArrayBuffer[],
  requested: readonly RequestedColumn[],
  rows: number,
): DecodedColumn[] {
  const [whole] = buffers
  const words = new Float64Array(whole, 0, requested.length * answerWords)
  let text = 1
  return requested.map(({ kind }, i): DecodedColumn => {
    const at = i * answerWords
    const validity =
      words[at + 2] === -1 ? undefined : new Uint8Array(whole, words[at + 2], (rows + 7) >> 3)
    if (kind !== 'str')
      return {
        data: new Uint8Array(whole, words[at], words[at + 1]),
        ...(validity && { validity }),
      }
    const offsets = new Int32Array(whole, words[at + 3], rows + 1)
    return { data: new Uint8Array(buffers[text++]), offsets, ...(validity && { validity }) }
  })
}

/** The buffers of a column. */
export type DecodedColumn = Pick<Column, 'data' | 'validity' | 'offsets'>

// Words for a page, and for a column of the answer, as in native/src/parquet_addon.cpp.
const pageWords = 10
const answerWords = 4
