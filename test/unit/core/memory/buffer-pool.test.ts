import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BufferPool } from '../../../../src/core/memory/buffer-pool.ts'

const KiB = 1024
const MiB = 1024 * KiB

describe('BufferPool', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('gives a used buffer again, the one that fits best', () => {
    const pool = new BufferPool()
    const [small, large] = [pool.take(100 * KiB), pool.take(150 * KiB)]
    expect(small.byteLength).toBe(100 * KiB)
    pool.give(large)
    pool.give(small)
    expect(pool.take(90 * KiB)).toBe(small)
    expect(pool.take(90 * KiB)).toBe(large)
    expect(pool.takeUsed(90 * KiB)).toBeUndefined()
  })

  it('lends a buffer to one at a time, however often it is given back', () => {
    const pool = new BufferPool()
    const buffer = pool.take(MiB)
    pool.give(buffer)
    pool.give(buffer)
    expect(pool.takeUsed(MiB)).toBe(buffer)
    expect(pool.takeUsed(MiB)).toBeUndefined()
  })

  it('does not spend a large buffer on a small body, and keeps no small ones', () => {
    const pool = new BufferPool()
    pool.give(pool.take(MiB))
    pool.give(pool.take(KiB))
    expect(pool.takeUsed(200 * KiB)).toBeUndefined()
    expect(pool.takeUsed(KiB)).toBeUndefined()
    expect(pool.takeUsed(256 * KiB)?.byteLength).toBe(MiB)
  })

  it('holds 128 MiB at most', () => {
    const pool = new BufferPool()
    const buffers = Array.from({ length: 5 }, () => pool.take(32 * MiB))
    for (const buffer of buffers) pool.give(buffer)
    expect(Array.from({ length: 5 }, () => pool.takeUsed(32 * MiB) !== undefined)).toEqual([
      true,
      true,
      true,
      true,
      false,
    ])
  })

  it('lets go of what nobody uses for a second, and of its timer', () => {
    const pool = new BufferPool()
    const [used, idle] = [pool.take(MiB), pool.take(MiB)]
    pool.give(idle)
    pool.give(used)
    vi.advanceTimersByTime(1000)
    pool.give(pool.take(MiB))
    vi.advanceTimersByTime(1000)
    expect(pool.takeUsed(MiB)).toBeDefined()
    expect(pool.takeUsed(MiB)).toBeUndefined()
    vi.advanceTimersByTime(2000)
    expect(vi.getTimerCount()).toBe(0)
  })
})
