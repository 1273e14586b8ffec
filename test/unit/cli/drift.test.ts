import { readFileSync } from 'node:fs'
import pl from 'nodejs-polars'
import { describe, expect, it } from 'vitest'
import { Columns, driftOf } from '../../../src/cli/replay/drift.ts'
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
    expect([...columns]).toEqual([
      ['[0]', [1, 3]],
      ['[1]', [2, 4]],
      ['value', [5, 6]],
      ['count', [2]],
      ['items.label', ['a', 'b']],
      ['column "price"', [1, null]],
    ])
  })
})
