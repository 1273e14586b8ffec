import { describe, expect, it } from 'vitest'
import { MemoryBudget } from '../../../../src/core/memory/memory-budget.ts'
import { defaultLimits } from '../../../../src/engine/options.ts'

describe('MemoryBudget', () => {
  it('counts up to its limit, and again what was released', () => {
    const budget = new MemoryBudget(100)
    expect([budget.reserve(60), budget.reserve(41), budget.reserve(40), budget.used]).toEqual([true, false, true, 100])
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
    expect([budget.reserve(26, true), budget.reserve(20, true), budget.reserve(6, true), budget.used]).toEqual([
      false,
      true,
      false,
      20,
    ])
    expect([budget.reserve(80), budget.reserve(1, true)]).toEqual([true, false])
  })

  it('takes half of what the process may use by default', () => {
    expect(defaultLimits.maxMemoryBytes).toBeGreaterThan(64 * 1024 * 1024)
  })
})
