import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NDArray } from '../../../src/array/ndarray.ts'
import { sizeOf } from '../../../src/array/shape.ts'
import { cutSizes, joinResults, joinRows, rowsOf, splitRows } from '../../../src/runner/rows.ts'

/** Arrays that can be joined along `dim`: equal dtype, equal dimensions but that one. */
const joinable = fc
  .record({
    shape: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 4 }),
    dimSeed: fc.nat(),
    sizes: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 6 }),
    dtype: fc.constantFrom('float32', 'int64', 'uint8', 'str'),
  })
  .map(({ shape, dimSeed, sizes, dtype }) => {
    const dim = dimSeed % shape.length
    let next = 0
    const arrays = sizes.map((size): NDArray => {
      const own = shape.with(dim, size)
      const numbers = Array.from({ length: sizeOf(own) }, () => next++)
      if (dtype === 'float32') return new NDArray(Float32Array.from(numbers), own)
      if (dtype === 'int64') return new NDArray(BigInt64Array.from(numbers, BigInt), own)
      if (dtype === 'uint8') return new NDArray(Uint8Array.from(numbers), own)
      return new NDArray(numbers.map(String), own)
    })
    return { arrays, dim, sizes }
  })

/** The element at an index, as numpy would find it. */
function at(array: NDArray, index: readonly number[]): unknown {
  const flat = index.reduce((sum, i, axis) => sum * array.shape[axis] + i, 0)
  return array.data[flat]
}

describe('joining and splitting rows', () => {
  it('gives every request back its own rows, for any sizes and any dimension', () => {
    fc.assert(
      fc.property(joinable, ({ arrays, dim, sizes }) => {
        const joined = joinRows(arrays, dim) as NDArray
        expect(joined.shape[dim]).toBe(sizes.reduce((sum, size) => sum + size, 0))
        expect(splitRows(joined, sizes, dim)).toEqual(arrays)
      }),
    )
  })

  it('puts every row where numpy.concatenate does', () => {
    fc.assert(
      fc.property(joinable, fc.nat(), ({ arrays, dim, sizes }, seed) => {
        const part = seed % arrays.length
        const array = arrays[part]
        fc.pre(array.size > 0)
        const joined = joinRows(arrays, dim) as NDArray
        let rest = seed % array.size
        const index = array.shape.toReversed().map((length) => {
          const i = rest % length
          rest = Math.floor(rest / length)
          return i
        })
        index.reverse()
        const before = sizes.slice(0, part).reduce((sum, size) => sum + size, 0)
        expect(at(joined, index.with(dim, index[dim] + before))).toEqual(at(array, index))
      }),
    )
  })

  it('joins again what it has split, for any sizes', () => {
    fc.assert(
      fc.property(joinable, ({ arrays, dim, sizes }) => {
        const joined = joinRows(arrays, dim)
        expect(joinResults(splitRows(joined, sizes, dim), dim)).toEqual(joined)
      }),
    )
  })

  it('does the same for lists and for objects of results', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.integer()), { minLength: 1 }), (lists) => {
        const sizes = lists.map((list) => list.length)
        const joined = joinRows(lists, 0) as number[]
        expect(splitRows(joined, sizes, 0)).toEqual(lists)
        const result = { label: joined, array: new NDArray(Float64Array.from(joined)) }
        const parts = splitRows(result, sizes, 0) as (typeof result)[]
        expect(parts.map((part) => part.label)).toEqual(lists)
        expect(joinResults(parts, 0)).toEqual(result)
      }),
    )
  })

  it('keeps an array of one request as it is, without a copy', () => {
    const x = new NDArray(new Float32Array(6), [2, 3])
    expect(joinRows([x], 0)).toBe(x)
    expect(splitRows(x, [2], 0)[0]).toBe(x)
  })

  it('tells apart what cannot be joined', () => {
    const keys = [
      rowsOf(new NDArray(new Float32Array(6), [2, 3]), 0),
      rowsOf(new NDArray(new Float32Array(8), [2, 4]), 0),
      rowsOf(new NDArray(new Float64Array(6), [2, 3]), 0),
      rowsOf(new NDArray(new Float32Array(6), [2, 3]), 1),
      rowsOf([1, 2], 0),
    ].map(({ key }) => key)
    expect(new Set(keys).size).toBe(keys.length)
    expect(rowsOf(new NDArray(new Float32Array(12), [4, 3]), 0).key).toBe(keys[0])
  })

  it('refuses arrays without the dimension, and values that have no rows', () => {
    expect(() => rowsOf(new NDArray(new Float32Array(1), []), 0)).toThrow(/at least 1 dimensions.*shape \(\)/)
    expect(() => rowsOf(new NDArray(new Float32Array(2)), 1)).toThrow(/at least 2 dimensions/)
    expect(() => rowsOf('text', 0)).toThrow(/an NDArray or a list/)
    expect(() => rowsOf([1], 1)).toThrow(/dimension 1/)
  })

  it('refuses a result with other rows than the requests had', () => {
    const result = new NDArray(new Float32Array(6), [3, 2])
    expect(() => splitRows(result, [1, 1], 0)).toThrow(/2 rows along dimension 0.*shape \(3, 2\)/)
    expect(() => splitRows([1], [1, 1], 0)).toThrow(/2 rows/)
    expect(() => splitRows(5, [1], 0)).toThrow(/1 rows/)
  })

  it('cuts a request into parts of at most the limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1000 }), fc.integer({ min: 1, max: 50 }), (count, limit) => {
        const sizes = cutSizes(count, limit)
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(count)
        expect(sizes.every((size) => size >= 1 && size <= limit)).toBe(true)
        expect(sizes.length).toBe(Math.ceil(count / limit))
      }),
    )
  })
})
