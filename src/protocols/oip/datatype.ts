/** The protocol's datatypes: an element type for each. @module */

import { type DType, elementTypes } from '../../core/dtype.ts'

/** Their element types in this order: the first one of an element type is its own. */
export const datatypes = {
  BOOL: 'bool',
  UINT8: 'uint8',
  UINT16: 'uint16',
  UINT32: 'uint32',
  UINT64: 'uint64',
  INT8: 'int8',
  INT16: 'int16',
  INT32: 'int32',
  INT64: 'int64',
  FP16: 'float16',
  FP32: 'float32',
  FP64: 'float64',
  BYTES: 'str',
  BF16: 'float32',
} as const satisfies Record<string, DType>

/** Name of a datatype. */
export type Datatype = keyof typeof datatypes

/** Whether a text is the name of a datatype. */
export function isDatatype(text: unknown): text is Datatype {
  return typeof text === 'string' && Object.hasOwn(datatypes, text)
}

/** @returns the name of a datatype in the enum DataType. */
export function configName(datatype: Datatype): string {
  if (datatype === 'BYTES') return 'TYPE_STRING'
  return `TYPE_${datatype}`
}

const byDtype = new Map<DType, Datatype>()
for (const name of Object.keys(datatypes).reverse() as Datatype[])
  byDtype.set(datatypes[name], name)
if (byDtype.size !== Object.keys(elementTypes).length) throw new Error('a dtype has no datatype')

/** @returns the datatype of elements: BF16 are float32 here. */
export function datatypeFor(dtype: DType, wanted: Datatype | undefined): Datatype {
  return wanted === 'BF16' && dtype === 'float32' ? wanted : datatypeOf(dtype)
}

/** @returns the datatype of an element type. */
export function datatypeOf(dtype: DType): Datatype {
  return byDtype.get(dtype) as Datatype
}
