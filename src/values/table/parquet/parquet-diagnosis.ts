/** Finds in the footer of a refused Parquet file why Polars cannot decode it. **Source**: parquet.thrift. @module */
import {
  footerOf,
  type ParquetChunk,
  type ParquetMetadata,
  readParquetMetadata,
  type SchemaElement,
} from './parquet-metadata.ts'
import { Unreadable } from './thrift.ts'

const newerTypes: Readonly<Record<number, string>> = { 16: 'VARIANT', 17: 'GEOMETRY', 18: 'GEOGRAPHY' }
const knownTypes = 15
const knownCodecs = 7
const [decimal, interval] = [5, 21]
const decimalBytes = 16
const gzipCodec = 2
const lzoCodec = 3
const fixedLength = 7
const byteStreamSplit = 9
const maxShownPath = 100

/** Returns a description of the file, for an error message, with the column if known. `cause` is what Polars said. */
export function diagnoseParquet(file: Uint8Array, cause: string): string {
  const arrowType = /^Arrow datatype (\S[^.]{0,60}) not supported/.exec(cause)?.[1]
  if (arrowType !== undefined) return `one with a column of Arrow type ${arrowType}, which is not supported`
  let metadata: ParquetMetadata
  try {
    metadata = readParquetMetadata(file)
  } catch (error) {
    if (error instanceof Unreadable) return 'one that cannot be decoded'
    throw error
  }
  return ofSchema(metadata) ?? ofChunks(metadata, cause) ?? ofCause(metadata, cause) ?? 'one that cannot be decoded'
}

const columnOf = (path: string) => `column ${JSON.stringify(path.slice(0, maxShownPath))}`

const markedElements = { 2: [{ 6: 'place', 10: 'union' }] } as const
/** MAP and LIST in the enum ConvertedType, 1 and 3, as Thrift writes signed integers. */
const [mapInThrift, listInThrift] = [2, 6]

/** Calls maps without a logical type (DuckDB's) lists, which Polars reads, in place. Whether there are any. */
export function mapsAsLists(file: Uint8Array): boolean {
  let isChanged = false
  for (const { 6: at, 10: logical } of footerOf(file).read(markedElements)[2] ?? []) {
    if (at === undefined || file[at] !== mapInThrift || logical !== undefined) continue
    file[at] = listInThrift
    isChanged = true
  }
  return isChanged
}

function ofSchema({ elements, orders }: ParquetMetadata): string | undefined {
  for (const { path, logical, converted, fixedBytes } of elements) {
    if (logical === 0 || logical > knownTypes) {
      const type = newerTypes[logical] ?? 'a newer version of Parquet'
      return `one with ${columnOf(path)} of a type that is not supported, ${type}`
    }
    if (converted === interval) return `one with ${columnOf(path)} of a type that is not supported, INTERVAL`
    if (converted === decimal && fixedBytes > decimalBytes) {
      return `one with ${columnOf(path)} of decimals of more than 38 digits, which are not supported`
    }
  }
  const leaves = elements.filter(({ isLeaf }) => isLeaf)
  const at = orders.findIndex((order) => order !== 1)
  return leaves[at] && `one with ${columnOf(leaves[at].path)} in an order that is not supported`
}

function ofChunks({ elements, groups, isEncrypted }: ParquetMetadata, cause: string): string | undefined {
  const leaves = elements.filter(({ isLeaf }) => isLeaf)
  const chunks = groups.flatMap((group) => group.chunks)
  const pathWhere = (is: (chunk: ParquetChunk, leaf: SchemaElement | undefined) => boolean) => {
    const at = chunks.findIndex((chunk, i) => is(chunk, leaves[i % leaves.length]))
    return at < 0 ? undefined : columnOf(leaves[at % leaves.length]?.path ?? '')
  }
  const encrypted = pathWhere((chunk) => chunk.isEncrypted)
  if (encrypted !== undefined) return `one with ${encrypted} encrypted`
  if (isEncrypted) return 'an encrypted one'
  const unknown = pathWhere(({ codec }) => codec === lzoCodec || codec > knownCodecs)
  if (unknown !== undefined) return `one with ${unknown} of a compression that is not supported`
  const splitBytes = /FixedLenByteArray\((\d+)\) "ByteStreamSplit"/.exec(cause)?.[1]
  const split = pathWhere(
    ({ type, encodings }, leaf) =>
      type === fixedLength && encodings.includes(byteStreamSplit) && String(leaf?.fixedBytes) === splitBytes,
  )
  if (split !== undefined) return `one with ${split} of fixed length split by bytes, which is not supported`
  const gzip = cause.includes('failed to fill whole buffer') ? pathWhere(({ codec }) => codec === gzipCodec) : undefined
  return gzip && `one with ${gzip} in gzip that ends too soon, or is of several members, which is not supported`
}

function ofCause({ elements }: ParquetMetadata, cause: string): string | undefined {
  if (!cause.includes('MapArray')) return undefined
  const maps = elements.filter(({ converted, logical }) => converted === 1 || converted === 2 || logical === 2)
  const map = maps.find(({ depth }) => depth > 1) ?? maps[0]
  return map && `one with ${columnOf(map.path)}, a map within others, which is not supported`
}
