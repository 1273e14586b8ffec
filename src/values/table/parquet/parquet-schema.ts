/** Changes the Arrow schema that a Parquet file keeps beside its own, in place. @module */
import type { FlatTable } from '../../array/flatbuffer.ts'
import { arrowIds, schemaFields } from '../arrow/arrow-types.ts'
import { parquetLimits } from './parquet-footer.ts'
import { findKeyValue, footerBytes } from './parquet-metadata.ts'
import { Unreadable } from './thrift.ts'

const [seconds, milliseconds, unitField] = [0, 1, 0]

/** Calls the times of seconds of a client's file milliseconds, since the file stores these. */
export function mendTimes(file: Uint8Array): void {
  changeFields(file, (field) => {
    const type = field.uint8(2) === arrowIds.time ? field.table(3) : undefined
    if (type?.int16(unitField, milliseconds) !== seconds) return false
    type.putUint8(unitField, milliseconds)
    return true
  })
}

const plainTypes = new Map<number, number>([
  [arrowIds.binaryView, arrowIds.binary],
  [arrowIds.utf8View, arrowIds.utf8],
])

/** Calls texts and bytes in a file of Polars `utf8` and `binary`: pyarrow before 15 refuses views. Returns the file. */
export function withoutViews(file: Uint8Array): Uint8Array {
  changeFields(file, (field) => {
    const plain = plainTypes.get(field.uint8(2))
    if (plain !== undefined) field.putUint8(2, plain)
    return plain !== undefined
  })
  return file
}

/** Calls `change` for each field, which says whether it changed it; leaves a file whose schema cannot be read. */
function changeFields(file: Uint8Array, change: (field: FlatTable) => boolean): void {
  const footer = footerBytes(file)
  const { start, size } = findKeyValue(footer, 'ARROW:schema') ?? { start: 0, size: 0 }
  if (size === 0) return
  const schema = Buffer.from(footer.toString('latin1', start, start + size), 'base64')
  let count = 0
  const visit = (field: FlatTable): boolean => {
    // Fields of a hostile schema may all hold the same ones.
    if (++count > parquetLimits.maxSchemaElements) throw new Unreadable()
    const isChanged = change(field)
    return field.tables(5).map(visit).includes(true) || isChanged
  }
  try {
    const changed = schemaFields(schema, () => new Unreadable()).map(visit)
    if (!changed.includes(true)) return
  } catch {
    return
  }
  const text = schema.toString('base64')
  if (text.length === size) footer.write(text, start, size, 'latin1')
}
