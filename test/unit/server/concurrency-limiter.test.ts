import { describe, expect, it } from 'vitest'
import { ConcurrencyLimiter } from '../../../src/server/concurrency-limiter.ts'

describe('ConcurrencyLimiter', () => {
  it('gives as many slots as it has, and another once one was released', () => {
    const limiter = new ConcurrencyLimiter(2)
    expect([limiter.acquire(), limiter.acquire(), limiter.acquire(), limiter.active]).toEqual([true, true, false, 2])
    limiter.release()
    expect([limiter.acquire(), limiter.active]).toEqual([true, 2])
  })

  it('is idle when no request is open', async () => {
    const limiter = new ConcurrencyLimiter(2)
    expect(await limiter.idle(0)).toBe(true)
    limiter.enter()
    limiter.enter()
    const idle = [limiter.idle(60_000), limiter.idle(60_000)]
    limiter.leave()
    limiter.leave()
    expect(await Promise.all(idle)).toEqual([true, true])
  })

  it('was idle only when no request was open since the last look', () => {
    const limiter = new ConcurrencyLimiter(2)
    expect(limiter.wasIdle()).toBe(true)
    limiter.enter()
    limiter.leave()
    expect([limiter.wasIdle(), limiter.wasIdle()]).toEqual([false, true])
    limiter.enter()
    expect([limiter.wasIdle(), limiter.wasIdle()]).toEqual([false, false])
    limiter.leave()
    expect([limiter.wasIdle(), limiter.wasIdle()]).toEqual([false, true])
  })

  it('gives up waiting after the time', async () => {
    const limiter = new ConcurrencyLimiter(1)
    limiter.enter()
    expect(await limiter.idle(1)).toBe(false)
  })
})
