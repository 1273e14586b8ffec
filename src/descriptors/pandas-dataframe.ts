import { BadInput, BadOutput, expected, InvalidArgument } from '../core/errors.ts'
import { minAsyncBytes } from '../core/memory/limiter.ts'
import { checkEnforced, checkOneOf, checkOptions, checkThat } from '../core/options.ts'
import { type MaybePromise, whenDefined, whenReady } from '../core/promise.ts'
import { isUtf8Label } from '../core/text/charset.ts'
import type { Context } from '../http/context.ts'
import { HeaderList, HttpRequest, type HttpResponse } from '../http/message.ts'
import type { DataFrameMessage } from '../messages/messages.ts'
import { parseShapePattern, showShape } from '../values/array/shape.ts'
import {
  type AnyColumn,
  type Column,
  renameColumns,
  type TimeUnit,
  timeUnits,
} from '../values/table/columns.ts'
import { type CsvSource, decodeCsv } from '../values/table/csv/read-csv.ts'
import { encodeFrameCsv } from '../values/table/csv/write-csv.ts'
import type { FrameType } from '../values/table/frame-dtype.ts'
import {
  type FrameFormat,
  formatTypes,
  frameFormats,
  requestFormat,
  responseFormat,
  toUtf8,
} from '../values/table/frame-formats.ts'
import {
  checkRequired,
  dtypeNameOf,
  parseColumnNames,
  parseDtypes,
  parseTimeForm,
} from '../values/table/frame-options.ts'
import { frameLayouts } from '../values/table/json/frame-codec.ts'
import { type Orient, orients } from '../values/table/json/frame-plan.ts'
import { settleKinds } from '../values/table/json/mixed-kinds.ts'
import { encodeTable } from '../values/table/json/native-codec.ts'
import { decodeFrameJson, type JsonFrame } from '../values/table/json/read-json.ts'
import { tableText } from '../values/table/json/table-schema.ts'
import {
  decodeFrameFile,
  encodeFrameMessage,
  encodeParquet,
  fromDataFrameMessage,
  type LabelledTable,
  readArrow,
  readParquet,
  requireTable,
} from '../values/table/message.ts'
import type { IndexedFile } from '../values/table/parquet/parquet-index.ts'
import { compressions, type ParquetCompression } from '../values/table/parquet/parquet-writer.ts'
import { buildFrame, type Casting } from '../values/table/polars/build-frame.ts'
import { getLabels, setLabels } from '../values/table/polars/labels.ts'
import { loadPolars, type Polars } from '../values/table/polars/polars.ts'
import type { DataFrame } from '../values/table/polars/polars-package.ts'
import type { TimeForm } from '../values/table/times.ts'
import { attempt, type Formats } from './description.ts'
import { IODescriptor } from './descriptor.ts'
import { describeFrames, exampleColumns, maxExampleColumns } from './frame-description.ts'
import { optionNames, ownOptions, type PandasDataFrameOptions } from './frame-descriptor-options.ts'

export type { PandasDataFrameOptions } from './frame-descriptor-options.ts'

const encoders = {
  csv: (polars: Polars, frame: DataFrame) => ({ body: encodeFrameCsv(polars, frame) }),
  parquet: encodeParquet,
  'arrow file': (polars: Polars, frame: DataFrame) => ({ body: polars.writeIpc(frame) }),
  'arrow stream': (polars: Polars, frame: DataFrame) => ({ body: polars.writeIpcStream(frame) }),
}
/**
 * Decodes a JSON, CSV or Parquet body to a Polars DataFrame; encodes a DataFrame in one of these
 * formats.
 *
 * **Wire**: JSON in the chosen orient. Integers are Int64, beyond it UInt64, other numbers Float64,
 * null and NaN null, a column of nulls Float64. Lists and objects are nested columns, at most 16
 * levels deep. Times are epoch milliseconds, or as `dateFormat` and `dateUnit` say; bytes are
 * base64. In CSV and messages, lists and objects are JSON text, which dtype `list` or `struct`
 * reads. Decimals are floats in JSON and messages. A column of several kinds, such as `[1,"2"]`,
 * needs a dtype. Row labels are texts or numbers of one level, stored beside the frame, see {@link
 * labels}; CSV lacks them, Parquet has what pandas states as the index. Parquet with nested columns
 * is decoded in a separate process. Responses have `defaultFormat`, unless `Accept` names another.
 *
 * @throws BadInput `syntax`, `encoding`, `ragged`, `dtype`, `columns`, `schema`, `shape`, `size`
 * with the position; 415 for other media types.
 * @example
 * `new io.PandasDataFrame({ dtype: { age: 'int64' }, shape: [-1, 2], enforceShape: true })`
 * @see SPEC "PandasDataFrame". Our choice: `records`, `columns` and `values` each read the layouts
 * of all three, as pandas does; a duplicate name is refused in objects and renamed `a.1` in split
 * and CSV.
 */
export class PandasDataFrame extends IODescriptor<DataFrame> {
  readonly mimeType: string
  override readonly readsHeaders: readonly string[] = ['accept']
  override readonly protoField = 'dataframe'
  override readonly descriptorId: string = 'serving.io.PandasDataFrame'
  override readonly publicOptions: readonly string[] = optionNames
  readonly orient: Orient
  readonly columns: readonly string[] | undefined
  readonly applyColumnNames: boolean
  readonly dtype: boolean | Readonly<Record<string, string>> | undefined
  readonly enforceDtype: boolean
  /** Columns that a request must have: those of the options, and of an enforced `dtype`. */
  readonly required: readonly string[]
  readonly shape: readonly number[] | undefined
  readonly enforceShape: boolean
  readonly defaultFormat: FrameFormat
  readonly dateFormat: TimeForm['format']
  readonly dateUnit: TimeForm['unit']
  readonly csvDateUnit: TimeUnit | undefined
  readonly compression: ParquetCompression
  readonly sample: DataFrame | undefined
  readonly #types: ReadonlyMap<string, FrameType> | boolean | undefined
  readonly #times: TimeForm
  readonly #polars: Polars

  constructor(given: PandasDataFrameOptions = {}, sample?: DataFrame) {
    super()
    const options = checkOptions('PandasDataFrame', given, [...optionNames, ...ownOptions])
    checkEnforced('PandasDataFrame', options)
    this.orient = checkOneOf('orient', options.orient ?? 'records', orients)
    this.columns = whenDefined(options.columns, (names) => parseColumnNames(names))
    this.applyColumnNames = options.applyColumnNames ?? false
    this.dtype = options.dtype
    this.enforceDtype = options.enforceDtype ?? false
    this.shape = whenDefined(options.shape, parseShapePattern)
    this.enforceShape = options.enforceShape ?? false
    this.defaultFormat = checkOneOf('defaultFormat', options.defaultFormat ?? 'json', frameFormats)
    this.mimeType = formatTypes[this.defaultFormat]
    this.#times = parseTimeForm(options, this.orient)
    this.dateFormat = this.#times.format
    this.dateUnit = this.#times.unit
    this.csvDateUnit = whenDefined(options.csvDateUnit, (unit) =>
      checkOneOf('csvDateUnit', unit, timeUnits),
    )
    this.compression = checkOneOf('compression', options.compression ?? 'snappy', compressions)
    this.sample = sample
    this.#types = parseDtypes(options.dtype)
    const isNamed = this.enforceDtype && (this.orient !== 'values' || this.applyColumnNames)
    const typed = isNamed && this.#types instanceof Map ? this.#types.keys() : []
    this.required = [
      ...new Set([...parseColumnNames(options.required ?? [], 'required'), ...typed]),
    ]
    if (this.applyColumnNames && this.columns === undefined) {
      throw new InvalidArgument('applyColumnNames for PandasDataFrame needs columns')
    }
    checkThat(
      [undefined, 2].includes(this.shape?.length),
      '[rows, columns]',
      'shape of PandasDataFrame',
      options.shape,
    )
    if (this.orient === 'table' && this.#types instanceof Map) {
      throw new InvalidArgument(
        "dtype for PandasDataFrame is not for orient 'table', whose schema says the types",
      )
    }
    this.#polars = loadPolars('PandasDataFrame')
  }

  /**
   * Makes a descriptor with a frame's columns, types and shape; `options` override them.
   *
   * @throws BadInput.
   */
  static fromSample(sample: DataFrame, options: PandasDataFrameOptions = {}): PandasDataFrame {
    const polars = loadPolars('PandasDataFrame')
    if (!polars.isDataFrame(sample))
      throw new BadInput(expected('a DataFrame', 'PandasDataFrame.fromSample', sample))
    const names = polars.names(sample)
    const types = polars.dtypes(sample).map(({ variant }) => dtypeNameOf(variant))
    const typed = names.map((name, i) => [name, types[i]]).filter(([, type]) => type !== undefined)
    return new PandasDataFrame(
      {
        columns: names,
        ...(options.orient !== 'table' && { dtype: Object.fromEntries(typed) }),
        shape: [polars.height(sample), names.length],
        ...options,
      },
      sample,
    )
  }

  /** The names that columns get by position. */
  get #newNames(): readonly string[] | undefined {
    return this.applyColumnNames ? this.columns : undefined
  }

  /** The number of columns that the shape asks for. */
  get #enforcedWidth(): number | undefined {
    const width = this.shape?.[1]
    if (this.enforceShape && width !== -1) return width
    return undefined
  }

  protected override formats(): Formats {
    const { orient, defaultFormat } = this
    const dtypes = typeof this.dtype === 'object' ? this.dtype : {}
    const width = this.#newNames?.length ?? this.#enforcedWidth
    const frame = attempt(() => this.#exampleFrame(dtypes, width))
    const json = attempt(() => frame && this.#toJson(frame, undefined))
    const csv = attempt(() => frame && Buffer.from(encodeFrameCsv(this.#polars, frame)).toString())
    return describeFrames({
      orient,
      dtypes,
      width,
      defaultFormat,
      refusesNulls: this.enforceDtype,
      // Renamed by position: a request may have other names.
      required: this.#newNames ? [] : this.required,
      json,
      csv,
    })
  }

  /** @returns two rows of the sample, or made of the options; undefined for too many columns. */
  #exampleFrame(
    dtypes: Readonly<Record<string, string>>,
    width: number | undefined,
  ): MaybePromise<DataFrame | undefined> {
    const polars = this.#polars
    const { sample } = this
    if (sample !== undefined) {
      if (polars.names(sample).length > maxExampleColumns) return undefined
      return polars.slice(sample, 0, Math.min(2, polars.height(sample)))
    }
    const known = this.columns ?? [...new Set([...Object.keys(dtypes), ...this.required])]
    const table = exampleColumns(known, dtypes, width)
    return table && buildFrame(table, this.#castingTo([]))
  }

  fromHttpRequest(request: HttpRequest): MaybePromise<DataFrame> {
    const { format, charset } = requestFormat(
      request.headers,
      this.defaultFormat,
      'PandasDataFrame',
    )
    const isFile = format === 'parquet' || format === 'arrow'
    const { bytes, isPrivate } = request.lasting(isFile ? 0 : minAsyncBytes)
    if (isFile) {
      const read = format === 'arrow' ? readArrow : readParquet
      return this.#fromFile(read(bytes, 'PandasDataFrame'))
    }
    if (isUtf8Label(charset)) return this.#fromText(format, bytes, isPrivate)
    return this.#fromText(format, toUtf8(bytes, charset), true)
  }

  #fromText(format: FrameFormat, text: Uint8Array, isPrivate: boolean): MaybePromise<DataFrame> {
    if (format === 'json') {
      const { orient } = this
      const layout = frameLayouts.find((each) => each === orient) ?? 'frame'
      const isTyped = this.#types instanceof Map
      const read = decodeFrameJson(text, layout, 'PandasDataFrame', isPrivate, isTyped)
      return whenReady(read, (frame) => this.#fromTable(frame, true))
    }
    return whenReady(decodeCsv(text, this.#csvSource(isPrivate)), (table) =>
      this.#fromTable({ table, labels: undefined }, true),
    )
  }

  #csvSource(isPrivate: boolean): CsvSource {
    const source = { name: 'PandasDataFrame', epochUnit: this.csvDateUnit, isPrivate }
    if (this.#types === false) return { ...source, types: 'text' }
    const isByName = this.#types instanceof Map
    return { ...source, types: isByName ? (names) => this.#typesOf(names) : undefined }
  }

  /** Reads a DataFrame message or bytes: Parquet, an Arrow IPC file or stream, else a body of `defaultFormat`. */
  override fromProto(message: DataFrameMessage | Uint8Array): MaybePromise<DataFrame> {
    const name = 'PandasDataFrame'
    if (!(message instanceof Uint8Array)) {
      return this.#fromTable(fromDataFrameMessage(message, name))
    }
    const file = decodeFrameFile(message, name)
    if (file !== undefined) return this.#fromFile(file)
    return this.fromHttpRequest(new HttpRequest(HeaderList.from({}), message))
  }

  #fromFile(file: MaybePromise<IndexedFile>): MaybePromise<DataFrame> {
    return whenReady(file, (indexed) => this.#fromTable(indexed, true))
  }

  /** @returns a DataFrame message; Parquet if the call's `accept` metadata asks for it. */
  override toProto(value: DataFrame, ctx?: Context): MaybePromise<DataFrameMessage | Uint8Array> {
    const accept = ctx?.headers.get('accept')
    const { format } = responseFormat(accept, 'json')
    if (format !== 'json' && format !== 'csv')
      return whenReady(this.toHttpResponse(value, ctx), ({ body }) => body as Uint8Array)
    return encodeFrameMessage(
      this.#polars,
      this.#checkOutput(value),
      getLabels(value),
      'PandasDataFrame',
    )
  }

  /** `isOwned`: no other object shares the columns' memory. */
  #fromTable(
    {
      table,
      labels,
      types,
      mixed,
    }: LabelledTable<AnyColumn> & Partial<Pick<JsonFrame, 'types' | 'mixed'>>,
    isOwned = false,
  ): MaybePromise<DataFrame> {
    this.#checkWidth(table.columns.length, BadInput)
    const names = this.#newNames
    const renamed = names ? renameColumns(table, names) : table
    checkRequired(this.required, renamed.columns, table.columns)
    const cast = types ?? this.#typesOf(table.columns.map(({ name }) => name))
    const settled = settleKinds(renamed, cast, mixed)
    return whenReady(buildFrame(settled, this.#castingTo(cast, isOwned)), (frame) =>
      setLabels(frame, labels),
    )
  }

  #castingTo(types: Casting['types'], isOwned = false): Casting {
    return {
      polars: this.#polars,
      types,
      enforce: this.enforceDtype,
      name: 'PandasDataFrame',
      isOwned,
    }
  }

  /** Looks up each column's type by its name after renaming, else by its name in the request. */
  #typesOf(names: readonly string[]): readonly (FrameType | undefined)[] {
    const types = this.#types
    if (!(types instanceof Map)) return []
    const renamed = this.#newNames
    return names.map((name, i) => types.get(renamed?.[i] ?? name) ?? types.get(name))
  }

  #checkWidth(width: number, Refusal: typeof BadInput | typeof BadOutput): void {
    const named = this.#newNames?.length ?? width
    if (width !== named) {
      const message = `expected ${named} columns for PandasDataFrame, received ${width}`
      throw new Refusal(message, { reason: 'columns' })
    }
    const wanted = this.#enforcedWidth ?? width
    if (width === wanted) return
    const allowed = `${wanted} columns (shape ${showShape(this.shape ?? [])})`
    const message = `expected ${allowed} for PandasDataFrame, received ${width}`
    throw new Refusal(message, { reason: 'shape' })
  }

  toHttpResponse(value: DataFrame, ctx?: Context): MaybePromise<HttpResponse> {
    const polars = this.#polars
    const frame = this.#checkOutput(value)
    const { format, headers } = responseFormat(ctx?.headers.get('accept'), this.defaultFormat)
    if (format === 'json') return { headers, body: this.#toJson(frame, getLabels(value)) }
    try {
      return { headers, ...encoders[format](polars, frame, this.compression) }
    } catch (cause) {
      const what = `columns that ${format} can hold for PandasDataFrame`
      throw new BadOutput(`expected ${what}, received others`, { cause })
    }
  }

  /**
   * @returns the function's frame with the names to send.
   * @throws BadOutput.
   */
  #checkOutput(value: DataFrame): DataFrame {
    const polars = this.#polars
    if (!polars.isDataFrame(value))
      throw new BadOutput(expected('a DataFrame', 'PandasDataFrame', value))
    if (this.applyColumnNames || this.enforceShape)
      this.#checkWidth(polars.names(value).length, BadOutput)
    // The clone shares the columns; the function's own frame keeps its names.
    const names = this.#newNames
    return names ? polars.rename(polars.clone(value), names) : value
  }

  #toJson(frame: DataFrame, labels: Column | undefined): string | Uint8Array {
    const polars = this.#polars
    const { orient } = this
    const table = requireTable(polars.toPrintable(frame, this.#times), 'PandasDataFrame')
    const text =
      orient === 'table'
        ? tableText(table, labels, polars.fieldTypes(frame))
        : { layout: orient, labels }
    return encodeTable(table, text)
  }
}
