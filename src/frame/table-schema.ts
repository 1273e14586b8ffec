/**
 * The schema part of orient `table`: Table Schema as pandas writes it.
 * Source: pandas 2.2, `DataFrame.to_json(orient='table')`; specs.frictionlessdata.io/table-schema.
 * @module
 */

import { type ColumnKind, elementTypes, isFloat } from '../dtype.ts'
import { tooDeepAt } from '../text/json-syntax.ts'
import type { Column, ColumnTable } from './columns.ts'
import type { FrameType } from './frame-dtype.ts'

/** A schema that was read: what each column is, and which of them holds the labels. */
export interface TableSchema {
  readonly fields: readonly { readonly name: string; readonly type: FrameType | undefined }[]
  readonly primaryKey: string | undefined
}

const types: ReadonlyMap<unknown, FrameType> = new Map<unknown, FrameType>([
  ['integer', 'Int64'],
  ['number', 'Float64'],
  ['boolean', 'Bool'],
  ['string', 'Utf8'],
  ['datetime', 'Datetime(ms)'],
])

/**
 * The schema's text becomes a TableSchema; undefined when it is none. Fields of other types are left as their values
 * are.
 */
export function parseTableSchema(json: Uint8Array): TableSchema | undefined {
  if (tooDeepAt(json) !== -1) return undefined
  let value: { fields?: unknown; primaryKey?: unknown }
  try {
    value = JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString())
  } catch {
    return undefined
  }
  if (!Array.isArray(value.fields)) return undefined
  const fields: { name: string; type: FrameType | undefined }[] = []
  for (const field of value.fields as readonly { name?: unknown; type?: unknown }[]) {
    const name = typeof field?.name === 'number' ? String(field.name) : field?.name
    if (typeof name !== 'string') return undefined
    fields.push({ name, type: types.get(field.type) })
  }
  if (new Set(fields.map(({ name }) => name)).size !== fields.length) return undefined
  const keys = Array.isArray(value.primaryKey) ? value.primaryKey : [value.primaryKey]
  const primaryKey = keys.length === 1 && typeof keys[0] === 'string' ? keys[0] : undefined
  return { fields, primaryKey }
}

/**
 * A table whose columns came by their keys gets the schema's columns in the schema's order. A string: a column that it
 * does not have.
 */
export function orderBySchema(table: ColumnTable, { fields }: TableSchema): ColumnTable | string {
  const byName = new Map(table.columns.map((column) => [column.name, column]))
  const known = new Set(fields.map(({ name }) => name))
  const other = table.columns.find(({ name }) => !known.has(name))
  if (other !== undefined) return other.name
  return { rows: table.rows, columns: fields.map(({ name }) => byName.get(name) ?? nulls(name, table.rows)) }
}

function nulls(name: string, rows: number): Column {
  return { name, kind: 'float64', data: new Uint8Array(rows * 8), validity: new Uint8Array((rows + 7) >> 3) }
}

/** The key under which the labels go: `index`, or as pandas' `reset_index` names it when a column is called so. */
export function labelKeyFor(names: readonly string[]): string {
  if (!names.includes('index')) return 'index'
  for (let level = 0; ; level++) if (!names.includes(`level_${level}`)) return `level_${level}`
}

/** A table becomes its schema's text. `datetimes` are columns whose text is a date and time. */
export function encodeTableSchema(
  { columns }: ColumnTable,
  labels: Column | undefined,
  labelKey: string,
  datetimes: ReadonlySet<string>,
): string {
  const fields: object[] = [{ name: labelKey, type: labels?.kind === 'str' ? 'string' : 'integer' }]
  for (const column of columns) {
    const type = datetimes.has(column.name) ? 'datetime' : typeName(column.kind)
    const extDtype = column.validity === undefined ? undefined : nullableName(column.kind)
    fields.push({ name: column.name, type, ...(extDtype !== undefined && { extDtype }) })
  }
  return JSON.stringify({ fields, primaryKey: [labelKey], pandas_version: '1.4.0' })
}

function typeName(kind: ColumnKind): string {
  if (kind === 'bool') return 'boolean'
  if (kind === 'str') return 'string'
  return isFloat(kind) ? 'number' : 'integer'
}

/** What pandas reads nulls with; its plain integers and booleans have none. */
function nullableName(kind: ColumnKind): string | undefined {
  if (kind === 'bool') return 'boolean'
  // pandas and Polars give them the same names.
  return kind === 'str' || isFloat(kind) ? undefined : elementTypes[kind].polars
}
