import { describe, expect, it } from 'vitest'
import { builtNames, faultOfRemoval, listedNames } from './public-names.ts'

describe('the public names', () => {
  const listed = listedNames()

  it('are those of the list, which `npx tsx test/arch/public-names.ts --write` renews', () => {
    const there = listed
      .filter(({ removed }) => removed === '')
      .map(({ entry, name }) => `${entry}\t${name}`)
    expect(there.length).toBeGreaterThan(200)
    expect(builtNames().toSorted()).toEqual(there.toSorted())
  })

  it('go as SUPPORT.md promises', () => {
    expect(listed.map(faultOfRemoval).filter((fault) => fault !== undefined)).toEqual([])
  })

  it.each([
    ['', '0.3.0', /never deprecated/],
    ['0.2.0', '0.3.0', /too early/],
    ['1.2.0', '1.9.0', /too early/],
    ['0.2.0', '0.4.0', undefined],
    ['1.2.0', '2.0.0', undefined],
    ['0.9.0', '1.0.0', undefined],
  ])('deprecated in "%s" and removed in %s: %s', (deprecated, removed, fault) => {
    const answer = faultOfRemoval({ entry: '.', name: 'old', since: '0.1.0', deprecated, removed })
    if (fault === undefined) expect(answer).toBeUndefined()
    else expect(answer).toMatch(fault)
  })
})
