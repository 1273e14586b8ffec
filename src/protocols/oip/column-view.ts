/** Frames as one tensor for each column, and series as one tensor. @module */

import { type DType, dataConstructor, isFloat } from '../../core/dtype.ts'
import { BadInput, BadOutput } from '../../core/errors.ts'
import { type MaybePromise, whenReady } from '../../core/promise.ts'
import { float16ToNumber } from '../../core/text/number-text.ts'
import type { PandasDataFrame } from '../../descriptors/pandas-dataframe.ts'
import type { PandasSeries } from '../../descriptors/pandas-series.ts'
import { type DataFrameMessage, type SeriesMessage, valueLists } from '../../messages/messages.ts'
import { onlyList } from '../../values/array/message.ts'
import { kindOfType, parseFrameType } from '../../values/table/frame-dtype.ts'
import type { DataFrame, Series } from '../../values/table/polars/polars-package.ts'
import { type Datatype, datatypeOf } from './datatype.ts'
import { inputFault, shown, type Tensor, tensorOf } from './tensor.ts'
import type { TensorInfo, TensorView } from './tensor-info.ts'

/** BYTES for types without a datatype, such as dates. */
function datatypeOfName(name: string): Datatype {
  return datatypeOf(kindOfType(parseFrameType(name, 'dtype')) ?? 'str')
}

/**
 * Without `columns` and `dtype` it takes inputs of any name.
 *
 * @returns the view of a frame's columns.
 */
export function frameView(descriptor: PandasDataFrame): TensorView {
  const types = typeof descriptor.dtype === 'object' ? descriptor.dtype : {}
  const names = descriptor.columns ?? Object.keys(types)
  const infos = names.map((name) =>
    columnInfo(name, Object.hasOwn(types, name) ? types[name] : undefined),
  )
  return {
    infos,
    isOpen: names.length === 0,
    fromTensors(inputs) {
      const tensors = inputs as readonly Tensor[]
      if (tensors.length === 0)
        throw new BadInput('expected an input for each column, received none')
      return descriptor.fromProto({
        columnNames: tensors.map(({ name }) => name),
        columns: tensors.map(seriesMessage),
      })
    },
    toTensors(value) {
      const message = descriptor.toProto(value as DataFrame) as MaybePromise<DataFrameMessage>
      return whenReady(message, ({ columnNames = [], columns = [] }) =>
        columnNames.map((name, i) => columnTensor(name, columns[i] ?? {})),
      )
    },
  }
}

/** @returns the view of a series as a tensor of that name. */
export function seriesView(descriptor: PandasSeries, name: string): TensorView {
  const dtype = typeof descriptor.dtype === 'string' ? descriptor.dtype : undefined
  return {
    infos: [columnInfo(name, dtype)],
    fromTensors: ([input]) => descriptor.fromProto(seriesMessage(input as Tensor)),
    toTensors: (value) => [columnTensor(name, descriptor.toProto(value as Series))],
  }
}

function columnInfo(name: string, dtype: string | undefined): TensorInfo {
  const datatype = dtype === undefined ? 'FP64' : datatypeOfName(dtype)
  const isAnyDatatype = dtype === undefined
  return { name, datatype, isAnyDatatype, shape: [-1], isAnyShape: true, takesNulls: true }
}

/** @throws BadInput unless the shape is `[rows]` or `[rows, 1]`. */
function seriesMessage({ name, array, nulls }: Tensor): SeriesMessage {
  const { shape, dtype, data } = array
  if (shape.length !== 1 && !(shape.length === 2 && shape[1] === 1))
    throw inputFault(name, 'shape (rows,) or (rows, 1)', `[${shape}]`)
  const wide = wider[dtype]
  const list = valueLists.find((each) => each.dtype === (wide ?? dtype))
  const numbers = data as Uint16Array
  const values = wide && new (dataConstructor(wide))(numbers.length)
  values?.set(dtype === 'float16' ? Array.from(numbers, float16ToNumber) : numbers)
  return {
    [list?.property as 'floatValues']: (values ?? data) as Float32Array,
    nullPositions: nulls && Uint32Array.from(nulls),
  }
}

const wider: Partial<Record<DType, 'float32' | 'int32' | 'uint32'>> = {
  float16: 'float32',
  int8: 'int32',
  int16: 'int32',
  uint8: 'uint32',
  uint16: 'uint32',
}

/**
 * Nulls of floats become NaN, those of texts stay.
 *
 * @throws BadOutput for nulls of other columns.
 */
function columnTensor(name: string, message: SeriesMessage): Tensor {
  const { dtype, data } = onlyList(message, name) ?? {
    dtype: 'float64' as const,
    data: new Float64Array(0),
  }
  const nulls = message.nullPositions ?? []
  const info = { name, datatype: datatypeOf(dtype), shape: [data.length] }
  if (nulls.length === 0) return tensorOf(info, data)
  if (dtype === 'str') return { ...tensorOf(info, data), nulls }
  if (isFloat(dtype)) {
    const filled = (data as Float64Array).slice()
    for (const i of nulls) filled[i] = Number.NaN
    return tensorOf(info, filled)
  }
  const what = `no nulls in column ${shown(name)} of ${dtype}, for which tensors have no value`
  throw new BadOutput(`expected ${what}, received ${nulls.length}`)
}
