/** The columns of Arrow's record batches, as views where that is possible. @module */
import { dataConstructor, itemSize } from '../../../core/dtype.ts'
import { float16ToNumber } from '../../../core/text/number-text.ts'
import type { FlatTable } from '../../array/flatbuffer.ts'
import {
  type AnyColumn,
  type Column,
  columnNumbers,
  contiguousText,
  evenOffsets,
  isValid,
  nullColumn,
  sliceColumn,
} from '../columns.ts'
import { takeRows } from '../take-rows.ts'
import { floorDivide } from '../times.ts'
import type { ArrowBatch } from './arrow-batch.ts'
import { type ArrowType, arrowTypeName, arrowTypeOf, dictionaryOf, isMap } from './arrow-types.ts'
import { checkedText, checkOffsets, checkViews } from './check-column.ts'
import { decimalsAs } from './decimals.ts'
import { columnNamed, damagedColumn, FileRefusal, unsupported } from './file-refusal.ts'

/** Maximum depth of columns within others. */
const maxDepth = 64
/** Maximum number of rows, whose offsets have 32 bits. */
export const maxRows = 2 ** 31 - 2

/** A column to be read: its field, and where it is in the file. */
interface Place {
  readonly field: FlatTable
  readonly batch: ArrowBatch
  readonly rows: number
  readonly path: string
  readonly depth: number
}

/**
 * @returns the columns of a batch.
 * @throws {@link FileRefusal} with the column.
 */
export function readColumns(fields: readonly FlatTable[], batch: ArrowBatch): AnyColumn[] {
  const { rows } = batch
  return fields.map((field) => readColumn({ field, batch, rows, path: field.string(0), depth: 0 }))
}

/** @returns the values of a dictionary, which stand in a batch of their own. */
export function readValues(field: FlatTable, batch: ArrowBatch): AnyColumn {
  const { rows } = batch
  const values = readPlain({ field, batch, rows, path: field.string(0), depth: 1 })
  if ('kind' in values) return contiguousText(values, rows)
  return values
}

type Rest = Pick<Column, 'name' | 'validity'>

function readChild(parent: Place, field: FlatTable, rows: number): AnyColumn {
  const { batch, depth, path } = parent
  return readColumn({ field, batch, rows, path: `${path}.${field.string(0)}`, depth: depth + 1 })
}

function readColumn(place: Place): AnyColumn {
  const { field, batch, rows, path, depth } = place
  const encoded = dictionaryOf(field)
  if (encoded === undefined) return readPlain(place)
  const rest = readNode(place)
  const codes: Column = { ...rest, kind: encoded.kind, data: batch.bytes() }
  const dictionary = batch.source.dictionaries.get(encoded.id)
  // Without rows, a file may leave the dictionary out, too.
  if (dictionary === undefined && rows > 0)
    throw damagedColumn(path, 'its dictionary is missing, or comes later')
  requireBytes(codes.data, rows * itemSize(codes.kind), path)
  const values = dictionary?.values ?? readPlain({ ...place, rows: 0 })
  const places = placesOf(codes, rows, dictionary?.rows ?? 0, path)
  const { client } = batch.source
  const { validity, ...column } = takeRows(values, places, (bytes) => client?.made.take(bytes))
  const hasNulls = places.includes(-1) || values.validity !== undefined
  const named = { ...column, name: rest.name, ...(hasNulls && { validity }) } as AnyColumn
  const isCategory =
    depth === 0 &&
    client !== undefined &&
    'kind' in named &&
    named.kind === 'str' &&
    !named.isBinary
  if (isCategory) return { ...named, polarsType: 'Categorical' }
  return named
}

function placesOf(codes: Column, rows: number, values: number, path: string): Int32Array {
  const numbers = columnNumbers(codes, rows)
  const places = new Int32Array(rows).fill(-1)
  for (let row = 0; row < rows; row++) {
    if (!isValid(codes, row)) continue
    const place = Number(numbers[row])
    if (place >= values || place < 0) throw damagedColumn(path, 'a code without a value')
    places[row] = place
  }
  return places
}

/** @returns the number of nulls. */
function takeNode({ batch, rows, path }: Place): number {
  const [count, nulls] = batch.node()
  if (rows !== count || rows < 0 || rows > maxRows)
    throw damagedColumn(path, `${count} elements, not ${rows}`)
  return nulls
}

function readNode(place: Place): Rest {
  const { field, batch, rows, path } = place
  const nulls = takeNode(place)
  const bits = batch.bytes()
  if (nulls <= 0) return { name: field.string(0) }
  if (bits.length === 0) throw damagedColumn(path, 'nulls without a bitmap')
  requireBytes(bits, (rows + 7) >> 3, path)
  return { name: field.string(0), validity: bits }
}

function requireBytes(bytes: Uint8Array, size: number, path: string): void {
  if (bytes.length < size)
    throw damagedColumn(path, `${bytes.length} bytes where ${size} are needed`)
}

function readPlain(place: Place): AnyColumn {
  const { field, batch, rows, path, depth } = place
  const type = arrowTypeOf(field)
  if (type === undefined) throw unsupported(path, `${arrowTypeName(field)} of Arrow`)
  if (depth > maxDepth)
    throw new FileRefusal(
      `one with ${columnNamed(path)}, which is more than ${maxDepth} deep`,
      true,
    )
  const { client } = batch.source
  if (type.layout === 'null') {
    takeNode(place)
    client?.made.take(rows * 8)
    return nullColumn(field.string(0), rows)
  }
  const rest = readNode(place)
  if (type.layout === 'struct') return readStruct(place, rest)
  if (type.layout === 'list' || type.layout === 'fixed-list') return readList(type, place, rest)
  if (type.layout === 'views') return readViews(type, place, rest)
  if (type.layout === 'text') return readText(type, place, rest)
  const column = readFlat(type, place, rest)
  if (type.layout !== 'decimal') return column
  const { precision, scale } = type
  const { keepsDigits } = batch.source
  if (depth > 0 || !keepsDigits) return decimalsAs('float64', column, rows, scale)
  client?.made.take(rows * (precision + 6))
  const texts = decimalsAs('str', column, rows, scale)
  return { ...texts, polarsType: `Decimal(${precision}, ${scale})` }
}

/** A type by its layout. */
type Of<L extends ArrowType['layout']> = Extract<ArrowType, { readonly layout: L }>

type Flat = Of<'half' | 'flat' | 'scaled' | 'fixed-bytes' | 'decimal'>

function readFlat(type: Flat, { batch, rows, path }: Place, rest: Rest): Column {
  const data = batch.bytes()
  const { client } = batch.source
  if (type.layout === 'half') {
    requireBytes(data, rows * 2, path)
    client?.made.take(rows * 4)
    return { ...rest, kind: 'float32', data: floatsOf(data, rows) }
  }
  if (type.layout === 'fixed-bytes' || type.layout === 'decimal') {
    const size = 'bytes' in type ? type.bytes : type.length
    if (size < 0 || rows * size > maxRows)
      throw damagedColumn(path, `${rows} elements of ${size} bytes`)
    requireBytes(data, rows * size, path)
    client?.made.take(rows * 4)
    return { ...rest, kind: 'str', isBinary: true, data, offsets: evenOffsets(rows, size) }
  }
  const { kind, time } = type
  requireBytes(data, kind === 'bool' ? (rows + 7) >> 3 : rows * itemSize(kind), path)
  const column = { ...rest, kind, data, time }
  if (type.layout === 'flat') return column
  client?.made.take(rows * 8)
  return scaled(column, rows, type, path)
}

function scaled(column: Column, rows: number, { time, scale }: Of<'scaled'>, path: string): Column {
  const numbers = columnNumbers(column, rows)
  const isDate = 'by' in scale
  const [kind, bits] = isDate ? (['int32', 32] as const) : (['int64', 64] as const)
  const made = new (dataConstructor(kind))(rows)
  for (let row = 0; row < rows; row++) {
    if (!isValid(column, row)) continue
    const value = isDate
      ? floorDivide(BigInt(numbers[row]), scale.by)
      : BigInt(numbers[row]) * scale.times
    if (BigInt.asIntN(bits, value) !== value) {
      throw new FileRefusal(
        `one with ${columnNamed(path)} that has a time out of range in row ${row}`,
      )
    }
    made[row] = isDate ? Number(value) : value
  }
  return { ...column, kind, data: new Uint8Array(made.buffer), time }
}

function readText({ offsetBytes, isBinary }: Of<'text'>, place: Place, rest: Rest): Column {
  const { batch, rows, path } = place
  const offsets = offsetsOf(place, offsetBytes)
  const column: Column = { ...rest, kind: 'str', offsets, data: batch.bytes(), isBinary }
  if (batch.source.client === undefined) return column
  return checkedText(column, rows, path)
}

function readViews({ isBinary }: Of<'views'>, { batch, rows, path }: Place, rest: Rest): Column {
  const data = batch.bytes()
  requireBytes(data, rows * 16, path)
  const column: Column = { ...rest, kind: 'str', data, heaps: batch.heaps(), isBinary }
  const { client } = batch.source
  if (client === undefined) return column
  client.made.take(checkViews(column, rows, path) + rows * 4)
  return checkedText(contiguousText(column, rows), rows, path)
}

function readStruct(place: Place, rest: Rest): AnyColumn {
  const { field, batch, rows, path } = place
  const fields = field.tables(5).map((child) => readChild(place, child, rows))
  if (batch.source.client !== undefined) {
    if (fields.length === 0) throw unsupported(path, 'objects without fields')
    requireNames(
      fields.map(({ name }) => name),
      `one with ${columnNamed(path)} of two fields`,
    )
  }
  return { ...rest, fields }
}

/**
 * Refuses two columns of one name in what `what` describes.
 *
 * @throws {@link FileRefusal}.
 */
export function requireNames(names: readonly string[], what = 'one with two columns'): void {
  const seen = new Set<string>()
  const twice = names.find((name) => seen.size === seen.add(name).size)
  if (twice !== undefined) throw new FileRefusal(`${what} ${JSON.stringify(twice.slice(0, 80))}`)
}

function readList(type: Of<'list' | 'fixed-list'>, place: Place, rest: Rest): AnyColumn {
  const { field, batch, rows, path } = place
  const { client } = batch.source
  const [child] = field.tables(5)
  if (child === undefined) throw damagedColumn(path, 'a list without a type of its elements')
  const offsets =
    'length' in type ? fixedOffsets(place, type.length) : offsetsOf(place, type.offsetBytes)
  const count = batch.nextRows
  if (client !== undefined) checkOffsets(offsets, rows, count, path)
  const entries = readChild(place, child, count)
  const items = isMap(field) ? withMapNames(entries) : entries
  const [base] = offsets
  if (base === 0) return { ...rest, offsets, items }
  return {
    ...rest,
    offsets: offsets.map((at) => at - base),
    items: sliceColumn(items, base, offsets[rows]),
  }
}

/** Names the fields of a map's entries as pyarrow does: writers may call them anything. */
function withMapNames(entries: AnyColumn): AnyColumn {
  if (!('fields' in entries)) return entries
  return {
    ...entries,
    fields: entries.fields.map((field, i) => ({
      ...field,
      name: ['key', 'value'][i] ?? field.name,
    })),
  }
}

function fixedOffsets({ batch, rows, path }: Place, length: number): Int32Array {
  if (length < 0 || rows * length > maxRows)
    throw damagedColumn(path, `${rows} lists of ${length} elements`)
  batch.source.client?.made.take(rows * 4)
  return evenOffsets(rows, length)
}

function offsetsOf({ batch, rows, path }: Place, size: 4 | 8): Int32Array {
  const bytes = batch.bytes()
  // Without rows, writers may leave out the only offset.
  if (rows === 0) return new Int32Array(1)
  requireBytes(bytes, (rows + 1) * size, path)
  batch.source.client?.made.take(rows * 4)
  const kind = size === 8 ? 'int64' : 'int32'
  const numbers = columnNumbers({ name: '', kind, data: bytes }, rows + 1)
  const offsets = new Int32Array(rows + 1)
  for (let i = 0; i <= rows; i++) {
    const at = Number(numbers[i])
    if (at > maxRows) throw damagedColumn(path, `an offset of ${at}`)
    offsets[i] = at
  }
  return offsets
}

function floatsOf(halves: Uint8Array, rows: number): Uint8Array {
  const floats = new Float32Array(rows)
  for (let i = 0; i < rows; i++)
    floats[i] = float16ToNumber(halves[i * 2] | (halves[i * 2 + 1] << 8))
  return new Uint8Array(floats.buffer)
}
