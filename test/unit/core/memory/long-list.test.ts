import { describe, expect, it } from 'vitest'
import { LongList } from '../../../../src/core/memory/long-list.ts'

/** Returns a list of `count` numbers, whose source ends at `end(count)` and tells its place every thousand of them. */
function filled(count: number, end: number): { readonly long: LongList<number>; readonly rooms: Set<number> } {
  const long = new LongList<number>(10)
  const rooms = new Set<number>()
  for (let i = 0; i < count; i++) {
    long.push(i)
    if (i % 1000 !== 999) continue
    long.progress(10 + i + 1, end)
    rooms.add(long.list.length - long.length)
  }
  return { long, rooms }
}

describe('LongList', () => {
  it.each([
    ['of the length that the source tells', 3_000_000, 3_000_010],
    ['that is shorter', 1_500_000, 6_000_010],
    ['that is longer', 3_000_000, 2_000_010],
    ['that ends soon', 1_200_000, 1_200_010],
    ['of few elements', 1000, 1010],
  ])('holds what was pushed, in a list %s', (_name, count, end) => {
    const list = filled(count, end).long.finish()
    expect(list).toHaveLength(count)
    for (let i = 0; i < count; i++) if (list[i] !== i) throw new Error(`${list[i]} at ${i}`)
  })

  it('makes room for all of a long list at once', () => {
    const { long, rooms } = filled(3_000_000, 3_000_010)
    expect(long.list.length).toBeGreaterThan(3_000_000)
    expect(long.list.length).toBeLessThan(3_200_000)
    // None until the room was estimated, then always less.
    expect([...rooms][0]).toBe(0)
    expect(Math.max(...[...rooms].slice(2))).toBeLessThan([...rooms][1])
  })

  it('appends to a list that there is', () => {
    const long = new LongList(0, [1, 2])
    long.push(3)
    expect(long.finish()).toEqual([1, 2, 3])
  })
})
