import { describe, expect, it } from 'vitest'
import { ConcurrencyLimiter } from '../../src/api/concurrency-limiter.ts'
import type { LiveRoute } from '../../src/api/live-route.ts'
import { MemoryBudget } from '../../src/core/memory/memory-budget.ts'
import { io } from '../../src/index.ts'
import { LivePlace } from '../../src/live/live-place.ts'
import { LiveStreams } from '../../src/live/live-streams.ts'

const text = { input: new io.Text(), output: new io.Text() }

describe('the place of a live stream', () => {
  it('is made by the streams of a server alone', () => {
    const make = () => new LivePlace(Symbol('place'), new MemoryBudget(0), () => {})
    expect(make).toThrow('expected streams.admit to make a place')
  })

  it('has a slot and the memory of the longest message, which go back once', () => {
    const streams = new LiveStreams(10)
    const route: LiveRoute = {
      ...text,
      name: 'big',
      path: '/big',
      access: { kind: 'service' },
      origins: [],
      slots: new ConcurrencyLimiter(1),
      maxMessage: 1024 * 1024,
      maxBuffered: 1024 * 1024,
      idleTimeoutMs: 1_000,
      async *answer() {},
    }
    const endpoint = streams.add(route)
    expect(streams.endpointOf(route)).toBe(endpoint)
    expect(() => streams.endpointOf({ ...route })).toThrow('expected a route of host.live')
    const memory = new MemoryBudget(0)
    const place = streams.admit(memory, endpoint)
    expect([memory.used, endpoint.counts.open]).toEqual([1024 * 1024, 1])
    expect(() => streams.admit(memory, endpoint)).toThrow('too many requests in flight')
    expect(memory.used).toBe(1024 * 1024)
    place.leave()
    place.leave()
    expect([memory.used, endpoint.counts.open]).toEqual([0, 0])
    streams.admit(memory, endpoint).leave()
  })
})
