/** What values are made of, so that they can be compared part by part. @module */
import { isAnyArrayBuffer } from 'node:util/types'
import { type DType, dtypeOfContainer, isDType } from '../core/dtype.ts'
import { BinaryFile } from '../core/file/binary-file.ts'
import { isRecord } from '../core/options.ts'
import { float16ToNumber } from '../core/text/number-text.ts'
import { parseJson } from '../core/text/parse-json.ts'
import { NDArray } from './array/ndarray.ts'
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
  readonly dtype?: DType
  /** Items along the last axis; all of them if undefined. */
  readonly width?: number
  /** @returns the path of an item below the value. */
  placeOf(index: number): string
}

/**
 * @param key - The column that orders the rows of frames.
 * @returns undefined for a value without parts.
 */
export function partsOf(value: unknown, key?: string): Parts | undefined {
  if (Array.isArray(value))
    return { what: `a list of ${value.length}`, items: value, placeOf: (i) => `[${i}]` }
  if (!isRecord(value) || value instanceof Error) return undefined
  if (typeof value.placeOf === 'function') return value as unknown as Parts
  if (typeof value.rechunk === 'function') return frameParts(value, key)
  if (value instanceof Set) return partsOf([...value])
  const memory = value instanceof DataView ? value.buffer : value
  if (isAnyArrayBuffer(memory)) return partsOf(new Uint8Array(memory))
  if (dtypeOfContainer(value)) return arrayParts(new NDArray(value as unknown as Uint8Array))
  // NDArray, and what clients have of it.
  const isArray = isDType(value.dtype) && Array.isArray(value.shape) && 'data' in value
  if (isArray) return arrayParts(value as unknown as ArrayForm)
  const record = recordOf(value)
  // Such as a date or a URL: its class has what its members do not tell.
  const isOpaque = Object.keys(record).length === 0 && (record.constructor ?? Object) !== Object
  return isOpaque ? undefined : recordParts(record)
}

interface ArrayForm {
  readonly dtype: DType
  readonly shape: readonly number[]
  readonly data: ArrayLike<unknown>
}

function arrayParts({ dtype, shape, data }: ArrayForm): Parts {
  const placeOf = (index: number) => {
    const places = shape.map(
      (length, axis) => Math.floor(index / sizeOf(shape.slice(axis + 1))) % length,
    )
    return `[${places.join(', ')}]`
  }
  const items = dtype === 'float16' ? Array.from(data as Uint16Array, float16ToNumber) : data
  return { what: `${dtype} ${showShape(shape)}`, items, placeOf, dtype, width: shape.at(-1) ?? 1 }
}

/** JSON has no undefined, and its members no order. */
function recordParts(record: Readonly<Record<string, unknown>>): Parts {
  const names = Object.keys(record).filter((name) => record[name] !== undefined)
  const what = `an object of ${JSON.stringify(names.sort())}`
  return { what, items: names.map((name) => record[name]), placeOf: (i) => `.${names[i]}` }
}

function recordOf(value: Record<string, unknown>): Record<string, unknown> {
  if (value instanceof Map) return Object.fromEntries(value)
  if (value instanceof BinaryFile) return { type: value.mimeType, bytes: value.bytes }
  if (!(value instanceof RasterImage)) return value
  const { mode, width, height, palette } = value
  const pixels = new NDArray(value.elements()).reshape([height, width, -1])
  return { mode, palette, pixels }
}

/** Row labels and the name of a series do not count: few formats have them. */
function frameParts(value: object, key: string | undefined): Parts {
  const polars = loadPolars('a comparison')
  const table = polars.toColumns(value as Parameters<typeof polars.toColumns>[0])
  if ('failure' in table) return { what: String(value), items: [], placeOf: String }
  const { rows, columns } = table
  const names = columns.map(({ name }) => (polars.isSeries(value) ? '' : name))
  const lists = columns.map((column) => {
    const cells = cellsOf(column, rows, valueReader(column))
    return column.isJson ? cells.map(jsonOf) : cells
  })
  const keys = lists[columns.findIndex(({ name }) => name === key)]?.map(String)
  const order = [...Array(rows).keys()]
  order.sort((a, b) => keys?.[a].localeCompare(keys[b]) ?? 0)
  return {
    what: `${rows} rows of ${JSON.stringify(names)}`,
    items: columns.map(({ kind: dtype }, i): Parts => {
      const items = order.map((row) => lists[i][row])
      return { what: '', items, placeOf: (at) => `[${order[at]}]`, dtype, width: 1 }
    }),
    placeOf: (i) => `.${names[i]}`,
  }
}

/** Lists and structs of frames. */
function jsonOf(cell: unknown): unknown {
  return cell && parseJson(Buffer.from(String(cell)), 'a cell', { bigNumbers: 'bigint' })
}
