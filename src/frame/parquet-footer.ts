/**
 * The end of a Parquet file, read without decoding anything: enough to refuse what is none, or far too much.
 * Source: parquet-format 2.10, "File format"; Thrift compact protocol specification.
 * @module
 */

/** Maxima of what a file may hold. */
export interface ParquetLimits {
  /** Default 50,000,000. */
  readonly maxRows: number
  /** Default 16,384. */
  readonly maxColumns: number
  /**
   * Rows times columns, or elements where lists hold more: constant columns cost nothing in the file and 8 bytes a row
   * in memory. Default 100,000,000.
   */
  readonly maxCells: number
  /** Nesting of groups, two for a list: types take time by the cube of it, 0.3 s for one column of 256. Default 16. */
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

/** The numbers of a footer. */
export interface ParquetFooter {
  readonly rows: number
  readonly columns: number
  readonly unpackedBytes: number
  /** Elements of all columns, those of lists counted. */
  readonly values: number
  /** Nesting of groups, the file's root not counted. */
  readonly depth: number
  readonly schemaElements: number
}

const maxThriftDepth = 16
// Thrift compact types.
const typeTrue = 1
const typeFalse = 2
const typeByte = 3
const typeI64 = 6
const typeDouble = 7
const typeBinary = 8
const typeList = 9
const typeSet = 10
const typeMap = 11
const typeStruct = 12

class Unreadable extends Error {}

/** Returns the numbers of a file's footer, or what is wrong with it. **Cost**: walks the footer once; allocates nothing. */
export function readParquetFooter(file: Uint8Array): ParquetFooter | { readonly failure: string } {
  const size = file.length
  if (size < 12 || !isMagic(file, 0)) return { failure: 'no Parquet file (it does not start with PAR1)' }
  if (!isMagic(file, size - 4)) return { failure: 'no whole Parquet file (it does not end with PAR1)' }
  const view = new DataView(file.buffer, file.byteOffset, size)
  const length = view.getUint32(size - 8, true)
  if (length > size - 12) return { failure: 'a Parquet footer longer than its file' }
  try {
    return new FooterReader(file, size - 8 - length, size - 8).read()
  } catch (error) {
    if (error instanceof Unreadable) return { failure: 'a Parquet footer that cannot be read' }
    throw error
  }
}

/** Returns what of a footer exceeds its limit; undefined if nothing does. */
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

function isMagic(file: Uint8Array, at: number): boolean {
  return file[at] === 0x50 && file[at + 1] === 0x41 && file[at + 2] === 0x52 && file[at + 3] === 0x31
}

type Schema = Pick<ParquetFooter, 'columns' | 'depth' | 'schemaElements'>

class FooterReader {
  readonly #bytes: Uint8Array
  readonly #end: number
  #pos: number

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes
    this.#pos = start
    this.#end = end
  }

  /** FileMetaData: 2 is the schema, 3 the number of rows, 4 the row groups. */
  read(): ParquetFooter {
    let rows = -1
    let schema: Schema | undefined
    const sums = { rows: 0, unpackedBytes: 0, values: 0 }
    this.#struct((id, type) => {
      if (id === 2 && type === typeList) schema = this.#schema()
      else if (id === 3 && type === typeI64) rows = this.#signed()
      else if (id === 4 && type === typeList) this.#list(() => this.#rowGroup(sums))
      else this.#skip(type, 0)
    }, 0)
    if (rows < 0 || schema === undefined) throw new Unreadable()
    // A file may understate its rows in one place.
    return { ...sums, ...schema, rows: Math.max(rows, sums.rows) }
  }

  /** RowGroup: 1 is the column chunks, 2 total_byte_size, 3 num_rows. */
  #rowGroup(sums: { rows: number; unpackedBytes: number; values: number }): void {
    this.#struct((id, type) => {
      if (id === 1 && type === typeList) this.#list(() => (sums.values += this.#chunkValues()))
      else if (id === 2 && type === typeI64) sums.unpackedBytes += Math.max(0, this.#signed())
      else if (id === 3 && type === typeI64) sums.rows += Math.max(0, this.#signed())
      else this.#skip(type, 0)
    }, 2)
  }

  /** ColumnChunk: 3 is ColumnMetaData, of which 5 is num_values. */
  #chunkValues(): number {
    let values = 0
    this.#struct((id, type) => {
      if (id !== 3 || type !== typeStruct) return this.#skip(type, 0)
      this.#struct((member, kind) => {
        if (member === 5 && kind === typeI64) values = Math.max(0, this.#signed())
        else this.#skip(kind, 0)
      }, 4)
    }, 3)
    return values
  }

  /** SchemaElement: 5 is num_children. The tree is written root first; leaves are the elements without children. */
  #schema(): Schema {
    let columns = 0
    let schemaElements = 0
    let depth = 0
    // Children still to come, from the root down.
    const open: number[] = []
    this.#list(() => {
      let children = 0
      this.#struct((id, type) => {
        if (id === 5 && type === 5) children = this.#signed()
        else this.#skip(type, 0)
      }, 2)
      schemaElements++
      if (open.length > 0) open[open.length - 1]--
      if (children > 0) open.push(children)
      else columns++
      // The root is none of the groups.
      depth = Math.max(depth, open.length - 1)
      while (open.length > 0 && open[open.length - 1] === 0) open.pop()
    })
    return { columns, depth, schemaElements }
  }

  #byte(): number {
    if (this.#pos >= this.#end) throw new Unreadable()
    return this.#bytes[this.#pos++]
  }

  #varint(): number {
    let value = 0
    let scale = 1
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte()
      // Beyond 2^53 digits are lost, which no limit minds.
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 128
    }
    throw new Unreadable()
  }

  #signed(): number {
    const value = this.#varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  #struct(field: (id: number, type: number) => void, depth: number): void {
    if (depth > maxThriftDepth) throw new Unreadable()
    let id = 0
    for (;;) {
      const head = this.#byte()
      if (head === 0) return
      id = head >> 4 === 0 ? this.#signed() : id + (head >> 4)
      field(id, head & 0x0f)
    }
  }

  #list(element: () => void): void {
    const head = this.#byte()
    if ((head & 0x0f) !== typeStruct) throw new Unreadable()
    const count = head >> 4 === 15 ? this.#varint() : head >> 4
    // Each element takes a byte at least, so a false count ends at the footer's end.
    for (let i = 0; i < count; i++) element()
  }

  #skip(type: number, depth: number, isElement = false): void {
    if (depth > maxThriftDepth) throw new Unreadable()
    switch (type) {
      case typeTrue:
      case typeFalse:
        // In a field the type is the value; in a list each value is a byte.
        if (isElement) this.#byte()
        return
      case typeByte:
        this.#byte()
        return
      case 4:
      case 5:
      case typeI64:
        this.#varint()
        return
      case typeDouble:
        this.#advance(8)
        return
      case typeBinary:
        this.#advance(this.#varint())
        return
      case typeList:
      case typeSet: {
        const head = this.#byte()
        const count = head >> 4 === 15 ? this.#varint() : head >> 4
        for (let i = 0; i < count; i++) this.#skip(head & 0x0f, depth + 1, true)
        return
      }
      case typeMap: {
        const count = this.#varint()
        if (count === 0) return
        const kinds = this.#byte()
        for (let i = 0; i < count; i++) {
          this.#skip(kinds >> 4, depth + 1, true)
          this.#skip(kinds & 0x0f, depth + 1, true)
        }
        return
      }
      case typeStruct:
        this.#struct((_, kind) => this.#skip(kind, depth + 1), depth + 1)
        return
      default:
        throw new Unreadable()
    }
  }

  #advance(count: number): void {
    this.#pos += count
    if (this.#pos > this.#end) throw new Unreadable()
  }
}
