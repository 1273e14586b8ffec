import { readFileSync } from 'node:fs'
import pl from 'nodejs-polars'
import { describe, expect, it } from 'vitest'
import { Columns, driftOf, driftsOf } from '../../../src/cli/replay/drift.ts'
import { NDArray } from '../../../src/values/array/ndarray.ts'

interface Case {
  readonly before: readonly unknown[]
  readonly now: readonly unknown[]
  readonly psi: number
  readonly ks: number | null
}

const cases: Case[] = JSON.parse(
  readFileSync(new URL('../../fixtures/differences/drift.json', import.meta.url), 'utf8'),
)

describe('driftOf', () => {
  it('has the statistic of scipy’s ks_2samp, and the index of a formula in numpy', () => {
    for (const { before, now, psi, ks } of cases) {
      const drift = driftOf(before, now)
      expect(drift.psi).toBeCloseTo(psi, 10)
      if (ks === null) expect(drift.ks).toBeUndefined()
      else expect(drift.ks).toBeCloseTo(ks, 12)
    }
  })

  it('tells what is missing, and new categories', () => {
    expect(
      driftOf(['a', 'a', 'b', 'b', null, 'b', 'a', 'a'], ['a', 'c', Number.NaN, null]),
    ).toMatchObject({
      missing: [0.125, 0.5],
      newCategories: ['"c"'],
    })
    // Texts that are all different are no categories.
    expect(driftOf(['a', 'b', 'c', 'd'], ['e', 'f'])).toMatchObject({ psi: 0, newCategories: [] })
  })
})

describe('Columns', () => {
  it('collects places along the last axis, columns of frames and fields of JSON', () => {
    const columns = new Columns()
    columns.add(new NDArray(Float32Array.of(1, 2, 3, 4), [2, 2]))
    columns.add(new NDArray(Float32Array.of(5, 6)))
    columns.add({ items: [{ label: 'a' }, { label: 'b' }], count: 2n })
    columns.add(pl.DataFrame({ price: [1, null] }))
    const values = [...columns].map(([name, column]) => [
      name,
      column.values.map(({ value }) => value),
    ])
    expect(values).toEqual([
      ['[0]', [1, 3]],
      ['[1]', [2, 4]],
      ['value', [5, 6]],
      ['count', [2]],
      ['items.label', ['a', 'b']],
      ['price', [1, null]],
    ])
  })

  it('keeps values of each time alike, of columns and texts within bounds', () => {
    const columns = new Columns()
    for (let i = 0; i < 40_000; i++) columns.add(i, i)
    const values = columns.get('value')?.values.map(({ value }) => Number(value)) ?? []
    expect(values).toHaveLength(10_000)
    const middle = values.reduce((sum, value) => sum + value) / values.length
    // The mean of 10,000 of 40,000 has a deviation of 100.
    expect(Math.abs(middle - 20_000)).toBeLessThan(700)
    for (let i = 0; i < 2000; i++) columns.add({ [`key${i}`]: 'x'.repeat(1000) })
    expect(columns.size).toBe(1000)
    expect(columns.get('key0')?.values).toMatchObject([{ value: 'x'.repeat(100) }])
  })

  it('drift from the earlier half to the later, whatever came first', () => {
    const columns = new Columns()
    for (const time of [9, 1, 8, 2, 7, 3]) columns.add({ late: time > 5, none: null }, time)
    const [late, none] = driftsOf(columns)
    expect(driftsOf(columns, 9)).toMatchObject([{ missing: [0, 0] }, { missing: [1, 1] }])
    expect(driftsOf(columns, 10)).toEqual([])
    expect(late).toMatchObject({ column: 'late', newCategories: ['true'] })
    expect(none).toMatchObject({ column: 'none', psi: 0, missing: [1, 1] })
  })
})
