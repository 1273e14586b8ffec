import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutSizes, joinResults, joinRows, rowsOf, splitRows } from '../../../src/runner/rows.ts'
import { NDArray } from '../../../src/values/array/ndarray.ts'
import { sizeOf } from '../../../src/values/array/shape.ts'

/** Arrays that can be joined: equal dtype, equal dimensions but the first. */
const joinable = fc
  .record({
    rest: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 3 }),
    sizes: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 6 }),
    dtype: fc.constantFrom('float32', 'int64', 'uint8', 'str'),
  })
  .map(({ rest, sizes, dtype }) => {
    let next = 0
    const arrays = sizes.map((size): NDArray => {
      const own = [size, ...rest]
      const numbers = Array.from({ length: sizeOf(own) }, () => next++)
      if (dtype === 'float32') return new NDArray(Float32Array.from(numbers), own)
      if (dtype === 'int64') return new NDArray(BigInt64Array.from(numbers, BigInt), own)
      if (dtype === 'uint8') return new NDArray(Uint8Array.from(numbers), own)
      return new NDArray(numbers.map(String), own)
    })
    return { arrays, sizes }
  })

/** Returns the element at an index, as numpy would find it. */
function at(array: NDArray, index: readonly number[]): unknown {
  const flat = index.reduce((sum, i, axis) => sum * array.shape[axis] + i, 0)
  return array.data[flat]
}

describe('joining and splitting rows', () => {
  it('gives every request back its own rows, for any sizes', () => {
    fc.assert(
      fc.property(joinable, ({ arrays, sizes }) => {
        const joined = joinRows(arrays) as NDArray
        expect(joined.shape[0]).toBe(sizes.reduce((sum, size) => sum + size, 0))
        expect(splitRows(joined, sizes)).toEqual(arrays)
      }),
    )
  })

  it('puts every row where numpy.concatenate does', () => {
    fc.assert(
      fc.property(joinable, fc.nat(), ({ arrays, sizes }, seed) => {
        const part = seed % arrays.length
        const array = arrays[part]
        fc.pre(array.size > 0)
        const joined = joinRows(arrays) as NDArray
        let rest = seed % array.size
        const index = array.shape.toReversed().map((length) => {
          const i = rest % length
          rest = Math.floor(rest / length)
          return i
        })
        index.reverse()
        const before = sizes.slice(0, part).reduce((sum, size) => sum + size, 0)
        expect(at(joined, index.with(0, index[0] + before))).toEqual(at(array, index))
      }),
    )
  })

  it('joins again what it has split, for any sizes', () => {
    fc.assert(
      fc.property(joinable, ({ arrays, sizes }) => {
        const joined = joinRows(arrays)
        expect(joinResults(splitRows(joined, sizes))).toEqual(joined)
      }),
    )
  })

  it('does the same for lists and for objects of results', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.integer()), { minLength: 1 }), (lists) => {
        const sizes = lists.map((list) => list.length)
        const joined = joinRows(lists) as number[]
        expect(splitRows(joined, sizes)).toEqual(lists)
        const result = { label: joined, array: new NDArray(Float64Array.from(joined)) }
        const parts = splitRows(result, sizes) as (typeof result)[]
        expect(parts.map((part) => part.label)).toEqual(lists)
        expect(joinResults(parts)).toEqual(result)
      }),
    )
  })

  it('keeps an array of one request as it is, without a copy', () => {
    const x = new NDArray(new Float32Array(6), [2, 3])
    expect(joinRows([x])).toBe(x)
    expect(splitRows(x, [2])[0]).toBe(x)
  })

  it('tells apart what cannot be joined', () => {
    const keys = [
      rowsOf(new NDArray(new Float32Array(6), [2, 3])),
      rowsOf(new NDArray(new Float32Array(8), [2, 4])),
      rowsOf(new NDArray(new Float64Array(6), [2, 3])),
      rowsOf(new NDArray(new Float32Array(6), [2, 3, 1])),
      rowsOf([1, 2]),
    ].map(({ key }) => key)
    expect(new Set(keys).size).toBe(keys.length)
    expect(rowsOf(new NDArray(new Float32Array(12), [4, 3])).key).toBe(keys[0])
  })

  it('refuses arrays without dimensions, and values that have no rows', () => {
    expect(() => rowsOf(new NDArray(new Float32Array(1), []))).toThrow(
      /at least 1 dimensions.*shape \(\)/,
    )
    expect(() => rowsOf('text')).toThrow(/an NDArray or a list/)
  })

  it('refuses a result with other rows than the requests had', () => {
    const result = new NDArray(new Float32Array(6), [3, 2])
    expect(() => splitRows(result, [1, 1])).toThrow(/2 rows for.*shape \(3, 2\)/)
    expect(() => splitRows([1], [1, 1])).toThrow(/2 rows/)
    expect(() => splitRows(5, [1])).toThrow(/1 rows/)
  })

  it('cuts a request into parts of at most the limit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1000 }),
        fc.integer({ min: 1, max: 50 }),
        (count, limit) => {
          const sizes = cutSizes(count, limit)
          expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(count)
          expect(sizes.every((size) => size >= 1 && size <= limit)).toBe(true)
          expect(sizes.length).toBe(Math.ceil(count / limit))
        },
      ),
    )
  })
})
