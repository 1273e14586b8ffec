/** The pages of flat Parquet columns. **Source**: parquet-format 2.10, "Data Pages". @module */
import { type ColumnKind, elementTypes, itemSize } from '../../../core/dtype.ts'
import type { Addon } from '../../../core/native/add-on.ts'
import type { MaybePromise } from '../../../core/promise.ts'
import type { Column } from '../columns.ts'
import { type ParquetChunk, readPageHeader, type SchemaElement } from './parquet-metadata.ts'
import { codecs, unpackPage, type WorkBudget } from './parquet-unpack.ts'
import { ThriftReader, Unreadable } from './thrift.ts'

const pageTypes = { data: 0, dictionary: 2, dataV2: 3 } as const

/** Physical types, by their number in the enum Type. */
export const physical = { bool: 0, int32: 1, int64: 2, float: 4, double: 5, bytes: 6 } as const

/** Returns the physical type that holds a kind. */
export function physicalOf(kind: ColumnKind): number {
  if (kind === 'str') return physical.bytes
  if (kind === 'bool') return physical.bool
  if (kind === 'float32') return physical.float
  if (kind === 'float64') return physical.double
  return itemSize(kind) === 8 ? physical.int64 : physical.int32
}

/** A column to be read: how the file holds it, the kind of its elements, and its pages in each row group. */
export interface RequestedColumn {
  readonly column: SchemaElement
  readonly kind: Column['kind']
  readonly chunks: readonly ParquetChunk[]
}

/** Bounds of the work on the event loop, and of what the pages of a file may make in all. */
export interface WorkBudgets {
  readonly loop: WorkBudget
  readonly decoding: WorkBudget
}

/** The pages of a file. */
export class ParquetPages {
  readonly #file: Uint8Array
  readonly #rows: number
  readonly #budgets: WorkBudgets
  readonly #mayUnpack: boolean
  readonly #parts: Uint8Array[]
  readonly #columns: number[] = []
  readonly #pages: number[] = []
  readonly #kinds: Column['kind'][] = []

  constructor(file: Uint8Array, rows: number, budgets: WorkBudgets, mayUnpack: boolean) {
    this.#file = file
    this.#rows = rows
    this.#budgets = budgets
    this.#mayUnpack = mayUnpack
    this.#parts = [file]
  }

  add({ column, kind, chunks }: RequestedColumn): void {
    const before = this.#pages.length
    for (const chunk of chunks) if (chunk.values > 0) this.#chunk(chunk)
    const pages = (this.#pages.length - before) / pageWords
    this.#columns.push(elementTypes[kind].code, column.repetition === 1 ? 1 : 0, pages)
    this.#kinds.push(kind)
  }

  #chunk({ codec, start, end, values }: ParquetChunk): void {
    const file = this.#file
    if (start < 4 || end < start || end > file.length) throw new Unreadable()
    let at = start
    let rows = 0
    while (rows < values) {
      const header = readPageHeader(new ThriftReader(file, at, end))
      const { type, packedBytes, unpackedBytes, levels, encoding } = header
      this.#budgets.loop.takePage(header.start - at)
      this.#budgets.decoding.takeBytes(packedBytes, unpackedBytes)
      const isFirst = at === start ? 1 : 0
      at = header.start + packedBytes
      if (at > end || header.values < 0 || encoding < 0) throw new Unreadable()
      const isData = type === pageTypes.data || type === pageTypes.dataV2
      if (!isData && type !== pageTypes.dictionary) throw new Unreadable()
      if (isData) rows += header.values
      if (rows > values || (isData && header.values === 0)) throw new Unreadable()
      const isSecond = type === pageTypes.dataV2
      const levelBytes = isSecond ? (levels?.definition ?? -1) : 0
      if (isSecond && (levels?.repetition !== 0 || levelBytes < 0 || levelBytes > packedBytes)) throw new Unreadable()
      const packing = levels?.isPacked === false ? codecs.none : codec
      this.#pages.push(isData ? 0 : 1, encoding, header.values)
      if (packing === codecs.none || packing === codecs.snappy) {
        this.#pages.push(packing === codecs.snappy ? 1 : 0, 0, header.start, packedBytes, unpackedBytes)
      } else {
        const part = this.#unpacked(file.subarray(header.start, at), packing, unpackedBytes, levelBytes)
        this.#pages.push(0, this.#parts.push(part) - 1, 0, part.length, part.length)
      }
      this.#pages.push(isSecond ? levelBytes : -1, isFirst)
    }
  }

  #unpacked(bytes: Uint8Array, codec: number, unpackedBytes: number, levelBytes: number): Uint8Array {
    if (!this.#mayUnpack) throw new Unreadable()
    const own = unpackPage(bytes.subarray(levelBytes), codec, unpackedBytes - levelBytes, this.#budgets.loop)
    return levelBytes === 0 ? own : Buffer.concat([bytes.subarray(0, levelBytes), own])
  }

  /** Decodes the columns, here or off the event loop; undefined for what does not fit. The file must not change. */
  decode(addon: Addon, isAsync: boolean): MaybePromise<DecodedColumn[] | undefined> {
    const pages = this.#pages.length / pageWords
    const counts = [this.#rows, this.#budgets.decoding.left, this.#kinds.length, pages]
    const program = Float64Array.from([...counts, ...this.#columns, ...this.#pages])
    if (isAsync) return addon.readParquetAsync(program, this.#parts).then((buffers) => this.#columnsOf(buffers))
    return this.#columnsOf(addon.readParquet(program, this.#parts))
  }

  #columnsOf(buffers: readonly ArrayBuffer[] | undefined): DecodedColumn[] | undefined {
    if (buffers === undefined) return undefined
    const [whole] = buffers
    const rows = this.#rows
    const words = new Float64Array(whole, 0, this.#kinds.length * answerWords)
    let text = 1
    return this.#kinds.map((kind, i): DecodedColumn => {
      const at = i * answerWords
      const validity = words[at + 2] === -1 ? undefined : new Uint8Array(whole, words[at + 2], (rows + 7) >> 3)
      if (kind !== 'str')
        return { data: new Uint8Array(whole, words[at], words[at + 1]), ...(validity && { validity }) }
      const offsets = new Int32Array(whole, words[at + 3], rows + 1)
      return { data: new Uint8Array(buffers[text++]), offsets, ...(validity && { validity }) }
    })
  }
}

/** The buffers of a column. */
export type DecodedColumn = Pick<Column, 'data' | 'validity' | 'offsets'>

// Words for a page, and for a column of the answer, as in native/src/parquet_addon.cpp.
const pageWords = 10
const answerWords = 4
