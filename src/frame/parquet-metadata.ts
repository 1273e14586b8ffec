/**
 * Reads the metadata of a Parquet file of flat columns: where the pages of each column are, and what they hold.
 * Source: parquet-format 2.10, parquet.thrift; Thrift compact protocol specification.
 * @module
 */
import { footerOf } from './parquet-footer.ts'
import { type ThriftReader, thriftTypes, Unreadable } from './thrift.ts'

/** A column of the schema, which is a leaf right below the root. */
export interface ParquetColumn {
  readonly name: string
  /** Number in the enum Type. */
  readonly type: number
  readonly isOptional: boolean
  /** Number in the enum ConvertedType; undefined when absent. */
  readonly converted: number | undefined
  /** Field of the union LogicalType; undefined when absent. */
  readonly logical: number | undefined
}

/** The pages of a column in one row group. */
export interface ParquetChunk {
  /** Number in the enum CompressionCodec. */
  readonly codec: number
  readonly values: number
  /** Where the pages start and end in the file. */
  readonly start: number
  readonly end: number
}

/** What a file says of itself. */
export interface ParquetMetadata {
  readonly columns: readonly ParquetColumn[]
  readonly groups: readonly { readonly rows: number; readonly chunks: readonly ParquetChunk[] }[]
  /** The schema that Arrow's writers add, base64. */
  readonly arrowSchema: string | undefined
}

/**
 * Returns the metadata of a file whose footer lies within it. Returns undefined for nested columns.
 * **Errors**: Unreadable.
 */
export function readParquetMetadata(file: Uint8Array): ParquetMetadata | undefined {
  const thrift = footerOf(file)
  let columns: ParquetColumn[] | undefined
  const groups: { rows: number; chunks: ParquetChunk[] }[] = []
  let arrowSchema: string | undefined
  thrift.struct((id, type) => {
    if (id === 2 && type === thriftTypes.list) columns = readSchema(thrift)
    else if (id === 4 && type === thriftTypes.list) thrift.list(() => groups.push(readGroup(thrift)))
    else if (id === 5 && type === thriftTypes.list) {
      thrift.list(() => {
        const [key, value] = readKeyValue(thrift)
        if (key === 'ARROW:schema') arrowSchema = value
      })
    } else thrift.skip(type, 0)
  }, 0)
  if (columns === undefined) return undefined
  const width = columns.length
  return groups.every(({ chunks }) => chunks.length === width) ? { columns, groups, arrowSchema } : undefined
}

function readSchema(thrift: ThriftReader): ParquetColumn[] | undefined {
  const columns: ParquetColumn[] = []
  let isFlat = true
  let isRoot = true
  thrift.list(() => {
    let [type, repetition, children, name] = [-1, 0, 0, '']
    let converted: number | undefined
    let logical: number | undefined
    thrift.struct((id, kind) => {
      if (id === 4 && kind === thriftTypes.binary) name = thrift.text()
      else if (id === 10 && kind === thriftTypes.struct) {
        thrift.struct((member, own) => {
          logical = member
          thrift.skip(own, 3)
        }, 3)
      } else if (kind !== thriftTypes.i32) thrift.skip(kind, 2)
      else {
        const value = thrift.signed()
        if (id === 1) type = value
        else if (id === 3) repetition = value
        else if (id === 5) children = value
        else if (id === 6) converted = value
      }
    }, 2)
    if (!isRoot) {
      isFlat &&= children === 0 && repetition !== 2
      columns.push({ name, type, isOptional: repetition === 1, converted, logical })
    }
    isRoot = false
  })
  return isFlat ? columns : undefined
}

function readGroup(thrift: ThriftReader): { rows: number; chunks: ParquetChunk[] } {
  let rows = -1
  const chunks: ParquetChunk[] = []
  thrift.struct((id, type) => {
    if (id === 1 && type === thriftTypes.list) thrift.list(() => chunks.push(readChunk(thrift)))
    else if (id === 3 && type === thriftTypes.i64) rows = thrift.signed()
    else thrift.skip(type, 1)
  }, 1)
  return { rows, chunks }
}

function readChunk(thrift: ThriftReader): ParquetChunk {
  let [codec, values, packedBytes, data, dictionary] = [-1, -1, -1, -1, 0]
  thrift.struct((id, type) => {
    // 1 is the path of another file.
    if (id === 1) throw new Unreadable()
    if (id !== 3 || type !== thriftTypes.struct) return thrift.skip(type, 3)
    thrift.struct((member, kind) => {
      if (kind !== thriftTypes.i32 && kind !== thriftTypes.i64) return thrift.skip(kind, 4)
      const value = thrift.signed()
      if (member === 4) codec = value
      else if (member === 5) values = value
      else if (member === 7) packedBytes = value
      else if (member === 9) data = value
      else if (member === 11) dictionary = value
    }, 4)
  }, 3)
  const start = Math.min(data, dictionary || data)
  return { codec, values, start, end: start + packedBytes }
}

function readKeyValue(thrift: ThriftReader): readonly [string, string] {
  let [key, value] = ['', '']
  thrift.struct((id, type) => {
    if (id === 1 && type === thriftTypes.binary) key = thrift.text()
    else if (id === 2 && type === thriftTypes.binary) value = thrift.text()
    else thrift.skip(type, 2)
  }, 2)
  return [key, value]
}

/** The header of a page. */
export interface PageHeader {
  /** Number in the enum PageType. */
  readonly type: number
  readonly unpackedBytes: number
  readonly packedBytes: number
  readonly values: number
  /** Number in the enum Encoding. */
  readonly encoding: number
  /** Version 2: the sizes of the levels, which are not compressed, and whether the values are. */
  readonly levels: { readonly repetition: number; readonly definition: number; readonly isPacked: boolean } | undefined
  /** Where the page's bytes start in the file. */
  readonly start: number
}

/** Reads the header of the page at `start`. **Errors**: Unreadable. */
export function readPageHeader(thrift: ThriftReader): PageHeader {
  const [own, page] = [new Map<number, number>(), new Map<number, number>()]
  let version = 1
  thrift.struct((id, type) => {
    if (type === thriftTypes.i32) own.set(id, thrift.signed())
    else if (type === thriftTypes.struct && (id === 5 || id === 7 || id === 8)) {
      if (id === 8) version = 2
      thrift.struct((member, kind) => {
        if (kind === thriftTypes.i32) page.set(member, thrift.signed())
        else if (kind === thriftTypes.true || kind === thriftTypes.false)
          page.set(member, kind === thriftTypes.true ? 1 : 0)
        else thrift.skip(kind, 2)
      }, 2)
    } else thrift.skip(type, 1)
  }, 1)
  const isSecond = version === 2
  return {
    type: own.get(1) ?? -1,
    unpackedBytes: own.get(2) ?? -1,
    packedBytes: own.get(3) ?? -1,
    values: page.get(1) ?? -1,
    encoding: page.get(isSecond ? 4 : 2) ?? -1,
    levels: isSecond
      ? { definition: page.get(5) ?? -1, repetition: page.get(6) ?? -1, isPacked: page.get(7) !== 0 }
      : undefined,
    start: thrift.position,
  }
}
