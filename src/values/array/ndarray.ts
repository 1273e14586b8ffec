/** The n-dimensional array that functions receive and return. @module */

import {
  type DataOf,
  type DType,
  dataConstructor,
  dtypeOfContainer,
  dtypes,
  isDType,
  isWideInteger,
} from '../../core/dtype.ts'
import { BadInput, expected, InvalidArgument } from '../../core/errors.ts'
import { flattenLists, type Nested, nestElements } from './nested.ts'
import { argmaxOf, meanOf, type Numbers, softmaxOf, topOf } from './reductions.ts'
import { reshapeTo, showShape, sizeOf } from './shape.ts'

/**
 * An array in C order (the last dimension varies fastest): flat elements and a shape. **Shape**: any rank, `[]` is a
 * scalar with one element; `data.length` is the product of `shape`. **Units**: bool elements are bytes 0 or 1, float16
 * elements their IEEE 754 bits. **Errors**: InvalidArgument when data, shape and dtype do not fit together. **Cost**:
 * keeps `data` as it is, no copy. **Example** `new NDArray(Float32Array.of(1, 2, 3, 4), [2, 2])`
 */
export class NDArray<D extends DType = DType> {
  readonly data: DataOf<D>
  readonly shape: readonly number[]
  readonly dtype: D

  /** Default `dtype`: that of the container; for a Uint8Array uint8, for a Uint16Array uint16, for strings str. */
  constructor(data: DataOf<D>, shape: readonly number[] = [data.length], dtype: D = dtypeOf(data) as D) {
    if (!isDType(dtype)) throw new InvalidArgument(expected(`one of ${dtypes.join(', ')}`, 'dtype', dtype))
    const holds = dtype === 'str' ? Array.isArray(data) : data instanceof dataConstructor(dtype as 'int8')
    if (!holds) throw new InvalidArgument(expected(`data of dtype ${dtype}`, 'NDArray', data))
    let size = 1
    for (let i = 0; i < shape.length; i++) {
      if (!Number.isSafeInteger(shape[i]) || shape[i] < 0) {
        throw new InvalidArgument(expected('whole numbers from 0 up', 'NDArray shape', shape))
      }
      size *= shape[i]
    }
    if (size !== data.length) {
      throw new InvalidArgument(expected(`${size} elements`, `NDArray of shape ${showShape(shape)}`, data.length))
    }
    this.data = data
    this.shape = shape
    this.dtype = dtype
  }

  /**
   * Returns an array of a list, a typed array or lists of them: numbers become float64, bigints int64, booleans bool
   * and strings str; an NDArray is returned as it is. **Errors**: BadInput `ragged`, `dtype`, `shape` where no array
   * can be made; `name` is what it is called there. **Cost**: one copy of the elements, none of a typed array.
   * **Example** `NDArray.from([[1, 2], [3, 4]])`
   */
  static from(lists: NDArray | Nested | ArrayBufferView, name = 'NDArray'): NDArray {
    if (lists instanceof NDArray) return lists
    if (dtypeOfContainer(lists) !== undefined) return new NDArray(lists as DataOf<DType>)
    const { data, shape, dtype } = flattenLists(lists, name)
    return new NDArray(data, shape, dtype)
  }

  /**
   * Returns the elements as nested lists, the inverse of {@link NDArray.from}; the element itself for a shape of `[]`.
   * **Units**: int64 and uint64 elements are bigints, bool elements booleans, float16 elements numbers.
   */
  toNested(): Nested {
    return nestElements(this.data, this.shape, this.dtype)
  }

  /** Number of elements. */
  get size(): number {
    return this.data.length
  }

  /** Number of dimensions. */
  get ndim(): number {
    return this.shape.length
  }

  /**
   * Returns the same elements under another shape, one dimension of which may be -1.
   * **Errors**: BadInput when the number of elements does not fit. **Cost**: no copy; both share `data`.
   */
  reshape(shape: readonly number[]): NDArray<D> {
    const next = reshapeTo(this.shape, shape)
    if (next === undefined || sizeOf(next) !== this.size) {
      throw new BadInput(
        `expected an array that fits shape ${showShape(shape)} for NDArray, received shape ${showShape(this.shape)}`,
        { reason: 'shape' },
      )
    }
    return new NDArray(this.data, next, this.dtype)
  }

  /**
   * Returns the mean of all elements in double precision; NaN for none.
   * **Errors**: InvalidArgument for str, float16 and 64-bit integers. **Cost**: native; 0.5 ms for 6 million bytes.
   */
  mean(): number {
    return meanOf(numbersOf(this, 'mean'))
  }

  /**
   * Returns the indexes of the greatest elements along the last axis, the first of equal ones. NaN counts as greatest,
   * as in numpy. **Shape**: that of the array without its last dimension. **Errors**: as {@link NDArray.mean}, and for
   * rows of no elements.
   */
  argmax(): NDArray<'int32'> {
    return new NDArray(argmaxOf(numbersOf(this, 'argmax'), columnsOf(this, 'argmax')), this.shape.slice(0, -1))
  }

  /**
   * Returns the softmax along the last axis: float32 for float32, else float64. **Errors**: as {@link NDArray.argmax}.
   * **Example** `new NDArray(Float32Array.of(1, 2, 3)).softmax()`
   */
  softmax(): NDArray<'float32' | 'float64'> {
    return new NDArray(softmaxOf(numbersOf(this, 'softmax'), columnsOf(this, 'softmax')), this.shape)
  }

  /**
   * Returns the `k` greatest elements along the last axis with their indexes, in descending order, the first of equal
   * ones first.
   * **Shape**: that of the array with `k` as its last dimension. **Errors**: as {@link NDArray.argmax}, and for a `k`
   * that is not from 1 to the length of a row. **Example** `const { values, indexes } = logits.softmax().topK(5)`
   */
  topK(k: number): { readonly values: NDArray<D>; readonly indexes: NDArray<'int32'> } {
    const [data, columns] = [numbersOf(this, 'topK'), columnsOf(this, 'topK')]
    if (!(Number.isInteger(k) && k >= 1 && k <= columns)) {
      throw new InvalidArgument(expected(`a whole number from 1 to ${columns}`, 'topK', k))
    }
    const indexes = topOf(data, columns, k)
    const values = new (dataConstructor(this.dtype as 'float64'))(indexes.length)
    for (let i = 0; i < indexes.length; i++) values[i] = data[Math.floor(i / k) * columns + indexes[i]]
    const shape = [...this.shape.slice(0, -1), k]
    return {
      values: new NDArray(values as unknown as DataOf<D>, shape, this.dtype),
      indexes: new NDArray(indexes, shape),
    }
  }
}

function numbersOf({ data, shape, dtype }: NDArray, method: string): Numbers {
  if (data.length !== sizeOf(shape)) {
    throw new InvalidArgument(`the data of this NDArray is gone for ${method}: it was moved, or of a request before`)
  }
  if (dtype !== 'str' && dtype !== 'float16' && !isWideInteger(dtype)) return data as Numbers
  throw new InvalidArgument(expected('numbers of up to 32 bits, float32 or float64', `NDArray.${method}`, dtype))
}

/** Returns the length of the last axis; 1 for a scalar. */
function columnsOf({ shape }: NDArray, method: string): number {
  const columns = shape.at(-1) ?? 1
  if (columns > 0) return columns
  throw new InvalidArgument(`expected rows of at least one element for NDArray.${method}, received none`)
}

function dtypeOf(data: unknown): DType {
  const dtype = Array.isArray(data) ? 'str' : dtypeOfContainer(data)
  if (dtype !== undefined) return dtype
  throw new InvalidArgument(expected('a typed array or a list of strings', 'NDArray data', data))
}
