/** What one value has in the columns of a capture. @module */
import { createHash } from 'node:crypto'
import type { ColumnKind } from '../core/dtype.ts'
import { BinaryFile } from '../core/file/binary-file.ts'
import { isRecord } from '../core/options.ts'
import { parseJson } from '../core/text/parse-json.ts'
import type { FormatDescription } from '../descriptors/description.ts'
import { isPolars } from '../descriptors/frame-text.ts'
import { JSONEncoder } from '../descriptors/json-encoder.ts'
import { castArray } from '../values/array/cast.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { RasterImage } from '../values/image/raster.ts'
import { type AnyColumn, childrenOf, tableBytes, textAt } from '../values/table/columns.ts'
import { getLabels } from '../values/table/polars/labels.ts'
import { loadPolars } from '../values/table/polars/polars.ts'
import { behind, isJsonLike, type Paths, withoutPaths } from './redaction.ts'
import { type Cell, copyOf, typeName } from './row-table.ts'

/** What a list, or a column of one row, takes beside its data. **Units**: bytes. */
const columnBytes = 128

/** What lengths and hashes are made of. */
type Content = string | NodeJS.ArrayBufferView

/** What decides which parts of values are kept, and the memory that they take. */
export interface CellLimits {
  readonly redact: Paths
  /** **Units**: bytes. */
  readonly maxBytes: number
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

/** @returns the elements of an array, the bytes of a value that has them, or its text. */
export function contentOf(value: unknown): Content {
  if (value instanceof NDArray) return flat(value.data)
  if (value instanceof Uint8Array) return value
  return typeof value === 'string' ? value : encoder.encode(value)
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

  /** Adds a cell; undefined is a null. Throws if its memory does not fit. */
  put(name: string, value: Cell['value'] | undefined): void {
    if (value === undefined || this.isRedacted(name)) return
    const bytes = sizeOf(value)
    this.#limits.hold(bytes)
    this.heldBytes += bytes
    this.list.push({ name, type: typeName(value), value })
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
      const cells = (decoded as Cell[]).map((cell) => ({ ...cell, name: name + cell.name }))
      this.list.push(...cells.filter((cell) => !this.isRedacted(cell.name)))
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

  /** Adds the length of what may have named parts; returns whether its hash may be there, which could tell them. */
  putLength(name: string, length: number): boolean {
    this.put(`${name}.length`, BigInt(length))
    return !this.isRedacted(name, true)
  }

  /** Keeps only length and hash of a value that is too large; returns whether it did. */
  #isLarge(name: string, parts: readonly Content[]): boolean {
    const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
    if (length <= this.#limits.maxBytes) return false
    const hash = createHash('sha256')
    for (const part of parts) hash.update(part)
    this.put(`${name}.length`, BigInt(length))
    this.put(`${name}.sha256`, hash.digest('hex'))
    return true
  }

  #addText(name: string, text: string): void {
    if (!this.#isLarge(name, [text])) this.put(name, text)
  }

  #addBytes(name: string, bytes: Uint8Array, type?: string): void {
    this.put(`${name}.type`, type)
    const path = `${name}.bytes`
    if (this.isRedacted(path) || this.#isLarge(name, [bytes])) return
    const [data, offsets] = [new Uint8Array(bytes), Int32Array.of(0, bytes.length)]
    this.put(path, { name, kind: 'str', isBinary: true, data, offsets })
  }

  #addFile(name: string, file: BinaryFile): void {
    const { mimeType, size } = file
    this.put(`${name}.name`, file.name)
    if (!file.isSpooled || size <= this.#limits.maxBytes) {
      this.#addBytes(name, file.bytes, mimeType)
      return
    }
    this.put(`${name}.type`, mimeType)
    if (this.isRedacted(`${name}.bytes`)) return
    this.put(`${name}.length`, BigInt(size))
    const keep = (hash: string) => this.put(`${name}.sha256`, hash)
    const hashed = hashOf(file).then(keep)
    // The file goes with the request, which does not wait.
    this.pending.push(hashed.catch(() => {}))
  }

  #addArray(name: string, given: NDArray): void {
    // Arrow's halves are read by few.
    const array = given.dtype === 'float16' ? (castArray(given, 'float32') ?? given) : given
    if (this.#isLarge(name, [contentOf(array)])) return
    const { data, shape } = array
    const kind = array.dtype as ColumnKind
    this.put(`${name}.${given.dtype}`, { kind, elements: data.slice() })
    this.put(`${name}.shape`, { kind: 'int32', elements: Int32Array.from(shape) })
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
      const items = { ...copyOf(column, rows), name: 'item' }
      this.put(`${name}.${column.name}`, { name, offsets: Int32Array.of(0, rows), items })
    }
  }

  #addForm(name: string, form: unknown, fields: FormatDescription['fields'] = []): void {
    for (const { name: part, occurrence, formats } of fields) {
      const value: unknown = Reflect.get(form as object, part)
      const path = `${name}.${part}`
      if (occurrence !== 'many' || !Array.isArray(value)) this.add(path, value, formats[0])
      else for (const [i, each] of value.entries()) this.add(`${path}.${i}`, each, formats[0])
    }
  }

  /** Fields that the schema names get columns, all else is JSON text. */
  #addJson(name: string, given: unknown, properties: unknown): void {
    const text = encoder.encode(given)
    const paths = behind(this.#limits.redact, name)
    const isLarge = text.length > this.#limits.maxBytes
    if (paths.size === 0 && (isLarge || !isRecord(properties))) {
      this.#addText(name, text)
      return
    }
    if (isLarge) {
      this.putLength(name, Buffer.byteLength(text))
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
    if (isWhole) this.put(name, BigInt(value as number))
    else if (typeof value === 'number' || typeof value === 'boolean') this.put(name, value)
    else if (value !== null) this.#addText(name, contentOf(value) as string)
  }
}

const flat = (elements: NDArray['data'] | readonly string[]): Content =>
  ArrayBuffer.isView(elements) ? elements : elements.join('')

function sizeOf(value: Cell['value']): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object') return 8
  if ('elements' in value) return columnBytes + Buffer.byteLength(flat(value.elements))
  return columnBytes + tableBytes({ rows: 1, columns: [value] })
}

/** Whether paths could lead on: into objects and lists, and texts that may be JSON. */
function mayHaveParts(column: AnyColumn, rows: number): boolean {
  if (!('kind' in column) || column.kind !== 'str') return !('kind' in column)
  return Array.from({ length: rows }, (_, row) => textAt(column, row)).some(isJsonLike)
}

async function hashOf(file: BinaryFile): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of file.stream()) hash.update(piece)
  return hash.digest('hex')
}

function buffersIn(column: AnyColumn): readonly Uint8Array[] {
  if ('kind' in column) return [column.data, ...(column.heaps ?? [])]
  return childrenOf(column).flatMap(buffersIn)
}
