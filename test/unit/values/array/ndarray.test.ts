import fc from 'fast-check'
import { BadInput, NDArray } from 'serving'
import { describe, expect, it } from 'vitest'

/** Nested lists of one kind of elements in any shape without zeros, and the shape. */
function listsOf<T>(element: fc.Arbitrary<T>): fc.Arbitrary<{ lists: unknown; shape: number[] }> {
  return fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 4 }).chain((shape) => {
    const lists = shape.reduceRight<fc.Arbitrary<unknown>>(
      (inner, length) => fc.array(inner, { minLength: length, maxLength: length }),
      element,
    )
    return lists.map((value) => ({ lists: value, shape }))
  })
}

describe('NDArray.from and toNested', () => {
  it.each([
    ['float64', fc.double()],
    ['int64', fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
    ['bool', fc.boolean()],
    ['str', fc.string()],
  ] as const)('give back any lists of %s', (dtype, element) => {
    fc.assert(
      fc.property(listsOf<number | bigint | boolean | string>(element), ({ lists, shape }) => {
        const array = NDArray.from(lists as never)
        expect([array.dtype, array.shape]).toEqual([dtype, shape])
        expect(array.toNested()).toEqual(lists)
      }),
    )
  })

  it('keep an array as it is, and take a typed array without a copy', () => {
    const array = new NDArray(Float32Array.of(1, 2))
    expect(NDArray.from(array)).toBe(array)
    const data = Int16Array.of(1, 2)
    expect(NDArray.from(data).data).toBe(data)
    expect(NDArray.from([Uint8Array.of(1), Uint8Array.of(2)] as never).toNested()).toEqual([
      [1],
      [2],
    ])
  })

  it('keep empty lists', () => {
    expect(NDArray.from([]).toNested()).toEqual([])
    expect(NDArray.from([[], []]).shape).toEqual([2, 0])
    expect(NDArray.from([[], []]).toNested()).toEqual([[], []])
  })

  it.each([
    ['lists of unequal length', [[1], [1, 2]], 'ragged'],
    ['elements of two kinds', [1, 'a'], 'dtype'],
    ['bytes without a type', new DataView(new ArrayBuffer(8)), 'dtype'],
  ] as const)('refuse %s', (_, lists, reason) => {
    const failure = (() => {
      try {
        return NDArray.from(lists as never)
      } catch (error) {
        return error
      }
    })()
    expect(failure).toBeInstanceOf(BadInput)
    expect(failure).toMatchObject({ reason })
  })
})
