import { describe, expect, it } from 'vitest'
import { MemoryBudget } from '../../src/core/memory/memory-budget.ts'
import { io, Service } from '../../src/index.ts'
import { LivePlace } from '../../src/live/live-place.ts'
import { LiveStreams } from '../../src/live/live-streams.ts'

const text = { input: new io.Text(), output: new io.Text() }

describe('the place of a live stream', () => {
  it('is made by the streams of a server alone', () => {
    const make = () => new LivePlace(Symbol('place'), new MemoryBudget(0), () => {})
    expect(make).toThrow('expected streams.admit to make a place')
  })

  it('has a slot and the memory of the longest message, which go back once', () => {
    const svc = new Service('placed')
    svc.live('big', { ...text, maxMessage: '1mb', maxInFlight: 1 }, async function* () {})
    const streams = new LiveStreams(svc.lives.values(), '', 10)
    const [endpoint] = streams.endpoints
    if (endpoint === undefined) throw new Error('expected an endpoint')
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
