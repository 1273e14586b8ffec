/**
 * Data types of array elements: names, sizes and the typed arrays that hold them.
 * @module
 */
import { expected, InvalidArgument } from '../errors.ts'

/** Element types in the order of their stable numeric codes (the add-on and the wire formats use the code). */
export const dtypes = [
  'bool',
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'float16',
  'float32',
  'float64',
  'str',
] as const

/** Name of an element type, as numpy spells it. */
export type DType = (typeof dtypes)[number]

/** The container of each element type. bool is one byte 0 or 1; float16 is its IEEE 754 bits, since Node 20 has no Float16Array. */
export interface DTypeData {
  bool: Uint8Array
  int8: Int8Array
  int16: Int16Array
  int32: Int32Array
  int64: BigInt64Array
  uint8: Uint8Array
  uint16: Uint16Array
  uint32: Uint32Array
  uint64: BigUint64Array
  float16: Uint16Array
  float32: Float32Array
  float64: Float64Array
  str: string[]
}

/** Flat elements of an array with element type `D`. */
export type DataOf<D extends DType> = DTypeData[D]

/** What a typed-array constructor of ours takes. */
interface DataConstructor<A> {
  readonly name: string
  readonly BYTES_PER_ELEMENT: number
  new (length: number): A
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): A
}

const constructors = {
  bool: Uint8Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  float16: Uint16Array,
  float32: Float32Array,
  float64: Float64Array,
} as const

/** Numeric element types: all but `str`. */
export type NumericDType = Exclude<DType, 'str'>

/** The typed-array constructor of a numeric element type. */
export function dataConstructor<D extends NumericDType>(dtype: D): DataConstructor<DTypeData[D]> {
  return constructors[dtype] as unknown as DataConstructor<DTypeData[D]>
}

/** Bytes of one element. **Units**: bytes; `str` has no fixed size and answers 0. */
export function itemSize(dtype: DType): number {
  return dtype === 'str' ? 0 : constructors[dtype].BYTES_PER_ELEMENT
}

/** The stable number of an element type. */
export function dtypeCode(dtype: DType): number {
  return dtypes.indexOf(dtype)
}

/** Integers of numpy's spelling outside our names: array-protocol codes and Python's own names. */
const aliases: ReadonlyMap<string, DType> = new Map<string, DType>([
  ['bool_', 'bool'],
  ['?', 'bool'],
  ['b1', 'bool'],
  ['i1', 'int8'],
  ['i2', 'int16'],
  ['i4', 'int32'],
  ['i8', 'int64'],
  ['int', 'int64'],
  ['u1', 'uint8'],
  ['u2', 'uint16'],
  ['u4', 'uint32'],
  ['u8', 'uint64'],
  ['uint', 'uint64'],
  ['f2', 'float16'],
  ['half', 'float16'],
  ['f4', 'float32'],
  ['single', 'float32'],
  ['f8', 'float64'],
  ['double', 'float64'],
  ['float', 'float64'],
  ['U', 'str'],
  ['string', 'str'],
  ['str_', 'str'],
])

/** Whether `value` is one of our element type names. */
export function isDType(value: unknown): value is DType {
  return typeof value === 'string' && (dtypes as readonly string[]).includes(value)
}

/**
 * A name as numpy takes it becomes our element type name: `'f4'`, `'<f4'`, `'float'`.
 * **Errors**: InvalidArgument for anything else, big-endian spellings included.
 */
export function parseDType(value: unknown): DType {
  if (isDType(value)) return value
  if (typeof value === 'string') {
    const known = aliases.get(/^[<=|]/.test(value) ? value.slice(1) : value)
    if (known !== undefined) return known
  }
  throw new InvalidArgument(expected(`one of ${dtypes.join(', ')}`, 'dtype', value))
}

/** Whether the element type is a floating-point one. */
export function isFloat(dtype: DType): boolean {
  return dtype === 'float16' || dtype === 'float32' || dtype === 'float64'
}
