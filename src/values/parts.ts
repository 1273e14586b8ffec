/** What values are made of, so that they can be compared part by part. @module */
import { type DType, dtypeOfContainer, isDType } from '../core/dtype.ts'
import { BinaryFile } from '../core/file/binary-file.ts'
import { isRecord } from '../core/options.ts'
import { showShape, sizeOf } from './array/shape.ts'
import { RasterImage } from './image/raster.ts'
import { cellsOf, valueReader } from './table/columns.ts'
import { getLabels } from './table/polars/labels.ts'
import { loadPolars } from './table/polars/polars.ts'

/** A value with parts. */
export class Parts {
  /** Its kind, type and size: only values that have them in common are compared further. */
  readonly what: string
  readonly items: ArrayLike<unknown>
  /** @returns the path of an item below the value. */
  readonly placeOf: (index: number) => string
  /** Of the items, where it is known. */
  readonly dtype: DType | undefined
  /** Items along the last axis. */
  readonly width: number

  constructor(
    what: string,
    items: ArrayLike<unknown>,
    placeOf: Parts['placeOf'],
    dtype?: DType,
    width = items.length,
  ) {
    this.what = what
    this.items = items
    this.placeOf = placeOf
    this.dtype = dtype
    this.width = width
  }
}

/**
 * @param key - The column that orders the rows of frames.
 * @returns undefined for a value without parts.
 */
export function partsOf(value: unknown, key?: string): Parts | undefined {
  if (value instanceof Parts) return value
  if (Array.isArray(value)) return new Parts(`a list of ${value.length}`, value, (i) => `[${i}]`)
  if (!isRecord(value) || value instanceof Date || value instanceof Error) return undefined
  if (value instanceof RasterImage) return pictureParts(value)
  const bare = dtypeOfContainer(value)
  const data = value as unknown as ArrayLike<unknown>
  if (bare !== undefined) return arrayParts({ dtype: bare, shape: [data.length], data })
  if (isArray(value)) return arrayParts(value)
  if (typeof value.rechunk === 'function') return polarsParts(value, key)
  if (value instanceof BinaryFile) return recordParts({ type: value.mimeType, bytes: value.bytes })
  if (value instanceof Map) return recordParts(Object.fromEntries(value))
  const isTable = Object.getPrototypeOf(value) === null && Object.values(value).every(Array.isArray)
  if (!isTable) return recordParts(value)
  const columns = Object.entries(value as Record<string, unknown[]>)
  return frameParts(
    columns.map(([name, cells]) => ({ name, cells })),
    key,
  )
}

interface ArrayForm {
  readonly dtype: DType
  readonly shape: readonly number[]
  readonly data: ArrayLike<unknown>
}

/** NDArray, and what clients have of it. */
function isArray(value: object): value is ArrayForm {
  return 'dtype' in value && 'shape' in value && 'data' in value && isDType(value.dtype)
}

function arrayParts({ dtype, shape, data }: ArrayForm, what: string = dtype): Parts {
  const strides = shape.map((_, axis) => sizeOf(shape.slice(axis + 1)))
  const placeOf = (index: number) =>
    `[${strides.map((stride, axis) => Math.floor(index / stride) % shape[axis]).join(', ')}]`
  return new Parts(`${what} ${showShape(shape)}`, data, placeOf, dtype, shape.at(-1) ?? 1)
}

function pictureParts({ mode, width, height, palette, data }: RasterImage): Parts {
  if (palette !== undefined)
    return recordParts({ pixels: new RasterImage(mode, width, height, data), palette })
  const shape = [height, width]
  const items = new RasterImage(mode, width, height, data).elements()
  const channels = items.length / sizeOf(shape)
  const { what, placeOf } = arrayParts({ dtype: 'uint8', shape, data: items }, mode)
  const pixelOf = (index: number) => ` pixel ${placeOf(Math.floor(index / channels))}`
  return new Parts(what, items, pixelOf, dtypeOfContainer(items), channels)
}

/** JSON has no undefined, and its members no order. */
function recordParts(record: Readonly<Record<string, unknown>>): Parts {
  const names = Object.keys(record).filter((name) => record[name] !== undefined)
  names.sort()
  const items = names.map((name) => record[name])
  return new Parts(`an object of ${names}`, items, (i) => `.${names[i]}`)
}

interface CellColumn {
  readonly name: string
  readonly cells: readonly unknown[]
  readonly dtype?: DType
}

function polarsParts(value: object, key: string | undefined): Parts {
  const polars = loadPolars('a comparison')
  const table = polars.toColumns(value as Parameters<typeof polars.toColumns>[0])
  const { rows, columns } = 'failure' in table ? { rows: 0, columns: [] } : table
  const all = [...columns, getLabels(value) ?? []].flat()
  const cellColumns = all.map((column) => {
    const { name, kind: dtype } = column
    return { name, dtype, cells: cellsOf(column, rows, valueReader(column)) }
  })
  return frameParts(cellColumns, key)
}

function frameParts(columns: readonly CellColumn[], key: string | undefined): Parts {
  const rows = columns[0]?.cells.length ?? 0
  const order = Array.from({ length: rows }, (_, row) => row)
  const keys = columns.find(({ name }) => name === key)?.cells.map(String)
  if (keys !== undefined) order.sort((a, b) => (keys[a] < keys[b] ? -1 : 1))
  const items = columns.map(({ cells, dtype }) => {
    const sorted = order.map((row) => cells[row])
    return new Parts(`${dtype} column`, sorted, (i) => `, row ${order[i]}`, dtype, 1)
  })
  const names = columns.map(({ name }) => JSON.stringify(name))
  return new Parts(`${rows} rows of ${names}`, items, (i) => `, column ${names[i]}`)
}
