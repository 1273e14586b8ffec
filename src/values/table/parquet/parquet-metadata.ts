/** Reads the metadata of a Parquet file. **Source**: parquet-format 2.11, parquet.thrift. @module */
import { footerOf } from './parquet-footer.ts'
import { type ThriftReader, thriftTypes } from './thrift.ts'

/** A column or a group of the schema. */
export interface SchemaElement {
  readonly path: string
  readonly depth: number
  readonly isLeaf: boolean
  readonly type: number
  /** Bytes of each value; -1 where their number is not fixed. */
  readonly fixedBytes: number
  readonly repetition: number
  /** Number in the enum ConvertedType; -1 when absent. */
  readonly converted: number
  readonly convertedAt: number
  /** Field of the union LogicalType; -1 when absent, 0 for a union without a field. */
  readonly logical: number
}

/** The pages of a column in one row group. */
export interface ParquetChunk {
  readonly codec: number
  readonly values: number
  readonly start: number
  readonly end: number
  readonly type: number
  readonly encodings: readonly number[]
  readonly isEncrypted: boolean
  readonly isElsewhere: boolean
}

/** What a file states about itself. */
export interface ParquetMetadata {
  /** The root first, each group before its children. */
  readonly elements: readonly SchemaElement[]
  readonly groups: readonly { readonly rows: number; readonly chunks: readonly ParquetChunk[] }[]
  /** For each leaf, the field of the union ColumnOrder. */
  readonly orders: readonly number[]
  readonly isEncrypted: boolean
  readonly arrowSchema: string | undefined
}

/** Returns the metadata of a file whose footer lies within it. **Errors**: Unreadable. */
export function readParquetMetadata(file: Uint8Array): ParquetMetadata {
  const thrift = footerOf(file)
  let elements: SchemaElement[] = []
  const groups: { rows: number; chunks: ParquetChunk[] }[] = []
  const orders: number[] = []
  let isEncrypted = false
  let arrowSchema: string | undefined
  // FileMetaData: 2 schema, 4 row_groups, 5 key_value_metadata, 7 column_orders, 8 encryption_algorithm.
  thrift.struct((id, type) => {
    isEncrypted ||= id === 8
    if (type !== thriftTypes.list) thrift.skip(type)
    else if (id === 2) elements = readSchema(thrift)
    else if (id === 4) thrift.list(() => groups.push(readGroup(thrift)))
    else if (id === 5) {
      thrift.list(() => {
        const [key, value] = readKeyValue(thrift)
        if (key === 'ARROW:schema') arrowSchema = value
      })
    } else if (id === 7) thrift.list(() => orders.push(readUnion(thrift)))
    else thrift.skip(type)
  })
  return { elements, groups, orders, isEncrypted, arrowSchema }
}

/** SchemaElement: 1 type, 2 type_length, 3 repetition, 4 name, 5 num_children, 6 converted_type, 10 logicalType. */
function readSchema(thrift: ThriftReader): SchemaElement[] {
  const elements: SchemaElement[] = []
  const open: { readonly path: string; children: number }[] = []
  thrift.list(() => {
    let name = ''
    let logical = -1
    let converted = -1
    let convertedAt = -1
    const [type, fixedBytes, repetition, children] = thrift.numbers([1, 2, 3, 5], (id, type) => {
      if (id === 4 && type === thriftTypes.binary) name = thrift.text()
      else if (id === 10 && type === thriftTypes.struct) logical = readUnion(thrift)
      else if (id === 6 && type === thriftTypes.i32) {
        convertedAt = thrift.position
        converted = thrift.signed()
      } else return false
      return true
    })
    const parent = open.at(-1)
    if (parent !== undefined) parent.children--
    const path = parent === undefined || open.length === 1 ? name : `${parent.path}.${name}`
    elements.push({
      path,
      depth: open.length,
      isLeaf: children <= 0,
      type,
      fixedBytes,
      repetition,
      converted,
      convertedAt,
      logical,
    })
    if (children > 0) open.push({ path, children })
    while (open.at(-1)?.children === 0) open.pop()
  })
  return elements
}

function readUnion(thrift: ThriftReader): number {
  let field = 0
  thrift.struct((id, type) => {
    field = id
    thrift.skip(type)
  })
  return field
}

/** RowGroup: 1 columns, 3 num_rows. */
function readGroup(thrift: ThriftReader): { rows: number; chunks: ParquetChunk[] } {
  const chunks: ParquetChunk[] = []
  const [rows] = thrift.numbers([3], (id, type) => {
    if (id !== 1 || type !== thriftTypes.list) return false
    thrift.list(() => chunks.push(readChunk(thrift)))
    return true
  })
  return { rows, chunks }
}

/**
 * ColumnChunk: 1 file_path, 3 meta_data, 8 crypto_metadata. ColumnMetaData: 1 type, 2 encodings, 4 codec, 5 num_values,
 * 7 total_compressed_size, 9 data_page_offset, 11 dictionary_page_offset.
 */
function readChunk(thrift: ThriftReader): ParquetChunk {
  let meta: readonly number[] = []
  const encodings: number[] = []
  let [isEncrypted, isElsewhere] = [false, false]
  thrift.struct((id, type) => {
    isElsewhere ||= id === 1
    isEncrypted ||= id === 8
    if (id !== 3 || type !== thriftTypes.struct) return thrift.skip(type)
    meta = thrift.numbers([1, 4, 5, 7, 9, 11], (member, kind) => {
      if (member !== 2 || kind !== thriftTypes.list) return false
      thrift.list(() => encodings.push(thrift.signed()), thriftTypes.i32)
      return true
    })
  })
  const [type = -1, codec = -1, values = -1, packedBytes = -1, data = -1, dictionary = -1] = meta
  // Some writers state 0 for no dictionary.
  const start = dictionary > 0 ? Math.min(data, dictionary) : data
  return { codec, values, start, end: start + packedBytes, type, encodings, isEncrypted, isElsewhere }
}

function readKeyValue(thrift: ThriftReader): readonly [string, string] {
  let [key, value] = ['', '']
  thrift.struct((id, type) => {
    if (id === 1 && type === thriftTypes.binary) key = thrift.text()
    else if (id === 2 && type === thriftTypes.binary) value = thrift.text()
    else thrift.skip(type)
  })
  return [key, value]
}

/** The header of a page. */
export interface PageHeader {
  readonly type: number
  readonly unpackedBytes: number
  readonly packedBytes: number
  readonly values: number
  readonly encoding: number
  /** Version 2: the sizes of the levels, which are not compressed, and whether the values are. */
  readonly levels: { readonly repetition: number; readonly definition: number; readonly isPacked: boolean } | undefined
  readonly start: number
}

/** Reads the header of the page at the reader's position. **Errors**: Unreadable. */
export function readPageHeader(thrift: ThriftReader): PageHeader {
  let page: readonly number[] = []
  let isSecond = false
  // PageHeader: 1 type, 2 and 3 sizes, 5 data_page_header, 7 dictionary_page_header, 8 data_page_header_v2.
  const [type, unpackedBytes, packedBytes] = thrift.numbers([1, 2, 3], (id, kind) => {
    if (kind !== thriftTypes.struct || (id !== 5 && id !== 7 && id !== 8)) return false
    isSecond = id === 8
    page = thrift.numbers(isSecond ? [1, 4, 5, 6, 7] : [1, 2])
    return true
  })
  const [values = -1, encoding = -1, definition = -1, repetition = -1, isPacked] = page
  const levels = isSecond ? { definition, repetition, isPacked: isPacked !== 0 } : undefined
  return { type, unpackedBytes, packedBytes, values, encoding, levels, start: thrift.position }
}
