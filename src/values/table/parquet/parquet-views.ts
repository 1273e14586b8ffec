/** Renames types in the Arrow schema of Polars' Parquet files: pyarrow before 15 refuses `string_view`. @module */
import type { FlatTable } from '../../array/flatbuffer.ts'
import { arrowIds, schemaFields } from '../arrow/arrow-types.ts'
import { findKeyValue, footerBytes } from './parquet-footer.ts'

const plainTypes = new Map<number, number>([
  [arrowIds.binaryView, arrowIds.binary],
  [arrowIds.utf8View, arrowIds.utf8],
])

const notSchema = () =>
  new RangeError('expected offsets within the Arrow schema of a Parquet file, received one beyond')

/** Calls the texts and bytes of a file that Polars wrote `utf8` and `binary`, in place. Returns the file. */
export function withoutViews(file: Uint8Array): Uint8Array {
  const footer = footerBytes(file)
  const found = findKeyValue(footer, 'ARROW:schema')
  if (found === undefined) return file
  const { start, size } = found
  const schema = Buffer.from(footer.toString('latin1', start, start + size), 'base64')
  const renamed = schemaFields(schema, notSchema).map(renameViews)
  if (renamed.includes(true)) footer.write(schema.toString('base64'), start, size, 'latin1')
  return file
}

function renameViews(field: FlatTable): boolean {
  const plain = plainTypes.get(field.uint8(2))
  if (plain !== undefined) field.putUint8(2, plain)
  return field.tables(5).map(renameViews).includes(true) || plain !== undefined
}
