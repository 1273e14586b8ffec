/** Time zones of files: Polars panics at names that it does not know. @module */
import { type AnyColumn, zoneOf } from './columns.ts'
import { zonedType } from './frame-dtype.ts'

/** Offsets from UTC. Polars knows those of whole hours alone. */
const offset = /^[+-]\d\d:?\d\d$/

/**
 * `refuse` gets the name of a column and its zone.
 *
 * @returns columns whose zones Polars knows: UTC for other offsets.
 */
export function withKnownZones(
  columns: readonly AnyColumn[],
  refuse: (column: string, zone: string) => Error,
): readonly AnyColumn[] {
  if (!columns.some(hasZone)) return columns
  return columns.map((column) => withKnownZone(column, column.name, refuse))
}

function hasZone(column: AnyColumn): boolean {
  if ('fields' in column) return column.fields.some(hasZone)
  if ('items' in column) return hasZone(column.items)
  return zoneOf(column) !== undefined
}

function withKnownZone(
  column: AnyColumn,
  name: string,
  refuse: (column: string, zone: string) => Error,
): AnyColumn {
  if ('fields' in column)
    return { ...column, fields: column.fields.map((field) => withKnownZone(field, name, refuse)) }
  if ('items' in column) return { ...column, items: withKnownZone(column.items, name, refuse) }
  const { time } = column
  if (time?.type !== 'datetime' || time.zone === undefined) return column
  if (zonedType(time.unit, time.zone) !== undefined) return column
  if (!offset.test(time.zone)) throw refuse(name, time.zone)
  return { ...column, time: { ...time, zone: 'UTC' } }
}
