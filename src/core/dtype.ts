import { type DType, elementTypes, type NumericDType, npyName } from './element-types.ts'
import { expected, InvalidArgument } from './errors.ts'

export { type DType, elementTypes, type NumericDType, npyName } from './element-types.ts'

type ElementTypes = typeof elementTypes

/** Element types of Polars columns. */
export type ColumnKind = Exclude<DType, 'float16'>

/** Element types with a list of their own in RPC messages. */
export type ListDType = {
  [D in DType]: ElementTypes[D]['proto'] extends readonly unknown[] ? D : never
}[DType]

/** Scalar type of a list of elements in RPC messages. */
export type ListScalar = NonNullable<ElementTypes[DType]['proto']>[0]

/** Names of the element types by code. */
export const dtypes: readonly DType[] = Object.freeze(Object.keys(elementTypes) as DType[])

/** The container of each element type. */
export type DTypeData = { [D in NumericDType]: ElementTypes[D]['container']['prototype'] } & {
  str: string[]
}

/** Flat elements of an array with element type `D`. */
export type DataOf<D extends DType> = DTypeData[D]

/** Element types whose elements are numbers in JavaScript; float16 are its bits. */
export type NumberDType = Exclude<DType, 'str' | 'int64' | 'uint64'>

interface DataConstructor<A> {
  readonly name: string
  readonly BYTES_PER_ELEMENT: number
  new (length: number): A
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): A
}

/** @returns the typed-array constructor of a numeric element type. */
export function dataConstructor<D extends NumericDType>(dtype: D): DataConstructor<DTypeData[D]> {
  return elementTypes[dtype].container as unknown as DataConstructor<DTypeData[D]>
}

/** @returns numbers, bigints or booleans as elements of a type. */
export function elementsFrom<D extends NumericDType>(
  dtype: D,
  list: ArrayLike<unknown>,
): DTypeData[D] {
  const data = new (dataConstructor(dtype as 'float64'))(list.length)
  const isBig = isWideInteger(dtype)
  for (let i = 0; i < list.length; i++)
    data[i] = (isBig ? BigInt(list[i] as number) : Number(list[i])) as number
  return data as DTypeData[D]
}

// bool shares uint8's container, and float16 uint16's: a container alone means the integers.
const byContainer: ReadonlyMap<string, NumericDType> = new Map(
  dtypes
    .filter(isNumeric)
    .filter((dtype) => dtype !== 'bool' && dtype !== 'float16')
    .map((dtype) => [elementTypes[dtype].container.name, dtype]),
)

/** @returns the element type of a typed array; undefined for anything else. */
export function dtypeOfContainer(data: unknown): NumericDType | undefined {
  if (ArrayBuffer.isView(data)) return byContainer.get((data as Uint8Array)[Symbol.toStringTag])
  return undefined
}

/** **Units**: bytes; 0 for `str`, which has no fixed size. */
export function itemSize(dtype: DType): number {
  return elementTypes[dtype].bytes
}

/** Whether the element type has a typed array: all but `str`. */
export function isNumeric(dtype: DType): dtype is NumericDType {
  return dtype !== 'str'
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

/** @returns the size of a float; 0 for other types. **Units**: bytes. */
export function floatBytes(dtype: DType): number {
  const { kind, bytes } = elementTypes[dtype]
  return kind === 'f' ? bytes : 0
}

/** numpy's other spellings: Python's names, beside the codes of the array protocol. */
const otherNames: Partial<Record<DType, string>> = {
  bool: 'bool_ ?',
  int64: 'int',
  uint64: 'uint',
  float16: 'half',
  float32: 'single',
  float64: 'double float',
  str: 'U string str_',
}
const aliases: ReadonlyMap<string, DType> = new Map([
  ...dtypes.filter(isNumeric).map((dtype) => [npyName(dtype).slice(1), dtype] as const),
  ...dtypes.flatMap((dtype) =>
    (otherNames[dtype]?.split(' ') ?? []).map((name) => [name, dtype] as const),
  ),
])

/** Whether `value` is one of our element type names. */
export function isDType(value: unknown): value is DType {
  return typeof value === 'string' && Object.hasOwn(elementTypes, value)
}

/**
 * Reads numpy's names: `'f4'`, `'<f4'`, `'float'`.
 *
 * @throws InvalidArgument, also for big-endian ones.
 */
export function parseDType(value: unknown): DType {
  if (isDType(value)) return value
  if (typeof value === 'string') {
    const known = aliases.get(value.replace(/^[<=|]/, ''))
    if (known !== undefined) return known
  }
  throw new InvalidArgument(expected(`one of ${dtypes.join(', ')}`, 'dtype', value))
}
