/** The n-dimensional array that functions receive and return. @module */

import type { ShapeOf } from '../../core/axes.ts'
import {
  type DataOf,
  type DType,
  dataConstructor,
  dtypeOfContainer,
  dtypes,
  isDType,
  isWideInteger,
  type NumberDType,
} from '../../core/dtype.ts'
import { badInput, expected, InvalidArgument } from '../../core/errors.ts'
import { checkThat } from '../../core/options.ts'
import { shareClass } from '../../core/share-class.ts'
import { flattenLists, type Nested, nestElements } from './nested.ts'
import { argmaxOf, meanOf, type Numbers, softmaxOf, topOf } from './reductions.ts'
import { reshapeTo, showShape, sizeOf } from './shape.ts'

/**
 * An array in C order: flat elements and a shape; `[]` is a scalar. **Units**: bool elements are
 * bytes 0 or 1, float16 their IEEE 754 bits.
 *
 * @throws InvalidArgument if data, shape and dtype do not fit. Shares `data`.
 * @example
 * `new NDArray(Float32Array.of(1, 2, 3, 4), [2, 2])`
 */
export class NDArray<
  D extends DType = DType,
  const S extends readonly number[] = readonly number[],
> {
  readonly data: DataOf<D>
  readonly shape: S
  readonly dtype: D

  /**
   * @default `dtype`: that of the container; for a Uint8Array uint8, for a Uint16Array uint16, for
   * strings str
   */
  constructor(
    data: DataOf<D>,
    shape: S = [data.length] as readonly number[] as S,
    dtype: D = dtypeOf(data) as D,
  ) {
    if (!isDType(dtype))
      throw new InvalidArgument(expected(`one of ${dtypes.join(', ')}`, 'dtype', dtype))
    const holds =
      dtype === 'str' ? Array.isArray(data) : data instanceof dataConstructor(dtype as 'int8')
    if (!holds) throw new InvalidArgument(expected(`data of dtype ${dtype}`, 'NDArray', data))
    let size = 1
    for (let i = 0; i < shape.length; i++) {
      if (!Number.isSafeInteger(shape[i]) || shape[i] < 0) {
        throw new InvalidArgument(expected('whole numbers from 0 up', 'NDArray shape', shape))
      }
      size *= shape[i]
    }
    if (size !== data.length) {
      throw new InvalidArgument(
        expected(`${size} elements`, `NDArray of shape ${showShape(shape)}`, data.length),
      )
    }
    this.data = data
    this.shape = shape
    this.dtype = dtype
  }

  /**
   * @returns an array of lists or a typed array: numbers become float64, bigints int64, booleans
   * bool, strings str.
   * @throws BadInput `ragged`, `dtype`, `shape`, with `name`.
   * @example
   * `NDArray.from([[1, 2], [3, 4]])`
   */
  static from(lists: NDArray | Nested | ArrayBufferView, name = 'NDArray'): NDArray {
    if (lists instanceof NDArray) return lists
    if (dtypeOfContainer(lists) !== undefined) return new NDArray(lists as DataOf<DType>)
    const { data, shape, dtype } = flattenLists(lists, name)
    return new NDArray(data, shape, dtype)
  }

  /**
   * @returns nested lists; the element for shape `[]`. 64-bit integers are bigints, bool booleans.
   */
  toNested(): Nested {
    return nestElements(this.data, this.shape, this.dtype)
  }

  get size(): number {
    return this.data.length
  }

  get ndim(): number {
    return this.shape.length
  }

  /**
   * @returns the same data under another shape, one dimension of which may be -1.
   * @throws BadInput.
   */
  reshape<const P extends readonly number[]>(shape: P): NDArray<D, ShapeOf<P>> {
    const next = reshapeTo(this.shape, shape)
    if (next === undefined || sizeOf(next) !== this.size) {
      throw badInput(
        'shape',
        `expected an array that fits shape ${showShape(shape)} for NDArray, received shape ${showShape(this.shape)}`,
      )
    }
    return new NDArray(this.data, next as ShapeOf<P>, this.dtype)
  }

  /**
   * @returns the mean in double precision; NaN if empty.
   * @throws InvalidArgument for str, float16, 64-bit kinds.
   */
  mean(): number {
    return meanOf(numbersOf(this, 'mean'))
  }

  /**
   * @returns the indexes of the greatest elements along the last axis, the first of equal ones; NaN
   * is greatest.
   * @throws as {@link NDArray.mean}, and for empty rows.
   */
  argmax(): NDArray<'int32'> {
    return new NDArray(
      argmaxOf(numbersOf(this, 'argmax'), columnsOf(this, 'argmax')),
      this.shape.slice(0, -1),
    )
  }

  /**
   * @returns the softmax along the last axis: float32, else float64.
   * @throws as {@link NDArray.argmax}.
   */
  softmax(): NDArray<'float32' | 'float64', S> {
    return new NDArray(
      softmaxOf(numbersOf(this, 'softmax'), columnsOf(this, 'softmax')),
      this.shape,
    )
  }

  /**
   * @returns the `k` greatest elements along the last axis with their indexes, in descending order,
   * the first of equal ones first.
   * @throws as {@link NDArray.argmax}, and for a `k` below 1 or above the length of a row.
   * @example
   * `const { values, indexes } = logits.softmax().topK(5)`
   */
  topK(k: number): {
    readonly values: NDArray<Extract<D, NumberDType>>
    readonly indexes: NDArray<'int32'>
  } {
    type Values = Extract<D, NumberDType>
    const [data, columns] = [numbersOf(this, 'topK'), columnsOf(this, 'topK')]
    checkThat(
      Number.isInteger(k) && k >= 1 && k <= columns,
      `a whole number from 1 to ${columns}`,
      'topK',
      k,
    )
    const indexes = topOf(data, columns, k)
    const values = new (dataConstructor(this.dtype as 'float64'))(indexes.length)
    for (let i = 0; i < indexes.length; i++)
      values[i] = data[Math.floor(i / k) * columns + indexes[i]]
    const shape = [...this.shape.slice(0, -1), k]
    return {
      values: new NDArray(values as unknown as DataOf<Values>, shape, this.dtype as Values),
      indexes: new NDArray(indexes, shape),
    }
  }
}
shareClass(NDArray, 'NDArray')

function numbersOf({ data, shape, dtype }: NDArray, method: string): Numbers {
  if (data.length !== sizeOf(shape)) {
    throw new InvalidArgument(
      `the data of this NDArray is gone for ${method}: it was moved, or of a request before`,
    )
  }
  if (dtype !== 'str' && dtype !== 'float16' && !isWideInteger(dtype)) return data as Numbers
  throw new InvalidArgument(
    expected('numbers of up to 32 bits, float32 or float64', `NDArray.${method}`, dtype),
  )
}

function columnsOf({ shape }: NDArray, method: string): number {
  const columns = shape.at(-1) ?? 1
  if (columns > 0) return columns
  throw new InvalidArgument(
    `expected rows of at least one element for NDArray.${method}, received none`,
  )
}

function dtypeOf(data: unknown): DType {
  const dtype = Array.isArray(data) ? 'str' : dtypeOfContainer(data)
  if (dtype !== undefined) return dtype
  throw new InvalidArgument(expected('a typed array or a list of strings', 'NDArray data', data))
}
