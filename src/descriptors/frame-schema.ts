/**
 * JSON Schemas and examples of frames and series in every layout.
 * @module
 */
import { type ColumnKind, isDType } from '../dtype.ts'
import { type Column, type ColumnTable, columnOf } from '../frame/columns.ts'
import { kindOfType, parseFrameType, refusesNulls } from '../frame/frame-dtype.ts'
import type { Orient } from '../frame/frame-plan.ts'
import type { JsonSchema } from './description.ts'
import { elementSchema, exampleElement } from './element-schema.ts'

/** What is known of a frame's columns. */
export interface FrameForm {
  readonly orient: Orient
  /** Types by column name; columns that are not named have any. */
  readonly dtypes: Readonly<Record<string, string>>
  /** Number of columns that each row has; undefined for any. */
  readonly width: number | undefined
  /** Whether integers and booleans are never null. */
  readonly refusesNulls: boolean
}

/** What is known of a series. */
export interface SeriesForm {
  readonly orient: Orient
  readonly dtype: string | undefined
  /** Number of rows; undefined for any. */
  readonly rows: number | undefined
  readonly refusesNulls: boolean
}

const anyCell: JsonSchema = { type: ['number', 'string', 'boolean', 'null'] }
const label: JsonSchema = { type: ['integer', 'string'] }

/** Returns the schema of one element of a column; `name` is the type's in the options. */
function cellSchema(name: string | undefined, nullsRefused: boolean): JsonSchema {
  if (name === undefined) return anyCell
  const type = parseFrameType(name, 'dtype')
  const kind = kindOfType(type)
  const element = kind === undefined ? { type: 'string' } : elementSchema(kind, false)
  return nullsRefused && refusesNulls(type) ? element : { ...element, type: [element.type as string, 'null'] }
}

/** Returns the schema of a frame's JSON. **Source**: SPEC "Orient values and their JSON layouts". */
export function frameSchema({ orient, dtypes, width, refusesNulls: strict }: FrameForm): JsonSchema {
  const cells = Object.entries(dtypes).map(([name, dtype]) => [name, cellSchema(dtype, strict)] as const)
  const row: JsonSchema = { type: 'object', properties: Object.fromEntries(cells), additionalProperties: anyCell }
  const bounds = width === undefined ? {} : { minItems: width, maxItems: width }
  const values: JsonSchema = { type: 'array', items: { type: 'array', items: anyCell, ...bounds } }
  switch (orient) {
    case 'records':
      return { type: 'array', items: row }
    case 'values':
      return values
    case 'index':
      return { type: 'object', additionalProperties: row }
    case 'columns': {
      const columns = cells.map(([name, cell]) => [name, { type: 'object', additionalProperties: cell }] as const)
      const rest = { type: 'object', additionalProperties: anyCell }
      return { type: 'object', properties: Object.fromEntries(columns), additionalProperties: rest }
    }
    case 'split': {
      const columns = { type: 'array', items: { type: 'string' }, ...bounds }
      const properties = { columns, index: { type: 'array', items: label }, data: values }
      return { type: 'object', properties, required: ['columns', 'data'] }
    }
    case 'table':
      return tableSchema
  }
}

/** Returns the schema of a series' JSON. */
export function seriesSchema({ orient, dtype, rows, refusesNulls: strict }: SeriesForm): JsonSchema {
  const cell = cellSchema(dtype, strict)
  const list = { type: 'array', items: cell, ...(rows !== undefined && { minItems: rows, maxItems: rows }) }
  switch (orient) {
    case 'records':
    case 'values':
      return list
    case 'index':
    case 'columns':
      return { type: 'object', additionalProperties: cell }
    case 'split': {
      const properties = { name: { type: ['string', 'null'] }, index: { type: 'array', items: label }, data: list }
      return { type: 'object', properties, required: ['data'] }
    }
    case 'table':
      return tableSchema
  }
}

/** Table Schema, as pandas writes it. */
const tableSchema: JsonSchema = {
  type: 'object',
  properties: {
    schema: {
      type: 'object',
      properties: {
        fields: {
          type: 'array',
          items: {
            type: 'object',
            properties: { name: { type: 'string' }, type: { type: 'string' } },
            required: ['name', 'type'],
          },
        },
      },
      required: ['fields'],
    },
    data: { type: 'array', items: { type: 'object', additionalProperties: anyCell } },
  },
  required: ['schema', 'data'],
}

/** Returns a table of two rows with these columns, for examples. */
export function exampleTable(names: readonly string[], dtypes: Readonly<Record<string, string>>): ColumnTable {
  const rows = 2
  const columns = names.map((name, i) => {
    const dtype = Object.hasOwn(dtypes, name) ? dtypes[name] : undefined
    return exampleColumn(name, dtype, rows, i * rows)
  })
  return { rows, columns }
}

/** Returns a column of examples. */
export function exampleColumn(name: string, dtype: string | undefined, rows: number, start = 0): Column {
  const type = dtype === undefined ? undefined : parseFrameType(dtype, 'dtype')
  const kind: ColumnKind = type === undefined ? 'float64' : (kindOfType(type) ?? 'str')
  const isDate = type?.startsWith('Date') === true
  const values = Array.from({ length: rows }, (_, row) => {
    if (isDate) return type === 'Date' ? `2024-01-0${1 + (row % 9)}` : `2024-01-0${1 + (row % 9)}T12:00:00`
    const value = exampleElement(isDType(kind) ? kind : undefined, start + row)
    return kind === 'int64' || kind === 'uint64' ? BigInt(value) : value
  })
  return columnOf(name, kind, values)
}
