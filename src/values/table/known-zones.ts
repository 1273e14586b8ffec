/** Time zones of files: Polars panics at names that it does not know. @module */
import { type AnyColumn, type Column, childrenOf, mapFlat, zoneOf } from './columns.ts'
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
  // No zone depends on the number of rows.
  return columns.map((column) => mapFlat(column, 0, (flat) => known(flat, column.name, refuse)))
}

function hasZone(column: AnyColumn): boolean {
  return zoneOf(column) !== undefined || childrenOf(column).some(hasZone)
}

function known(
  column: Column,
  name: string,
  refuse: (column: string, zone: string) => Error,
): Column {
  const { time } = column
  if (time?.type !== 'datetime' || time.zone === undefined) return column
  if (zonedType(time.unit, time.zone) !== undefined) return column
  if (!offset.test(time.zone)) throw refuse(name, time.zone)
  return { ...column, time: { ...time, zone: 'UTC' } }
}
