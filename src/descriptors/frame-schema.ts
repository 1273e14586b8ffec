import { isDType } from '../core/dtype.ts'
import { type Column, type ColumnTable, columnOf } from '../values/table/columns.ts'
import {
  type FrameType,
  isNested,
  itemOfType,
  kindOfType,
  parseFrameType,
  refusesNulls,
  timeOfType,
} from '../values/table/frame-dtype.ts'
import type { Orient } from '../values/table/json/frame-plan.ts'
import type { JsonSchema } from './description.ts'
import { elementSchema, exampleElement, listSchema } from './element-schema.ts'

/** The known properties of a frame's columns. */
export interface FrameForm {
  readonly orient: Orient
  /** Types by column name; other columns have any. */
  readonly dtypes: Readonly<Record<string, string>>
  readonly width: number | undefined
  /** Integers and booleans are never null. */
  readonly refusesNulls: boolean
  readonly required: readonly string[]
}

/** The known properties of a series. */
export interface SeriesForm extends Pick<FrameForm, 'orient' | 'refusesNulls'> {
  readonly dtype: string | undefined
  readonly rows: number | undefined
}

// Any JSON value: a cell may hold lists and objects.
const anyCell: JsonSchema = {}
const label: JsonSchema = { type: ['integer', 'string'] }

/** `name` is the type's in the options. */
function cellSchema(name: string | undefined, nullsRefused: boolean): JsonSchema {
  if (name === undefined) return anyCell
  const type = parseFrameType(name, 'dtype')
  const element = typeSchema(type)
  if (nullsRefused && refusesNulls(type)) return element
  return { ...element, type: [element.type, 'null'].flat() }
}

function typeSchema(type: FrameType): JsonSchema {
  const kind = kindOfType(type)
  if (kind !== undefined) return elementSchema(kind, false)
  if (type === 'Struct') return { type: 'object' }
  if (isNested(type)) {
    const item = itemOfType(type)
    if (item === undefined) return listSchema(anyCell)
    const schema = typeSchema(item)
    return listSchema({ ...schema, type: [schema.type, 'null'].flat() })
  }
  if (type === 'Binary') return { type: 'string', contentEncoding: 'base64' }
  // Text in requests; answers have numbers since 1970, unless `dateFormat` says otherwise.
  if (timeOfType(type) === undefined || type === 'Time') return { type: 'string' }
  return { type: ['integer', 'string'] }
}

/**
 * @returns the schema of a frame's JSON.
 * @see SPEC "Orient values and their JSON layouts".
 */
export function frameSchema({
  orient,
  dtypes,
  width,
  refusesNulls: strict,
  required: names,
}: FrameForm): JsonSchema {
  const cells = Object.entries(dtypes).map(
    ([name, dtype]) => [name, cellSchema(dtype, strict)] as const,
  )
  const required = names.length > 0 && { required: names }
  const properties = Object.fromEntries(cells)
  const row: JsonSchema = { type: 'object', properties, ...required, additionalProperties: anyCell }
  const bounds = width !== undefined && { minItems: width, maxItems: width }
  const values = listSchema(listSchema(anyCell, bounds))
  switch (orient) {
    case 'records':
      return listSchema(row)
    case 'values':
      return values
    case 'index':
      return { type: 'object', additionalProperties: row }
    case 'columns': {
      const columns = cells.map(
        ([name, cell]) => [name, { type: 'object', additionalProperties: cell }] as const,
      )
      const rest = { type: 'object', additionalProperties: anyCell }
      return {
        type: 'object',
        properties: Object.fromEntries(columns),
        ...required,
        additionalProperties: rest,
      }
    }
    case 'split': {
      const columns = listSchema({ type: 'string' }, bounds)
      const properties = { columns, index: listSchema(label), data: values }
      return { type: 'object', properties, required: ['columns', 'data'] }
    }
    case 'table':
      return tableSchema
  }
}

/** @returns the schema of a series' JSON. */
export function seriesSchema({
  orient,
  dtype,
  rows,
  refusesNulls: strict,
}: SeriesForm): JsonSchema {
  const cell = cellSchema(dtype, strict)
  const list = listSchema(cell, rows !== undefined && { minItems: rows, maxItems: rows })
  switch (orient) {
    case 'records':
    case 'values':
      return list
    case 'index':
    case 'columns':
      return { type: 'object', additionalProperties: cell }
    case 'split': {
      const properties = {
        name: { type: ['string', 'null'] },
        index: listSchema(label),
        data: list,
      }
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
        fields: listSchema({
          type: 'object',
          properties: { name: { type: 'string' }, type: { type: 'string' } },
          required: ['name', 'type'],
        }),
      },
      required: ['fields'],
    },
    data: listSchema({ type: 'object', additionalProperties: anyCell }),
  },
  required: ['schema', 'data'],
}

/** @returns an example table of two rows. */
export function exampleTable(
  names: readonly string[],
  dtypes: Readonly<Record<string, string>>,
): ColumnTable {
  const rows = 2
  const columns = names.map((name, i) => {
    const dtype = Object.hasOwn(dtypes, name) ? dtypes[name] : undefined
    return exampleColumn(name, dtype, rows, i * rows)
  })
  return { rows, columns }
}

/** @returns a column of examples. */
export function exampleColumn(
  name: string,
  dtype: string | undefined,
  rows: number,
  start = 0,
): Column {
  const type = parseFrameType(dtype ?? 'float64', 'dtype')
  const kind = kindOfType(type) ?? 'str'
  const special = specialExample(type)
  if (special !== undefined) {
    const column = columnOf(name, 'str', new Array(rows).fill(special))
    if (isNested(type)) return { ...column, isJson: true }
    return column
  }
  const values = Array.from({ length: rows }, (_, row) => {
    const value = exampleElement(isDType(kind) ? kind : undefined, start + row)
    if (kind === 'int64' || kind === 'uint64') return BigInt(value)
    return value
  })
  return columnOf(name, kind, values)
}

/** @returns an example of a time or a binary type; undefined for others. */
function specialExample(type: FrameType): string | undefined {
  if (type === 'Struct') return '{"key":1.5}'
  if (isNested(type)) {
    const item = itemOfType(type) ?? 'Float64'
    const special = specialExample(item)
    if (special === undefined) return `[${JSON.stringify(exampleElement(kindOfType(item), 1))}]`
    return `[${isNested(item) ? special : JSON.stringify(special)}]`
  }
  if (type === 'Binary') return 'AQID'
  const time = timeOfType(type)?.type
  return (
    time &&
    {
      date: '2024-01-01',
      datetime: '2024-01-01T12:00:00',
      time: '12:00:00',
      duration: 'P0DT1H0M0S',
    }[time]
  )
}
