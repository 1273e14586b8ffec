/** The protocol's datatypes: one record for each. @module */

import type { ModelTensor } from '../../api/model-options.ts'
import { type DType, elementTypes } from '../../core/dtype.ts'

/** `bytes`: of one element, 0 for BYTES. `contents`: field of InferTensorContents. `config`: name in DataType. */
export const datatypes = {
  BOOL: { dtype: 'bool', bytes: 1, contents: 'bool_contents', config: 'TYPE_BOOL' },
  UINT8: { dtype: 'uint8', bytes: 1, contents: 'uint_contents', config: 'TYPE_UINT8' },
  UINT16: { dtype: 'uint16', bytes: 2, contents: 'uint_contents', config: 'TYPE_UINT16' },
  UINT32: { dtype: 'uint32', bytes: 4, contents: 'uint_contents', config: 'TYPE_UINT32' },
  UINT64: { dtype: 'uint64', bytes: 8, contents: 'uint64_contents', config: 'TYPE_UINT64' },
  INT8: { dtype: 'int8', bytes: 1, contents: 'int_contents', config: 'TYPE_INT8' },
  INT16: { dtype: 'int16', bytes: 2, contents: 'int_contents', config: 'TYPE_INT16' },
  INT32: { dtype: 'int32', bytes: 4, contents: 'int_contents', config: 'TYPE_INT32' },
  INT64: { dtype: 'int64', bytes: 8, contents: 'int64_contents', config: 'TYPE_INT64' },
  FP16: { dtype: 'float16', bytes: 2, contents: undefined, config: 'TYPE_FP16' },
  FP32: { dtype: 'float32', bytes: 4, contents: 'fp32_contents', config: 'TYPE_FP32' },
  FP64: { dtype: 'float64', bytes: 8, contents: 'fp64_contents', config: 'TYPE_FP64' },
  BYTES: { dtype: 'str', bytes: 0, contents: 'bytes_contents', config: 'TYPE_STRING' },
  BF16: { dtype: 'float32', bytes: 2, contents: undefined, config: 'TYPE_BF16' },
} as const satisfies Record<
  string,
  { dtype: DType; bytes: number; contents: string | undefined; config: string }
>

/** Name of a datatype. */
export type Datatype = keyof typeof datatypes

/** Whether a text is the name of a datatype. */
export function isDatatype(text: unknown): text is Datatype {
  return typeof text === 'string' && Object.hasOwn(datatypes, text)
}

const byDtype = new Map<DType, Datatype>()
for (const name of Object.keys(datatypes) as Datatype[]) {
  if (name !== 'BF16') byDtype.set(datatypes[name].dtype, name)
}
if (byDtype.size !== Object.keys(elementTypes).length) throw new Error('a dtype has no datatype')

/** @returns the datatype of an input or output. */
export function datatypeOfModel({ dtype, datatype }: ModelTensor): Datatype {
  return datatype ?? datatypeOf(dtype)
}

/** @returns the datatype of elements: BF16 are float32 here. */
export function datatypeFor(dtype: DType, wanted: Datatype | undefined): Datatype {
  return wanted === 'BF16' && dtype === 'float32' ? wanted : datatypeOf(dtype)
}

/** @returns the datatype of an element type. */
export function datatypeOf(dtype: DType): Datatype {
  return byDtype.get(dtype) as Datatype
}
