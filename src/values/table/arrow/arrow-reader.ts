/**
 * Arrow IPC streams and files → columns.
 *
 * @see Arrow columnar format 1.5, "IPC".
 * @module
 */
import { FlatTable } from '../../array/flatbuffer.ts'
import { type AnyColumn, type Column, type ColumnTable, tableBytes } from '../columns.ts'
import { joinColumns, type Piece } from '../take-rows.ts'
import { ArrowBatch, type ArrowSource, type UnpackBuffers } from './arrow-batch.ts'
import { maxRows, readColumns, readValues, requireNames } from './arrow-columns.ts'
import { type ArrowType, arrowTypeOf, dictionaryOf } from './arrow-types.ts'
import { damagedFile, FileRefusal, MadeBytes } from './file-refusal.ts'

const headers = { schema: 1, dictionary: 2, batch: 3 } as const
/** V5 in the enum MetadataVersion. */
const newestVersion = 4
const fileMagic = 'ARROW1'
/** Where the stream within a file starts, and the bytes after its footer: the footer's length and the magic. */
const fileStart = 8
const fileEnd = 10

/** Whether bytes are those of an Arrow IPC stream: the marker of its first message, in which no text is UTF-8. */
export function isArrowStream(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && bytes.subarray(0, 4).every((byte) => byte === 0xff)
}

const fault = () => damagedFile('an offset beyond its metadata')

interface Message {
  readonly type: number
  readonly header: FlatTable
  readonly body: Uint8Array
}

/**
 * Reads the message at a place. Returns undefined at the end.
 *
 * @throws {@link FileRefusal}.
 */
function messageAt(
  bytes: Uint8Array,
  start: number,
): (Message & { readonly end: number }) | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = start
  if (at + 4 > bytes.length) return undefined
  // Older writers leave the marker out.
  if (view.getInt32(at, true) === -1) at += 4
  if (at + 4 > bytes.length) return undefined
  const size = view.getInt32(at, true)
  if (size === 0) return undefined
  const bodyAt = at + 4 + size
  if (size < 0 || bodyAt > bytes.length) throw damagedFile('a message beyond its end')
  const message = FlatTable.root(bytes.subarray(at + 4, bodyAt), fault)
  if (message.int16(0) > newestVersion) throw new FileRefusal('one of a newer version of Arrow')
  const header = message.table(2)
  const end = bodyAt + message.long(3)
  if (header === undefined || end < bodyAt || end > bytes.length)
    throw damagedFile('a message beyond its end')
  return { type: message.uint8(1), header, body: bytes.subarray(bodyAt, end), end }
}

/**
 * @returns the stream that a file holds.
 * @throws {@link FileRefusal}.
 */
function streamIn(bytes: Uint8Array): Uint8Array {
  if (isArrowStream(bytes)) return bytes
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const isFile = bytes.length > fileStart + fileEnd && text.toString('latin1', 0, 6) === fileMagic
  // The first writers of streams had no marker; those of files always had both magics.
  if (!isFile) return bytes
  if (text.toString('latin1', bytes.length - 6) !== fileMagic)
    throw damagedFile('a file that does not end with ARROW1')
  const end = bytes.length - fileEnd - text.readInt32LE(bytes.length - fileEnd)
  if (end < fileStart || end > bytes.length) throw damagedFile('a footer beyond its file')
  return bytes.subarray(fileStart, end)
}

/**
 * Reads a client's stream or file of Arrow IPC. Checks every offset in it, and counts all that it
 * makes.
 *
 * @throws {@link FileRefusal}.
 */
export function readArrowIpc(
  bytes: Uint8Array,
  maxBytes: number,
  unpack: UnpackBuffers,
): ColumnTable<AnyColumn> {
  const client = { made: new MadeBytes(maxBytes), unpack }
  return readStream(streamIn(bytes), { keepsDigits: true, client })
}

function readStream(
  stream: Uint8Array,
  how: Omit<ArrowSource, 'dictionaries'>,
): ColumnTable<AnyColumn> {
  const source: ArrowSource = { ...how, dictionaries: new Map() }
  const { client } = source
  let fields: readonly FlatTable[] | undefined
  const tables: ColumnTable<AnyColumn>[] = []
  for (
    let message = messageAt(stream, 0);
    message !== undefined;
    message = messageAt(stream, message.end)
  ) {
    if ((fields === undefined) !== (message.type === headers.schema))
      throw damagedFile('no schema at its start')
    if (message.type === headers.schema) fields = fieldsOf(message.header, client)
    else if (message.type === headers.dictionary) addDictionary(message, fields ?? [], source)
    else if (message.type === headers.batch) tables.push(tableOf(fields ?? [], message, source))
  }
  if (fields === undefined) throw damagedFile('no schema at its start')
  if (tables.length === 0) tables.push(tableOf(fields, noBatch, source))
  if (tables.length > 1)
    client?.made.take(tables.reduce((sum, table) => sum + tableBytes(table), 0))
  return joinTables(tables)
}

/**
 * @returns the fields of a schema message at the start, in its bytes.
 * @throws {@link FileRefusal}.
 */
export function schemaFields(bytes: Uint8Array): readonly FlatTable[] {
  return messageAt(bytes, 0)?.header.tables(1) ?? []
}

function fieldsOf(schema: FlatTable, client: ArrowSource['client']): readonly FlatTable[] {
  if (schema.int16(0) !== 0)
    throw new FileRefusal('one of big-endian numbers, which are not supported')
  const fields = schema.tables(1)
  if (client !== undefined) requireNames(fields.map((field) => field.string(0)))
  return fields
}

function tableOf(
  fields: readonly FlatTable[],
  { header, body }: Pick<Message, 'body'> & Partial<Message>,
  source: ArrowSource,
): ColumnTable<AnyColumn> {
  const batch = new ArrowBatch(source, body, header)
  if (batch.rows < 0 || batch.rows > maxRows)
    throw new FileRefusal(`one with a batch of ${batch.rows} rows`, true)
  return { rows: batch.rows, columns: readColumns(fields, batch) }
}

const noBatch = { body: new Uint8Array(0) }

function joinTables(tables: readonly ColumnTable<AnyColumn>[]): ColumnTable<AnyColumn> {
  const [first] = tables
  if (tables.length === 1) return first
  const columns = first.columns.map((_, i) =>
    joinColumns(tables.map(({ rows, columns: own }): Piece => ({ column: own[i], rows }))),
  )
  return { rows: tables.reduce((sum, { rows }) => sum + rows, 0), columns }
}

function addDictionary(
  { header, body }: Message,
  fields: readonly FlatTable[],
  source: ArrowSource,
): void {
  const id = header.long(0)
  const field = fieldOf(fields, id, { left: maxFields })
  const data = header.table(1)
  if (field === undefined || data === undefined) throw damagedFile('a dictionary of no column')
  const batch = new ArrowBatch(source, body, data)
  const values = readValues(field, batch)
  const { rows } = batch
  const before = source.dictionaries.get(id)
  const isMore = header.uint8(2) === 1
  if (before === undefined || !isMore) source.dictionaries.set(id, { values, rows })
  else {
    source.client?.made.take(tableBytes({ rows: 0, columns: [before.values, values] }))
    const pieces = [
      { column: before.values, rows: before.rows },
      { column: values, rows },
    ]
    source.dictionaries.set(id, { values: joinColumns(pieces), rows: before.rows + rows })
  }
}

/** Maximum number of fields in a search for a dictionary: those of a hostile schema may all hold the same ones. */
const maxFields = 2 ** 15

function fieldOf(
  fields: readonly FlatTable[],
  id: number,
  count: { left: number },
): FlatTable | undefined {
  for (const field of fields) {
    if (--count.left < 0) throw damagedFile('too many fields')
    if (dictionaryOf(field)?.id === id) return field
    const inside = fieldOf(field.tables(5), id, count)
    if (inside !== undefined) return inside
  }
  return undefined
}

/** Decodes an Arrow IPC file of Polars, to views if it is of one batch; undefined for columns of other types. */
export function decodeArrow(
  file: Uint8Array,
  keepsDigits = false,
): ColumnTable<AnyColumn> | undefined {
  try {
    return readStream(streamIn(file), { keepsDigits })
  } catch (error) {
    if (error instanceof FileRefusal) return undefined
    throw error
  }
}

/** As {@link decodeArrow}, for files whose columns are all of numbers, booleans, times, text or bytes. */
export function decodeFlatArrow(file: Uint8Array): ColumnTable | undefined {
  const stream = streamIn(file)
  const isFlat = schemaFields(stream).every(
    (field) => dictionaryOf(field) === undefined && flatLayouts.has(arrowTypeOf(field)?.layout),
  )
  if (isFlat) return decodeArrow(stream) as ColumnTable<Column> | undefined
  return undefined
}

const flatLayouts: ReadonlySet<ArrowType['layout'] | undefined> = new Set([
  'flat',
  'text',
  'views',
] as const)

/** @returns which columns of an Arrow IPC file hold bytes or float16, at any depth. */
export function holdBytesOrHalves(file: Uint8Array): boolean[] {
  return schemaFields(streamIn(file)).map(holdsBytesOrHalves)
}

function holdsBytesOrHalves(field: FlatTable): boolean {
  const type = dictionaryOf(field) === undefined ? arrowTypeOf(field) : undefined
  if (type === undefined) return false
  return type.layout === 'half' || 'isBinary' in type || field.tables(5).some(holdsBytesOrHalves)
}
