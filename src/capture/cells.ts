/** What one value has in the columns of a capture. @module */
import { createHash, webcrypto } from 'node:crypto'
import { type ColumnKind, dtypes } from '../core/dtype.ts'
import { BinaryFile } from '../core/file/binary-file.ts'
import { bytesOf } from '../core/memory/byte-copy.ts'
import { isRecord } from '../core/options.ts'
import { concat } from '../core/platform.ts'
import { parseJson } from '../core/text/parse-json.ts'
import type { FormatDescription } from '../descriptors/description.ts'
import { isPolars } from '../descriptors/frame-text.ts'
import { JSONEncoder } from '../descriptors/json-encoder.ts'
import { castArray } from '../values/array/cast.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { RasterImage } from '../values/image/raster.ts'
import { type AnyColumn, columnOf, type ListColumn, textAt } from '../values/table/columns.ts'
import { getLabels } from '../values/table/polars/labels.ts'
import { loadPolars } from '../values/table/polars/polars.ts'
import { joinColumns } from '../values/table/take-rows.ts'
import { behind, isJsonLike, type Paths, withoutPaths } from './redaction.ts'
import type { Cell, Items, Scalar } from './row-table.ts'

/** What a column of one row takes beside its data. **Units**: bytes. */
const columnBytes = 128

/** Types of scalars: those of JavaScript, whole numbers, and microseconds since 1970. */
export const scalarTypes = {
  string: columnOf('', 'str', []),
  boolean: columnOf('', 'bool', []),
  number: columnOf('', 'float64', []),
  whole: columnOf('', 'int64', []),
  time: { ...columnOf('', 'int64', []), time: { type: 'datetime', unit: 'us', zone: 'UTC' } },
} as const

/** Name of a type of scalars. */
export type ScalarType = keyof typeof scalarTypes

const listTypes = Object.fromEntries(
  dtypes.map((dtype): [string, ListColumn] => {
    const kind = dtype as ColumnKind
    return [dtype, { name: '', offsets: new Int32Array(1), items: columnOf('item', kind, []) }]
  }),
)

/** What decides which parts of values are kept, and the memory that they take. */
export interface CellLimits {
  readonly redact: Paths
  /** **Units**: bytes. */
  readonly maxBytes: number
  /** Throws if they do not fit. */
  hold(bytes: number): void
  /** Calls `work`; rejects if its memory does not fit. */
  holdFor<T>(bytes: number, work: () => Promise<T>): Promise<T>
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

/**
 * The cells of a call. Values are copied at once: their memory may be the request's, and a function may change them.
 */
export class Cells {
  readonly list: Cell[] = []
  /** Paths of what the call had and the capture does not. */
  readonly redacted = new Set<string>()
  /** Hashes that are being made. */
  readonly pending: Promise<unknown>[] = []
  /** **Units**: bytes. */
  heldBytes = 0
  readonly #limits: CellLimits
  /** Cells of pictures that were decoded, and are no value yet; names of those that will be encoded. */
  readonly #pictures = new Map<unknown, readonly Cell[] | string>()

  constructor(limits: CellLimits) {
    this.#limits = limits
  }

  /** Whether a value must not be written; `isWhole`: also if that is true of a part of it. */
  isRedacted(name: string, isWhole = false): boolean {
    const left = behind(this.#limits.redact, name)
    const isNamed = left.has('') || (isWhole && left.size > 0)
    if (isNamed) this.redacted.add(name)
    return isNamed
  }

  /** Adds a scalar; undefined is a null. */
  scalar(name: string, value: Scalar | undefined, type = typeof value as ScalarType): void {
    if (value === undefined || this.isRedacted(name)) return
    this.#hold(typeof value === 'string' ? value.length : 8)
    this.list.push({ name, column: scalarTypes[type], value })
  }

  /** Adds a list, whose elements nobody may change. */
  items(name: string, kind: ColumnKind, value: Items): void {
    if (this.isRedacted(name)) return
    this.#hold(bytesIn(value).byteLength)
    this.list.push({ name, column: listTypes[kind], value })
  }

  /** Takes the bytes that a picture was decoded from, or encoded to. */
  source(picture: object, bytes: Uint8Array, type: string): void {
    const name = this.#pictures.get(picture)
    const isEncoded = typeof name === 'string'
    const start = this.list.length
    this.#addBytes(isEncoded ? name : '', bytes, type)
    if (!isEncoded) this.#pictures.set(picture, this.list.splice(start))
  }

  /** Adds a value by its kind; `format`: what its descriptor says. */
  add(name: string, value: unknown, format?: FormatDescription): void {
    if (value === undefined || value === null || this.isRedacted(name)) return
    const decoded = this.#pictures.get(value)
    if (Array.isArray(decoded)) {
      for (const cell of decoded) cell.name = name + cell.name
      this.list.push(...decoded.filter((cell) => !this.isRedacted(cell.name)))
      // It may be answered, too.
      this.#pictures.delete(value)
    } else if (value instanceof RasterImage) this.#pictures.set(value, name)
    else if (value instanceof NDArray) this.#addArray(name, value)
    else if (value instanceof BinaryFile) this.#addFile(name, value)
    else if (value instanceof Uint8Array) this.#addBytes(name, value)
    else if (isPolars(value)) this.#addFrame(name, value)
    else if (format?.fields !== undefined) this.#addForm(name, value, format.fields)
    // The tensors of a model.
    else if (format === undefined && isRecord(value))
      for (const [key, each] of Object.entries(value)) this.add(`${name}.${key}`, each)
    else if (typeof value !== 'string' || format?.mimeType.includes('json'))
      this.#addJson(name, value, format?.schema?.properties)
    else if (!isJsonLike(value) || !this.isRedacted(name, true)) this.#addText(name, value)
  }

  /** Takes memory until the call is written. Throws if it does not fit. */
  #hold(bytes: number): void {
    this.#limits.hold(bytes + columnBytes)
    this.heldBytes += bytes + columnBytes
  }

  /** Keeps only length and hash of a value that is too large; returns whether it did. */
  #isLarge(name: string, parts: readonly ArrayBufferView[]): boolean {
    const length = sizeOf(parts)
    if (length <= this.#limits.maxBytes) return false
    // The bytes are copied at once, and hashed on another thread.
    const hash = () => webcrypto.subtle.digest('SHA-256', concat(parts.map(bytesOf)))
    this.#digest(name, length, this.#limits.holdFor(length, hash))
    return true
  }

  #digest(name: string, length: number, hash: Promise<ArrayBuffer>): void {
    this.scalar(`${name}.length`, length, 'whole')
    const cell: Cell = { name: `${name}.sha256`, column: scalarTypes.string, value: null }
    this.list.push(cell)
    const keep = (bytes: ArrayBuffer) => {
      cell.value = Buffer.from(bytes).toString('hex')
    }
    this.pending.push(hash.then(keep, () => {}))
  }

  #addText(name: string, text: string): void {
    // A character takes up to three bytes.
    const isShort = text.length * 3 <= this.#limits.maxBytes
    if (isShort || !this.#isLarge(name, [Buffer.from(text)])) this.scalar(name, text)
  }

  #addBytes(name: string, bytes: Uint8Array, type?: string): void {
    this.scalar(`${name}.type`, type)
    const path = `${name}.bytes`
    if (this.isRedacted(path) || this.#isLarge(name, [bytes])) return
    this.#hold(bytes.length)
    const [data, offsets] = [new Uint8Array(bytes), Int32Array.of(0, bytes.length)]
    this.list.push({ name: path, column: { name, kind: 'str', isBinary: true, data, offsets } })
  }

  #addFile(name: string, file: BinaryFile): void {
    const { mimeType, size } = file
    this.scalar(`${name}.name`, file.name)
    if (!file.isSpooled || size <= this.#limits.maxBytes) {
      this.#addBytes(name, file.bytes, mimeType)
      return
    }
    this.scalar(`${name}.type`, mimeType)
    // The file goes with the request, which does not wait.
    this.#digest(name, size, hashOf(file))
  }

  #addArray(name: string, array: NDArray): void {
    // Arrow's halves are read by few.
    const { dtype, data, shape } =
      array.dtype === 'float16' ? (castArray(array, 'float32') ?? array) : array
    if (this.#isLarge(name, [bytesIn(data)])) return
    this.items(`${name}.${array.dtype}`, dtype as ColumnKind, data.slice())
    this.items(`${name}.shape`, 'int32', new Int32Array(shape))
  }

  #addFrame(name: string, value: object): void {
    const polars = loadPolars('capture')
    const frame = polars.isDataFrame(value) ? value : polars.frameOf(value as never)
    const table = polars.toVectors(frame)
    if ('failure' in table) return
    const { rows } = table
    const labels = getLabels(value)
    const open = [...table.columns, ...(labels ? [{ ...labels, name: indexColumn }] : [])].filter(
      (column) => !this.isRedacted(`${name}.${column.name}`, mayHaveParts(column, rows)),
    )
    if (this.#isLarge(name, open.flatMap(buffersIn))) return
    for (const column of open) {
      // Two pieces are copied.
      const copy = joinColumns([
        { column, rows },
        { column, rows: 0 },
      ])
      this.#hold(sizeOf(buffersIn(copy)))
      this.list.push({
        name: `${name}.${column.name}`,
        column: { name, offsets: Int32Array.of(0, rows), items: { ...copy, name: 'item' } },
      })
    }
  }

  #addForm(name: string, value: unknown, fields: FormatDescription['fields'] = []): void {
    for (const field of fields) {
      const part: unknown = Reflect.get(value as object, field.name)
      const path = `${name}.${field.name}`
      const [format] = field.formats
      if (field.occurrence !== 'many' || !Array.isArray(part)) this.add(path, part, format)
      else for (const [i, each] of part.entries()) this.add(`${path}.${i}`, each, format)
    }
  }

  /** Fields that the schema names get columns, all else is JSON text. */
  #addJson(name: string, given: unknown, properties: unknown): void {
    const text = encoder.encode(given)
    const paths = behind(this.#limits.redact, name)
    if ((paths.size === 0 && !isRecord(properties)) || text.length > this.#limits.maxBytes) {
      this.#addText(name, text)
      return
    }
    const value = withoutPaths(jsonOf(text), paths, name, (path) => this.redacted.add(path))
    if (!isRecord(properties) || !isRecord(value)) {
      if (value !== undefined) this.#addText(name, encoder.encode(value))
      return
    }
    const others: [key: string, value: unknown][] = []
    for (const [key, each] of Object.entries(value)) {
      if (Object.hasOwn(properties, key)) this.#addField(`${name}.${key}`, each, properties[key])
      else others.push([key, each])
    }
    if (others.length > 0) this.#addText(name, encoder.encode(Object.fromEntries(others)))
  }

  #addField(name: string, value: unknown, property: unknown): void {
    const isWhole = isRecord(property) && property.type === 'integer' && Number.isSafeInteger(value)
    if (typeof value === 'number') this.scalar(name, value, isWhole ? 'whole' : 'number')
    else if (typeof value === 'boolean') this.scalar(name, value)
    else if (value !== null)
      this.#addText(name, typeof value === 'string' ? value : encoder.encode(value))
  }
}

const bytesIn = (data: Items): ArrayBufferView =>
  ArrayBuffer.isView(data) ? data : Buffer.from(data.join(''))

/** Whether paths could lead on: into objects and lists, and texts that may be JSON. */
function mayHaveParts(column: AnyColumn, rows: number): boolean {
  if (!('kind' in column) || column.kind !== 'str') return !('kind' in column)
  return Array.from({ length: rows }, (_, row) => textAt(column, row)).some(isJsonLike)
}

async function hashOf(file: BinaryFile): Promise<ArrayBuffer> {
  const hash = createHash('sha256')
  for await (const piece of file.stream()) hash.update(piece)
  return new Uint8Array(hash.digest()).buffer
}

const sizeOf = (parts: readonly ArrayBufferView[]) =>
  parts.reduce((sum, part) => sum + part.byteLength, 0)

function buffersIn(column: AnyColumn): readonly ArrayBufferView[] {
  if ('fields' in column) return column.fields.flatMap(buffersIn)
  if ('items' in column) return [bytesOf(column.offsets), ...buffersIn(column.items)]
  return [column.data, ...(column.heaps ?? [])]
}
