/** Reads the footer of a Parquet file without decoding data, to refuse other and far too large files. @module */
import { footerLength, type ParquetMetadata, readParquetMetadata } from './parquet-metadata.ts'
import { Unreadable } from './thrift.ts'

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

/** Returns what a file's footer states, with its sizes, or its mistake. */
export function readParquetFooter(
  file: Uint8Array,
): (ParquetFooter & { readonly metadata: ParquetMetadata }) | { readonly failure: string } {
  const size = file.length
  const marks = size < 12 ? '' : Buffer.from([...file.subarray(0, 4), ...file.subarray(-4)]).toString('latin1')
  if (marks.startsWith('PARE')) return { failure: 'an encrypted Parquet file' }
  if (!marks.startsWith('PAR1')) return { failure: 'no Parquet file (it does not start with PAR1)' }
  if (!marks.endsWith('PAR1')) return { failure: 'no whole Parquet file (it does not end with PAR1)' }
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

function sizesOf({ rows, elements, groups }: ParquetMetadata): ParquetFooter {
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
