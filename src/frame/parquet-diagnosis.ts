/**
 * Why Polars cannot decode a Parquet file, as far as its footer tells. Runs only when a file has been refused.
 * **Source**: parquet.thrift of parquet-format 2.11; what Polars of nodejs-polars 0.24.1 refuses,
 * test/corpora/parquet.test.ts.
 * @module
 */
import { footerOf } from './parquet-footer.ts'
import { type ThriftReader, thriftTypes, Unreadable } from './thrift.ts'

interface SchemaElement {
  /** From the column of the frame down. */
  readonly path: string
  readonly depth: number
  readonly isLeaf: boolean
  readonly isMap: boolean
  /** Number of the type in parquet.thrift's LogicalType; 0 if there is none. */
  readonly logicalType: number | undefined
  /** Bytes of each value, where their number is fixed. */
  readonly fixedBytes: number | undefined
}

interface ColumnChunk {
  readonly isEncrypted: boolean
  readonly codec: number
  readonly hasSplitBytes: boolean
}

interface Footer {
  readonly elements: readonly SchemaElement[]
  readonly chunks: readonly ColumnChunk[]
  /** For each column, by its number in parquet.thrift's ColumnOrder. */
  readonly orders: readonly number[]
  readonly isEncrypted: boolean
}

const newerTypes: Readonly<Record<number, string>> = { 16: 'VARIANT', 17: 'GEOMETRY', 18: 'GEOGRAPHY' }
const knownTypes = 15
const knownCodecs = 7
const gzipCodec = 2
const lzoCodec = 3
const fixedLength = 7
const byteStreamSplit = 9
const maxShownPath = 100

/**
 * Returns what was received, for the message of an error, with the column that cannot be decoded where that is known.
 * `cause` is what Polars said.
 */
export function diagnoseParquet(file: Uint8Array, cause: string): string {
  const arrowType = /^Arrow datatype (\S[^.]{0,60}) not supported/.exec(cause)?.[1]
  if (arrowType !== undefined) return `one with a column of Arrow type ${arrowType}, which is not supported`
  let footer: Footer
  try {
    footer = readFooter(footerOf(file))
  } catch (error) {
    if (error instanceof Unreadable) return 'one that cannot be decoded'
    throw error
  }
  return ofSchema(footer) ?? ofChunks(footer, cause) ?? ofCause(footer, cause) ?? 'one that cannot be decoded'
}

const columnOf = (path: string) => `column ${JSON.stringify(path.slice(0, maxShownPath))}`

function ofSchema({ elements, orders }: Footer): string | undefined {
  for (const { path, logicalType } of elements) {
    if (logicalType !== undefined && (logicalType === 0 || logicalType > knownTypes)) {
      const type = newerTypes[logicalType] ?? 'a newer version of Parquet'
      return `one with ${columnOf(path)} of a type that is not supported, ${type}`
    }
  }
  const leaves = elements.filter(({ isLeaf }) => isLeaf)
  const at = orders.findIndex((order) => order !== 1)
  return leaves[at] && `one with ${columnOf(leaves[at].path)} in an order that is not supported`
}

function ofChunks({ elements, chunks, isEncrypted }: Footer, cause: string): string | undefined {
  const leaves = elements.filter(({ isLeaf }) => isLeaf)
  const pathWhere = (is: (chunk: ColumnChunk, leaf: SchemaElement | undefined) => boolean) => {
    // A row group has a chunk for each leaf, in their order.
    const at = chunks.findIndex((chunk, i) => is(chunk, leaves[i % leaves.length]))
    return at < 0 ? undefined : columnOf(leaves[at % leaves.length]?.path ?? '')
  }
  const encrypted = pathWhere((chunk) => chunk.isEncrypted)
  if (encrypted !== undefined) return `one with ${encrypted} encrypted`
  if (isEncrypted) return 'an encrypted one'
  const unknown = pathWhere(({ codec }) => codec === lzoCodec || codec > knownCodecs)
  if (unknown !== undefined) return `one with ${unknown} of a compression that is not supported`
  const splitBytes = /FixedLenByteArray\((\d+)\) "ByteStreamSplit"/.exec(cause)?.[1]
  const split = pathWhere((chunk, leaf) => chunk.hasSplitBytes && String(leaf?.fixedBytes) === splitBytes)
  if (split !== undefined) return `one with ${split} of fixed length split by bytes, which is not supported`
  const gzip = cause.includes('failed to fill whole buffer') ? pathWhere(({ codec }) => codec === gzipCodec) : undefined
  return gzip && `one with ${gzip} in gzip that ends too soon, or is of several members, which is not supported`
}

function ofCause({ elements }: Footer, cause: string): string | undefined {
  if (!cause.includes('MapArray')) return undefined
  const maps = elements.filter(({ isMap }) => isMap)
  const map = maps.find(({ depth }) => depth > 1) ?? maps[0]
  return map && `one with ${columnOf(map.path)}, a map within others, which is not supported`
}

function readFooter(thrift: ThriftReader): Footer {
  let elements: readonly SchemaElement[] = []
  const chunks: ColumnChunk[] = []
  const orders: number[] = []
  let isEncrypted = false
  thrift.struct((id, type) => {
    if (id === 2 && type === thriftTypes.list) elements = readSchema(thrift)
    else if (id === 4 && type === thriftTypes.list) thrift.list(() => readRowGroup(thrift, chunks))
    else if (id === 7 && type === thriftTypes.list) thrift.list(() => orders.push(readUnion(thrift)))
    else {
      isEncrypted ||= id === 8
      thrift.skip(type, 0)
    }
  }, 0)
  return { elements, chunks, orders, isEncrypted }
}

/** Returns the number of the one field that is set; 0 if none is. */
function readUnion(thrift: ThriftReader): number {
  let field = 0
  thrift.struct((id, type) => {
    field = id
    thrift.skip(type, 0)
  }, 4)
  return field
}

/** SchemaElement: 1 type, 2 type_length, 4 name, 5 num_children, 6 converted_type, 10 logicalType. */
function readSchema(thrift: ThriftReader): SchemaElement[] {
  const elements: SchemaElement[] = []
  // Groups that are not complete: their name, and how many children are still to come.
  const open: { readonly name: string; children: number }[] = []
  thrift.list(() => {
    const numbers = new Map<number, number>()
    let name = ''
    let logicalType: number | undefined
    thrift.struct((id, type) => {
      if (id === 4 && type === thriftTypes.binary) name = thrift.text()
      else if (id === 10 && type === thriftTypes.struct) logicalType = readUnion(thrift)
      else if (type === thriftTypes.i32) numbers.set(id, thrift.signed())
      else thrift.skip(type, 0)
    }, 2)
    const above = open.at(-1)
    if (above !== undefined) above.children--
    const children = numbers.get(5) ?? 0
    const convertedType = numbers.get(6)
    elements.push({
      path: [...open.slice(1).map((group) => group.name), name].join('.'),
      depth: open.length,
      isLeaf: children === 0,
      isMap: convertedType === 1 || convertedType === 2 || logicalType === 2,
      logicalType,
      fixedBytes: numbers.get(2),
    })
    if (children > 0) open.push({ name, children })
    while (open.at(-1)?.children === 0) open.pop()
  })
  return elements
}

/** RowGroup: 1 is the column chunks. ColumnChunk: 3 meta_data, 8 crypto_metadata. */
function readRowGroup(thrift: ThriftReader, chunks: ColumnChunk[]): void {
  thrift.struct((id, type) => {
    if (id !== 1 || type !== thriftTypes.list) return thrift.skip(type, 0)
    thrift.list(() => {
      let meta: Omit<ColumnChunk, 'isEncrypted'> = { codec: 0, hasSplitBytes: false }
      let isEncrypted = false
      thrift.struct((member, kind) => {
        if (member === 3 && kind === thriftTypes.struct) {
          meta = readMetaData(thrift)
          return
        }
        isEncrypted ||= member === 8
        thrift.skip(kind, 0)
      }, 3)
      chunks.push({ ...meta, isEncrypted })
    })
  }, 2)
}

/** ColumnMetaData: 1 type, 2 encodings, 4 codec. */
function readMetaData(thrift: ThriftReader): Omit<ColumnChunk, 'isEncrypted'> {
  const numbers = new Map<number, number>()
  const encodings: number[] = []
  thrift.struct((id, type) => {
    if (id === 2 && type === thriftTypes.list) thrift.list(() => encodings.push(thrift.signed()), thriftTypes.i32)
    else if (type === thriftTypes.i32) numbers.set(id, thrift.signed())
    else thrift.skip(type, 0)
  }, 4)
  const hasSplitBytes = numbers.get(1) === fixedLength && encodings.includes(byteStreamSplit)
  return { codec: numbers.get(4) ?? 0, hasSplitBytes }
}
