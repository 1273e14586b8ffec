import { describe, expect, it } from 'vitest'
import { type Pauses, Restarts } from '../../../src/core/restarts.ts'

function setUp(pauses: Pauses) {
  const timers = new Set<() => void>()
  let starts = 0
  const restarts = new Restarts(
    () => void starts++,
    pauses,
    (_ms, run) => {
      timers.add(run)
      return () => void timers.delete(run)
    },
  )
  return { restarts, timers, starts: () => starts }
}

const server: Pauses = { firstMs: 100, longestMs: 10_000 }

describe('the pause before a restart', () => {
  it('doubles from the first to the longest', () => {
    const { restarts } = setUp(server)
    const pauses = Array.from({ length: 9 }, () => restarts.again(false))
    expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000])
    for (let restart = 0; restart < 5000; restart++) restarts.again(false)
    expect(restarts.again(false)).toBe(10_000)
  })

  it('is the first again after one that worked', () => {
    const { restarts } = setUp(server)
    for (let restart = 0; restart < 5; restart++) restarts.again(false)
    expect([restarts.again(true), restarts.again(false)]).toEqual([100, 200])
  })

  it('can be left out after one that worked', () => {
    const { restarts, timers, starts } = setUp({ ...server, atOnce: true })
    expect(restarts.again(true)).toBe(0)
    expect([starts(), timers.size]).toEqual([1, 0])
    expect([restarts.again(false), restarts.again(false)]).toEqual([100, 200])
  })

  it('ends without a start when it is cancelled', () => {
    const { restarts, timers, starts } = setUp(server)
    restarts.again(false)
    restarts.cancel()
    expect([starts(), timers.size]).toEqual([0, 0])
  })
})
