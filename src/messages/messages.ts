/** What RPC messages are in JavaScript; `content-types.ts` has their fields. @module */
import {
  type DataOf,
  dtypes,
  elementTypes,
  type ListDType,
  type ListScalar,
} from '../core/dtype.ts'

/** We read typed arrays; lists are for messages written by hand. */
export type Numbers<T extends ArrayLike<unknown>> = T | readonly T[number][]

/** The lists of elements, one for each type: strings, or numbers, which are bytes 0 or 1 for bool. */
type ElementLists = {
  readonly [D in ListDType as `${(typeof elementTypes)[D]['proto'][0]}Values`]?: D extends 'str'
    ? readonly string[]
    : Numbers<DataOf<D>> | (D extends 'bool' ? readonly boolean[] : never)
}

/** `NDArray`: elements in C order in the list of their type. */
export interface NDArrayMessage extends ElementLists {
  /**
   * Number of the enum DType.
   *
   * @default that of the list
   */
  readonly dtype?: number
  /**
   * One dimension may be -1.
   *
   * @default one dimension
   */
  readonly shape?: readonly number[]
  /** One element without dimensions: an empty `shape` alone would be a list. */
  readonly scalar?: boolean
}

/** `Series`: elements in the list of their type, with the missing places and the labels of the rows. */
export interface SeriesMessage extends ElementLists {
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

/** The lists of NDArray and Series with their numbers, in the order of NDArray's fields. */
export const valueLists = dtypes
  .flatMap((dtype) => {
    const { proto } = elementTypes[dtype]
    if (proto === undefined) return []
    const [scalar, number, ndarray, series]: readonly [ListScalar, number, number, number] = proto
    return [
      { dtype: dtype as ListDType, property: `${scalar}Values` as const, number, ndarray, series },
    ]
  })
  .sort((a, b) => a.ndarray - b.ndarray)

/** A list of elements, which NDArray and Series both have. */
export type ListField = (typeof valueLists)[number]
