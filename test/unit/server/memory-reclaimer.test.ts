import { describe, expect, it } from 'vitest'
import { reclaimMemory } from '../../../src/server/memory-reclaimer.ts'

const mib = 1024 * 1024

function processOf(readings: (number | undefined)[]) {
  const reclaimed: number[] = []
  let rss = readings[0]
  return {
    reclaimed,
    rss: () => {
      if (readings.length > 0) rss = readings.shift()
      return rss
    },
    reclaim: async () => {
      reclaimed.push(rss ?? 0)
    },
  }
}

describe('reclaiming memory', () => {
  it('waits until 64 MiB have been added since the last time', async () => {
    const fake = processOf([100, 120, 163, 164, 110, 170, 175].map((megabytes) => megabytes * mib))
    const reclaimer = reclaimMemory(() => false, fake)
    await reclaimer.check() // 120
    await reclaimer.check() // 163
    expect(fake.reclaimed).toEqual([])
    await reclaimer.check() // 164, then 110 is what is left
    expect(fake.reclaimed).toEqual([164 * mib])
    await reclaimer.check() // 170: 60 more than 110
    expect(fake.reclaimed).toEqual([164 * mib])
    await reclaimer.check() // 175
    expect(fake.reclaimed).toEqual([164 * mib, 175 * mib])
    reclaimer.stop()
  })

  it('does nothing while the system does not tell how much there is', async () => {
    const fake = processOf([undefined, undefined, 500 * mib, undefined, 570 * mib, undefined])
    const reclaimer = reclaimMemory(() => false, fake)
    for (let i = 0; i < 3; i++) await reclaimer.check()
    expect(fake.reclaimed).toEqual([])
    await reclaimer.check() // 570: 70 more than the lowest
    expect(fake.reclaimed).toEqual([570 * mib])
    reclaimer.stop()
  })
})
