import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { minRate, TransferClock } from '../../../src/http/transfer-clock.ts'

describe('TransferClock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is late once its time is up', () => {
    const late = vi.fn()
    new TransferClock(1000, () => 0, late).start()
    vi.advanceTimersByTime(999)
    expect(late).not.toHaveBeenCalled()
    vi.advanceTimersByTime(60_000)
    expect(late).toHaveBeenCalledOnce()
  })

  it('goes on for as long as the least rate is kept in each period', () => {
    const late = vi.fn()
    let transferred = 0
    new TransferClock(2000, () => transferred, late).start()
    for (let i = 0; i < 5; i++) {
      transferred += 2 * minRate
      vi.advanceTimersByTime(2000)
    }
    expect(late).not.toHaveBeenCalled()
    // What a period had too much does not help the next one.
    transferred += 2 * minRate - 1
    vi.advanceTimersByTime(2000)
    expect(late).toHaveBeenCalledOnce()
  })

  it('does not run while it is paused, and adds up what it ran', () => {
    const late = vi.fn()
    const clock = new TransferClock(1000, () => 0, late)
    clock.start()
    vi.advanceTimersByTime(600)
    clock.pause()
    vi.advanceTimersByTime(60_000)
    clock.start()
    vi.advanceTimersByTime(399)
    expect(late).not.toHaveBeenCalled()
    vi.advanceTimersByTime(2)
    expect(late).toHaveBeenCalledOnce()
  })
})
