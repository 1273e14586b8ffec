import { describe, expect, it } from 'vitest'
import { tokenBuckets } from '../../../../src/api/auth/token-buckets.ts'

describe('token buckets', () => {
  it('let a burst through, and then the rate', () => {
    const take = tokenBuckets(10, 3, 100)
    const at = (now: number) => take('a', now)
    expect([at(0), at(0), at(0)].map(({ isAllowed, remaining }) => [isAllowed, remaining])).toEqual(
      [
        [true, 2],
        [true, 1],
        [true, 0],
      ],
    )
    expect(at(0)).toEqual({ isAllowed: false, remaining: 0, waitMs: 100 })
    expect(at(60)).toEqual({ isAllowed: false, remaining: 0, waitMs: expect.closeTo(40) })
    expect(at(101).isAllowed).toBe(true)
    expect(at(102).isAllowed).toBe(false)
    let allowed = 0
    for (let now = 1000; now < 11_000; now++) if (at(now).isAllowed) allowed++
    expect(allowed).toBe(3 + 99)
    expect(take('b', 11_000).remaining).toBe(2)
  })

  it('never hold more than the burst, and forget the least recently used', () => {
    const take = tokenBuckets(1, 1, 2)
    expect(['a', 'b', 'a', 'c'].map((key) => take(key, 0).isAllowed)).toEqual([
      true,
      true,
      false,
      true,
    ])
    // b was forgotten for c, a was not.
    expect(['a', 'b'].map((key) => take(key, 0).isAllowed)).toEqual([false, true])
    expect(take('a', 1e9).remaining).toBe(0)
  })
})
