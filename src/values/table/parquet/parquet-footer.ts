/** Reads the footer of a Parquet file without decoding data, to refuse other and far too large files. @module */
import { latin1Text } from '../../../core/platform.ts'
import { footerLength, type ParquetMetadata, readParquetMetadata } from './parquet-metadata.ts'
import { Unreadable } from './thrift.ts'

/** The default limits of a file's contents. */
export const parquetLimits = {
  maxRows: 50_000_000,
  maxColumns: 16_384,
  /** Rows times columns, or elements if lists hold more: constant columns take 8 bytes a row. */
  maxCells: 100_000_000,
  /** Nesting of groups, two for a list: Polars' time grows by the cube of it. */
  maxDepth: 16,
  /** Columns and groups. */
  maxSchemaElements: 32_768,
  /** Unpacked size of the row groups, as they state it. **Units**: bytes. */
  maxUnpackedBytes: 2 ** 30,
}

/** Limits of a file's contents. */
export type ParquetLimits = Readonly<typeof parquetLimits>

/** @returns what a file's footer states, with its sizes, or its mistake. */
export function readParquetFooter(
  file: Uint8Array,
):
  | (ReturnType<typeof sizesOf> & { readonly metadata: ParquetMetadata })
  | { readonly failure: string } {
  const size = file.length
  const mark = size < 12 ? '' : latin1Text(file, 0, 4)
  if (mark === 'PARE') return { failure: 'an encrypted Parquet file' }
  if (mark !== 'PAR1') return { failure: 'no Parquet file (it does not start with PAR1)' }
  if (latin1Text(file, size - 4) !== 'PAR1')
    return { failure: 'no whole Parquet file (it does not end with PAR1)' }
  if (footerLength(file) > size - 12) return { failure: 'a Parquet footer longer than its file' }
  try {
    const metadata = readParquetMetadata(file)
    return { ...sizesOf(metadata), metadata }
  } catch (error) {
    if (error instanceof Unreadable) return { failure: 'a Parquet footer that cannot be read' }
    throw error
  }
}

/** Describes what exceeds its limit; returns undefined if nothing does. */
export function aboveLimit(
  { rows, columns, unpackedBytes, values, depth, schemaElements }: ReturnType<typeof sizesOf>,
  limits: ParquetLimits,
): string | undefined {
  if (rows > limits.maxRows) return `${rows} rows`
  if (columns > limits.maxColumns) return `${columns} columns`
  const cells = Math.max(rows * columns, values)
  if (cells > limits.maxCells) return `${cells} cells`
  if (depth > limits.maxDepth) return `columns ${depth} groups deep`
  if (schemaElements > limits.maxSchemaElements) return `${schemaElements} columns and groups`
  if (unpackedBytes > limits.maxUnpackedBytes) return `${unpackedBytes} bytes unpacked`
  return undefined
}

function sizesOf({ rows, elements, groups }: ParquetMetadata) {
  const sums = { rows: 0, unpackedBytes: 0, values: 0 }
  for (const group of groups) {
    sums.rows += Math.max(0, group.rows)
    sums.unpackedBytes += Math.max(0, group.unpackedBytes)
    for (const { values } of group.chunks) sums.values += Math.max(0, values)
  }
  return {
    ...sums,
    // A file may understate its rows in one place.
    rows: Math.max(rows, sums.rows),
    columns: elements.filter(({ isLeaf }) => isLeaf).length,
    // The root does not count as a group.
    depth: elements.reduce((most, { isLeaf, depth }) => (isLeaf ? most : Math.max(most, depth)), 0),
    schemaElements: elements.length,
  }
}
