/** What one value has in the columns of a capture. @module */
import { createHash, webcrypto } from 'node:crypto'
import type { ColumnKind } from '../core/dtype.ts'
import { BinaryFile } from '../core/file/binary-file.ts'
import { bytesOf } from '../core/memory/byte-copy.ts'
import { isRecord } from '../core/options.ts'
import { parseJson } from '../core/text/parse-json.ts'
import type { FormatDescription, JsonSchema } from '../descriptors/description.ts'
import { isPolars } from '../descriptors/frame-text.ts'
import { JSONEncoder } from '../descriptors/json-encoder.ts'
import { castArray } from '../values/array/cast.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { RasterImage } from '../values/image/raster.ts'
import { type AnyColumn, type Column, columnOf, packBits, textAt } from '../values/table/columns.ts'
import { getLabels } from '../values/table/polars/labels.ts'
import { loadPolars } from '../values/table/polars/polars.ts'
import { copyColumn } from './join-columns.ts'
import { behind, isJsonLike, type Paths, withoutPaths } from './redaction.ts'
import type { Cell, Scalar } from './row-table.ts'

/** What a process holds for calls that run, and for files that are not written yet. **Units**: bytes. */
export const maxHeldBytes = 2 ** 26
/** What a column of one row takes beside its data. **Units**: bytes. */
const columnBytes = 128

const flat = (kind: Column['kind'], more: Partial<Column> = {}): Column => ({
  ...{ name: '', kind, data: new Uint8Array(0) },
  ...more,
})

/** Types of scalars, by JavaScript's. */
const scalarTypes = {
  string: flat('str'),
  boolean: flat('bool'),
  bigint: flat('int64'),
  number: flat('float64'),
  time: flat('int64', { time: { type: 'datetime', unit: 'us', zone: 'UTC' } }),
}

type ScalarType = keyof typeof scalarTypes

/** What decides which parts of values are kept, and the memory that they take. */
export interface CellLimits {
  readonly redact: Paths
  readonly maxBytes: number
  /** Of the process. */
  readonly shared: { heldBytes: number }
  /** Throws if they do not fit. */
  hold(bytes: number): void
}

/** The name that pandas gives an index in Parquet. */
export const indexColumn = '__index_level_0__'

const encoder = new JSONEncoder()

/** @returns the value of a JSON text. */
export function jsonOf(text: string): unknown {
  return parseJson(Buffer.from(text), 'capture', { bigNumbers: 'bigint' })
}

/** @returns the format that says most of values: the parts of a form, or fields. */
export function formatOf(formats: readonly FormatDescription[]): FormatDescription | undefined {
  return formats.find(({ fields, schema }) => fields ?? schema) ?? formats[0]
}

/** @returns the bytes of a message: those of its elements, or its text. */
export function messageBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  if (value instanceof NDArray && value.dtype !== 'str') return bytesOf(value.data as Uint8Array)
  return Buffer.from(typeof value === 'string' ? value : encoder.encode(value))
}

/** The cells of a call. */
export type Cells = ReturnType<typeof newCells>

/**
 * Values are copied at once: their memory may be the request's, and a function may change them.
 *
 * @returns an empty list of cells.
 */
export function newCells({ redact, maxBytes, shared, hold }: CellLimits) {
  const list: Cell[] = []
  /** Paths of what the call had and the capture does not. */
  const redacted = new Set<string>()
  /** Hashes that are being made. */
  const pending: Promise<unknown>[] = []
  /** Of pictures that were decoded, and are no value yet. */
  const sources = new Map<unknown, readonly Cell[]>()
  /** The names of pictures that will be encoded. */
  const pictures = new Map<unknown, string>()

  /** Whether a value must not be written; `isWhole`: also if that is true of a part of it. */
  const isRedacted = (name: string, isWhole = false) => {
    const left = behind(redact, name)
    const is = left.has(undefined) || (isWhole && left.size > 0)
    if (is) redacted.add(name)
    return is
  }

  /** Adds a scalar; undefined is a null, a bigint a whole number. */
  const scalar = (name: string, value: Scalar | undefined, type = typeof value as ScalarType) => {
    if (value === undefined || isRedacted(name)) return
    hold(typeof value === 'string' ? value.length : 8)
    list.push({ name, column: scalarTypes[type], scalar: value })
  }

  /** Adds a list. */
  const items = (name: string, like: AnyColumn, count: number) => {
    if (isRedacted(name)) return
    hold(sizeOf(buffersIn(like)) + columnBytes)
    const copy = copyColumn({ ...like, name: 'item' }, count)
    list.push({ name, column: { name: '', offsets: Int32Array.of(0, count), items: copy } })
  }

  /** Keeps length and hash. */
  const digest = (name: string, length: number, hash: () => Promise<ArrayBuffer | Buffer>) => {
    scalar(`${name}.length`, BigInt(length))
    const cell: Cell = { name: `${name}.sha256`, column: scalarTypes.string, scalar: null }
    list.push(cell)
    const set = (bytes: ArrayBuffer | Buffer) => {
      cell.scalar = Buffer.from(bytes as Buffer).toString('hex')
    }
    pending.push(hash().then(set, () => undefined))
  }

  /** Keeps only length and hash above the limit; returns whether it did. */
  const isLarge = (name: string, ...parts: readonly ArrayBufferView[]) => {
    const length = sizeOf(parts)
    if (length <= maxBytes) return false
    digest(name, length, async () => {
      if (shared.heldBytes + length > maxHeldBytes) throw new RangeError('no room for a copy')
      shared.heldBytes += length
      // Copies the bytes at once, and hashes them on another thread.
      const bytes = parts.length === 1 ? parts[0] : Buffer.concat(parts.map(bytesOf))
      return webcrypto.subtle.digest('SHA-256', bytes as DataView<ArrayBuffer>).finally(() => {
        shared.heldBytes -= length
      })
    })
    return true
  }

  const addBytes = (name: string, bytes: Uint8Array) => {
    const path = `${name}.bytes`
    if (isRedacted(path) || isLarge(name, bytes)) return
    hold(bytes.length + columnBytes)
    const offsets = Int32Array.of(0, bytes.length)
    const column = flat('str', { isBinary: true, data: new Uint8Array(bytes), offsets })
    list.push({ name: path, column })
  }

  /** Takes the bytes that a picture was decoded from, or encoded to. */
  const source = (picture: object, bytes: Uint8Array, type: string) => {
    const name = pictures.get(picture)
    const first = list.length
    scalar(`${name ?? ''}.type`, type)
    addBytes(name ?? '', bytes)
    if (name === undefined) sources.set(picture, list.splice(first))
  }

  const addFile = (name: string, file: BinaryFile) => {
    scalar(`${name}.type`, file.mimeType)
    scalar(`${name}.name`, file.name)
    // The file goes with the request, which does not wait.
    if (file.isSpooled && file.size > maxBytes) digest(name, file.size, () => hashOf(file))
    else addBytes(name, file.bytes)
  }

  const addText = (name: string, text: string) => {
    if (text.length * 3 <= maxBytes || !isLarge(name, Buffer.from(text))) scalar(name, text)
  }

  const addArray = (name: string, array: NDArray) => {
    // Arrow's halves are read by few.
    const { dtype, data, size, shape } =
      array.dtype === 'float16' ? (castArray(array, 'float32') ?? array) : array
    const bytes = dtype === 'str' ? undefined : bytesOf(data as Uint8Array)
    const elements =
      bytes === undefined
        ? columnOf('', 'str', data as string[])
        : flat(dtype as ColumnKind, { data: dtype === 'bool' ? packBits(bytes) : bytes })
    if (isLarge(name, bytes ?? elements.data)) return
    items(`${name}.${array.dtype}`, elements, size)
    items(`${name}.shape`, columnOf('', 'int32', shape), shape.length)
  }

  const addFrame = (name: string, value: object) => {
    const polars = loadPolars('capture')
    const frame = polars.isDataFrame(value) ? value : polars.frameOf(value as never)
    const table = polars.toVectors(frame)
    if ('failure' in table) return
    const labels = getLabels(value)
    const columns = [...table.columns, ...(labels ? [{ ...labels, name: indexColumn }] : [])]
      .map((column) => [`${name}.${column.name}`, column] as const)
      .filter(([path, column]) => !isRedacted(path, mayHaveParts(column, table.rows)))
    if (isLarge(name, ...columns.flatMap(([, column]) => buffersIn(column)))) return
    for (const [path, column] of columns) items(path, column, table.rows)
  }

  const addForm = (name: string, value: object, fields: FormatDescription['fields'] = []) => {
    for (const field of fields) {
      const part: unknown = Reflect.get(value, field.name)
      const path = `${name}.${field.name}`
      const [format] = field.formats
      if (field.occurrence !== 'many' || !Array.isArray(part)) add(path, part, format)
      else for (const [i, each] of part.entries()) add(`${path}.${i}`, each, format)
    }
  }

  const addField = (name: string, value: unknown, property: unknown) => {
    const isWhole = isRecord(property) && property.type === 'integer' && Number.isSafeInteger(value)
    if (value === undefined || value === null) return
    if (typeof value === 'string') addText(name, value)
    else if (typeof value !== 'boolean' && typeof value !== 'number')
      addText(name, encoder.encode(value))
    else scalar(name, isWhole ? BigInt(value) : value)
  }

  /** Fields that the schema names get columns, all else is JSON text. */
  const addJson = (name: string, given: unknown, schema: JsonSchema | undefined) => {
    const paths = behind(redact, name)
    const properties = isRecord(schema?.properties) ? schema.properties : undefined
    const text = encoder.encode(given)
    if ((paths.size === 0 && properties === undefined) || text.length > maxBytes) {
      addText(name, text)
      return
    }
    const value = withoutPaths(jsonOf(text), paths, name, (path) => redacted.add(path))
    const hasFields = properties !== undefined && isRecord(value)
    const others = Object.entries(hasFields ? value : {}).filter(([key, each]) => {
      const isField = Object.hasOwn(properties ?? {}, key)
      if (isField) addField(`${name}.${key}`, each, properties?.[key])
      return !isField
    })
    const rest = hasFields ? Object.fromEntries(others) : value
    if (hasFields ? others.length > 0 : value !== undefined) addText(name, encoder.encode(rest))
  }

  /** Adds a value by its kind; `format`: what its descriptor says. */
  const add = (name: string, value: unknown, format?: FormatDescription): void => {
    if (value === undefined || value === null || isRedacted(name)) return
    const cells = sources.get(value)
    if (cells !== undefined) {
      // It may be answered, too.
      sources.delete(value)
      for (const cell of cells) cell.name = name + cell.name
      list.push(...cells.filter((cell) => !isRedacted(cell.name)))
    } else if (value instanceof RasterImage) pictures.set(value, name)
    else if (value instanceof NDArray) addArray(name, value)
    else if (value instanceof BinaryFile) addFile(name, value)
    else if (value instanceof Uint8Array) addBytes(name, value)
    else if (isPolars(value)) addFrame(name, value)
    else if (format?.fields !== undefined) addForm(name, value as object, format.fields)
    // The tensors of a model.
    else if (format === undefined && isRecord(value))
      for (const [key, each] of Object.entries(value)) add(`${name}.${key}`, each)
    else if (typeof value !== 'string' || format?.mimeType.includes('json'))
      addJson(name, value, format?.schema)
    else if (!isJsonLike(value) || !isRedacted(name, true)) addText(name, value)
  }

  return { list, redacted, pending, isRedacted, scalar, items, source, add }
}

function mayHaveParts(column: AnyColumn, rows: number): boolean {
  if (!('kind' in column) || column.kind !== 'str') return !('kind' in column)
  return Array.from({ length: rows }, (_, row) => textAt(column, row)).some(isJsonLike)
}

async function hashOf(file: BinaryFile): Promise<Buffer> {
  const hash = createHash('sha256')
  for await (const piece of file.stream()) hash.update(piece)
  return hash.digest()
}

const sizeOf = (parts: readonly ArrayBufferView[]) =>
  parts.reduce((sum, part) => sum + part.byteLength, 0)

function buffersIn(column: AnyColumn): readonly Uint8Array[] {
  if ('fields' in column) return column.fields.flatMap(buffersIn)
  if ('items' in column) return [bytesOf(column.offsets), ...buffersIn(column.items)]
  return [column.data, ...(column.heaps ?? [])]
}
