/** Times of seconds in a Parquet file's Arrow schema, which are stored as milliseconds. @module */
import type { FlatTable } from '../../array/flatbuffer.ts'
import { arrowIds, schemaFields } from '../arrow/arrow-types.ts'
import { findKeyValue, footerBytes, parquetLimits } from './parquet-footer.ts'
import { Unreadable } from './thrift.ts'

const [seconds, milliseconds, unitField] = [0, 1, 0]

/** Calls the times of seconds of a file milliseconds, in place; leaves a file whose schema cannot be read. */
export function mendTimes(file: Uint8Array): void {
  const footer = footerBytes(file)
  const { start, size } = findKeyValue(footer, 'ARROW:schema') ?? { start: 0, size: 0 }
  if (size === 0) return
  const schema = Buffer.from(footer.toString('latin1', start, start + size), 'base64')
  let count = 0
  const mend = (field: FlatTable): boolean => {
    // Fields of a hostile schema may all hold the same ones.
    if (++count > parquetLimits.maxSchemaElements) throw new Unreadable()
    const type = field.uint8(2) === arrowIds.time ? field.table(3) : undefined
    const isSeconds = type?.int16(unitField, milliseconds) === seconds
    if (isSeconds) type?.putUint8(unitField, milliseconds)
    return field.tables(5).map(mend).includes(true) || isSeconds
  }
  try {
    if (
      !schemaFields(schema, () => new Unreadable())
        .map(mend)
        .includes(true)
    )
      return
  } catch {
    return
  }
  const text = schema.toString('base64')
  if (text.length === size) footer.write(text, start, size, 'latin1')
}
