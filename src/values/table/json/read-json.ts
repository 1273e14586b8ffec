/** Reads JSON bodies as columns with their labels; every refusal is a BadInput. @module */
import { isUtf8 } from 'node:buffer'
import { BadInput } from '../../../core/errors.ts'
import { withCopy } from '../../../core/memory/byte-copy.ts'
import { minAsyncBytes } from '../../../core/memory/limiter.ts'
import { type MaybePromise, whenReady } from '../../../core/promise.ts'
import { bomLength, decodeUtf8 } from '../../../core/text/utf8.ts'
import { readPlainTable } from '../../plain-json.ts'
import { type Column, type ColumnTable, renameColumns } from '../columns.ts'
import { uniqueNames } from '../csv/csv.ts'
import type { FrameType } from '../frame-dtype.ts'
import { isLabelKind } from '../polars/labels.ts'
import {
  type FrameFailure,
  type FrameLayout,
  frameFailures,
  type ParsedFrame,
} from './frame-codec.ts'
import { frameCodec } from './native-codec.ts'
import { orderBySchema, parseTableSchema } from './table-schema.ts'

/** A JSON body as columns. */
export interface JsonFrame {
  readonly table: ColumnTable
  readonly labels?: Column | undefined
  readonly name?: string | undefined
  /** table: the types from the schema, by column. */
  readonly types?: readonly (FrameType | undefined)[]
  /** Why it was refused; then the columns hold every element as text of JSON, and {@link settleKinds} settles them. */
  readonly mixed?: BadInput
}

/**
 * Reads a JSON body, a large one off the event loop. `isPrivate`: no other code can reach the
 * body's buffer until the promise settles; others are copied. `isTyped`: whether types may settle
 * mixed columns.
 *
 * @throws BadInput with offset, column and row if known.
 */
export function decodeFrameJson(
  body: Uint8Array,
  layout: FrameLayout,
  name: string,
  isPrivate = false,
  isTyped = false,
): MaybePromise<JsonFrame> {
  const plain = readPlainTable(body, layout)
  if (plain !== undefined) return { table: plain }
  const bom = bomLength(body)
  const json = bom === 0 ? body : body.subarray(bom)
  const source = { bom, layout, name, isTyped }
  if (!isUtf8(json)) decodeUtf8(body, name)
  const { parseFrameAsync } = frameCodec
  if (json.length < minAsyncBytes || parseFrameAsync === undefined) {
    return readFrame(source, (asWritten) => frameCodec.parseFrame(json, layout, asWritten))
  }
  const readLarge = async (text: Uint8Array) =>
    readFrame(source, (asWritten) => parseFrameAsync(text, layout, asWritten))
  if (isPrivate) return readLarge(json)
  return withCopy(json, readLarge)
}

interface Source {
  readonly bom: number
  readonly layout: FrameLayout
  readonly name: string
  readonly isTyped: boolean
}

function readFrame(
  { bom, layout, name, isTyped }: Source,
  parse: (asWritten: boolean) => MaybePromise<ParsedFrame | FrameFailure>,
): MaybePromise<JsonFrame> {
  const accept = (frame: ParsedFrame): JsonFrame => {
    if (layout === 'table') return applySchema(frame, bom, name)
    const { table, labels, name: own } = frame
    if (layout !== 'split') return { table, labels, name: own }
    const names = uniqueNames(table.columns.map((column) => column.name))
    return { table: renameColumns(table, names), labels, name: own }
  }
  return whenReady(parse(false), (frame) => {
    if (!('failure' in frame)) return accept(frame)
    const mixed = refusal(frame, bom, layout, name)
    if (frame.failure !== 'kind' || !isTyped || layout === 'table') throw mixed
    return whenReady(parse(true), (written) => {
      if ('failure' in written) throw mixed
      return { ...accept(written), mixed }
    })
  })
}

/**
 * `string` stands for all of pandas' objects, which keep their types.
 *
 * @returns a column's type by the schema.
 */
function ownType(type: FrameType | undefined, column: Column): FrameType | undefined {
  if (type === 'Utf8')
    return column.isJson || (column.kind !== 'str' && hasValues(column)) ? undefined : type
  if (type === 'Int64' && column.kind === 'uint64') return 'UInt64'
  return type
}

function hasValues({ data, validity }: Column): boolean {
  return data.length > 0 && (validity === undefined || validity.some((bits) => bits !== 0))
}

function applySchema({ table, schema }: ParsedFrame, bom: number, name: string): JsonFrame {
  const { text = new Uint8Array(0), offset: start = 0 } = schema ?? {}
  const parsed = parseTableSchema(text)
  const refused = (expected: string, received: string, path?: string) => {
    const message = `expected ${expected} for ${name}, received ${received}`
    return new BadInput(message, {
      reason: 'schema',
      path,
      offset: path === undefined ? bom + start : undefined,
    })
  }
  if (parsed === undefined) throw refused('a Table Schema', `none at byte ${bom + start}`)
  if ('unknownZone' in parsed) {
    throw refused(
      'a name of the time zone database',
      JSON.stringify(parsed.unknownZone.slice(0, 80)),
    )
  }
  const ordered = orderBySchema(table, parsed)
  if (typeof ordered === 'string') {
    const column = JSON.stringify(ordered.slice(0, 80))
    throw refused(
      'data that fits its schema',
      `the column ${column}, which it does not have`,
      ordered,
    )
  }
  const at = parsed.fields.findIndex((field) => field.name === parsed.primaryKey)
  const labels = ordered.columns[at]
  // Labels of other kinds (dates are text) and labels with nulls stay a column, so that they are not lost.
  const isWhole = labels !== undefined && labels.validity === undefined && isLabelKind(labels.kind)
  const isLabels = labels !== undefined && (isWhole || ordered.rows === 0)
  const isColumn = (_: unknown, i: number) => !isLabels || i !== at
  return {
    table: { rows: ordered.rows, columns: ordered.columns.filter(isColumn) },
    labels: isLabels && ordered.rows > 0 ? labels : undefined,
    types: parsed.fields.map(({ type }, i) => ownType(type, ordered.columns[i])).filter(isColumn),
  }
}

const layoutNames: Record<FrameLayout, string> = {
  frame: 'a list of rows or an object of columns',
  index: 'an object of rows',
  split: 'an object with columns, index and data',
  table: 'an object with schema and data',
  series: 'a list, an object of labels or a scalar',
  'series-split': 'an object with name, index and data',
}

function refusal(
  { failure, offset, column, row }: FrameFailure,
  bom: number,
  layout: FrameLayout,
  name: string,
): BadInput {
  const [reason, wanted, received] = frameFailures[failure]
  const expected = failure === 'layout' || failure === 'keys' ? layoutNames[layout] : wanted
  const at = offset === undefined ? undefined : bom + offset
  let message = `expected ${expected} for ${name}, received ${received}`
  const names: string[] = []
  const path: string[] = []
  if (column !== undefined) names.push(`column ${JSON.stringify(column.slice(0, 80))}`)
  if (row !== undefined) {
    names.push(`row ${row}`)
    path.push(`[${row}]`)
  }
  if (column !== undefined) path.push(column)
  if (names.length > 0) message += ` in ${names.join(' of ')}`
  if (at !== undefined) message += ` at byte ${at}`
  return new BadInput(message, { reason, offset: at, path: path.join('.') || undefined })
}
