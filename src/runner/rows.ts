/**
 * Requests are joined along one dimension, and results split along it again.
 * @module
 */

import { NDArray } from '../array/ndarray.ts'
import { showShape, sizeOf } from '../array/shape.ts'
import { type DType, dataConstructor, type NumericDType } from '../dtype.ts'
import { BadInput, expected, FunctionError, InvalidArgument } from '../errors.ts'

/**
 * What can be joined with what: values of one key can. **Shape**: arrays of equal dtype and equal dimensions but `dim`; lists
 * with lists.
 */
export interface Rows {
  /** Number of rows along the batch dimension. */
  readonly count: number
  readonly key: string
}

/**
 * How many rows a value has, and which values it can be joined with.
 * **Errors**: BadInput for an array without that dimension; InvalidArgument for what is neither an NDArray nor a list.
 */
export function rowsOf(value: unknown, dim: number): Rows {
  if (Array.isArray(value)) {
    if (dim !== 0) throw new InvalidArgument(expected('an NDArray', `batches along dimension ${dim}`, value))
    return { count: value.length, key: 'list' }
  }
  if (!(value instanceof NDArray)) {
    throw new InvalidArgument(expected('an NDArray or a list', 'a batchable method', value))
  }
  const { shape, dtype } = value
  if (dim >= shape.length) {
    throw new BadInput(
      `expected an array with at least ${dim + 1} dimensions for a batchable method, received shape ${showShape(shape)}`,
      { reason: 'shape' },
    )
  }
  let key: string = dtype
  for (let i = 0; i < shape.length; i++) key += i === dim ? ',-' : `,${shape[i]}`
  return { count: shape[dim], key }
}

/** Values of one key become one, their rows in order. **Cost**: one copy; a single value stays itself. */
export function joinRows(values: readonly unknown[], dim: number): unknown {
  if (values.length === 1) return values[0]
  if (Array.isArray(values[0])) return (values as unknown[][]).flat()
  const arrays = values as readonly NDArray[]
  const { shape, dtype } = arrays[0]
  const outer = sizeOf(shape.slice(0, dim))
  const inner = sizeOf(shape.slice(dim + 1))
  const rows = arrays.reduce((sum, array) => sum + array.shape[dim], 0)
  const joined = shape.with(dim, rows)
  const data = allocate(dtype, outer * rows * inner)
  let at = 0
  for (let block = 0; block < outer; block++) {
    for (const array of arrays) {
      const length = array.shape[dim] * inner
      copyElements(array.data, block * length, length, data, at)
      at += length
    }
  }
  return new NDArray(data as Float32Array, joined, dtype as 'float32')
}

/**
 * A value becomes parts of so many rows each, in order. Results may also be plain objects of values, each of which is split.
 * **Errors**: FunctionError when the rows do not add up to those of the value.
 * **Cost**: along dimension 0 parts are views of the value's memory, along others copies; a single part is the value itself.
 */
export function splitRows(value: unknown, sizes: readonly number[], dim: number): unknown[] {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  if (Array.isArray(value) && dim === 0 && value.length === total) {
    if (sizes.length === 1) return [value]
    let at = 0
    return sizes.map((size) => {
      at += size
      return value.slice(at - size, at)
    })
  }
  if (value instanceof NDArray && value.shape[dim] === total) {
    return sizes.length === 1 ? [value] : splitArray(value, sizes, dim)
  }
  if (isPlainObject(value)) {
    const parts: Record<string, unknown>[] = sizes.map(() => Object.create(null))
    for (const name of Object.keys(value)) {
      for (const [i, part] of splitRows(value[name], sizes, dim).entries()) parts[i][name] = part
    }
    return parts.map((part) => ({ ...part }))
  }
  const received = value instanceof NDArray ? `shape ${showShape(value.shape)}` : undefined
  const what = `a list or NDArray of ${total} rows along dimension ${dim}`
  throw new FunctionError(
    received === undefined
      ? expected(what, 'the result of a batch', value)
      : `expected ${what} for the result of a batch, received ${received}`,
  )
}

/** The results of a request's parts become its result: the inverse of {@link splitRows}. */
export function joinResults(parts: readonly unknown[], dim: number): unknown {
  const [first] = parts
  if (!isPlainObject(first)) return joinRows(parts, dim)
  const names = Object.keys(first)
  const members = names.map((name) => [
    name,
    joinResults(
      parts.map((part) => (part as typeof first)[name]),
      dim,
    ),
  ])
  return Object.fromEntries(members)
}

/** Sizes of the parts that a value of so many rows is cut into so that none is above the limit. */
export function cutSizes(count: number, limit: number): number[] {
  const sizes: number[] = []
  for (let rest = count; rest > 0; rest -= limit) sizes.push(Math.min(rest, limit))
  return sizes
}

function splitArray(array: NDArray, sizes: readonly number[], dim: number): NDArray[] {
  const { data, shape, dtype } = array
  const outer = sizeOf(shape.slice(0, dim))
  const inner = sizeOf(shape.slice(dim + 1))
  const stride = shape[dim] * inner
  let from = 0
  return sizes.map((rows) => {
    const length = rows * inner
    const start = from
    from += length
    const part = shape.with(dim, rows)
    if (outer === 1 && ArrayBuffer.isView(data)) {
      return new NDArray(data.subarray(start, start + length) as Float32Array, part, dtype as 'float32')
    }
    const copy = allocate(dtype, outer * length)
    for (let block = 0; block < outer; block++) {
      copyElements(data, block * stride + start, length, copy, block * length)
    }
    return new NDArray(copy as Float32Array, part, dtype as 'float32')
  })
}

type Elements = NDArray['data']

function allocate(dtype: DType, length: number): Elements {
  return dtype === 'str' ? new Array<string>(length) : new (dataConstructor(dtype as NumericDType))(length)
}

function copyElements(from: Elements, start: number, length: number, to: Elements, at: number): void {
  if (Array.isArray(from)) for (let i = 0; i < length; i++) (to as string[])[at + i] = from[start + i]
  else (to as Float32Array).set((from as Float32Array).subarray(start, start + length), at)
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const proto = Object.getPrototypeOf(value)
  return proto === Object.prototype || proto === null
}
