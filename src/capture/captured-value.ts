/** The values of recorded calls, as descriptors have made or taken them. @module */
import type { ClientDescriptor } from '../api/service-metadata.ts'
import { dtypes, elementsFrom } from '../core/dtype.ts'
import { BinaryFile } from '../core/file/binary-file.ts'
import { isRecord } from '../core/options.ts'
import type { FormatDescription, JsonSchema } from '../descriptors/description.ts'
import { castArray } from '../values/array/cast.ts'
import { NDArray } from '../values/array/ndarray.ts'
import type { AnyColumn } from '../values/table/columns.ts'
import { setLabels } from '../values/table/polars/labels.ts'
import { loadPolars } from '../values/table/polars/polars.ts'
import { formatOf, indexColumn, jsonOf } from './cells.ts'
import { type CapturedCall, readerOf, tensorsId } from './read-rows.ts'

/** What a value has of the columns of a call, by the rest of their names. Of itself it is empty. */
type Columns = CapturedCall['columns']
type Reader = (columns: Columns, schema?: JsonSchema) => unknown

/**
 * @returns an array, frame, series, text, JSON value, or form; of a picture its file. Undefined without such a value:
 * it was redacted, too large or a stream, or of a descriptor of the service's own.
 */
export function valueOf({ columns, notes }: CapturedCall, name: 'input' | 'output'): unknown {
  return valueAt(below(columns, name), notes.descriptors[name], formatOf(notes[name]))
}

function below(columns: Columns, name: string): Columns {
  const inner = [...columns].filter(([path]) => path === name || path.startsWith(`${name}.`))
  return new Map(inner.map(([path, column]) => [path.slice(name.length + 1), column]))
}

function valueAt(
  columns: Columns,
  { descriptorId, parts = [] }: ClientDescriptor,
  format: FormatDescription | undefined,
): unknown {
  if (parts.length === 0) return readers[descriptorId]?.(columns, format?.schema)
  const values = parts.map((part) => {
    const formats = format?.fields?.find((field) => field.name === part.name)?.formats
    const own = below(columns, part.name)
    if (part.occurrence !== 'many') return [part.name, valueAt(own, part, formats?.[0])] as const
    const many: unknown[] = []
    for (let i = 0; ; i++) {
      const each = below(own, `${i}`)
      if (each.size === 0) return [part.name, many]
      many.push(valueAt(each, part, formats?.[0]))
    }
  })
  const isWhole = parts.every(
    ({ occurrence }, i) => occurrence !== 'one' || values[i][1] !== undefined,
  )
  return isWhole ? Object.fromEntries(values) : undefined
}

const readers: Readonly<Record<string, Reader>> = {
  'serving.io.NumpyNdarray': arrayOf,
  'serving.io.PandasDataFrame': frameOf,
  'serving.io.PandasSeries': (columns) => {
    const frame = frameOf(columns)
    return frame && loadPolars('capture').seriesOf(frame)
  },
  'serving.io.JSON': jsonValue,
  'serving.io.Text': (columns) => scalar(columns, ''),
  'serving.io.File': fileOf,
  'serving.io.Image': fileOf,
  [tensorsId]: (columns) => {
    const names = [...columns.keys()].flatMap((path) => /^(.+)\.shape$/.exec(path)?.[1] ?? [])
    const arrays = names.map((name) => [name, arrayOf(below(columns, name))])
    return names.length === 0 ? undefined : Object.fromEntries(arrays)
  },
  Query: (columns, schema) => jsonValue(columns, schema) ?? {},
}

function scalar(columns: Columns, name: string): unknown {
  const column = columns.get(name)
  return column && readerOf(column)(0)
}

function arrayOf(columns: Columns): NDArray | undefined {
  const shape = scalar(columns, 'shape') as number[] | undefined
  const dtype = dtypes.find((each) => columns.has(each))
  if (dtype === undefined || shape === undefined) return undefined
  const elements = scalar(columns, dtype) as string[]
  if (dtype === 'str') return new NDArray(elements, shape)
  const written = dtype === 'float16' ? 'float32' : dtype
  const array = new NDArray(elementsFrom(written, elements), shape, written)
  return written === dtype ? array : castArray(array, dtype)
}

function frameOf(columns: Columns) {
  const lists = [...columns].flatMap(([name, column]) =>
    'items' in column ? [{ rows: column.offsets[1], items: { ...column.items, name } }] : [],
  )
  if (lists.length === 0) return undefined
  const items = lists.map((list): AnyColumn => list.items)
  const labels = items.find((item) => item.name === indexColumn)
  const table = { rows: lists[0].rows, columns: items.filter((item) => item !== labels) }
  const frame = loadPolars('capture').lazyFrame(table)
  return setLabels(frame, labels && 'kind' in labels ? { ...labels, name: '' } : undefined)
}

function fileOf(columns: Columns): BinaryFile | undefined {
  const [bytes, mimeType, name] = ['bytes', 'type', 'name'].map((part) => scalar(columns, part))
  return bytes === undefined
    ? undefined
    : new BinaryFile(bytes as Buffer, { mimeType: mimeType as string, name: name as string })
}

/** Nulls have no cell: those that the schema requires come back. */
function jsonValue(columns: Columns, { properties, required }: JsonSchema = {}): unknown {
  const text = scalar(columns, '')
  const value = text === undefined ? undefined : jsonOf(text as string)
  if (!isRecord(properties) || (value !== undefined && !isRecord(value))) return value
  const fields = Object.entries(properties).flatMap(([key, property]) => {
    const field = scalar(columns, key)
    if (field !== undefined) return [[key, fieldOf(field, property)]]
    return Array.isArray(required) && required.includes(key) ? [[key, null]] : []
  })
  const isThere = value !== undefined || fields.some(([, field]) => field !== null)
  return isThere ? { ...Object.fromEntries(fields), ...value } : undefined
}

/** A text whose schema says otherwise is JSON, if it looks like JSON. */
function fieldOf(field: unknown, property: unknown): unknown {
  const isText = isRecord(property) && property.type === 'string'
  return typeof field === 'string' && !isText && /^[[{\d-]/.test(field) ? jsonOf(field) : field
}
