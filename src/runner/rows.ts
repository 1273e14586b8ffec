/** Joins the rows of several requests into one batch, and splits its result again. @module */

import { dataConstructor, elementsFrom } from '../core/dtype.ts'
import { BadInput, expected, FunctionError } from '../core/errors.ts'
import type { Copies } from '../core/memory/copies.ts'
import { checkThat } from '../core/options.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { showShape, sizeOf } from '../values/array/shape.ts'
import { leaveToCollector } from '../values/image/request-pixels.ts'
import type { RaggedSettings } from './ragged-options.ts'

/** What a call gives to its method. */
export interface CallInput {
  readonly value: unknown
  readonly rows: number
  /** What the time of the call follows: its elements, or what the option `cost` says. */
  readonly size: number
  /** Inputs of one key can be joined. */
  readonly key: string
}

// Without `buckets`, the lengths of a batch differ by at most a fifth.
const stepsPerDoubling = 4

/**
 * Reads an input of a batchable method. Inputs of one key have one dtype and equal dimensions but the first. If they
 * are padded, their second dimensions are in one bucket.
 *
 * @throws BadInput for an array of a wrong shape or dtype; InvalidArgument unless it is an NDArray or list, and if
 * `cost` returns no cost.
 */
export function rowsOf(value: unknown, { pad, buckets, cost }: RaggedSettings = {}): CallInput {
  let key = 'list'
  let dims: readonly number[] = [(value as readonly unknown[]).length]
  if (!Array.isArray(value) || pad !== undefined) {
    const what = pad === undefined ? 'an NDArray or a list' : 'an NDArray'
    checkThat(value instanceof NDArray, what, 'a batchable method', value)
    dims = value.shape
    if (pad !== undefined) dims = dims.with(1, bucketOf(value, buckets))
    else if (dims.length === 0) refuse('an array with at least 1 dimensions', value)
    key = value.dtype
  }
  const [rows] = dims
  let elements = rows
  for (let i = 1; i < dims.length; i++) {
    key += `,${dims[i]}`
    elements *= dims[i]
  }
  const size = cost === undefined ? elements : cost(value as NDArray & unknown[])
  checkThat(size >= 0 && size < Number.POSITIVE_INFINITY, 'a number from 0 up', 'cost', size)
  return { value, rows, size, key }
}

function refuse(what: string, { shape, dtype }: NDArray): never {
  const received = `received ${dtype} of shape ${showShape(shape)}`
  throw new BadInput(`expected ${what} for a batchable method, ${received}`, { reason: 'shape' })
}

/** @returns the second dimension of the batches of an array, or the most that it may be. */
function bucketOf(array: NDArray, buckets: readonly number[] | undefined): number {
  const { shape, dtype } = array
  if (shape.length < 2 || dtype === 'str' || dtype === 'float16')
    refuse('numbers, not float16, in at least 2 dimensions', array)
  if (buckets === undefined)
    return Math.ceil(2 ** (Math.ceil(stepsPerDoubling * Math.log2(shape[1])) / stepsPerDoubling))
  const bucket = buckets.find((size) => size >= shape[1])
  return bucket ?? refuse(`a second dimension of at most ${buckets.at(-1)}`, array)
}

/** @returns the second dimension of a batch of arrays. */
export function paddedLength(arrays: readonly NDArray[], { buckets }: RaggedSettings): number {
  if (buckets !== undefined) return bucketOf(arrays[0], buckets)
  return arrays.reduce((longest, { shape }) => Math.max(longest, shape[1]), 0)
}

/** @returns an array whose second dimension is cut to a length, or filled up to it. */
export function resized(array: NDArray, length: number, pad = 0): NDArray {
  const { data, shape, dtype } = array as NDArray<'float32'>
  if (shape[1] === length) return array
  const [rows, given] = shape
  const width = sizeOf(shape.slice(2))
  const [filler] = elementsFrom(dtype, [pad])
  const all = new (dataConstructor(dtype))(rows * length * width).fill(filler)
  for (let row = 0; row < rows; row++) {
    const from = row * given * width
    all.set(data.subarray(from, from + Math.min(given, length) * width), row * length * width)
  }
  return new NDArray(all, shape.with(1, length), dtype)
}

/** Joins the rows of values of one key, in order; a single value is not copied. `copies`: makes large ones in turns. */
export function joinRows(values: readonly unknown[], copies?: Copies): unknown {
  if (values.length === 1) return values[0]
  if (Array.isArray(values[0])) return (values as unknown[][]).flat()
  const arrays = values as readonly NDArray[]
  const [{ shape, dtype }] = arrays
  let rows = 0
  for (const array of arrays) rows += array.shape[0]
  return new NDArray(
    joinData(arrays, copies) as Float32Array,
    [rows, ...shape.slice(1)],
    dtype as 'float32',
  )
}

/** @returns the data of arrays of one dtype, one after the other. */
export function joinData(arrays: readonly NDArray[], copies?: Copies): NDArray['data'] {
  const [{ dtype }] = arrays
  if (dtype === 'str') return arrays.flatMap(({ data }) => data as string[])
  let length = 0
  for (const { data } of arrays) length += data.length
  const Container = dataConstructor(dtype)
  const memory = copies?.allocate(length * Container.BYTES_PER_ELEMENT)
  const joined = (memory ? new Container(memory) : new Container(length)) as Float32Array
  let at = 0
  for (const { data } of arrays as readonly NDArray<'float32'>[]) {
    if (copies === undefined) joined.set(data, at)
    else if (copies.copy(data, joined.subarray(at, at + data.length))) leaveToCollector(data.buffer)
    at += data.length
  }
  return joined
}

/**
 * Splits rows into parts of `sizes`.
 *
 * @throws FunctionError if the rows do not add up to those of the value.
 */
export function splitRows(value: unknown, sizes: readonly number[]): unknown[] {
  let total = 0
  for (const size of sizes) total += size
  const isList = Array.isArray(value) && value.length === total
  if (isList || (value instanceof NDArray && value.shape[0] === total)) {
    if (sizes.length === 1) return [value]
    let start = 0
    return sizes.map((size) => {
      start += size
      return isList
        ? value.slice(start - size, start)
        : rowsBetween(value as NDArray, start - size, start)
    })
  }
  if (isPlainObject(value)) {
    const parts: Record<string, unknown>[] = sizes.map(() => Object.create(null))
    for (const name of Object.keys(value)) {
      for (const [i, part] of splitRows(value[name], sizes).entries()) parts[i][name] = part
    }
    return parts.map((part) => ({ ...part }))
  }
  const received = value instanceof NDArray ? `shape ${showShape(value.shape)}` : undefined
  const what = `a list or NDArray of ${total} rows`
  throw new FunctionError(
    received === undefined
      ? expected(what, 'the result of a batch', value)
      : `expected ${what} for the result of a batch, received ${received}`,
  )
}

/**
 * Cuts the second dimensions of results to that of their input.
 *
 * @throws FunctionError for a result whose second dimension is not that of the batch.
 */
export function trimRows(
  value: unknown,
  trim: RaggedSettings['trim'],
  length: number,
  to: number,
): unknown {
  if (trim === undefined) return value
  if (isPlainObject(value)) {
    const names = trim === true ? Object.keys(value) : trim
    const part = (name: string) => trimRows(value[name], true, length, to)
    return { ...value, ...Object.fromEntries(names.map((name) => [name, part(name)])) }
  }
  if (value instanceof NDArray && value.shape[1] === length) return resized(value, to)
  const what = `an NDArray whose second dimension is ${length}`
  throw new FunctionError(expected(what, 'a result to trim', value))
}

/** The inverse of {@link splitRows}. */
export function joinResults(parts: readonly unknown[]): unknown {
  const [first] = parts
  if (!isPlainObject(first)) return joinRows(parts)
  const member = (name: string) => joinResults(parts.map((part) => (part as typeof first)[name]))
  return Object.fromEntries(Object.keys(first).map((name) => [name, member(name)]))
}

/** Sizes of the parts of `count` rows, all at most `limit`. */
export function cutSizes(count: number, limit: number): number[] {
  const sizes: number[] = []
  for (let rest = count; rest > 0; rest -= limit) sizes.push(Math.min(rest, limit))
  return sizes
}

function rowsBetween({ data, shape, dtype }: NDArray, start: number, end: number): NDArray {
  const own = shape.with(0, end - start)
  const size = sizeOf(shape.slice(1))
  const part = Array.isArray(data)
    ? data.slice(start * size, end * size)
    : data.subarray(start * size, end * size)
  return new NDArray(part as Float32Array, own, dtype as 'float32')
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const proto = Object.getPrototypeOf(value)
  return proto === Object.prototype || proto === null
}
