/** Reads the files of a capture, row by row. @module */
import { JSONEncoder } from '../descriptors/json-encoder.ts'
import { collectBody } from '../http/message.ts'
import type { BlobStore } from '../jobs/blob-store.ts'
import { type AnyColumn, bytesAt, isValid, valueReader } from '../values/table/columns.ts'
import { decodeFile } from '../values/table/file-decoder.ts'

/** A recorded call: values by column, without nulls. Bytes are a Buffer, lists a list, and times Dates. */
export type CapturedRow = Readonly<Record<string, unknown>>

/** Yields the calls of a file, in the order in which they ended. */
export async function* readRows(store: BlobStore, name: string): AsyncGenerator<CapturedRow> {
  const file = await collectBody(store.read(name))
  const { rows, columns } = await decodeFile(file, 'capture', 'Parquet')
  const readers = columns.map((column) => [column.name, readerOf(column)] as const)
  for (let row = 0; row < rows; row++) {
    const values = readers.map(([name, read]) => [name, read(row)] as const)
    yield Object.fromEntries(values.filter(([, value]) => value !== null))
  }
}

class RowEncoder extends JSONEncoder {
  override default(value: unknown): unknown {
    return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
  }
}

const encoder = new RowEncoder()

/** @returns a call as a line of JSON; bytes as base64. */
export function rowText(row: CapturedRow): string {
  return `${encoder.encode(row)}\n`
}

function readerOf(column: AnyColumn): (row: number) => unknown {
  const read = valueReaderOf(column)
  return (row) => (isValid(column, row) ? read(row) : null)
}

function valueReaderOf(column: AnyColumn): (row: number) => unknown {
  if ('fields' in column) {
    const fields = column.fields.map((field) => [field.name, readerOf(field)] as const)
    return (row) => Object.fromEntries(fields.map(([name, read]) => [name, read(row)]))
  }
  if ('items' in column) {
    const { offsets, items } = column
    const read = readerOf(items)
    return (row) =>
      Array.from({ length: offsets[row + 1] - offsets[row] }, (_, i) => read(offsets[row] + i))
  }
  if (column.isBinary) return (row) => Buffer.from(bytesAt(column, row))
  const read = valueReader(column)
  const { time } = column
  if (time?.type !== 'datetime') return read
  return (row) => new Date(Number(read(row)) / unitsOfMs[time.unit])
}

const unitsOfMs = { s: 0.001, ms: 1, us: 1000, ns: 1_000_000 }
