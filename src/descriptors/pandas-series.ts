import { type ColumnKind, dtypeOfContainer } from '../core/dtype.ts'
import { BadInput, BadOutput, badInput, expected } from '../core/errors.ts'
import { minAsyncBytes } from '../core/memory/limiter.ts'
import { checkEnforced, checkOneOf, checkOptions, checkThat } from '../core/options.ts'
import { type MaybePromise, whenDefined, whenReady } from '../core/promise.ts'
import { isJsonType, requireMediaType } from '../http/media-type.ts'
import { HeaderList, HttpRequest, type HttpResponse } from '../http/message.ts'
import { constantHeaders } from '../http/response-head.ts'
import type { SeriesMessage } from '../messages/messages.ts'
import { matchesShape, parseShapePattern, showShape } from '../values/array/shape.ts'
import { type AnyColumn, columnOf, renameColumns } from '../values/table/columns.ts'
import { type FrameType, parseFrameType } from '../values/table/frame-dtype.ts'
import { dtypeNameOf, parseTimeForm, type TimeOptions } from '../values/table/frame-options.ts'
import type { FrameLayout } from '../values/table/json/frame-codec.ts'
import { type Orient, orients } from '../values/table/json/frame-plan.ts'
import { settleKinds } from '../values/table/json/mixed-kinds.ts'
import { encodeTable } from '../values/table/json/native-codec.ts'
import { decodeFrameJson, type JsonFrame } from '../values/table/json/read-json.ts'
import { tableText } from '../values/table/json/table-schema.ts'
import {
  decodeFrameFile,
  fromSeriesTable,
  type LabelledTable,
  requireTable,
  toSeriesTable,
} from '../values/table/message.ts'
import { buildFrame } from '../values/table/polars/build-frame.ts'
import { getLabels, setLabels } from '../values/table/polars/labels.ts'
import { loadPolars, type Polars } from '../values/table/polars/polars.ts'
import type { Series } from '../values/table/polars/polars-package.ts'
import type { TimeForm } from '../values/table/times.ts'
import { attempt, exampleIn, type Formats } from './description.ts'
import { IODescriptor } from './descriptor.ts'
import { maxExampleElements } from './element-schema.ts'
import { exampleColumn, seriesSchema } from './frame-schema.ts'

/**
 * Options of {@link PandasSeries}.
 *
 * @see SPEC "PandasSeries".
 */
export interface PandasSeriesOptions extends TimeOptions {
  /**
   * JSON layout: `records` and `values` are a list, `index` and `columns` an object by label.
   *
   * @default `records`
   */
  readonly orient?: Orient
  /** Type that incoming elements are cast to; `true` and `false` keep the types of the JSON values. */
  readonly dtype?: boolean | string | null
  /** Also refuse nulls if the numpy type cannot hold them: integers and booleans. Needs `dtype`. */
  readonly enforceDtype?: boolean
  /** `[rows]`; `-1` matches any number. */
  readonly shape?: readonly number[] | null
  /** Refuse series of another shape. Needs `shape`. */
  readonly enforceShape?: boolean
}

/** An element of a sample that is a list. */
export type SeriesElement = number | bigint | boolean | string | null

// The spec lists `columns` and `applyColumnNames` without effect on a series: it has no columns.
const readLayouts = {
  records: 'series',
  columns: 'series',
  values: 'series',
  index: 'series',
  split: 'series-split',
  table: 'table',
} as const satisfies Record<Orient, FrameLayout>
/** By orient; a table's schema is written apart. */
const writtenLayouts = { ...readLayouts, columns: 'series-index', index: 'series-index' } as const

const optionNames = ['orient', 'dtype', 'enforceDtype', 'shape', 'enforceShape'] as const
const jsonHeaders = constantHeaders([['content-type', 'application/json']])
// Not in metadata: BentoML's clients fail on an option that they do not know.
const timeOptions = ['dateFormat', 'dateUnit'] as const

/**
 * Decodes a JSON body to a Polars Series; encodes a Series as JSON.
 *
 * **Wire**: a list, an object keyed by label, or `{name, index, data}`, depending on the orient.
 * Orients other than split and table each read a list, an object and a scalar, as pandas does.
 * Types and times as in PandasDataFrame.
 *
 * @throws BadInput `syntax`, `encoding`, `dtype`, `columns`, `schema`, `shape` with the position;
 * 415 for another type.
 * @example
 * `new io.PandasSeries({ dtype: 'float32', shape: [-1], enforceShape: true })`
 * @see SPEC "PandasSeries".
 */
export class PandasSeries extends IODescriptor<Series> {
  readonly mimeType = 'application/json'
  override readonly readsHeaders: readonly string[] = []
  override readonly protoField = 'series'
  override readonly descriptorId: string = 'serving.io.PandasSeries'
  override readonly publicOptions: readonly string[] = optionNames
  readonly orient: Orient
  readonly dtype: boolean | string | undefined
  readonly enforceDtype: boolean
  readonly shape: readonly number[] | undefined
  readonly enforceShape: boolean
  readonly dateFormat: TimeForm['format']
  readonly dateUnit: TimeForm['unit']
  readonly sample: Series | undefined
  readonly #type: FrameType | undefined
  readonly #times: TimeForm
  readonly #polars: Polars

  constructor(given: PandasSeriesOptions = {}, sample?: Series) {
    super()
    const options = checkOptions('PandasSeries', given, [...optionNames, ...timeOptions])
    checkEnforced('PandasSeries', options)
    this.orient = checkOneOf('orient', options.orient ?? 'records', orients)
    this.dtype = options.dtype
    this.enforceDtype = options.enforceDtype ?? false
    this.shape = whenDefined(options.shape, parseShapePattern)
    this.enforceShape = options.enforceShape ?? false
    this.#times = parseTimeForm(options, this.orient)
    this.dateFormat = this.#times.format
    this.dateUnit = this.#times.unit
    this.sample = sample
    const isInferred = this.dtype === undefined || typeof this.dtype === 'boolean'
    this.#type = isInferred ? undefined : parseFrameType(this.dtype, 'dtype')
    checkThat(
      [undefined, 1].includes(this.shape?.length),
      '[rows]',
      'shape of PandasSeries',
      options.shape,
    )
    this.#polars = loadPolars('PandasSeries')
  }

  /**
   * Makes a descriptor with the type and shape of a series or list; `options` override.
   *
   * @throws BadInput.
   */
  static fromSample(
    sample: Series | readonly SeriesElement[] | ArrayBufferView,
    options: PandasSeriesOptions = {},
  ): PandasSeries {
    const polars = loadPolars('PandasSeries')
    const series = polars.isSeries(sample) ? sample : seriesOf(polars, sample)
    const dtype = dtypeNameOf(series.dtype.variant)
    const isTyped = dtype !== undefined && options.orient !== 'table'
    return new PandasSeries(
      { ...(isTyped && { dtype }), shape: [series.length], ...options },
      series,
    )
  }

  protected override formats(): Formats {
    const { orient, shape, sample } = this
    const length = shape?.find((dim) => dim !== -1)
    const dtype = typeof this.dtype === 'string' ? this.dtype : undefined
    const rows = this.enforceShape ? length : undefined
    const isShort = (count: number) => count <= maxExampleElements
    const made = () => (isShort(length ?? 2) ? this.#exampleOf(dtype, length ?? 2) : undefined)
    const series = sample !== undefined && isShort(sample.length) ? sample : attempt(made)
    const response = attempt(() => series && this.toHttpResponse(series))
    const example = exampleIn(response?.body as string | Uint8Array | undefined)
    const format = (refusesNulls: boolean) => ({
      mimeType: this.mimeType,
      schema: seriesSchema({ orient, dtype, rows, refusesNulls }),
      ...example,
    })
    return {
      input: [format(this.enforceDtype)],
      output: [format(false)],
      reasons: ['syntax', 'encoding', 'dtype', 'columns', 'schema', 'shape'],
    }
  }

  #exampleOf(dtype: string | undefined, rows: number): MaybePromise<Series> {
    const casting = { polars: this.#polars, types: [], enforce: false, name: 'PandasSeries' }
    const made = buildFrame({ rows, columns: [exampleColumn('', dtype, rows)] }, casting)
    return whenReady(made, (frame) => this.#polars.seriesOf(frame))
  }

  fromHttpRequest(request: HttpRequest): MaybePromise<Series> {
    requireMediaType(request.headers, isJsonType, 'application/json', 'PandasSeries')
    const { bytes, isPrivate } = request.lasting(minAsyncBytes)
    const isTyped = this.#type !== undefined
    const layout = readLayouts[this.orient]
    const read = decodeFrameJson(bytes, layout, 'PandasSeries', isPrivate, isTyped)
    return whenReady(read, (frame) => this.#fromTable(frame, true))
  }

  /** Reads a Series message or bytes: Parquet or Arrow IPC of one column, else JSON as in a body. */
  override fromProto(message: SeriesMessage | Uint8Array): MaybePromise<Series> {
    if (!(message instanceof Uint8Array)) {
      const { name = '' } = message
      return this.#fromTable({ ...fromSeriesTable(message, 'PandasSeries'), name })
    }
    const file = decodeFrameFile(message, 'PandasSeries')
    if (file === undefined)
      return this.fromHttpRequest(new HttpRequest(HeaderList.from({}), message))
    return whenReady(file, ({ table, labels }) =>
      this.#fromTable({ table, labels, name: table.columns[0]?.name ?? '' }, true),
    )
  }

  override toProto(value: Series): SeriesMessage {
    const table = requireTable(this.#check(value).toColumns(value), 'PandasSeries')
    return toSeriesTable({ table, labels: getLabels(value) })
  }

  /** `isOwned`: no other object shares the column's memory. */
  #fromTable(
    {
      table,
      labels,
      name,
      types,
      mixed,
    }: LabelledTable<AnyColumn> & Partial<Omit<JsonFrame, 'table'>>,
    isOwned = false,
  ): MaybePromise<Series> {
    if (table.columns.length > 1) {
      throw badInput(
        'columns',
        `expected one column for PandasSeries, received ${table.columns.length}`,
      )
    }
    this.#checkShape([table.rows], BadInput)

    const [column = columnOf('', 'float64', [])] = table.columns
    // pandas names the column of an unnamed series `values`.
    const hasOwn = this.orient === 'table' && column.name !== 'values'
    const called = name ?? (hasOwn ? column.name : '')
    const named = renameColumns({ rows: table.rows, columns: [column] }, [called])
    const cast = this.#type ? [this.#type] : (types ?? [])
    const casting = {
      polars: this.#polars,
      types: cast,
      enforce: this.enforceDtype,
      name: 'PandasSeries',
      isOwned,
    }
    return whenReady(buildFrame(settleKinds(named, cast, mixed), casting), (frame) =>
      setLabels(this.#polars.seriesOf(frame), labels),
    )
  }

  #checkShape(shape: readonly number[], Refusal: typeof BadInput | typeof BadOutput): void {
    if (!this.enforceShape || this.shape === undefined || matchesShape(shape, this.shape)) return
    const message = `expected shape ${showShape(this.shape)} for PandasSeries, received shape ${showShape(shape)}`
    throw new Refusal(message, { reason: 'shape' })
  }

  toHttpResponse(value: Series): HttpResponse {
    const polars = this.#check(value)
    const { orient } = this
    const { name } = value
    const labels = getLabels(value)
    const printable = requireTable(polars.toPrintable(value, this.#times), 'PandasSeries')
    const isTable = orient === 'table'
    const table = isTable ? renameColumns(printable, [name || 'values']) : printable
    const text = isTable
      ? tableText(table, labels, polars.fieldTypes(polars.frameOf(value)))
      : { layout: writtenLayouts[orient], name: name || undefined, labels }
    return { headers: jsonHeaders, body: encodeTable(table, text) }
  }

  #check(value: Series): Polars {
    if (!this.#polars.isSeries(value))
      throw new BadOutput(expected('a Series', 'PandasSeries', value))
    this.#checkShape([value.length], BadOutput)
    return this.#polars
  }
}

function seriesOf(polars: Polars, sample: unknown): Series {
  const own = dtypeOfContainer(sample) as ColumnKind | undefined
  if (own === undefined && !Array.isArray(sample))
    throw new BadInput(
      expected('a Series, a list or a typed array', 'PandasSeries.fromSample', sample),
    )
  const values = Array.from(sample as ArrayLike<SeriesElement>, (value) => value ?? null)
  const kind = own ?? kindOf(values)
  if (kind === undefined) {
    const elements = 'numbers, booleans or strings, all of one kind'
    throw badInput('dtype', expected(elements, 'PandasSeries.fromSample', sample))
  }
  return polars.seriesOf(
    polars.fromColumns({ rows: values.length, columns: [columnOf('', kind, values)] }),
  )
}

/** @returns int64 for whole numbers, else float64, …; undefined for mixed kinds. */
function kindOf(values: readonly SeriesElement[]): ColumnKind | undefined {
  const present = values.filter((value) => value !== null)
  const isInt = (value: SeriesElement) =>
    typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value)
  if (present.length === 0) return 'float64'
  if (present.every(isInt)) return 'int64'
  if (present.every((value) => typeof value === 'number')) return 'float64'
  if (present.every((value) => typeof value === 'boolean')) return 'bool'
  if (present.every((value) => typeof value === 'string')) return 'str'
  return undefined
}
