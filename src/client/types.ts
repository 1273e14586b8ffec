import type { ApiTypes, ServiceTypes } from '../api/api.ts'
import type { LiveTypes } from '../api/live-api.ts'
import type { Query } from '../api/query.ts'
import type { ShapeOf } from '../core/axes.ts'
import type { DType } from '../core/dtype.ts'
import type { File } from '../descriptors/file.ts'
import type { Image } from '../descriptors/image.ts'
import type { JSON as JsonDescriptor, JsonValue, Schema } from '../descriptors/json.ts'
import type { Multipart, Parts } from '../descriptors/multipart.ts'
import type { NumpyNdarray } from '../descriptors/numpy-ndarray.ts'
import type { PandasDataFrame } from '../descriptors/pandas-dataframe.ts'
import type { PandasSeries } from '../descriptors/pandas-series.ts'
import type { PartRule } from '../descriptors/part-rule.ts'
import type { StandardSchemaV1 } from '../descriptors/run-schema.ts'
import type { Text } from '../descriptors/text.ts'
import type { Call, TextCall, ValuesCall } from './call.ts'
import type { Job, JobInfo, JobListOptions, SubmitOptions } from './job.ts'
import type { Live, LiveOptions } from './live.ts'
import type { RowAnswer, Rows } from './rows.ts'
import type { CallOptions } from './transport.ts'
import type {
  ArrayInput,
  ArrayValue,
  Cell,
  FileInput,
  FrameInput,
  FrameValue,
  NestedList,
  SeriesValue,
} from './values.ts'

/** The method that calls an API, or the one that opens a live stream. */
export type ClientMethod<F> =
  F extends ApiTypes<infer I, infer O, infer P>
    ? MethodOf<ArgumentsOf<I>, CallOf<O, F>, OptionsOf<P>>
    : F extends LiveTypes<infer I, infer O>
      ? LiveMethod<ArgumentOf<I>, PieceResult<O, F>>
      : never

interface LiveMethod<I, O> {
  /** Opens a stream: `send` gives it values, and its iteration what the function yields. */
  open(options?: LiveOptions<I>): Live<I, O>
}

/** One of the values that a generator yields. */
type PieceResult<O, F> =
  O extends JsonDescriptor<infer S>
    ? S extends Schema
      ? SingleResult<O, F>
      : F extends (...args: never[]) => infer R
        ? Jsonified<PieceOf<Awaited<R>>>
        : JsonValue
    : ResultOf<O, F>

type OptionsOf<P> = unknown extends P
  ? [options?: CallOptions]
  : [options: CallOptions & { readonly params: P }]

interface MethodOf<A extends unknown[], C, P extends unknown[]> {
  (...given: [...A, ...P]): C
  /**
   * Makes a job of the call.
   *
   * @throws also `bad_input` for an API without the option `async`.
   */
  submit(...given: [...A, options?: SubmitOptions]): Call<Job<Awaited<C>>>
  /**
   * Makes one job of many calls. Rows are sent as JSON, so arrays are lists; a row of a frame is an object.
   *
   * @throws also `bad_input` for an API without the option `async`.
   */
  submitRows(rows: Rows<RowOf<A[0]>>, options?: SubmitOptions): Call<RowsJob<Awaited<C>>>
  /** @returns the job with that id, to come back to it. */
  job(id: string): Job<Awaited<C>>
  job(id: string, kind: 'rows'): RowsJob<Awaited<C>>
  /** @returns your jobs of the API, the latest first. */
  jobs(options?: JobListOptions): AsyncGenerator<JobInfo, void, undefined>
}

type RowOf<V> = [V, FrameInput] extends [FrameInput, V]
  ? Readonly<Record<string, Cell>>
  : V extends ArrayBufferView | { readonly shape: readonly number[] }
    ? never
    : V
type RowsJob<V> = Job<AsyncGenerator<RowAnswer<V extends ArrayValue ? NestedList : V>>>

type CallOf<O, F> = O extends Text
  ? TextCall
  : [O, IsGenerator<F>] extends [JsonDescriptor<infer _>, true]
    ? ValuesCall<PieceResult<O, F>>
    : Call<ResultOf<O, F>>

type PieceOf<R> = R extends AsyncIterable<infer T> | IterableIterator<infer T> ? T : never
type IsGenerator<F> = F extends (...args: never[]) => infer R
  ? 0 extends 1 & Awaited<R>
    ? false
    : [Awaited<R>] extends [AsyncIterable<unknown> | IterableIterator<unknown>]
      ? true
      : false
  : false

/** A method for each API of `S`: the type of a Service made by `add` and `addGet`, or of a module that exports one. */
export type Client<S> =
  S extends ServiceTypes<infer A>
    ? Methods<A>
    : Methods<S> & (S extends { readonly default: ServiceTypes<infer A> } ? Methods<A> : unknown)

type Methods<A> = {
  readonly [K in keyof A as A[K] extends ApiTypes | LiveTypes ? K : never]: ClientMethod<A[K]>
}

type ArgumentsOf<I> =
  I extends Query<infer Q>
    ? Q extends StandardSchemaV1<infer In>
      ? Record<never, never> extends In
        ? [query?: In]
        : [query: In]
      : [query?: QueryArgument]
    : [value: ArgumentOf<I>]

/** The parameters of a query; lists are parameters of one name. */
export type QueryArgument = Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>
type QueryValue = string | number | bigint | boolean

/** The argument of an API with input descriptor `I`. */
export type ArgumentOf<I> = I extends Multipart<infer P> ? FormArgument<P> : SingleArgument<I>

type SingleArgument<I> =
  I extends NumpyNdarray<infer D, infer P, infer E>
    ? [E] extends [true]
      ? ArrayInput<D, ShapeOf<P>>
      : ArrayInput
    : I extends PandasDataFrame
      ? FrameInput
      : I extends PandasSeries
        ? ArrayLike<Cell>
        : I extends JsonDescriptor<infer S>
          ? S extends Schema
            ? StandardSchemaV1.InferInput<S>
            : unknown
          : I extends Text
            ? string
            : I extends Image<infer _, infer _M> | File
              ? FileInput
              : FileInput | string

type PartArgument<P> =
  P extends PartRule<infer D, infer O>
    ? O extends 'many'
      ? readonly SingleArgument<D>[]
      : SingleArgument<D>
    : SingleArgument<P>
type MayLack<P> = P extends PartRule<infer _, infer O> ? (O extends 'one' ? false : true) : false
type FormArgument<P extends Parts> = {
  readonly [K in keyof P as MayLack<P[K]> extends true ? never : K]: PartArgument<P[K]>
} & {
  readonly [K in keyof P as MayLack<P[K]> extends true ? K : never]?: PartArgument<P[K]> | undefined
}

/** The result of an API with output descriptor `O` and function `F`. */
export type ResultOf<O, F = never> =
  O extends Multipart<infer P> ? FormResult<P> : SingleResult<O, F>

type SingleResult<O, F> =
  O extends NumpyNdarray<infer D, infer P, infer _>
    ? ArrayValue<DType extends D ? DType : D, ShapeOf<P>>
    : O extends PandasDataFrame
      ? FrameValue
      : O extends PandasSeries
        ? SeriesValue
        : O extends JsonDescriptor<infer S>
          ? S extends Schema
            ? Jsonified<StandardSchemaV1.InferOutput<S>>
            : JsonResult<F>
          : O extends Text
            ? string
            : O extends Image<infer _, infer _M> | File
              ? Blob
              : unknown

type JsonResult<F> = [F] extends [never]
  ? JsonValue
  : F extends (...args: never[]) => infer R
    ? Jsonified<Awaited<R>>
    : JsonValue

/** What remains of a value that is sent as JSON. */
export type Jsonified<T> = T extends null | boolean | number | string
  ? T
  : T extends bigint
    ? number | bigint
    : T extends undefined
      ? null
      : T extends { toJSON(): infer J }
        ? Jsonified<J>
        : T extends ReadonlyMap<infer K, infer V>
          ? { [Key in K & string]?: Jsonified<V> }
          : T extends readonly unknown[]
            ? { [K in keyof T]: Jsonified<T[K]> }
            : T extends object
              ? {
                  [K in keyof T as T[K] extends (...args: never[]) => unknown
                    ? never
                    : K]: Jsonified<T[K]>
                }
              : unknown

type PartResult<P> =
  P extends PartRule<infer D, infer O>
    ? O extends 'many'
      ? SingleResult<D, never>[]
      : SingleResult<D, never>
    : SingleResult<P, never>
type IsOptional<P> = P extends PartRule<infer _, 'optional'> ? true : false
type FormResult<P extends Parts> = {
  [K in keyof P as IsOptional<P[K]> extends true ? never : K]: PartResult<P[K]>
} & {
  [K in keyof P as IsOptional<P[K]> extends true ? K : never]?: PartResult<P[K]>
}
