/**
 * The messages of numbers, NDArray, Series and DataFrame, ⇄ protobuf bytes.
 * @module
 */
import { BadInput } from '../errors.ts'
import {
  type DataFrameMessage,
  type NDArrayMessage,
  type SeriesMessage,
  type ValueList,
  valueLists,
} from './messages.ts'
import { PackedList, writePacked } from './packed.ts'
import { type ProtoReader, type ProtoWriter, wireType } from './protobuf.ts'

// An empty Series is two bytes on the wire and some hundred in memory.
const maxColumns = 10_000
// More than any array has, and few enough that a list of them is nothing.
const maxShape = 1024

type Writable<T> = { -readonly [K in keyof T]: T[K] }
type Lists = Partial<Record<ValueList, unknown>>

function listTable(of: 'ndarray' | 'series'): readonly ((typeof valueLists)[number] | undefined)[] {
  const table = new Array<(typeof valueLists)[number] | undefined>(16).fill(undefined)
  for (const list of valueLists) table[list[of]] = list
  return table
}

const ndarrayLists = listTable('ndarray')
const seriesLists = listTable('series')

/** Collects the lists of elements of one message. */
class ListCollector {
  readonly #table: typeof ndarrayLists
  readonly #open = new Map<ValueList, PackedList<'float32'> | string[]>()

  constructor(table: typeof ndarrayLists) {
    this.#table = table
  }

  /** Takes the field that the reader stands on; false when it is no list. */
  take(reader: ProtoReader): boolean {
    const list = this.#table[reader.field]
    if (list === undefined) return false
    const { property, dtype } = list
    let open = this.#open.get(property)
    if (open === undefined) {
      open = dtype === 'str' ? [] : new PackedList(dtype as 'float32')
      this.#open.set(property, open)
    }
    if (open instanceof PackedList) return open.take(reader)
    if (!reader.is(wireType.bytes)) return false
    open.push(reader.string())
    return true
  }

  finish(message: Lists): void {
    for (const [property, open] of this.#open) {
      message[property] = open instanceof PackedList ? open.finish() : open
    }
  }
}

/** Bytes become an NDArray message. **Errors**: BadInput. */
export function readNDArray(reader: ProtoReader): NDArrayMessage {
  const message: Writable<NDArrayMessage> = {}
  const lists = new ListCollector(ndarrayLists)
  const shape: number[] = []
  while (reader.next()) {
    if (reader.field === 1 && reader.is(wireType.varint)) message.dtype = reader.int32()
    else if (reader.field === 2 && reader.is(wireType.varint)) addDimension(shape, reader)
    else if (reader.field === 2 && reader.is(wireType.bytes)) {
      reader.message(() => {
        while (reader.pos < reader.len) addDimension(shape, reader)
      })
    } else if (reader.field === 11 && reader.is(wireType.varint)) message.scalar = reader.bool()
    else if (!lists.take(reader)) reader.skipField()
  }
  if (shape.length > 0) message.shape = shape
  lists.finish(message as Lists)
  return message
}

function addDimension(shape: number[], reader: ProtoReader): void {
  if (shape.length === maxShape) {
    throw new BadInput(`expected at most ${maxShape} dimensions, received more`, {
      reason: 'shape',
      offset: reader.pos,
    })
  }
  shape.push(reader.int32())
}

/** Bytes become a Series message. **Errors**: BadInput. */
export function readSeries(reader: ProtoReader, isIndex = false): SeriesMessage {
  const message: Writable<SeriesMessage> = {}
  const lists = new ListCollector(seriesLists)
  const nulls = new PackedList('uint32')
  while (reader.next()) {
    if (reader.field === 9 && nulls.take(reader)) continue
    if (reader.field === 10 && reader.is(wireType.bytes)) {
      // Labels have no labels: without this, every two bytes of a message would be a level of calls.
      if (isIndex) throw reader.fault('labels without labels')
      message.index = reader.message((labels) => readSeries(labels, true))
    } else if (reader.field === 11 && reader.is(wireType.bytes)) message.name = reader.string()
    else if (!lists.take(reader)) reader.skipField()
  }
  const positions = nulls.finish()
  if (positions.length > 0) message.nullPositions = positions
  lists.finish(message as Lists)
  return message
}

/** Bytes become a DataFrame message. **Errors**: BadInput. */
export function readDataFrame(reader: ProtoReader): DataFrameMessage {
  const columnNames: string[] = []
  const columns: SeriesMessage[] = []
  let index: SeriesMessage | undefined
  while (reader.next()) {
    if (!reader.is(wireType.bytes)) reader.skipField()
    else if (reader.field === 1) columnNames.push(reader.string())
    else if (reader.field === 2) {
      if (columns.length === maxColumns) {
        throw new BadInput(`expected at most ${maxColumns} columns, received more`, { reason: 'columns' })
      }
      columns.push(reader.message((column) => readSeries(column)))
    } else if (reader.field === 3) index = reader.message((labels) => readSeries(labels, true))
    else reader.skipField()
  }
  return { columnNames, columns, ...(index && { index }) }
}

function writeLists(writer: ProtoWriter, message: Lists, of: 'ndarray' | 'series'): void {
  for (const list of of === 'ndarray' ? valueLists : seriesOrder) {
    const values = message[list.property] as readonly unknown[] | undefined
    if (values === undefined) continue
    if (list.dtype === 'str') for (const text of values) writer.text(list[of], text as string)
    else writePacked(writer, list[of], list.dtype, values)
  }
}

// Fields are written in the order of their numbers, as protobuf's own writers do.
const seriesOrder = valueLists.toSorted((a, b) => a.series - b.series)

/** An NDArray message becomes bytes. */
export function writeNDArray(writer: ProtoWriter, message: NDArrayMessage): void {
  if (message.dtype !== undefined && message.dtype !== 0) {
    writer.tag(1, wireType.varint).int32(message.dtype)
  }
  writePacked(writer, 2, 'int32', message.shape ?? [])
  writeLists(writer, message as Lists, 'ndarray')
  if (message.scalar === true) writer.tag(11, wireType.varint).bool(true)
}

/** A Series message becomes bytes. */
export function writeSeries(writer: ProtoWriter, message: SeriesMessage): void {
  writeLists(writer, message as Lists, 'series')
  writePacked(writer, 9, 'uint32', message.nullPositions ?? [])
  const { index, name } = message
  if (index !== undefined) writer.message(10, () => writeSeries(writer, index))
  if (name !== undefined) writer.text(11, name)
}

/** A DataFrame message becomes bytes. */
export function writeDataFrame(writer: ProtoWriter, { columnNames = [], columns = [], index }: DataFrameMessage): void {
  for (const name of columnNames) writer.text(1, name)
  for (const column of columns) writer.message(2, () => writeSeries(writer, column))
  if (index !== undefined) writer.message(3, () => writeSeries(writer, index))
}

/** About how long such a message is. **Units**: bytes. */
export function sizeHint(message: NDArrayMessage | SeriesMessage): number {
  let size = 16
  for (const { property } of valueLists) {
    const list = message[property]
    if (list === undefined) continue
    size += ArrayBuffer.isView(list) ? list.byteLength : list.length * 8
  }
  return size
}
