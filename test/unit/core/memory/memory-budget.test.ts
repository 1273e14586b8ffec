import { describe, expect, it } from 'vitest'
import { MemoryBudget } from '../../../../src/core/memory/memory-budget.ts'
import { defaultLimits } from '../../../../src/engine/options.ts'

describe('MemoryBudget', () => {
  it('counts up to its limit, and again what was released', () => {
    const budget = new MemoryBudget(100)
    expect([budget.reserve(60), budget.reserve(41), budget.reserve(40), budget.used]).toEqual([
      true,
      false,
      true,
      100,
    ])
    budget.release(60)
    expect([budget.reserve(60), budget.used]).toEqual([true, 100])
  })

  it('lets what is larger than its limit in alone', () => {
    const budget = new MemoryBudget(100)
    expect([budget.reserve(200), budget.reserve(1)]).toEqual([true, false])
  })

  it('has no limit when that is 0', () => {
    expect(new MemoryBudget(0).reserve(Number.MAX_SAFE_INTEGER)).toBe(true)
    expect(new MemoryBudget(0).reserve(Number.MAX_SAFE_INTEGER, true)).toBe(true)
  })

  it('gives a quarter to those who can do without, and nothing above it even alone', () => {
    const budget = new MemoryBudget(100)
    expect([
      budget.reserve(26, true),
      budget.reserve(20, true),
      budget.reserve(6, true),
      budget.used,
    ]).toEqual([false, true, false, 20])
    expect([budget.reserve(80), budget.reserve(1, true)]).toEqual([true, false])
  })

  it('takes half of what the process may use by default', () => {
    expect(defaultLimits.maxMemoryBytes).toBeGreaterThan(64 * 1024 * 1024)
  })

  it('lets wait in the order of asking, until it fits or the signal ends it', async () => {
    const budget = new MemoryBudget(100)
    const { signal } = new AbortController()
    const leaving = new AbortController()
    budget.reserve(80)
    const order: string[] = []
    const wait = (name: string, bytes: number, by = signal) =>
      budget.wait(bytes, 0, by).then((isReserved) => order.push(`${name} ${isReserved}`))
    const all = [wait('first', 50), wait('second', 90, leaving.signal), wait('third', 10)]
    // Others do not wait for those who wait.
    expect(budget.reserve(20)).toBe(true)
    budget.release(60)
    expect(await all[0]).toBe(1)
    leaving.abort()
    await Promise.all(all)
    expect([order, budget.used]).toEqual([['first true', 'second false', 'third true'], 100])
    expect(await budget.wait(1, 0, AbortSignal.abort())).toBe(false)
  })

  it('lets the first go on if those who wait hold all of it', async () => {
    const budget = new MemoryBudget(100)
    const { signal } = new AbortController()
    budget.reserve(50)
    budget.reserve(50)
    const waits = [budget.wait(30, 50, signal), budget.wait(40, 50, signal)]
    expect(await waits[0]).toBe(true)
    expect(budget.used).toBe(130)
    budget.release(80)
    expect([await waits[1], budget.used]).toEqual([true, 90])
  })
})
