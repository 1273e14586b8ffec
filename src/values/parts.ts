/** What values are made of, so that they can be compared part by part. @module */
import { type DType, dtypeOfContainer, isDType } from '../core/dtype.ts'
import { BinaryFile } from '../core/file/binary-file.ts'
import { isRecord } from '../core/options.ts'
import { float16ToNumber } from '../core/text/number-text.ts'
import { parseJson } from '../core/text/parse-json.ts'
import { showShape, sizeOf } from './array/shape.ts'
import { RasterImage } from './image/raster.ts'
import { cellsOf, valueReader } from './table/columns.ts'
import { loadPolars } from './table/polars/polars.ts'

/** The parts of a value. */
export interface Parts {
  /** Kind, type and size: only values that have them in common are compared further. */
  readonly what: string
  readonly items: ArrayLike<unknown>
  /** Of the items, where it is known. */
  readonly dtype?: DType | undefined
  /** Items along the last axis. */
  readonly width: number
  /** @returns the path of an item below the value. */
  placeOf(index: number): string
}

/**
 * @param key - The column that orders the rows of frames.
 * @returns undefined for a value without parts.
 */
export function partsOf(value: unknown, key?: string): Parts | undefined {
  if (Array.isArray(value)) return listOf(`a list of ${value.length}`, value, (i) => `[${i}]`)
  if (!isRecord(value) || value instanceof Date || value instanceof Error) return undefined
  if (typeof value.placeOf === 'function') return value as unknown as Parts
  if (value instanceof RasterImage) return pictureParts(value)
  const bare = dtypeOfContainer(value)
  const data = value as unknown as ArrayLike<unknown>
  if (bare !== undefined) return arrayParts({ dtype: bare, shape: [data.length], data })
  if (isArray(value)) return arrayParts(value)
  if (typeof value.rechunk === 'function') return frameParts(value, key)
  if (value instanceof BinaryFile) return recordParts({ type: value.mimeType, bytes: value.bytes })
  return recordParts(value instanceof Map ? Object.fromEntries(value) : value)
}

const listOf = (what: string, items: ArrayLike<unknown>, placeOf: Parts['placeOf']): Parts => {
  return { what, items, placeOf, width: items.length }
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

function arrayParts({ dtype, shape, data }: ArrayForm): Parts {
  const strides = shape.map((_, axis) => sizeOf(shape.slice(axis + 1)))
  const placeOf = (index: number) =>
    `[${strides.map((stride, axis) => Math.floor(index / stride) % shape[axis]).join(', ')}]`
  const what = `${dtype} ${showShape(shape)}`
  const items = dtype === 'float16' ? Array.from(data as Uint16Array, float16ToNumber) : data
  return { what, items, placeOf, dtype, width: shape.at(-1) ?? 1 }
}

function pictureParts({ mode, width, height, palette, data }: RasterImage): Parts {
  const pixels = new RasterImage(mode, width, height, data)
  if (palette !== undefined) return recordParts({ pixels, palette })
  const items = pixels.elements()
  const channels = items.length / (width * height)
  const placeOf = (index: number) => {
    const pixel = Math.floor(index / channels)
    return ` pixel [${Math.floor(pixel / width)}, ${pixel % width}]`
  }
  const what = `${mode} of ${width}×${height}`
  return { what, items, placeOf, dtype: dtypeOfContainer(items), width: channels }
}

/** JSON has no undefined, and its members no order. */
function recordParts(record: Readonly<Record<string, unknown>>): Parts {
  const names = Object.keys(record).filter((name) => record[name] !== undefined)
  names.sort()
  const items = names.map((name) => record[name])
  return listOf(`an object of ${names}`, items, (i) => `.${names[i]}`)
}

/** Row labels and the name of a series do not count: few formats have them. */
function frameParts(value: object, key: string | undefined): Parts {
  const polars = loadPolars('a comparison')
  const table = polars.toColumns(value as Parameters<typeof polars.toColumns>[0])
  if ('failure' in table) return listOf(String(value), [], String)
  const { rows, columns } = table
  const lists = columns.map((column) => cellsOf(column, rows, valueReader(column)))
  const order = Array.from({ length: rows }, (_, row) => row)
  const keys = lists[columns.findIndex(({ name }) => name === key)]?.map(String)
  if (keys !== undefined) order.sort((a, b) => (keys[a] < keys[b] ? -1 : 1))
  const items = columns.map(({ kind: dtype, isJson }, i): Parts => {
    const cells = order.map((row) => lists[i][row])
    const items = isJson ? cells.map(jsonOf) : cells
    return { what: '', items, placeOf: (at) => `, row ${order[at]}`, dtype, width: 1 }
  })
  const names = columns.map(({ name }) => (polars.isSeries(value) ? '""' : JSON.stringify(name)))
  return listOf(`${rows} rows of ${names}`, items, (i) => `, column ${names[i]}`)
}

/** Lists and structs of frames. */
function jsonOf(cell: unknown): unknown {
  return cell && parseJson(Buffer.from(String(cell)), 'a cell', { bigNumbers: 'bigint' })
}
