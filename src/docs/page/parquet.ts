import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import type { Cell, FrameValue } from '../../client/values.ts'

const maxRows = 10_000

/**
 * @returns the first rows of a file, and how many it has.
 * @throws an Error for a file that is broken or packed.
 */
export async function readParquet(
  file: Blob,
): Promise<{ readonly frame: FrameValue; readonly height: number }> {
  const bytes = await file.arrayBuffer()
  const metadata = parquetMetadata(bytes)
  const rows = await parquetReadObjects({ file: bytes, metadata, rowEnd: maxRows })
  const names = metadata.schema.length === 0 ? [] : Object.keys(rows[0] ?? {})
  const frame = Object.fromEntries(
    names.map((name) => [name, rows.map((row) => cellOf(row[name]))]),
  )
  return { frame, height: Number(metadata.num_rows) }
}

function cellOf(value: unknown): Cell {
  if (value === undefined || value === null) return null
  if (value instanceof Date) return value.toISOString()
  if (typeof value !== 'object') return value as Cell
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'bigint' ? String(member) : member,
  )
}
