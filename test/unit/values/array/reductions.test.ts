import { readFileSync } from 'node:fs'
import { type DType, InvalidArgument, NDArray } from 'serving'
import { describe, expect, it } from 'vitest'
import { dataConstructor, dtypes, isPlainNumber } from '../../../../src/core/dtype.ts'
import { meanOf, type Numbers } from '../../../../src/values/array/reductions.ts'

/** See test/fixtures/ndarray/reductions.py. */
interface Case {
  readonly dtype: 'float32'
  readonly shape: number[]
  readonly data: number[]
  readonly mean: number
  readonly argmax: number[]
  readonly softmax: number[]
  readonly top: number[]
  readonly values: number[]
}
const cases: readonly Case[] = JSON.parse(
  readFileSync(new URL('../../../fixtures/ndarray/reductions.json', import.meta.url), 'utf8'),
)
const arrayOf = ({ dtype, shape, data }: Pick<Case, 'dtype' | 'shape' | 'data'>) => {
  const elements = new (dataConstructor(dtype))(data.length)
  for (const [i, value] of data.entries()) elements[i] = Number(value)
  return new NDArray(elements, shape, dtype)
}

describe('reductions', () => {
  it.each(cases)('of $dtype $shape are numpy’s', (one) => {
    const array = arrayOf(one)
    const rows = one.shape.slice(0, -1)
    expect(array.mean()).toBeCloseTo(one.mean, 12)
    expect(array.argmax()).toEqual(new NDArray(Int32Array.from(one.argmax), rows))
    const softmax = array.softmax()
    expect(softmax.dtype).toBe(one.dtype === 'float32' ? 'float32' : 'float64')
    expect(softmax.shape).toEqual(one.shape)
    for (const [i, value] of one.softmax.entries())
      expect(Math.abs(softmax.data[i] - value)).toBeLessThan(1e-7)
    const { values, indexes } = array.topK(2)
    expect(indexes).toEqual(new NDArray(Int32Array.from(one.top), [...rows, 2]))
    expect(values).toEqual(arrayOf({ dtype: one.dtype, shape: [...rows, 2], data: one.values }))
  })

  it('of large arrays are the same by the add-on as in JavaScript', () => {
    for (const dtype of dtypes.filter((each) => each === 'bool' || isPlainNumber(each))) {
      const data = new (dataConstructor(dtype as 'float64'))(1_000_003)
      for (let i = 0; i < 100_003; i++)
        data[data.length - 1 - i] = dtype === 'bool' ? i % 2 : (i % 251) - 100
      let sum = 0
      for (let i = 0; i < data.length; i++) sum += data[i]
      expect(meanOf(data as Numbers)).toBe(sum / data.length)
    }
    expect(meanOf(new Uint8Array(40_000_000).fill(255))).toBe(255)
  })

  it('treat NaN as the greatest, take the first of equal ones, and any k', () => {
    const array = new NDArray(
      Float64Array.of(1, Number.NaN, 3, 3, Number.POSITIVE_INFINITY, Number.NaN),
      [6],
    )
    expect([...array.argmax().data]).toEqual([1])
    expect(array.argmax().shape).toEqual([])
    expect([...array.topK(6).indexes.data]).toEqual([1, 5, 4, 2, 3, 0])
    expect([...array.topK(1).indexes.data]).toEqual([1])
    expect([...new NDArray(Float32Array.of(7), []).softmax().data]).toEqual([1])
  })

  it('have the top of rising, falling, mixed and equal elements, for any k', () => {
    const rows = [
      (i: number) => i,
      (i: number) => -i,
      (i: number) => (i * 7919) % 1009,
      (i: number) => i % 3,
      () => Number.NaN,
    ].map((value) => Array.from({ length: 1000 }, (_, i) => value(i)))
    const sorted = rows.map((row) =>
      row.map((_, i) => i).sort((a, b) => row[b] - row[a] || 0 || a - b),
    )
    const array = new NDArray(Float64Array.from(rows.flat()), [rows.length, 1000])
    for (const k of [1, 5, 31, 32, 33, 64, 500, 999, 1000])
      expect([...array.topK(k).indexes.data]).toEqual(sorted.flatMap((row) => row.slice(0, k)))
  })

  it('refuse what they cannot reduce', () => {
    for (const data of [['a'], BigInt64Array.of(1n)]) {
      const array = new NDArray(data as never) as NDArray<DType>
      for (const run of [
        () => array.mean(),
        () => array.argmax(),
        () => array.softmax(),
        () => array.topK(1),
      ]) {
        expect(run).toThrow(InvalidArgument)
      }
    }
    expect(() => new NDArray(new Uint16Array(1), [1], 'float16').mean()).toThrow(
      /up to 32 bits.*float16/,
    )
    const empty = new NDArray(new Float32Array(0), [3, 0])
    expect(empty.mean()).toBeNaN()
    expect(() => empty.argmax()).toThrow(/at least one element/)
    for (const k of [0, 4, 1.5]) {
      expect(() => new NDArray(Float32Array.of(1, 2, 3)).topK(k)).toThrow(/from 1 to 3 for topK/)
    }
  })
})
