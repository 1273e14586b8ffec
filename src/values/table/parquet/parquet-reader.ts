/** Reads Parquet files of flat columns in this thread; all other files go to the decoder. @module */

import { minAsyncBytes } from '../../../core/memory/limiter.ts'
import { addon } from '../../../core/native/add-on.ts'
import { type MaybePromise, whenDefined, whenReady } from '../../../core/promise.ts'
import type { FlatTable } from '../../array/flatbuffer.ts'
import { type ArrowType, arrowTypeOf, dictionaryOf, schemaFields } from '../arrow/arrow-types.ts'
import type { Column, ColumnTable } from '../columns.ts'
import { readParquetFooter } from './parquet-footer.ts'
import { footerLength, type ParquetMetadata, type SchemaElement } from './parquet-metadata.ts'
import {
  type DecodedColumn,
  decodeColumns,
  firstInteger,
  integerKinds,
  physicalKinds,
  physicalOf,
} from './parquet-pages.ts'
import { Unreadable } from './thrift.ts'

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
  if (addon === undefined) return undefined
  if (file.length > maxFileBytes || footerLength(file) > maxFooterBytes) return undefined
  const footer = readParquetFooter(file)
  if ('failure' in footer) return undefined
  const { rows, columns, values, unpackedBytes, metadata } = footer
  const made = Math.max(rows * columns * 8, values * 8, unpackedBytes)
  const allowed = Math.min(maxMadeBytes, Math.max(maxSmallBytes, file.length * maxGrowth))
  if (columns > maxColumns || made > allowed) return undefined
  const isLarge = Math.max(file.length, made / 2) > minAsyncBytes
  try {
    const schema = metadata.elements.slice(1)
    const types = isFlat(metadata, schema) ? typesOf(schema, metadata.arrowSchema) : undefined
    if (types === undefined) return undefined
    const requested = types.map((type, i) => ({
      kind: type.layout === 'flat' ? type.kind : ('str' as const),
      isOptional: schema[i].repetition === optional,
      chunks: metadata.groups.map((group) => group.chunks[i]),
    }))
    const maxBytes = 3 * Math.max(made, maxSmallBytes)
    return whenReady(
      decodeColumns(addon, file, rows, requested, maxBytes, isLarge),
      (decoded) =>
        decoded && {
          rows,
          columns: decoded.map((column, i) => columnOf(schema[i], types[i], column)),
        },
    )
  } catch {
    return undefined
  }
}

function isFlat({ rows, groups }: ParquetMetadata, columns: readonly SchemaElement[]): boolean {
  if (!columns.every(({ isLeaf, repetition }) => isLeaf && repetition !== repeated)) return false
  const total = groups.reduce((sum, group) => sum + group.rows, 0)
  const isWhole = groups.every(
    ({ rows: own, chunks }) =>
      own >= 0 &&
      chunks.length === columns.length &&
      chunks.every(({ values, isElsewhere }) => values === own && !isElsewhere),
  )
  return (
    isWhole && total === rows && new Set(columns.map(({ path }) => path)).size === columns.length
  )
}

type Plain = Extract<ArrowType, { readonly layout: 'flat' | 'text' | 'views' }>

/**
 * Undefined if one is not read here.
 *
 * @returns the types of the columns: those of the Arrow schema, if there is one.
 */
function typesOf(
  columns: readonly SchemaElement[],
  arrowSchema: string | undefined,
): Plain[] | undefined {
  const fields = whenDefined(arrowSchema, fieldsOf)
  if (fields !== undefined && fields.length !== columns.length) return undefined
  const types: Plain[] = []
  for (const [i, column] of columns.entries()) {
    const stated = typeOf(column)
    if (fields !== undefined && dictionaryOf(fields[i]) !== undefined) return undefined
    const type = fields ? arrowTypeOf(fields[i]) : stated
    if (
      stated === undefined ||
      type === undefined ||
      fields?.[i].string(0) !== (fields && column.path)
    )
      return undefined
    if (type.layout === 'flat') {
      // A time whose unit the file does not say, and durations.
      if (type.time !== undefined && type.time.type !== 'date') return undefined
      if (stated.layout !== 'flat' || physicalOf(type.kind) !== column.type) return undefined
    } else if (
      (type.layout !== 'text' && type.layout !== 'views') ||
      type.isBinary ||
      stated.layout !== 'text'
    ) {
      return undefined
    }
    types.push(type)
  }
  return types
}

const [optional, repeated] = [1, 2]

const absent = -1
const utf8 = 0
const date = 6
const logicalString = 1
const logicalDate = 6
const logicalInteger = 10

function typeOf({ type, converted, logical }: SchemaElement): Plain | undefined {
  const plain = physicalKinds[type]
  if (plain === 'str') {
    const isText = logical === logicalString || (logical === absent && converted === utf8)
    if (isText) return { layout: 'text', offsetBytes: 4 }
    return undefined
  }
  if (
    plain === 'int32' &&
    (logical === logicalDate || (logical === absent && converted === date))
  ) {
    return { layout: 'flat', kind: 'int32', time: { type: 'date' } }
  }
  if (plain === undefined) return undefined
  if (logical === absent && converted === absent) return { layout: 'flat', kind: plain }
  // Writers of logical integers write the converted type, too.
  const kind = integerKinds[converted - firstInteger]
  if (kind === undefined || (logical !== absent && logical !== logicalInteger)) return undefined
  if (physicalOf(kind) === type) return { layout: 'flat', kind }
  return undefined
}

function fieldsOf(base64: string): FlatTable[] {
  return schemaFields(Buffer.from(base64, 'base64'), () => new Unreadable())
}

function columnOf({ path: name }: SchemaElement, type: Plain, decoded: DecodedColumn): Column {
  if (type.layout !== 'flat') return { name, kind: 'str', ...decoded }
  const { kind, time } = type
  return { name, kind, ...decoded, time }
}
