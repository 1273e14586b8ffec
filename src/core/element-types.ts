/**
 * One record per element type, in the order of the codes.
 * - `code`: in the add-on (native/src/shared_numbers.h) and in FlatBuffers tables (proto/ndarray.fbs).
 * - `kind`: numpy's letter; with `bytes` it is the name in .npy files.
 * - `container`: the typed array. bool is one byte 0 or 1; float16 is its bits, since Node 20 has no Float16Array.
 * - `polars`: the type of a Polars column, or undefined.
 * - `proto`: scalar type, number in the enum DType, field numbers in NDArray and Series; undefined without a list.
 */
export const elementTypes = {
  bool: {
    code: 0,
    kind: 'b',
    bytes: 1,
    container: Uint8Array,
    polars: 'Bool',
    proto: ['bool', 3, 6, 1],
  },
  int8: { code: 1, kind: 'i', bytes: 1, container: Int8Array, polars: 'Int8', proto: undefined },
  int16: { code: 2, kind: 'i', bytes: 2, container: Int16Array, polars: 'Int16', proto: undefined },
  int32: {
    code: 3,
    kind: 'i',
    bytes: 4,
    container: Int32Array,
    polars: 'Int32',
    proto: ['int32', 4, 7, 3],
  },
  int64: {
    code: 4,
    kind: 'i',
    bytes: 8,
    container: BigInt64Array,
    polars: 'Int64',
    proto: ['int64', 5, 8, 6],
  },
  uint8: { code: 5, kind: 'u', bytes: 1, container: Uint8Array, polars: 'UInt8', proto: undefined },
  uint16: {
    code: 6,
    kind: 'u',
    bytes: 2,
    container: Uint16Array,
    polars: 'UInt16',
    proto: undefined,
  },
  uint32: {
    code: 7,
    kind: 'u',
    bytes: 4,
    container: Uint32Array,
    polars: 'UInt32',
    proto: ['uint32', 6, 9, 7],
  },
  uint64: {
    code: 8,
    kind: 'u',
    bytes: 8,
    container: BigUint64Array,
    polars: 'UInt64',
    proto: ['uint64', 7, 10, 8],
  },
  float16: {
    code: 9,
    kind: 'f',
    bytes: 2,
    container: Uint16Array,
    polars: undefined,
    proto: undefined,
  },
  float32: {
    code: 10,
    kind: 'f',
    bytes: 4,
    container: Float32Array,
    polars: 'Float32',
    proto: ['float', 1, 3, 2],
  },
  float64: {
    code: 11,
    kind: 'f',
    bytes: 8,
    container: Float64Array,
    polars: 'Float64',
    proto: ['double', 2, 4, 4],
  },
  str: {
    code: 12,
    kind: 'U',
    bytes: 0,
    container: undefined,
    polars: 'Utf8',
    proto: ['string', 8, 5, 5],
  },
} as const

/** Name of an element type, as numpy spells it. */
export type DType = keyof typeof elementTypes

/** Numeric element types: all but `str`. */
export type NumericDType = Exclude<DType, 'str'>

/** @returns the `descr` in .npy files: `'<f4'`. */
export function npyName(dtype: NumericDType): string {
  const { kind, bytes } = elementTypes[dtype]
  return `${bytes === 1 ? '|' : '<'}${kind}${bytes}`
}
