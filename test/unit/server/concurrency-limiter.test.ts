import { describe, expect, it } from 'vitest'
import { ConcurrencyLimiter } from '../../../src/server/concurrency-limiter.ts'

describe('ConcurrencyLimiter', () => {
  it('lets in as many as it may, and others once one has left', () => {
    const limiter = new ConcurrencyLimiter(2)
    expect([limiter.acquire(), limiter.acquire(), limiter.acquire(), limiter.active]).toEqual([true, true, false, 2])
    limiter.release()
    expect([limiter.acquire(), limiter.active]).toEqual([true, 2])
  })

  it('is idle when everybody has left', async () => {
    const limiter = new ConcurrencyLimiter(2)
    expect(await limiter.idle(0)).toBe(true)
    limiter.acquire()
    limiter.acquire()
    const idle = [limiter.idle(60_000), limiter.idle(60_000)]
    limiter.release()
    limiter.release()
    expect(await Promise.all(idle)).toEqual([true, true])
  })

  it('gives up waiting after the time', async () => {
    const limiter = new ConcurrencyLimiter(1)
    limiter.acquire()
    expect(await limiter.idle(1)).toBe(false)
  })
})
