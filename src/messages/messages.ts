/** What RPC messages are in JavaScript; `content-types.ts` has their fields. @module */
import { dtypes, elementTypes, type ListDType, type ListScalar } from '../core/dtype.ts'

/** We read typed arrays; lists are for messages written by hand. */
export type Numbers<T extends ArrayLike<unknown>> = T | readonly T[number][]

/** `NDArray`: elements in C order in the list of their type. */
export interface NDArrayMessage {
  /** Number of the enum DType. Default: that of the list. */
  readonly dtype?: number
  /** One dimension may be -1. Default: one dimension. */
  readonly shape?: readonly number[]
  readonly floatValues?: Numbers<Float32Array>
  readonly doubleValues?: Numbers<Float64Array>
  readonly stringValues?: readonly string[]
  /** Bytes 0 or 1. */
  readonly boolValues?: Numbers<Uint8Array> | readonly boolean[]
  readonly int32Values?: Numbers<Int32Array>
  readonly int64Values?: Numbers<BigInt64Array>
  readonly uint32Values?: Numbers<Uint32Array>
  readonly uint64Values?: Numbers<BigUint64Array>
  /** One element without dimensions: an empty `shape` alone would be a list. */
  readonly scalar?: boolean
}

/** `Series`: elements in the list of their type, with the missing places and the labels of the rows. */
export interface SeriesMessage extends Omit<NDArrayMessage, 'dtype' | 'shape' | 'scalar'> {
  readonly nullPositions?: Numbers<Uint32Array>
  readonly index?: SeriesMessage
  readonly name?: string
}

/** `DataFrame`: columns and their names. */
export interface DataFrameMessage {
  readonly columnNames?: readonly string[]
  readonly columns?: readonly SeriesMessage[]
  readonly index?: SeriesMessage
}

/** `File`. */
export interface FileMessage {
  readonly kind?: string
  readonly content?: Uint8Array
  readonly name?: string
}

/** `Multipart`: parts by name. */
export interface MultipartMessage {
  readonly fields: ReadonlyMap<string, ProtoContent>
}

/** The messages by oneof member. `StringValue` is the string, and `Value` the JSON value. */
export interface ProtoMessages {
  ndarray: NDArrayMessage
  dataframe: DataFrameMessage
  series: SeriesMessage
  file: FileMessage
  text: string
  json: unknown
  multipart: MultipartMessage
  serialized_bytes: Uint8Array
}

/** Name of a oneof member. */
export type ProtoField = keyof ProtoMessages

/** A oneof: one of its members with the message. */
export interface ProtoContent {
  readonly field: ProtoField
  readonly message: ProtoMessages[ProtoField]
}

/** Property of a list of elements. */
export type ValueList = `${ListScalar}Values`

/** A list of elements, which NDArray and Series both have. */
export interface ListField {
  readonly dtype: ListDType
  readonly property: ValueList
  readonly number: number
  readonly ndarray: number
  readonly series: number
}

/** The lists of NDArray and Series, in the order of NDArray's fields. */
export const valueLists: readonly ListField[] = dtypes
  .flatMap((dtype): ListField[] => {
    const { proto } = elementTypes[dtype]
    if (proto === undefined) return []
    const [scalar, number, ndarray, series] = proto
    return [{ dtype: dtype as ListDType, property: `${scalar}Values`, number, ndarray, series }]
  })
  .sort((a, b) => a.ndarray - b.ndarray)
