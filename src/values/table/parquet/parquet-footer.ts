/** Reads the footer of a Parquet file without decoding data, to refuse other and far too large files. @module */
import { ThriftReader, thriftTypes, Unreadable } from './thrift.ts'

/** Limits of a file's contents. */
export interface ParquetLimits {
  /** Default 50,000,000. */
  readonly maxRows: number
  /** Default 16,384. */
  readonly maxColumns: number
  /** Rows times columns, or elements if lists hold more: constant columns take 8 bytes a row. Default 100,000,000. */
  readonly maxCells: number
  /** Nesting of groups, two for a list: Polars' time grows by the cube of it. Default 16. */
  readonly maxDepth: number
  /** Columns and groups. Default 32,768. */
  readonly maxSchemaElements: number
  /** Unpacked size of the row groups, as they state it. **Units**: bytes. Default 1 GiB. */
  readonly maxUnpackedBytes: number
}

/** The default limits. */
export const parquetLimits: ParquetLimits = {
  maxRows: 50_000_000,
  maxColumns: 16_384,
  maxCells: 100_000_000,
  maxDepth: 16,
  maxSchemaElements: 32_768,
  maxUnpackedBytes: 2 ** 30,
}

/** The sizes that a footer states. */
export interface ParquetFooter {
  readonly rows: number
  readonly columns: number
  readonly unpackedBytes: number
  readonly values: number
  readonly depth: number
  readonly schemaElements: number
}

/** Returns the sizes that a file's footer states, or what is wrong with it. Allocates nothing. */
export function readParquetFooter(file: Uint8Array): ParquetFooter | { readonly failure: string } {
  const size = file.length
  if (size >= 12 && isMagic(file, 0, 'E')) return { failure: 'an encrypted Parquet file' }
  if (size < 12 || !isMagic(file, 0)) return { failure: 'no Parquet file (it does not start with PAR1)' }
  if (!isMagic(file, size - 4)) return { failure: 'no whole Parquet file (it does not end with PAR1)' }
  const length = footerLength(file)
  if (length > size - 12) return { failure: 'a Parquet footer longer than its file' }
  try {
    return new FooterReader(footerOf(file, length)).read()
  } catch (error) {
    if (error instanceof Unreadable) return { failure: 'a Parquet footer that cannot be read' }
    throw error
  }
}

/** Describes what exceeds its limit; returns undefined if nothing does. */
export function aboveLimit(footer: ParquetFooter, limits: ParquetLimits): string | undefined {
  const { rows, columns, unpackedBytes, values, depth, schemaElements } = footer
  if (rows > limits.maxRows) return `${rows} rows`
  if (columns > limits.maxColumns) return `${columns} columns`
  const cells = Math.max(rows * columns, values)
  if (cells > limits.maxCells) return `${cells} cells`
  if (depth > limits.maxDepth) return `columns ${depth} groups deep`
  if (schemaElements > limits.maxSchemaElements) return `${schemaElements} columns and groups`
  return unpackedBytes > limits.maxUnpackedBytes ? `${unpackedBytes} bytes unpacked` : undefined
}

/** Returns a reader of the footer. The footer must lie within the file, see {@link readParquetFooter}. */
export function footerOf(file: Uint8Array, length: number = footerLength(file)): ThriftReader {
  return new ThriftReader(file, file.length - 8 - length, file.length - 8)
}

/** Returns the bytes of the footer as a view; empty if it does not lie within the file. */
export function footerBytes(file: Uint8Array): Buffer {
  const length = footerLength(file)
  if (length === 0 || length > file.length - 12) return Buffer.alloc(0)
  return Buffer.from(file.buffer, file.byteOffset + file.length - 8 - length, length)
}

const textHeader = 0x18

/** Returns where the last value of a key lies in a footer, by a search for its bytes; undefined without one. */
export function findKeyValue(footer: Buffer, key: string): { start: number; size: number } | undefined {
  const field = Buffer.from([textHeader, key.length, ...Buffer.from(key), textHeader])
  const at = footer.lastIndexOf(field)
  if (at === -1) return undefined
  let start = at + field.length
  let size = 0
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = footer[start++] ?? 0
    size += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) break
  }
  return start + size <= footer.length ? { start, size } : undefined
}

/** Returns the length that a file states of its footer; 0 if the file is too short. **Units**: bytes. */
export function footerLength(file: Uint8Array): number {
  if (file.length < 12) return 0
  return new DataView(file.buffer, file.byteOffset, file.length).getUint32(file.length - 8, true)
}

/** Whether the magic bytes are at `at`: `PAR1`, or `PARE` for an encrypted footer. */
function isMagic(file: Uint8Array, at: number, last: '1' | 'E' = '1'): boolean {
  return file[at] === 0x50 && file[at + 1] === 0x41 && file[at + 2] === 0x52 && file[at + 3] === last.charCodeAt(0)
}

type Schema = Pick<ParquetFooter, 'columns' | 'depth' | 'schemaElements'>

class FooterReader {
  readonly #thrift: ThriftReader

  constructor(thrift: ThriftReader) {
    this.#thrift = thrift
  }

  /** FileMetaData: 2 is the schema, 3 the number of rows, 4 the row groups. */
  read(): ParquetFooter {
    let rows = -1
    let schema: Schema | undefined
    const sums = { rows: 0, unpackedBytes: 0, values: 0 }
    this.#thrift.struct((id, type) => {
      if (id === 2 && type === thriftTypes.list) schema = this.#schema()
      else if (id === 3 && type === thriftTypes.i64) rows = this.#thrift.signed()
      else if (id === 4 && type === thriftTypes.list) this.#thrift.list(() => this.#rowGroup(sums))
      else this.#thrift.skip(type)
    })
    if (rows < 0 || schema === undefined) throw new Unreadable()
    // A file may understate its rows in one place.
    return { ...sums, ...schema, rows: Math.max(rows, sums.rows) }
  }

  /** RowGroup: 1 is the column chunks, 2 total_byte_size, 3 num_rows. */
  #rowGroup(sums: { rows: number; unpackedBytes: number; values: number }): void {
    this.#thrift.struct((id, type) => {
      if (id === 1 && type === thriftTypes.list) this.#thrift.list(() => (sums.values += this.#chunkValues()))
      else if (id === 2 && type === thriftTypes.i64) sums.unpackedBytes += Math.max(0, this.#thrift.signed())
      else if (id === 3 && type === thriftTypes.i64) sums.rows += Math.max(0, this.#thrift.signed())
      else this.#thrift.skip(type)
    })
  }

  /** ColumnChunk: 3 is ColumnMetaData, of which 5 is num_values. */
  #chunkValues(): number {
    let values = 0
    this.#thrift.struct((id, type) => {
      if (id !== 3 || type !== thriftTypes.struct) return this.#thrift.skip(type)
      this.#thrift.struct((member, kind) => {
        if (member === 5 && kind === thriftTypes.i64) values = Math.max(0, this.#thrift.signed())
        else this.#thrift.skip(kind)
      })
    })
    return values
  }

  /** SchemaElement: 5 is num_children. The tree is written root first; leaves are the elements without children. */
  #schema(): Schema {
    let columns = 0
    let schemaElements = 0
    let depth = 0
    const open: number[] = []
    this.#thrift.list(() => {
      let children = 0
      this.#thrift.struct((id, type) => {
        if (id === 5 && type === thriftTypes.i32) children = this.#thrift.signed()
        else this.#thrift.skip(type)
      })
      schemaElements++
      if (open.length > 0) open[open.length - 1]--
      if (children > 0) open.push(children)
      else columns++
      // The root does not count as a group.
      depth = Math.max(depth, open.length - 1)
      while (open.length > 0 && open[open.length - 1] === 0) open.pop()
    })
    return { columns, depth, schemaElements }
  }
}
