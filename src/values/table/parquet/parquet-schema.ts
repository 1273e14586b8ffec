/** Changes the Arrow schema that Polars keeps in a Parquet file beside the file's own. @module */
import type { FlatTable } from '../../array/flatbuffer.ts'
import { schemaFields } from '../arrow/arrow-reader.ts'
import { arrowIds } from '../arrow/arrow-types.ts'
import { findKeyValue, footerBytes } from './parquet-metadata.ts'

const plainTypes = new Map<number, number>([
  [arrowIds.binaryView, arrowIds.binary],
  [arrowIds.utf8View, arrowIds.utf8],
])

/** Calls texts and bytes in a file of Polars `utf8` and `binary`: pyarrow before 15 refuses views. Returns the file. */
export function withoutViews(file: Uint8Array): Uint8Array {
  const footer = footerBytes(file)
  const { start, size } = findKeyValue(footer, 'ARROW:schema') ?? { start: 0, size: 0 }
  const schema = Buffer.from(footer.toString('latin1', start, start + size), 'base64')
  for (const field of schemaFields(schema)) makePlain(field)
  const text = schema.toString('base64')
  if (text.length === size) footer.write(text, start, size, 'latin1')
  return file
}

function makePlain(field: FlatTable): void {
  const plain = plainTypes.get(field.uint8(2))
  if (plain !== undefined) field.putUint8(2, plain)
  for (const child of field.tables(5)) makePlain(child)
}
