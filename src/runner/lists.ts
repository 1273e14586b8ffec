/** Lists of values on their way to a worker: many small arrays of one kind are sent as a single one. @module */

import type { Copies } from '../core/memory/copies.ts'
import { NDArray } from '../values/array/ndarray.ts'
import { sizeOf } from '../values/array/shape.ts'
import { joinData } from './rows.ts'
import {
  type Boundary,
  isMoved,
  maxHeapBytes,
  minMoveBytes,
  type Packed,
  pack,
  unpack,
} from './transfer.ts'
import type { Transfer } from './worker.ts'

/** The items, or one array of them all, stacked along a new first dimension. */
export type PackedList = { readonly items: readonly Packed[] } | { readonly stack: Packed }

type Numbers = Float32Array

/** Like {@link pack}. `instead` returns what replaces an item that cannot be sent, or undefined to omit it. */
export function packList(
  values: readonly unknown[],
  boundary: Boundary,
  transfer: Transfer[],
  instead: (error: unknown, index: number) => Packed | undefined,
  copies?: Copies,
): PackedList {
  if (isStackable(values)) return { stack: pack(stackOf(values), boundary, transfer) }
  const items: Packed[] = []
  for (let i = 0; i < values.length; i++) {
    const count = transfer.length
    try {
      items.push(pack(values[i], boundary, transfer, copies))
    } catch (error) {
      transfer.length = count
      const packed = instead(error, i)
      if (packed !== undefined) items.push(packed)
    }
  }
  return { items }
}

/** Every array gets its own memory. `instead` returns what replaces an item whose serializer fails. */
export function unpackList(
  list: PackedList,
  instead: (error: unknown, index: number) => unknown,
): unknown[] {
  if ('items' in list) {
    return list.items.map((item, i) => {
      try {
        return unpack(item)
      } catch (error) {
        return instead(error, i)
      }
    })
  }
  const { data, shape, dtype } = unpack(list.stack) as NDArray<'float32'>
  const [count, ...own] = shape
  const size = sizeOf(own)
  const arrays: NDArray[] = []
  for (let i = 0; i < count; i++)
    arrays.push(new NDArray(data.slice(i * size, (i + 1) * size), own, dtype))
  return arrays
}

function stackOf(arrays: readonly NDArray[]): NDArray {
  const [{ shape, dtype }] = arrays
  return new NDArray(joinData(arrays) as Numbers, [arrays.length, ...shape], dtype as 'float32')
}

function isStackable(values: readonly unknown[]): values is NDArray[] {
  const [first] = values
  if (values.length < 2 || !(first instanceof NDArray) || first.dtype === 'str') return false
  const { shape, dtype } = first
  const size = sizeOf(shape)
  return values.every((value) => {
    if (!(value instanceof NDArray) || value.constructor !== NDArray) return false
    if (value.dtype !== dtype || value.shape.length !== shape.length || isMoved(value)) return false
    for (let i = 0; i < shape.length; i++) if (value.shape[i] !== shape[i]) return false
    const data = value.data as Numbers
    // The serializer refuses an array whose memory is gone.
    if (data.length !== size || data.byteLength >= minMoveBytes) return false
    return data.byteLength <= maxHeapBytes || data.buffer instanceof ArrayBuffer
  })
}
