/** Reads the files of a capture, row by row. @module */
import type { Api } from '../api/api.ts'
import type { CaptureSettings } from '../api/capture-options.ts'
import type { clientMetadata } from '../api/service-metadata.ts'
import { InvalidArgument } from '../core/errors.ts'
import type { Description } from '../descriptors/description.ts'
import { JSONEncoder } from '../descriptors/json-encoder.ts'
import { collectBody } from '../http/message.ts'
import type { BlobStore } from '../jobs/blob-store.ts'
import {
  type AnyColumn,
  bytesAt,
  isValid,
  sliceColumn,
  valueReader,
} from '../values/table/columns.ts'
import { decodeFile } from '../values/table/file-decoder.ts'
import { findKeyValue, footerBytes } from '../values/table/parquet/parquet-metadata.ts'
import { typeName } from './row-table.ts'

/** A recorded call: values by column, without nulls. Bytes are a Buffer, lists a list, and times Dates. */
export type CapturedRow = Readonly<Record<string, unknown>>

/** What the footer of a file says of its API. */
export interface CaptureNotes
  extends Pick<Description, 'input' | 'output'>,
    Pick<Api, 'method' | 'route'>,
    Pick<CaptureSettings, 'redact'> {
  readonly format: 1
  readonly service: string
  readonly version: string | undefined
  readonly api: string
  readonly descriptors: ReturnType<typeof clientMetadata>
}

/** In place of the descriptor of a Runner that is served as a model. */
export const tensorsId = 'tensors'

/** The key of {@link CaptureNotes} in the footer. */
export const notesKey = 'serving.capture'

/** A recorded call with the types of its values. */
export interface CapturedCall {
  readonly row: CapturedRow
  /** Of one row, without nulls, by the names that they had in the call. */
  readonly columns: ReadonlyMap<string, AnyColumn>
  readonly notes: CaptureNotes
}

/** Yields the calls of a file, in the order in which they ended. */
export async function* readCalls(store: BlobStore, name: string): AsyncGenerator<CapturedCall> {
  const file = await collectBody(store.read(name))
  const footer = footerBytes(file)
  const found = findKeyValue(footer, notesKey)
  if (found === undefined) throw new InvalidArgument(`${name} is no file of a capture`)
  const notes = JSON.parse(footer.toString('utf8', found.start, found.start + found.size))
  const { rows, columns } = await decodeFile(file, 'capture', 'Parquet')
  for (let row = 0; row < rows; row++) {
    const cells = columns
      .filter((column) => isValid(column, row))
      .map((column) => sliceColumn(column, row, row + 1))
    yield {
      row: Object.fromEntries(cells.map((cell) => [cell.name, readerOf(cell)(0)])),
      columns: new Map(cells.map((cell) => [nameIn(cell), cell])),
      notes,
    }
  }
}

/** A value of another type than those before it has its type behind its name. */
function nameIn(column: AnyColumn): string {
  const suffix = ` (${typeName(column)})`
  return column.name.endsWith(suffix) ? column.name.slice(0, -suffix.length) : column.name
}

class RowEncoder extends JSONEncoder {
  override default(value: unknown): unknown {
    return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
  }
}

/** @returns a call as JSON in one line; bytes as base64. */
export function rowText(row: CapturedRow): string {
  return new RowEncoder().encode(row)
}

/** @returns what reads an element; null for a null. */
export function readerOf(column: AnyColumn): (row: number) => unknown {
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
