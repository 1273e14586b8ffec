/**
 * Lists of values cross threads: many small arrays of one kind as a single one.
 * @module
 */

import { NDArray } from '../array/ndarray.ts'
import { sizeOf } from '../array/shape.ts'
import { dataConstructor, type NumericDType } from '../dtype.ts'
import { minMoveBytes, type Packed, pack, unpack } from './transfer.ts'

/** A list that can be sent. */
export interface PackedList {
  readonly packed: Packed
  /** Whether `packed` is one array, with the list's along a new first dimension. */
  readonly stacked: boolean
}

type Numbers = Float32Array

/**
 * A list becomes one that can be sent, as {@link pack} does it.
 * **Cost**: there and unpacked, an array by itself takes 1.5 to 2 µs, one that is stacked with others 0.35, above 64 bytes 1.4: it needs
 * memory outside of the heap then.
 * **Errors**: those of {@link pack}.
 */
export function packList(values: readonly unknown[], transfer?: ArrayBuffer[]): PackedList {
  if (!isStackable(values)) return { packed: pack(values, transfer), stacked: false }
  const [{ data, shape, dtype }] = values
  const size = data.length
  const all = new (dataConstructor(dtype as NumericDType))(values.length * size) as Numbers
  for (let i = 0; i < values.length; i++) all.set(values[i].data as Numbers, i * size)
  const stack = new NDArray(all, [values.length, ...shape], dtype as 'float32')
  return { packed: pack(stack, transfer), stacked: true }
}

/** What was sent becomes the list, every array with memory of its own. */
export function unpackList({ packed, stacked }: PackedList): unknown[] {
  const value = unpack(packed)
  if (!stacked) return value as unknown[]
  const { data, shape, dtype } = value as NDArray<'float32'>
  const [count, ...own] = shape
  const size = sizeOf(own)
  return Array.from({ length: count }, (_, i) => new NDArray(data.slice(i * size, (i + 1) * size), own, dtype))
}

/** Whether all are arrays of one dtype and shape, too small to be moved. */
function isStackable(values: readonly unknown[]): values is NDArray[] {
  const [first] = values
  if (values.length < 2 || !(first instanceof NDArray) || first.dtype === 'str') return false
  const { shape, dtype } = first
  const size = sizeOf(shape)
  return values.every((value) => {
    if (!(value instanceof NDArray) || value.constructor !== NDArray) return false
    if (value.dtype !== dtype || value.shape.length !== shape.length) return false
    for (let i = 0; i < shape.length; i++) if (value.shape[i] !== shape[i]) return false
    const data = value.data as Numbers
    // Shared memory crosses as itself; what has gone elsewhere is refused by its serializer.
    return data.length === size && data.byteLength < minMoveBytes && data.buffer instanceof ArrayBuffer
  })
}
