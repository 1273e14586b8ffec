/** What crosses to Python in another way than to threads: bytes, times, frames, and NaN and infinities. @module */

import { type ErrorCode, errorTable, FunctionError, ServingError } from '../../core/errors.ts'
import { bytesOf } from '../../core/memory/byte-copy.ts'
import { NDArray } from '../../values/array/ndarray.ts'
import { RasterImage } from '../../values/image/raster.ts'
import { registerSerializer, type Serializer } from '../serializers.ts'

/** Fields of an exception that a method raised; `model_worker.py` writes them by the same names. */
type PythonFailure = Readonly<
  Record<'method' | 'runner' | 'type' | 'message' | 'traceback', string>
> & {
  readonly status?: number
}

function plainForm<T>(
  name: string,
  toFields: (value: T) => Readonly<Record<string, unknown>>,
  fromFields: (fields: Readonly<Record<string, unknown>>) => unknown,
): Serializer<object> {
  const serializer = {
    name: `python.${name}`,
    type: `python.${name}`,
    toFields,
    fromFields,
  } as unknown
  registerSerializer(serializer as Serializer<object>)
  return serializer as Serializer<object>
}

const bytes = plainForm<ArrayBufferView | ArrayBuffer>(
  'bytes',
  (memory) => ({ data: ArrayBuffer.isView(memory) ? bytesOf(memory) : new Uint8Array(memory) }),
  ({ data }) => data,
)
const array = plainForm<ArrayBufferView>(
  'array',
  (view) => ({ data: view }),
  ({ data }) => new NDArray(data as Float32Array),
)
const date = plainForm<Date>(
  'date',
  (value) => ({ ms: value.getTime() }),
  ({ ms }) => new Date(ms as number),
)
const bigint = plainForm<bigint>(
  'bigint',
  (value) => ({ text: String(value) }),
  ({ text }) => BigInt(text as string),
)
const number = plainForm<number>(
  'number',
  (value) => ({ text: String(value) }),
  ({ text }) => Number(text),
)
const picture = {
  name: 'NDArray',
  movable: ['data'],
  toFields(image: RasterImage) {
    const { data, shape, dtype } = image.toNDArray()
    return { data, shape, dtype }
  },
} as unknown as Serializer<object>
plainForm<never>('failure', () => ({}), failureOf)

/**
 * @returns the serializer of a value that crosses to Python in its own way; undefined for all
 * others.
 */
export function pythonSerializerOf(value: unknown): Serializer<object> | undefined {
  if (typeof value === 'bigint') return bigint
  if (typeof value === 'number') return number
  if (ArrayBuffer.isView(value)) return isBytes(value) ? bytes : array
  if (value instanceof Date) return date
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return bytes
  return value instanceof RasterImage ? picture : undefined
}

const isBytes = (view: ArrayBufferView) =>
  view instanceof Uint8Array || view instanceof Uint8ClampedArray || view instanceof DataView

/** The error of a call whose method raised: a `status` of 400 to 599 of the exception is kept, with its text. */
function failureOf(fields: Readonly<Record<string, unknown>>): Error {
  const { method, runner, type, message, traceback, status } = fields as unknown as PythonFailure
  const cause = new Error(message)
  cause.name = type
  cause.stack = traceback
  if (status === undefined) {
    const text = message === '' ? type : `${type}: ${message}`
    return new FunctionError(`the method ${method} of the runner ${runner} failed: ${text}`, {
      cause,
    })
  }
  const codes = Object.keys(errorTable) as ErrorCode[]
  const code = codes.find((each) => errorTable[each].status === status) ?? 'function_error'
  return new ServingError(code, message, { cause }, { ...errorTable[code], code, status })
}
