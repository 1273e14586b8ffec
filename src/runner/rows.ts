/** Joins the rows of several requests into one batch, and splits its result again. @module */

import { dataConstructor } from '../core/dtype.ts'
import { BadInput, expected, FunctionError } from '../core/errors.ts'
import type { Copies } from '../core/memory/copies.ts'
import { checkThat } from '../core/options.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { showShape, sizeOf } from '../values/array/shape.ts'
import { leaveToCollector } from '../values/image/request-pixels.ts'

/**
 * Values of the same key can be joined: equal dtype and dimensions but the first.
 *
 * @returns the number of rows.
 * @throws BadInput for an array without dimensions; InvalidArgument unless it is an NDArray or
 * list.
 */
export function rowsOf(value: unknown): { readonly count: number; readonly key: string } {
  if (Array.isArray(value)) return { count: value.length, key: 'list' }
  checkThat(value instanceof NDArray, 'an NDArray or a list', 'a batchable method', value)
  const { shape, dtype } = value
  if (shape.length === 0) {
    const what = 'an array with at least 1 dimensions for a batchable method'
    throw new BadInput(`expected ${what}, received shape ${showShape(shape)}`, { reason: 'shape' })
  }
  let key: string = dtype
  for (let i = 1; i < shape.length; i++) key += `,${shape[i]}`
  return { count: shape[0], key }
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
