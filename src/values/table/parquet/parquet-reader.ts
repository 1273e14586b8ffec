/** Reads Parquet files of flat columns by the add-on; all other files go to the decoder. @module */
import { elementTypes } from '../../../core/dtype.ts'
import { minAsyncBytes, nativeLimiter } from '../../../core/memory/limiter.ts'
import { addon } from '../../../core/native/add-on.ts'
import {
  parquetLeafWord,
  parquetWord,
  readColumnWord,
  wordsOf,
} from '../../../core/native/shared-numbers.ts'
import { utf8Text } from '../../../core/platform.ts'
import type { MaybePromise } from '../../../core/promise.ts'
import type { FlatTable } from '../../array/flatbuffer.ts'
import { schemaFields } from '../arrow/arrow-reader.ts'
import { arrowTypeOf, dictionaryOf } from '../arrow/arrow-types.ts'
import type { Column, ColumnTable } from '../columns.ts'
import { type PlainType, physicalOf, plainTypeOf } from './parquet-kinds.ts'
import { footerLength } from './parquet-metadata.ts'
import { unpackPage } from './parquet-unpack.ts'

/** Bounds of this reader. **Units**: bytes; columns. */
const maxFileBytes = 2 ** 26
const maxFooterBytes = 2 ** 16
const maxColumns = 512
/** The most that is made of a file. A small file may make 2 MiB, a larger one 16 times its size. */
const maxMadeBytes = 2 ** 27
const maxSmallBytes = 2 ** 21
const maxGrowth = 16

/**
 * `file` must not change until then.
 *
 * @returns the columns of a file, off the event loop if it is large; undefined for what the decoder
 * reads: other types, encodings and compressions, damaged files, small ones that decode to far
 * more.
 */
export function readFlatParquet(file: Uint8Array): MaybePromise<ColumnTable | undefined> {
  const native = addon
  if (native === undefined) return undefined
  if (file.length > maxFileBytes || footerLength(file) > maxFooterBytes) return undefined
  const words = native.readParquetFooter(file)
  if (words === undefined) return undefined
  const { [parquetWord.rows]: rows, [parquetWord.columns]: columns } = words
  const made = Math.max(rows * columns * 8, words[parquetWord.unpackedBytes])
  const allowed = Math.min(maxMadeBytes, Math.max(maxSmallBytes, file.length * maxGrowth))
  if (columns > maxColumns || made > allowed) return undefined
  const schema = lastSchema.of(file, words)
  if (schema === undefined) return undefined
  const { kinds } = schema
  words[parquetWord.maxBytes] = 3 * Math.max(made, maxSmallBytes)
  const isLarge = Math.max(file.length, made / 2) > minAsyncBytes
  if (!isLarge)
    return tableOf(native.readParquet(file, words, kinds, unpackerOf(file)), rows, schema)
  const reading = () => native.readParquetAsync(file, words, kinds)
  return nativeLimiter.run(reading).then((buffers) => tableOf(buffers, rows, schema))
}

/** What the columns of a file are. */
interface Schema {
  readonly columns: readonly { readonly name: string; readonly type: PlainType }[]
  /** Codes of their kinds. */
  readonly kinds: Uint8Array
}

/** The schema of the last file, by all bytes that it is made of: clients send one schema again and again. */
class LastSchema {
  #stated = Buffer.alloc(0)
  #arrow = Buffer.alloc(0)
  #schema: Schema | undefined

  /** @returns undefined for one with columns that are not read here. */
  of(file: Uint8Array, words: Float64Array): Schema | undefined {
    const { [parquetWord.schemaAt]: schemaAt, [parquetWord.schemaEnd]: schemaEnd } = words
    const { [parquetWord.arrowAt]: arrowAt, [parquetWord.arrowEnd]: arrowEnd } = words
    const isSame =
      this.#stated.compare(file, schemaAt, schemaEnd) === 0 &&
      this.#arrow.compare(file, arrowAt, arrowEnd) === 0
    if (isSame) return this.#schema
    this.#stated = Buffer.from(file.subarray(schemaAt, schemaEnd))
    this.#arrow = Buffer.from(file.subarray(arrowAt, arrowEnd))
    try {
      this.#schema = schemaOf(file, words, this.#arrow)
    } catch {
      this.#schema = undefined
    }
    return this.#schema
  }
}

const lastSchema = new LastSchema()

/** @throws FileRefusal. */
function schemaOf(file: Uint8Array, words: Float64Array, arrow: Buffer): Schema | undefined {
  const count = words[parquetWord.columns]
  const fields =
    arrow.length === 0 ? undefined : schemaFields(Buffer.from(arrow.toString(), 'base64'))
  if (fields !== undefined && fields.length !== count) return undefined
  const columns: { name: string; type: PlainType }[] = []
  for (let i = 0; i < count; i++) {
    const leaf = words.subarray(headWords + i * leafWords)
    const { [parquetLeafWord.nameAt]: start, [parquetLeafWord.nameEnd]: end } = leaf
    const name = utf8Text(file.subarray(start, end))
    const type = typeOf(leaf, fields?.[i], name)
    if (type === undefined) return undefined
    columns.push({ name, type })
  }
  if (new Set(columns.map(({ name }) => name)).size !== count) return undefined
  return { columns, kinds: Uint8Array.from(columns, ({ type }) => elementTypes[kindOf(type)].code) }
}

const kindOf = (type: PlainType) => (type.layout === 'flat' ? type.kind : 'str')

/** @returns the type of a column, that of the Arrow schema if there is one; undefined if it is not read here. */
function typeOf(
  leaf: Float64Array,
  field: FlatTable | undefined,
  name: string,
): PlainType | undefined {
  const physical = leaf[parquetLeafWord.type]
  const stated = plainTypeOf(
    physical,
    leaf[parquetLeafWord.converted],
    leaf[parquetLeafWord.logical],
  )
  if (stated === undefined || field === undefined) return stated
  const type = dictionaryOf(field) === undefined ? arrowTypeOf(field) : undefined
  if (type === undefined || field.string(0) !== name) return undefined
  if (type.layout === 'flat') {
    // A time whose unit the file does not say, and durations.
    if (type.time !== undefined && type.time.type !== 'date') return undefined
    if (stated.layout !== 'flat' || physicalOf(type.kind) !== physical) return undefined
    return type
  }
  const isText = (type.layout === 'text' || type.layout === 'views') && !type.isBinary
  if (isText && stated.layout === 'text') return type
  return undefined
}

/** @returns what unpacks a part of a file by zlib. */
function unpackerOf(file: Uint8Array) {
  return (codec: number, start: number, end: number, size: number) =>
    unpackPage(file.subarray(start, end), codec, size)
}

function tableOf(
  buffers: readonly ArrayBuffer[] | undefined,
  rows: number,
  { columns }: Schema,
): ColumnTable | undefined {
  if (buffers === undefined) return undefined
  const [whole] = buffers
  const words = new Float64Array(whole, 0, columns.length * readWords)
  let text = 1
  const read = ({ name, type }: Schema['columns'][number], i: number): Column => {
    const at = i * readWords
    const bits = words[at + readColumnWord.validityAt]
    const validity = bits === -1 ? undefined : new Uint8Array(whole, bits, (rows + 7) >> 3)
    const dataAt = words[at + readColumnWord.dataAt]
    if (type.layout === 'flat') {
      const data = new Uint8Array(whole, dataAt, words[at + readColumnWord.dataLength])
      return { name, kind: type.kind, data, validity, time: type.time }
    }
    const offsets = new Int32Array(whole, words[at + readColumnWord.offsetsAt], rows + 1)
    return { name, kind: 'str', data: new Uint8Array(buffers[text++]), offsets, validity }
  }
  return { rows, columns: columns.map(read) }
}

const headWords = wordsOf(parquetWord)
const leafWords = wordsOf(parquetLeafWord)
const readWords = wordsOf(readColumnWord)
