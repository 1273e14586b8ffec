/**
 * The schema of orient `table`.
 *
 * @see pandas 2.2, `to_json`; Frictionless Table Schema.
 * @module
 */
import { type ColumnKind, elementTypes, isFloat } from '../../../core/dtype.ts'
import { utf8Text } from '../../../core/platform.ts'
import { measureJson } from '../../../core/text/json-scan.ts'
import {
  type AnyColumn,
  type Column,
  type ColumnTable,
  nullColumn,
  type TimeType,
} from '../columns.ts'
import { type FrameType, zonedType } from '../frame-dtype.ts'
import type { FrameText } from './frame-plan.ts'

/** A parsed schema: the type of each column, and the name of the one that holds the row labels. */
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
  ['duration', 'Duration(ms)'],
])

/** What the columns of a frame hold beside numbers, booleans and text. */
export interface FieldType {
  readonly time?: TimeType
  readonly categories?: readonly string[]
}

interface Field {
  readonly name?: unknown
  readonly type?: unknown
  readonly tz?: unknown
  readonly constraints?: { readonly enum?: unknown }
}

function typeOf({ type, tz, constraints }: Field): FrameType | 'unknown-zone' | undefined {
  if (type === 'any' && Array.isArray(constraints?.enum)) return 'Categorical'
  if (type !== 'datetime' || typeof tz !== 'string') return types.get(type)
  return zonedType('ms', tz) ?? 'unknown-zone'
}

const maxSchemaBytes = 2 ** 21

/** Parses the schema's text; undefined if it is not a schema. Values of other field types keep their types in JSON. */
export function parseTableSchema(
  json: Uint8Array,
): TableSchema | { unknownZone: string } | undefined {
  if (json.length > maxSchemaBytes || measureJson(json).deepAt !== -1) return undefined
  let value: { fields?: unknown; primaryKey?: unknown }
  try {
    value = JSON.parse(utf8Text(json))
  } catch {
    return undefined
  }
  if (!Array.isArray(value.fields)) return undefined
  const fields: { name: string; type: FrameType | undefined }[] = []
  for (const field of value.fields as readonly Field[]) {
    const name = typeof field?.name === 'number' ? String(field.name) : field?.name
    if (typeof name !== 'string') return undefined
    const type = typeOf(field)
    if (type === 'unknown-zone') return { unknownZone: String(field.tz) }
    fields.push({ name, type })
  }
  if (new Set(fields.map(({ name }) => name)).size !== fields.length) return undefined
  const [primaryKey, ...others] = [value.primaryKey].flat()
  const isKey = others.length === 0 && typeof primaryKey === 'string'
  return { fields, primaryKey: isKey ? primaryKey : undefined }
}

/**
 * @returns the table with the schema's columns, in its order, nulls for missing ones; the name of a
 * column it lacks.
 */
export function orderBySchema(table: ColumnTable, { fields }: TableSchema): ColumnTable | string {
  const byName = new Map(table.columns.map((column) => [column.name, column]))
  const known = new Set(fields.map(({ name }) => name))
  const other = table.columns.find(({ name }) => !known.has(name))
  if (other !== undefined) return other.name
  return {
    rows: table.rows,
    columns: fields.map(({ name }) => byName.get(name) ?? nullColumn(name, table.rows)),
  }
}

/**
 * @returns the key for the row labels: their name, else `index`, or as pandas' `reset_index` if
 * that is taken.
 */
function labelKeyFor(names: readonly string[], labels: Column | undefined): string {
  if (labels !== undefined && labels.name !== '' && !names.includes(labels.name)) return labels.name
  if (!names.includes('index')) return 'index'
  for (let level = 0; ; level++) if (!names.includes(`level_${level}`)) return `level_${level}`
}

/**
 * `types` says what columns hold that became text.
 *
 * @returns how a table is written, with its schema.
 */
export function tableText(
  { columns }: ColumnTable<AnyColumn>,
  labels: Column | undefined,
  types: readonly FieldType[],
): FrameText {
  const names = columns.map(({ name }) => name)
  const labelKey = labelKeyFor(names, labels)
  const fields: object[] = [{ name: labelKey, type: typeName(labels?.kind ?? 'int64') }]
  for (const [i, column] of columns.entries())
    fields.push({ name: column.name, ...fieldOf(column, types[i] ?? {}) })
  const schema = JSON.stringify({ fields, primaryKey: [labelKey], pandas_version: '1.4.0' })
  return { layout: 'table', schema, labelKey, labels }
}

function fieldOf(column: AnyColumn, { time, categories }: FieldType): object {
  if (categories !== undefined)
    return { type: 'any', constraints: { enum: categories }, ordered: false }
  if (!('kind' in column) || column.isJson) return { type: 'any' }
  const { kind, validity } = column
  if (time?.type === 'date' || time?.type === 'datetime') {
    return { type: 'datetime', tz: 'zone' in time ? time.zone : undefined }
  }
  if (time?.type === 'duration') return { type: 'duration' }
  const extDtype = validity && nullableName(kind)
  return { type: typeName(kind), extDtype }
}

function typeName(kind: ColumnKind): string {
  if (kind === 'bool') return 'boolean'
  if (kind === 'str') return 'string'
  if (isFloat(kind)) return 'number'
  return 'integer'
}

/**
 * @returns the pandas type for a column with nulls; undefined for text and floats, whose plain
 * types can hold nulls.
 */
function nullableName(kind: ColumnKind): string | undefined {
  if (kind === 'bool') return 'boolean'
  if (kind === 'str' || isFloat(kind)) return undefined
  return elementTypes[kind].polars
}
