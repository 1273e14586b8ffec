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

type Columns = CapturedCall['columns']
type Reader = (columns: Columns, name: string, format?: FormatDescription) => unknown

/**
 * @returns an array, frame, series, text, JSON value, or form; of a picture its file. Undefined without such a value:
 * it was redacted, too large or a stream, or of a descriptor of the service's own.
 */
export function valueOf({ columns, notes }: CapturedCall, name: 'input' | 'output'): unknown {
  return valueAt(columns, name, notes.descriptors[name], formatOf(notes[name]))
}

function valueAt(
  columns: Columns,
  name: string,
  descriptor: ClientDescriptor,
  format: FormatDescription | undefined,
): unknown {
  const { descriptorId, parts = [] } = descriptor
  if (parts.length === 0) return readers[descriptorId]?.(columns, name, format)
  const values = parts.map((part) => {
    const formats = format?.fields?.find((field) => field.name === part.name)?.formats
    const at = (path: string) => valueAt(columns, path, part, formats?.[0])
    const path = `${name}.${part.name}`
    if (part.occurrence !== 'many') return [part.name, at(path), part.occurrence === 'one'] as const
    const many: unknown[] = []
    for (let value = at(`${path}.0`); value !== undefined; value = at(`${path}.${many.length}`))
      many.push(value)
    return [part.name, many, false] as const
  })
  const isWhole = values.every(([, value, isNeeded]) => value !== undefined || !isNeeded)
  return isWhole ? Object.fromEntries(values) : undefined
}

const readers: Readonly<Record<string, Reader>> = {
  'serving.io.NumpyNdarray': arrayAt,
  'serving.io.PandasDataFrame': (columns, name) => frameAt(columns, name),
  'serving.io.PandasSeries': (columns, name) => {
    const frame = frameAt(columns, name)
    return frame && loadPolars('capture').seriesOf(frame)
  },
  'serving.io.JSON': (columns, name, format) => jsonAt(columns, name, format?.schema),
  'serving.io.Text': scalarAt,
  'serving.io.File': fileAt,
  'serving.io.Image': fileAt,
  [tensorsId]: (columns, name) => {
    const tensors = [...columns.keys()].flatMap((path) => {
      const [, tensor] = /^\w+\.(.+)\.shape$/.exec(path) ?? []
      const array = path.startsWith(`${name}.`) ? arrayAt(columns, `${name}.${tensor}`) : undefined
      return array === undefined ? [] : [[tensor, array]]
    })
    return tensors.length === 0 ? undefined : Object.fromEntries(tensors)
  },
  Query: (columns, name, format) => jsonAt(columns, name, format?.schema) ?? {},
}

function scalarAt(columns: Columns, name: string): unknown {
  const column = columns.get(name)
  return column && readerOf(column)(0)
}

function arrayAt(columns: Columns, name: string): NDArray | undefined {
  const shape = scalarAt(columns, `${name}.shape`) as number[] | undefined
  const dtype = dtypes.find((each) => columns.has(`${name}.${each}`))
  if (dtype === undefined || shape === undefined) return undefined
  const elements = scalarAt(columns, `${name}.${dtype}`) as string[]
  if (dtype === 'str') return new NDArray(elements, shape)
  const written = dtype === 'float16' ? 'float32' : dtype
  const array = new NDArray(elementsFrom(written, elements), shape, written)
  return written === dtype ? array : castArray(array, dtype)
}

function frameAt(columns: Columns, name: string) {
  const lists = [...columns].flatMap(([path, column]) =>
    path.startsWith(`${name}.`) && 'items' in column
      ? [{ rows: column.offsets[1], items: { ...column.items, name: path.slice(name.length + 1) } }]
      : [],
  )
  if (lists.length === 0) return undefined
  const items = lists.map((list): AnyColumn => list.items)
  const labels = items.find((item) => item.name === indexColumn)
  const table = { rows: lists[0].rows, columns: items.filter((item) => item !== labels) }
  const frame = loadPolars('capture').lazyFrame(table)
  return setLabels(frame, labels && 'kind' in labels ? { ...labels, name: '' } : undefined)
}

function fileAt(columns: Columns, name: string): BinaryFile | undefined {
  const bytes = scalarAt(columns, `${name}.bytes`) as Buffer | undefined
  const mimeType = scalarAt(columns, `${name}.type`) as string
  return (
    bytes && new BinaryFile(bytes, { mimeType, name: scalarAt(columns, `${name}.name`) as string })
  )
}

/** Nulls have no cell: those that the schema requires come back. */
function jsonAt(columns: Columns, name: string, schema: JsonSchema = {}): unknown {
  const text = scalarAt(columns, name)
  const value = text === undefined ? undefined : jsonOf(text as string)
  const { properties, required } = schema
  if (!isRecord(properties) || (value !== undefined && !isRecord(value))) return value
  const fields = Object.entries(properties).flatMap(([key, property]) => {
    const field = scalarAt(columns, `${name}.${key}`)
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
