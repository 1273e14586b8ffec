/** The values of recorded calls, as descriptors have made or taken them, and what writes them again. @module */
import type { ClientDescriptor } from '../api/service-metadata.ts'
import { dtypes } from '../core/dtype.ts'
import { InvalidArgument } from '../core/errors.ts'
import { BinaryFile } from '../core/file/binary-file.ts'
import { isRecord } from '../core/options.ts'
import type { MaybePromise } from '../core/promise.ts'
import type { FormatDescription, JsonSchema } from '../descriptors/description.ts'
import type { AnyDescriptor, IODescriptor } from '../descriptors/descriptor.ts'
import { File } from '../descriptors/file.ts'
import { JSON as JsonDescriptor } from '../descriptors/json.ts'
import { Multipart } from '../descriptors/multipart.ts'
import { NumpyNdarray } from '../descriptors/numpy-ndarray.ts'
import { PandasDataFrame } from '../descriptors/pandas-dataframe.ts'
import { PandasSeries } from '../descriptors/pandas-series.ts'
import { PartRule } from '../descriptors/part-rule.ts'
import { Text } from '../descriptors/text.ts'
import type { HttpResponse } from '../http/message.ts'
import type { NDArray } from '../values/array/ndarray.ts'
import { encodeNpy } from '../values/array/npy.ts'
import type { AnyColumn, Column, ColumnTable } from '../values/table/columns.ts'
import { setLabels } from '../values/table/polars/labels.ts'
import { loadPolars } from '../values/table/polars/polars.ts'
import { formatOf, indexColumn, jsonOf } from './cells.ts'
import { type CapturedCall, readerOf, tensorsId } from './read-rows.ts'
import { arrayFrom, Tensors } from './tensors.ts'

/** What a value has of the columns of a call, by the rest of their names. Of itself it is empty. */
type Columns = CapturedCall['columns']
type Parts = NonNullable<ClientDescriptor['parts']>

/** A kind of values, by the id of their descriptor. */
interface Kind {
  readonly read: (columns: Columns, format: FormatDescription | undefined, parts: Parts) => unknown
  /** Makes a descriptor that writes the value as one with these options reads it. */
  readonly encoder?: (
    args: Readonly<Record<string, never>>,
    value: unknown,
    parts: Parts,
  ) => AnyDescriptor
}

// The file of a picture, as it came.
const file: Kind = { read: fileOf, encoder: () => new File() }

const kinds: Readonly<Record<string, Kind>> = {
  'serving.io.NumpyNdarray': {
    read: arrayOf,
    encoder: ({ dtype }) => new ExactNdarray({ dtype }),
  },
  'serving.io.PandasDataFrame': {
    read: frameOf,
    encoder({ orient, default_format: usual }, frame) {
      const isUsual = frame === undefined || isFlat(frame)
      return new PandasDataFrame({ orient, defaultFormat: isUsual ? usual : 'parquet' })
    },
  },
  'serving.io.PandasSeries': {
    read(columns) {
      const frame = frameOf(columns)
      return frame && loadPolars('capture').seriesOf(frame)
    },
    encoder: ({ orient }) => new PandasSeries({ orient }),
  },
  'serving.io.JSON': { read: jsonValue, encoder: () => new JsonDescriptor() },
  'serving.io.Text': { read: (columns) => scalar(columns, ''), encoder: () => new Text() },
  'serving.io.File': file,
  'serving.io.Image': file,
  'serving.io.Multipart': {
    read: formOf,
    encoder(_, form, parts) {
      const rules = parts.map((part) => {
        const [value] = [Reflect.get(Object(form), part.name)].flat()
        return [part.name, new PartRule(descriptorOf(part, value), part.occurrence as 'one')]
      })
      return new Multipart(Object.fromEntries(rules))
    },
  },
  [tensorsId]: {
    read(columns) {
      const names = [...columns.keys()].flatMap((path) => /^(.+)\.shape$/.exec(path)?.[1] ?? [])
      const arrays = names.map((name) => [name, arrayOf(below(columns, name))])
      return names.length === 0 ? undefined : Object.fromEntries(arrays)
    },
    encoder: () => new Tensors(),
  },
  Query: { read: (columns, format) => (columns.size === 0 ? {} : jsonValue(columns, format)) },
}

/**
 * @returns an array, frame, series, text, JSON value, or form; of a picture its file.
 * @throws InvalidArgument if the file has no such value: it was redacted, too large or a stream, or of a descriptor of
 * the service's own.
 */
export function valueOf({ columns, notes }: CapturedCall, name: 'input' | 'output'): unknown {
  const inner = below(columns, name)
  const value = valueAt(inner, notes.descriptors[name], formatOf(notes[name]))
  if (value !== undefined) return value
  if (inner.has('messages')) throw new InvalidArgument(`its ${name} was a stream`)
  const isLarge = [...inner.keys()].some((path) => path.endsWith('sha256'))
  throw new InvalidArgument(isLarge ? `its ${name} was too large to be kept` : `it has no ${name}`)
}

/**
 * @param value - The descriptor is to write it.
 * @returns a descriptor that reads values, and writes this one as the recorded API reads it.
 * @throws InvalidArgument for one of the service's own, or a query.
 */
export function descriptorOf(
  { descriptorId, args, parts = [] }: ClientDescriptor,
  value?: unknown,
) {
  const encoder = kinds[descriptorId]?.encoder
  if (encoder === undefined)
    throw new InvalidArgument(`expected a descriptor of serving, received ${descriptorId}`)
  return encoder(args as Record<string, never>, value, parts) as IODescriptor
}

function valueAt(
  columns: Columns,
  { descriptorId, parts = [] }: ClientDescriptor,
  format: FormatDescription | undefined,
): unknown {
  return kinds[descriptorId]?.read(columns, format, parts)
}

function below(columns: Columns, name: string): Columns {
  const inner = [...columns].filter(([path]) => path === name || path.startsWith(`${name}.`))
  return new Map(inner.map(([path, column]) => [path.slice(name.length + 1), column]))
}

function scalar(columns: Columns, name: string): unknown {
  const column = columns.get(name)
  return column && readerOf(column)(0)
}

/** @returns a form; undefined if it lacks a value. */
function formOf(columns: Columns, format: FormatDescription | undefined, parts: Parts): unknown {
  const form: Record<string, unknown> = {}
  for (const part of parts) {
    const { name, occurrence } = part
    const [partFormat] = format?.fields?.find((field) => field.name === name)?.formats ?? []
    const inner = below(columns, name)
    if (occurrence === 'many') {
      const indexes = [...inner.keys()].map((path) => Number.parseInt(path, 10))
      const length = Math.max(-1, ...indexes) + 1
      const items = Array.from({ length }, (_, i) => below(inner, `${i}`))
      form[name] = items.map((item) => valueAt(item, part, partFormat))
    } else if (occurrence === 'one' || inner.size > 0) form[name] = valueAt(inner, part, partFormat)
  }
  return Object.values(form).flat().includes(undefined) ? undefined : form
}

function arrayOf(columns: Columns): NDArray | undefined {
  const dtype = dtypes.find((each) => columns.has(each))
  const shape = scalar(columns, 'shape') as number[] | undefined
  return dtype && shape && arrayFrom(dtype, scalar(columns, dtype) as unknown[], shape)
}

function frameOf(columns: Columns) {
  let table: ColumnTable<AnyColumn> | undefined
  let labels: Column | undefined
  for (const [name, column] of columns) {
    if (!('items' in column)) continue
    const { items, offsets } = column
    if (name === indexColumn) labels = { ...(items as Column), name: '' }
    else table = { rows: offsets[1], columns: [...(table?.columns ?? []), { ...items, name }] }
  }
  return table && setLabels(loadPolars('capture').lazyFrame(table), labels)
}

function fileOf(columns: Columns): BinaryFile | undefined {
  const [bytes, mimeType, name] = ['bytes', 'type', 'name'].map((part) => scalar(columns, part))
  return bytes === undefined
    ? undefined
    : new BinaryFile(bytes as Buffer, { mimeType: mimeType as string, name: name as string })
}

/** @returns a value, with the nulls that its schema requires; undefined if a field was too large. */
function jsonValue(columns: Columns, format: FormatDescription | undefined): unknown {
  const { properties, required }: JsonSchema = format?.schema ?? {}
  const text = scalar(columns, '')
  const value = text === undefined ? undefined : jsonOf(text as string)
  if (!isRecord(properties) || (value !== undefined && !isRecord(value))) return value
  const fields: Record<string, unknown> = {}
  for (const [key, property] of Object.entries(properties)) {
    if (columns.has(`${key}.sha256`)) return undefined
    if (columns.has(key)) fields[key] = fieldOf(scalar(columns, key), property)
    else if ([required].flat().includes(key)) fields[key] = null
  }
  const isThere = value !== undefined || Object.values(fields).some((field) => field !== null)
  return isThere ? { ...fields, ...value } : undefined
}

/** A text whose schema says otherwise is JSON, if it looks like JSON. */
function fieldOf(field: unknown, property: unknown): unknown {
  const isText = isRecord(property) && property.type === 'string'
  return typeof field === 'string' && !isText && /^[[{\d-]/.test(field) ? jsonOf(field) : field
}

/** What JSON without a dtype is read as. */
const dtypesOfJson = ['float64', 'int64', 'bool', 'str']

/** Writes JSON where that is read as the same array, else .npy. */
class ExactNdarray extends NumpyNdarray {
  override encodeExample(array: NDArray): MaybePromise<HttpResponse> {
    const isCast = this.dtype !== undefined
    const most = isCast ? Number.MAX_VALUE : Number.MAX_SAFE_INTEGER
    const isOdd = (element: unknown) => Math.abs(Number(element)) > most
    const isExact = isCast || dtypesOfJson.includes(array.dtype)
    if (isExact && !array.data.some(isOdd)) return super.encodeExample(array)
    return { headers: [['content-type', 'application/x-npy']], body: encodeNpy(array) }
  }
}

/** Whether JSON and CSV are read as the same types. */
function isFlat(frame: unknown): boolean | undefined {
  const table = loadPolars('capture').flatColumns(frame as never)
  return table?.columns.every(
    ({ kind, time, isBinary }) => dtypesOfJson.includes(kind) && !time && !isBinary,
  )
}
