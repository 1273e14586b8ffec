/** Time zones of files: Polars panics at names that it does not know. @module */
import { type AnyColumn, mapFlat } from './columns.ts'
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
  return columns.map((column) =>
    // No zone depends on the number of rows.
    mapFlat(column, 0, (flat) => {
      const { time } = flat
      if (time?.type !== 'datetime' || time.zone === undefined) return flat
      if (zonedType(time.unit, time.zone) !== undefined) return flat
      if (!offset.test(time.zone)) throw refuse(column.name, time.zone)
      return { ...flat, time: { ...time, zone: 'UTC' } }
    }),
  )
}
