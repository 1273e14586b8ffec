import { expected, InvalidArgument } from './errors.ts'

/**
 * One record per element type, in the order of the codes.
 * - `code`: in the add-on (native/src/dtype.h) and in FlatBuffers tables (proto/ndarray.fbs).
 * - `kind`: numpy's letter; with `bytes` it is the name in .npy files.
 * - `container`: the typed array. bool is one byte 0 or 1; float16 is its bits, since Node 20 has no Float16Array.
 * - `polars`: the type of a Polars column, or undefined.
 * - `proto`: scalar type, number in the enum DType, field numbers in NDArray and Series; undefined without a list.
 */
export const elementTypes = {
  bool: { code: 0, kind: 'b', bytes: 1, container: Uint8Array, polars: 'Bool', proto: ['bool', 3, 6, 1] },
  int8: { code: 1, kind: 'i', bytes: 1, container: Int8Array, polars: 'Int8', proto: undefined },
  int16: { code: 2, kind: 'i', bytes: 2, container: Int16Array, polars: 'Int16', proto: undefined },
  int32: { code: 3, kind: 'i', bytes: 4, container: Int32Array, polars: 'Int32', proto: ['int32', 4, 7, 3] },
  int64: { code: 4, kind: 'i', bytes: 8, container: BigInt64Array, polars: 'Int64', proto: ['int64', 5, 8, 6] },
  uint8: { code: 5, kind: 'u', bytes: 1, container: Uint8Array, polars: 'UInt8', proto: undefined },
  uint16: { code: 6, kind: 'u', bytes: 2, container: Uint16Array, polars: 'UInt16', proto: undefined },
  uint32: { code: 7, kind: 'u', bytes: 4, container: Uint32Array, polars: 'UInt32', proto: ['uint32', 6, 9, 7] },
  uint64: { code: 8, kind: 'u', bytes: 8, container: BigUint64Array, polars: 'UInt64', proto: ['uint64', 7, 10, 8] },
  float16: { code: 9, kind: 'f', bytes: 2, container: Uint16Array, polars: undefined, proto: undefined },
  float32: { code: 10, kind: 'f', bytes: 4, container: Float32Array, polars: 'Float32', proto: ['float', 1, 3, 2] },
  float64: { code: 11, kind: 'f', bytes: 8, container: Float64Array, polars: 'Float64', proto: ['double', 2, 4, 4] },
  str: { code: 12, kind: 'U', bytes: 0, container: undefined, polars: 'Utf8', proto: ['string', 8, 5, 5] },
} as const

type ElementTypes = typeof elementTypes

/** Name of an element type, as numpy spells it. */
export type DType = keyof ElementTypes

/** Numeric element types: all but `str`. */
export type NumericDType = Exclude<DType, 'str'>

/** Element types of Polars columns. */
export type ColumnKind = Exclude<DType, 'float16'>

/** Element types with a list of their own in RPC messages. */
export type ListDType = { [D in DType]: ElementTypes[D]['proto'] extends readonly unknown[] ? D : never }[DType]

/** Scalar type of a list of elements in RPC messages. */
export type ListScalar = NonNullable<ElementTypes[DType]['proto']>[0]

/** Names of the element types by code. */
export const dtypes: readonly DType[] = Object.freeze(Object.keys(elementTypes) as DType[])

/** The container of each element type. */
export type DTypeData = { [D in NumericDType]: ElementTypes[D]['container']['prototype'] } & { str: string[] }

/** Flat elements of an array with element type `D`. */
export type DataOf<D extends DType> = DTypeData[D]

interface DataConstructor<A> {
  readonly name: string
  readonly BYTES_PER_ELEMENT: number
  new (length: number): A
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): A
}

/** Returns the typed-array constructor of a numeric element type. */
export function dataConstructor<D extends NumericDType>(dtype: D): DataConstructor<DTypeData[D]> {
  return elementTypes[dtype].container as unknown as DataConstructor<DTypeData[D]>
}

// bool shares uint8's container, and float16 uint16's: a container alone means the integers.
const byContainer: ReadonlyMap<string, NumericDType> = new Map(
  dtypes
    .filter(isNumeric)
    .filter((dtype) => dtype !== 'bool' && dtype !== 'float16')
    .map((dtype) => [elementTypes[dtype].container.name, dtype]),
)

/** Returns the element type of a typed array; undefined for anything else. */
export function dtypeOfContainer(data: unknown): NumericDType | undefined {
  return ArrayBuffer.isView(data) ? byContainer.get((data as Uint8Array)[Symbol.toStringTag]) : undefined
}

/** **Units**: bytes; 0 for `str`, which has no fixed size. */
export function itemSize(dtype: DType): number {
  return elementTypes[dtype].bytes
}

/** Whether the element type has a typed array: all but `str`. */
export function isNumeric(dtype: DType): dtype is NumericDType {
  return dtype !== 'str'
}

/** Returns the `descr` in .npy files: `'<f4'`. */
export function npyName(dtype: NumericDType): string {
  const { kind, bytes } = elementTypes[dtype]
  return `${bytes === 1 ? '|' : '<'}${kind}${bytes}`
}

/** Whether elements are 64-bit integers, which are bigints in JavaScript. */
export function isWideInteger(dtype: DType): dtype is 'int64' | 'uint64' {
  return dtype === 'int64' || dtype === 'uint64'
}

/** Whether each element is a number in its container: all but `str`, `bool`, `float16` and the 64-bit integers. */
export function isPlainNumber(dtype: DType): boolean {
  return dtype !== 'str' && dtype !== 'bool' && dtype !== 'float16' && !isWideInteger(dtype)
}

/** Whether the element type is a floating-point one. */
export function isFloat(dtype: DType): boolean {
  return elementTypes[dtype].kind === 'f'
}

/** numpy's other spellings: array-protocol codes and Python's names. */
const aliases: ReadonlyMap<string, DType> = new Map<string, DType>([
  ...dtypes.filter(isNumeric).map((dtype) => [npyName(dtype).slice(1), dtype] as const),
  ['bool_', 'bool'],
  ['?', 'bool'],
  ['int', 'int64'],
  ['uint', 'uint64'],
  ['half', 'float16'],
  ['single', 'float32'],
  ['double', 'float64'],
  ['float', 'float64'],
  ['U', 'str'],
  ['string', 'str'],
  ['str_', 'str'],
])

/** Whether `value` is one of our element type names. */
export function isDType(value: unknown): value is DType {
  return typeof value === 'string' && Object.hasOwn(elementTypes, value)
}

/** Reads numpy's names: `'f4'`, `'<f4'`, `'float'`. **Errors**: InvalidArgument, also for big-endian ones. */
export function parseDType(value: unknown): DType {
  if (isDType(value)) return value
  if (typeof value === 'string') {
    const known = aliases.get(/^[<=|]/.test(value) ? value.slice(1) : value)
    if (known !== undefined) return known
  }
  throw new InvalidArgument(expected(`one of ${dtypes.join(', ')}`, 'dtype', value))
}
