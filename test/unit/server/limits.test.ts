import { describe, expect, it } from 'vitest'
import { InFlightGate } from '../../../src/server/limits.ts'

describe('InFlightGate', () => {
  it('lets in as many as it may, and others once one has left', () => {
    const gate = new InFlightGate(2)
    expect([gate.enter(), gate.enter(), gate.enter(), gate.count]).toEqual([true, true, false, 2])
    gate.leave()
    expect([gate.enter(), gate.count]).toEqual([true, 2])
  })

  it('is idle when everybody has left', async () => {
    const gate = new InFlightGate(2)
    expect(await gate.idle(0)).toBe(true)
    gate.enter()
    gate.enter()
    const idle = [gate.idle(60_000), gate.idle(60_000)]
    gate.leave()
    gate.leave()
    expect(await Promise.all(idle)).toEqual([true, true])
  })

  it('gives up waiting after the time', async () => {
    const gate = new InFlightGate(1)
    gate.enter()
    expect(await gate.idle(1)).toBe(false)
  })
})
