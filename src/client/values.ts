import type { DType, DTypeData } from '../core/dtype.ts'
import type { ServerSentEvent } from '../http/event-stream.ts'

/** An array: flat elements in C order. bool is one byte 0 or 1; float16 is its IEEE 754 bits. */
export interface ArrayValue<
  D extends DType = DType,
  S extends readonly number[] = readonly number[],
> {
  readonly dtype: D
  readonly shape: S
  readonly data: DTypeData[D]
}

/** A typed array. */
export type TypedArray = Exclude<DTypeData[DType], string[]>

/** Lists in lists, or a scalar. */
export type NestedList = number | bigint | boolean | string | null | readonly NestedList[]

type Elements<D extends DType> = D extends 'str' ? readonly string[] : DTypeData[D]

/** An array: lists, sent as JSON, or typed arrays, sent as .npy with their dtype. */
export type ArrayInput<D extends DType = DType, S extends readonly number[] = readonly number[]> =
  | (1 extends S['length'] ? DTypeData[Exclude<D, 'str'>] : never)
  | NestedList
  | { readonly dtype?: D; readonly shape: S; readonly data: Elements<D> }

/** An element of a frame. Integers that a double cannot hold are bigints. */
export type Cell = number | bigint | boolean | string | null

/** Key of the row labels of a frame or a series, where they are not 0, 1, 2, …: `frame[labels]`. */
export const labels: unique symbol = Symbol('serving.labels')

/** A series: its elements. */
export type SeriesValue = Cell[] & { [labels]?: readonly (string | number)[] }

/** A frame: its columns by name. */
export interface FrameValue {
  readonly [column: string]: Cell[]
  [labels]?: readonly (string | number)[]
}

/** What a frame may be given as: columns of equal length, a list of rows, or a CSV or Parquet file with its type. */
export type FrameInput =
  | { readonly [column: string]: ArrayLike<Cell>; readonly [labels]?: readonly (string | number)[] }
  | readonly { readonly [column: string]: Cell }[]
  | Blob

/** Bytes that come piece by piece. */
export type ByteStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/**
 * What a file may be given as. Streams are sent as they come, and not tried again, where the platform can: in Node, not
 * in browsers, nor as parts of forms, where they are read first.
 */
export type FileInput = Blob | ArrayBuffer | ArrayBufferView<ArrayBuffer> | ByteStream

/** A server-sent event. */
export type EventValue = ServerSentEvent
