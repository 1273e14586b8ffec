import { describe, expect, it } from 'vitest'
import { ConcurrencyLimiter } from '../../../src/api/concurrency-limiter.ts'

describe('ConcurrencyLimiter', () => {
  it('gives as many slots as it has, and another once one was released', () => {
    const limiter = new ConcurrencyLimiter(2)
    expect([limiter.acquire(), limiter.acquire(), limiter.acquire(), limiter.active]).toEqual([
      true,
      true,
      false,
      2,
    ])
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

  it('tells refused requests how long a request takes, by how many end', () => {
    const limiter = new ConcurrencyLimiter(4)
    for (let i = 0; i < 4; i++) limiter.acquire()
    const turnover = (count: number) => {
      for (let i = 0; i < count; i++) {
        limiter.release()
        limiter.acquire()
      }
    }
    expect(limiter.retryAfterSeconds(0)).toBe(1)
    // One ends each second, of four that run: each takes four seconds.
    let seconds = 0
    for (let now = 1000; now <= 100_000; now += 1000) {
      turnover(1)
      seconds = limiter.retryAfterSeconds(now)
    }
    expect(seconds).toBe(4)
    // Faster ones count more and more: 100 a second take 40 ms each.
    for (let now = 101_000; now <= 200_000; now += 1000) {
      turnover(100)
      seconds = limiter.retryAfterSeconds(now)
    }
    expect(seconds).toBe(1)
    // Measuring begins anew after a pause, and knows at least how long none has ended.
    expect(limiter.retryAfterSeconds(300_000)).toBe(1)
    for (let now = 300_000; now <= 308_000; now += 1000) seconds = limiter.retryAfterSeconds(now)
    expect(seconds).toBe(8)
    for (let now = 308_000; now <= 500_000; now += 1000) seconds = limiter.retryAfterSeconds(now)
    expect(seconds).toBeLessThanOrEqual(60)
  })
})
