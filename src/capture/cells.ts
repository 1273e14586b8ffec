/** What one value has in the columns of a capture. @module */
import { createHash, webcrypto } from 'node:crypto'
import { type ColumnKind, dtypes } from '../core/dtype.ts'
import { BinaryFile } from '../core/file/binary-file.ts'
import { bytesOf } from '../core/memory/byte-copy.ts'
import { isRecord } from '../core/options.ts'
import type { FormatDescription, JsonSchema } from '../descriptors/description.ts'
import { isPolars } from '../descriptors/frame-text.ts'
import { JSONEncoder } from '../descriptors/json-encoder.ts'
import { castArray } from '../values/array/cast.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { RasterImage } from '../values/image/raster.ts'
import { type AnyColumn, type Column, columnOf } from '../values/table/columns.ts'
import { getLabels } from '../values/table/polars/labels.ts'
import { loadPolars } from '../values/table/polars/polars.ts'
import { ColumnBuilder, type Elements, type Scalar, typeName } from './column-builder.ts'

/** The type of a column. */
interface CellType {
  /** Equal for equal types. */
  readonly name: string
  /** A column of the type. */
  readonly like: AnyColumn
}

/** A value of one row: a scalar of a flat type, or the items of a list. */
export interface Cell {
  readonly name: string
  readonly type: CellType
  readonly value:
    | Scalar
    | { readonly elements: Elements }
    | { readonly items: AnyColumn; readonly count: number }
}

function flat(kind: Column['kind'], more: Partial<Column> = {}): Column {
  return { name: 'item', kind, data: new Uint8Array(0), ...more }
}

function typeOf(like: AnyColumn): CellType {
  return { name: typeName(like), like }
}

function listType(items: AnyColumn): CellType {
  return typeOf({ name: 'list', offsets: new Int32Array(1), items: { ...items, name: 'item' } })
}

/** Types of scalars. */
export const scalarTypes = {
  text: typeOf(flat('str')),
  bytes: typeOf(flat('str', { isBinary: true })),
  flag: typeOf(flat('bool')),
  whole: typeOf(flat('int64')),
  number: typeOf(flat('float64')),
  time: typeOf(flat('int64', { time: { type: 'datetime', unit: 'us', zone: 'UTC' } })),
}

const listTypes = Object.fromEntries(
  dtypes.map((kind) => [kind, listType(flat(kind as ColumnKind))]),
) as Record<ColumnKind, CellType>

/** What decides which parts of values are kept, and the memory that they take. */
export interface CellLimits {
  readonly redact: readonly string[]
  readonly maxBytes: number
  /** Throws if they do not fit. */
  hold(bytes: number): void
  /** Holds memory while a hash is made. Returns undefined, and holds nothing, without room. */
  lend(bytes: number): (() => void) | undefined
}

/** The name that pandas gives an index in Parquet. */
export const indexColumn = '__index_level_0__'

const encoder = new JSONEncoder()

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
  readonly pending: Promise<void>[] = []
  readonly #limits: CellLimits
  /** Of pictures that were decoded, and are no value yet. */
  readonly #sources = new Map<unknown, Cells>()
  /** The names of pictures that will be encoded. */
  readonly #pictures = new Map<unknown, string>()

  constructor(limits: CellLimits) {
    this.#limits = limits
  }

  /** Takes the bytes that a picture was decoded from, or encoded to. */
  source(picture: object, bytes: Uint8Array, type: string): void {
    const name = this.#pictures.get(picture)
    if (name !== undefined) {
      this.#picture(name, bytes, type)
      return
    }
    const cells = new Cells(this.#limits)
    cells.#picture('', bytes, type)
    this.#sources.set(picture, cells)
  }

  /** Adds a value by its kind; `format`: what its descriptor says. */
  add(name: string, value: unknown, format?: FormatDescription): void {
    if (value === undefined || value === null || this.isRedacted(name)) return
    const source = this.#sources.get(value)
    if (source !== undefined) {
      this.#sources.delete(value)
      this.#take(name, source)
    } else if (value instanceof RasterImage) this.#pictures.set(value, name)
    else if (value instanceof NDArray) this.#array(name, value)
    else if (value instanceof BinaryFile) this.#binaryFile(name, value)
    else if (value instanceof Uint8Array) this.#bytes(name, value)
    else if (isPolars(value)) this.#frame(name, value)
    else if (format?.fields !== undefined) this.#form(name, value, format)
    // The tensors of a model.
    else if (format === undefined && isRecord(value))
      for (const [key, each] of Object.entries(value)) this.add(`${name}.${key}`, each)
    else if (typeof value === 'string' && !format?.mimeType.includes('json'))
      this.#text(name, value)
    else this.#json(name, value, format?.schema)
  }

  /** Adds a scalar; undefined is a null. */
  scalar(name: string, type: CellType, value: Scalar | undefined): void {
    if (value === undefined || this.isRedacted(name)) return
    this.#limits.hold(typeof value === 'string' || value instanceof Uint8Array ? value.length : 8)
    this.list.push({ name, type, value })
  }

  /** Whether a value must not be written. */
  isRedacted(name: string): boolean {
    const is = this.#limits.redact.some((path) => name === path || name.startsWith(`${path}.`))
    if (is) this.redacted.add(name)
    return is
  }

  /** Adds a list of texts; null if it is empty. */
  texts(name: string, texts: readonly string[]): void {
    if (texts.length > 0) this.#items(name, columnOf('item', 'str', texts), texts.length)
  }

  #items(name: string, items: AnyColumn, count: number): void {
    if (this.isRedacted(name)) return
    this.#limits.hold(sizeOf(buffersIn(items)))
    const copy = new ColumnBuilder(items)
    copy.appendColumn(items, count)
    const value = { items: copy.finish('item'), count }
    this.list.push({ name, type: listType(items), value })
  }

  #array(name: string, array: NDArray): void {
    // Arrow's halves are read by few.
    const { dtype, data } =
      array.dtype === 'float16' ? (castArray(array, 'float32') ?? array) : array
    const texts = dtype === 'str' ? columnOf('item', dtype, data as string[]) : undefined
    if (this.#isLarge(name, texts?.data ?? (data as Uint8Array))) return
    const column = `${name}.${array.dtype}`
    if (texts === undefined) this.#elements(column, dtype as ColumnKind, data as Elements)
    else this.#items(column, texts, array.size)
    this.#elements(`${name}.shape`, 'int32', Int32Array.from(array.shape) as never)
  }

  #elements(name: string, kind: ColumnKind, elements: Elements): void {
    if (this.isRedacted(name)) return
    this.#limits.hold(elements.byteLength)
    this.list.push({ name, type: listTypes[kind], value: { elements: elements.slice() } })
  }

  #frame(name: string, value: object): void {
    const polars = loadPolars('capture')
    const frame = polars.isDataFrame(value) ? value : polars.frameOf(value as never)
    const table = polars.toVectors(frame)
    if ('failure' in table) return
    const labels = getLabels(value)
    const kept = table.columns.filter((column) => !this.#isWithheld(`${name}.${column.name}`))
    const columns = labels === undefined ? kept : [...kept, { ...labels, name: indexColumn }]
    if (this.#isLarge(name, ...columns.flatMap(buffersIn))) return
    for (const column of columns) this.#items(`${name}.${column.name}`, column, table.rows)
  }

  #binaryFile(name: string, file: BinaryFile): void {
    this.scalar(`${name}.type`, scalarTypes.text, file.mimeType)
    this.scalar(`${name}.name`, scalarTypes.text, file.name)
    // The file goes with the request, which does not wait.
    if (file.isSpooled && file.size > this.#limits.maxBytes)
      this.#digest(name, file.size, hashOf(file))
    else this.#bytes(name, file.bytes)
  }

  /** Keeps length and hash. */
  #digest(name: string, length: number, hash?: Promise<ArrayBuffer | Buffer>): void {
    this.scalar(`${name}.length`, scalarTypes.whole, length)
    const add = (bytes: ArrayBuffer | Buffer) =>
      this.scalar(`${name}.sha256`, scalarTypes.text, Buffer.from(bytes as Buffer).toString('hex'))
    if (hash !== undefined) this.pending.push(hash.then(add).catch(() => undefined))
  }

  #picture(name: string, bytes: Uint8Array, type: string): void {
    this.scalar(`${name}.type`, scalarTypes.text, type)
    this.#bytes(name, bytes)
  }

  #take(name: string, { list, pending }: Cells): void {
    const take = () =>
      void this.list.push(...list.map((cell) => ({ ...cell, name: name + cell.name })))
    if (pending.length === 0) take()
    else this.pending.push(Promise.all(pending).then(take))
  }

  #bytes(name: string, bytes: Uint8Array): void {
    if (!this.#isLarge(name, bytes))
      this.scalar(`${name}.bytes`, scalarTypes.bytes, new Uint8Array(bytes))
  }

  #form(name: string, value: unknown, { fields = [] }: FormatDescription): void {
    for (const field of fields) {
      const part: unknown = Reflect.get(value as object, field.name)
      const path = `${name}.${field.name}`
      const [format] = field.formats
      if (field.occurrence !== 'many' || !Array.isArray(part)) this.add(path, part, format)
      else for (const [i, each] of part.entries()) this.add(`${path}.${i}`, each, format)
    }
  }

  #text(name: string, text: string): void {
    if (text.length * 3 <= this.#limits.maxBytes || !this.#isLarge(name, Buffer.from(text)))
      this.scalar(name, scalarTypes.text, text)
  }

  /** Fields that the schema names get columns, all else is JSON text. */
  #json(name: string, given: unknown, schema: JsonSchema | undefined): void {
    const value = this.#withoutRedacted(name, given)
    const properties =
      isRecord(value) && isRecord(schema?.properties) ? schema.properties : undefined
    if (properties === undefined) {
      this.#text(name, encoder.encode(value))
      return
    }
    const others: Record<string, unknown> = {}
    for (const [key, each] of Object.entries(value as object)) {
      if (Object.hasOwn(properties, key)) this.#field(`${name}.${key}`, each, properties[key])
      else others[key] = each
    }
    if (Object.keys(others).length > 0) this.#text(name, encoder.encode(others))
  }

  #field(name: string, value: unknown, property: unknown): void {
    const isWhole = isRecord(property) && property.type === 'integer' && Number.isSafeInteger(value)
    if (value === undefined || value === null) return
    if (typeof value === 'boolean') this.scalar(name, scalarTypes.flag, value)
    else if (typeof value === 'number')
      this.scalar(name, isWhole ? scalarTypes.whole : scalarTypes.number, value)
    else this.#text(name, typeof value === 'string' ? value : encoder.encode(value))
  }

  /** As {@link isRedacted}, also for what cannot be redacted in part. */
  #isWithheld(name: string): boolean {
    const has = this.#limits.redact.some((path) => path.startsWith(`${name}.`))
    if (has) this.redacted.add(name)
    return has || this.isRedacted(name)
  }

  #withoutRedacted(name: string, value: unknown): unknown {
    let rest = value
    for (const path of this.#limits.redact) {
      if (path.startsWith(`${name}.`))
        rest = without(rest, path.slice(name.length + 1), () => this.redacted.add(path))
    }
    return rest
  }

  /** Keeps only length and hash above the limit; returns whether it did. */
  #isLarge(name: string, ...parts: readonly ArrayBufferView[]): boolean {
    const length = sizeOf(parts)
    if (length <= this.#limits.maxBytes) return false
    const giveBack = this.#limits.lend(length)
    const bytes = () => (parts.length === 1 ? parts[0] : Buffer.concat(parts.map(bytesOf)))
    // Copies the bytes at once, and hashes them on another thread.
    const hash = giveBack && webcrypto.subtle.digest('SHA-256', bytes() as DataView<ArrayBuffer>)
    this.#digest(name, length, hash?.finally(giveBack))
    return true
  }
}

/** @returns a value without what a path names, in each item of a list. `mark`: called if there was such a thing. */
function without(value: unknown, path: string, mark: () => void): unknown {
  if (Array.isArray(value)) return value.map((each) => without(each, path, mark))
  if (!isRecord(value)) return value
  const entries = value instanceof Map ? [...value] : Object.entries(value)
  return Object.fromEntries(
    entries.flatMap(([key, each]) => {
      if (key !== path)
        return [
          [
            key,
            path.startsWith(`${key}.`) ? without(each, path.slice(key.length + 1), mark) : each,
          ],
        ]
      mark()
      return []
    }),
  )
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
