import { readFileSync } from 'node:fs'
import pl from 'nodejs-polars'
import { describe, expect, it } from 'vitest'
import { ValueError } from '../../../src/core/errors.ts'
import { BinaryFile } from '../../../src/core/file/binary-file.ts'
import { NDArray } from '../../../src/values/array/ndarray.ts'
import { differenceOf, numberError, type Tolerance } from '../../../src/values/difference.ts'
import { RasterImage } from '../../../src/values/image/raster.ts'

type Case = readonly [
  dtype: 'float16' | 'float32' | 'float64',
  tolerance: Tolerance,
  expected: string,
  actual: string,
  isClose: boolean,
]

const doubleOf = (hex: string) => Buffer.from(hex, 'hex').readDoubleBE()

describe('numberError', () => {
  it('agrees with numpy on 1,200 pairs: isclose, and steps of spacing', () => {
    const cases: Case[] = JSON.parse(
      readFileSync(new URL('../../fixtures/differences/numbers.json', import.meta.url), 'utf8'),
    )
    const wrong = cases.filter(([dtype, tolerance, from, to, isClose]) => {
      const error = numberError(doubleOf(from), doubleOf(to), tolerance, dtype)
      return (error === 0) !== isClose
    })
    expect(wrong).toEqual([])
    expect(cases.length).toBeGreaterThan(1200)
  })

  it('allows floats what PyTorch allows for their dtype, and integers nothing', () => {
    expect(numberError(1, 1 + 1e-6, {}, 'float32')).toBe(0)
    expect(numberError(1, 1 + 1e-6, {}, 'float64')).toBeCloseTo(1e-6, 9)
    expect(numberError(1_000_000, 1_000_001, {}, 'int32')).toBeCloseTo(1e-6, 9)
    expect(numberError(7, 8, { absolute: 1 }, 'uint8')).toBe(0)
    expect(numberError(7, 8, { relative: 1 }, 'uint8')).toBeGreaterThan(0)
    expect(numberError(2n ** 60n, 2n ** 60n + 1n, {}, 'int64')).toBeGreaterThan(0)
    // Of JSON: what float32 holds is a float32, and a whole number is exact unless a tolerance is given.
    expect(numberError(Math.fround(0.1), Math.fround(0.1000001), {})).toBe(0)
    expect(numberError(0.1, 0.100001, {})).toBeGreaterThan(0)
    expect(numberError(1_000_000, 1_000_001, {})).toBeGreaterThan(0)
    expect(numberError(1_000_000, 1_000_001, { absolute: 1 })).toBe(0)
    expect(numberError(5n, 5, {})).toBe(0)
  })
})

describe('differenceOf', () => {
  it('finds the worst element of arrays, and their dtype and shape', () => {
    const array = (...data: number[]) => new NDArray(Float32Array.from(data), [2, 2])
    expect(differenceOf(array(1, 2, Number.NaN, 4), array(1, 2, Number.NaN, 4))).toBeUndefined()
    expect(differenceOf(array(1, 2, 3, 4), array(1, 2.5, 3, 6))).toEqual({
      at: '[1, 1]',
      expected: '4',
      actual: '6',
      size: 0.5,
    })
    const other = new NDArray(Float64Array.of(1, 2, 3, 4), [2, 2])
    expect(differenceOf(array(1, 2, 3, 4), other)).toEqual({
      at: 'value',
      expected: 'float32 (2, 2)',
      actual: 'float64 (2, 2)',
    })
    expect(differenceOf(array(1, 2, 3, 4), array(1, 2, 3, 4).reshape([4]))?.actual).toBe(
      'float32 (4,)',
    )
    // What clients have of an array.
    const { dtype, shape, data } = array(1, 2, 3, 4)
    expect(differenceOf(array(1, 2, 3, 4), { dtype, shape, data })).toBeUndefined()
    const halves = (...bits: number[]) => new NDArray(Uint16Array.from(bits), [2], 'float16')
    expect(differenceOf(halves(0x3c00, 0x3c00), halves(0x3c00, 0x3c01))).toBeUndefined()
    expect(differenceOf(halves(0x3c00, 0x3c00), halves(0x3c00, 0x4000))?.actual).toBe('2')
    expect(differenceOf(new NDArray(['a', 'b']), new NDArray(['a', 'c']))).toMatchObject({
      at: '[1]',
      actual: '"c"',
    })
    expect(differenceOf(Int32Array.of(1, 2), Int32Array.of(1, 3))?.at).toBe('[1]')
  })

  it('compares the place of the greatest score alone, if that is asked', () => {
    const scores = (...data: number[]) => new NDArray(Float32Array.from(data), [2, 3])
    const [a, b] = [scores(0.1, 0.7, 0.2, 0.5, 0.3, 0.2), scores(0.2, 0.6, 0.2, 0.4, 0.4, 0.2)]
    expect(differenceOf(a, b, { top1: true })).toBeUndefined()
    expect(differenceOf(a, scores(0.1, 0.7, 0.2, 0.3, 0.5, 0.2), { top1: true })).toEqual({
      at: '[1, 0], top 1',
      expected: '0',
      actual: '1',
    })
    expect(differenceOf({ scores: [0.9, 0.1] }, { scores: [0.8, 0.2] }, { top1: true })).toBe(
      undefined,
    )
    expect(differenceOf([0.9, 0.1], [0.1, 0.9], { top1: true })?.actual).toBe('1')
  })

  it('compares frames by column, with the order of their rows or a key', () => {
    const rows = pl.DataFrame({ id: ['a', 'b', 'c'], score: [1, 2, null] })
    const turned = pl.DataFrame({ score: [null, 1, 2.5], id: ['c', 'a', 'b'] })
    expect(differenceOf(rows, pl.DataFrame({ id: ['a', 'b', 'c'], score: [1, 2, null] }))).toBe(
      undefined,
    )
    expect(
      differenceOf(rows, pl.DataFrame({ id: ['a', 'b', 'c'], score: [1, 2, 3] })),
    ).toMatchObject({
      at: 'score[2]',
      expected: 'null',
      actual: '3',
    })
    expect(differenceOf(rows, pl.DataFrame({ id: ['a', 'b', 'd'], score: [1, 2, null] }))?.at).toBe(
      'id[2]',
    )
    expect(differenceOf(rows, turned, { key: 'id' })?.actual).toBe('3 rows of ["score","id"]')
    const same = pl.DataFrame({ id: ['c', 'a', 'b'], score: [null, 1, 2.5] })
    expect(differenceOf(rows, same, { key: 'id' })).toMatchObject({
      at: 'score[1]',
      expected: '2',
      actual: '2.5',
    })
    expect(differenceOf(rows, pl.DataFrame({ id: ['a'], score: [1] }))?.actual).toBe(
      '1 rows of ["id","score"]',
    )
    const made = (score: number[]) => pl.DataFrame({ id: ['a', 'b'], score })
    expect(differenceOf(made([1.5, 2]), made([1.5, 2]))).toBeUndefined()
    expect(differenceOf(made([1.5, 2]), made([1.5, 4]))).toMatchObject({
      at: 'score[1]',
      size: 1,
    })
    expect(differenceOf(pl.Series('a', [1, 2]), pl.Series('a', [1, 3]))?.actual).toBe('3')
  })

  it('compares JSON by path, texts where they differ, and errors by code', () => {
    const value = { items: [{ label: 'cat', score: 0.5 }], more: undefined }
    expect(differenceOf(value, { items: [{ score: 0.5, label: 'cat' }] })).toBeUndefined()
    expect(differenceOf(value, { items: [{ score: 0.5, label: 'dog' }] })).toEqual({
      at: 'items[0].label',
      expected: '"cat"',
      actual: '"dog"',
    })
    expect(differenceOf(value, { items: [] })?.actual).toBe('a list of 0')
    expect(differenceOf(value, { item: [] })).toMatchObject({ at: 'value' })
    // Names with commas are no other names.
    expect(differenceOf({ 'a,b': 1 }, { a: 1, b: 2 })).toMatchObject({ at: 'value' })
    expect(differenceOf([1, '1'], ['1', 1])?.at).toBe('[0]')
    expect(differenceOf(null, {})?.expected).toBe('null')
    const text = (end: string) => `${'word '.repeat(40)}${end}`
    expect(differenceOf(text('one'), text('two'))).toMatchObject({
      expected: expect.stringMatching(/word one"$/),
      actual: expect.stringMatching(/word two"$/),
    })
    expect(differenceOf(new ValueError('a'), new ValueError('b'))).toBeUndefined()
    expect(differenceOf(new ValueError('a'), 1)).toMatchObject({ expected: 'error value_error' })
    expect(differenceOf(new Set([1]), new Set([1]))).toBeUndefined()
    expect(differenceOf(new Set([1]), new Set([2]))?.at).toBe('[0]')
    expect(differenceOf(new Map([['a', 1]]), new Map([['a', 2]]))?.at).toBe('a')
    expect(differenceOf(new Date(0), new Date(0))).toBeUndefined()
    expect(differenceOf(new Date(0), new Date(1))).toBeDefined()
  })

  it('compares objects without members by what they hold', () => {
    const bytes = (last: number) => Uint8Array.from({ length: 200 }, (_, i) => (i < 199 ? 1 : last))
    const path = `/${'long/'.repeat(40)}`
    const values: readonly ((end: number) => unknown)[] = [
      (end) => new URL(`http://host${path}${end}`),
      (end) => new RegExp(`a{${end}}`),
      (end) => bytes(end).buffer,
      (end) => new DataView(bytes(end).buffer),
      (end) => {
        const shared = new SharedArrayBuffer(200)
        new Uint8Array(shared).set(bytes(end))
        return shared
      },
      (end) => ({ at: [new Map([['a', bytes(end).buffer]])] }),
    ]
    for (const make of values) {
      expect(differenceOf(make(1), make(1))).toBeUndefined()
      expect(differenceOf(make(1), make(2)), String(make(1))).toBeDefined()
    }
    expect(differenceOf({}, Object.create(null))).toBeUndefined()
    expect(differenceOf({}, new URL('http://host/'))).toBeDefined()
  })

  it('compares pictures by pixel, and files by type and byte', () => {
    const picture = (...data: number[]) => new RasterImage('RGB', 2, 1, Uint8Array.from(data))
    expect(differenceOf(picture(1, 2, 3, 4, 5, 6), picture(1, 2, 3, 4, 5, 7))).toMatchObject({
      at: 'pixels[0, 1, 2]',
      expected: '6',
    })
    expect(
      differenceOf(picture(1, 2, 3, 4, 5, 6), picture(1, 2, 3, 4, 5, 7), { absolute: 1 }),
    ).toBeUndefined()
    const grey = new RasterImage('L', 2, 1, Uint8Array.of(1, 2))
    expect(differenceOf(picture(1, 2, 3, 4, 5, 6), grey)).toMatchObject({
      at: 'mode',
      actual: '"L"',
    })
    const small = new RasterImage('RGB', 1, 1, Uint8Array.of(1, 2, 3))
    expect(differenceOf(picture(1, 2, 3, 4, 5, 6), small)).toMatchObject({
      at: 'pixels',
      actual: 'uint8 (1, 1, 3)',
    })
    const file = (text: string, mimeType = 'text/plain') =>
      new BinaryFile(Buffer.from(text), { mimeType })
    expect(differenceOf(file('abc'), file('abc'))).toBeUndefined()
    expect(differenceOf(file('abc'), file('abd'))?.at).toBe('bytes[2]')
    expect(differenceOf(file('abc'), file('abc', 'text/csv'))?.at).toBe('type')
  })
})
