import { describe, expect, it } from 'vitest'
import { answeredByHand, answeredInTime, handSettings, poisson } from './simulated.ts'

const cost = (rows: number) => 2 + 0.1 * rows
const maxBatchSize = 256

describe('calls that a Runner answers in time', () => {
  it.each([
    { load: 0.05, threads: 1 },
    { load: 0.5, threads: 1 },
    { load: 0.9, threads: 2 },
    { load: 1.5, threads: 1 },
    { load: 1.5, threads: 2 },
    { load: 3, threads: 2 },
  ])(
    'are as many as with the best settings by hand: $load of what $threads threads can do',
    async ({ load, threads }) => {
      const perMs = (load * threads * maxBatchSize) / cost(maxBatchSize)
      const arrivals = poisson(perMs, 400)
      const best = Math.max(
        ...handSettings(maxBatchSize).map((hand) =>
          answeredByHand(arrivals, { threads, cost }, hand),
        ),
      )
      const ours = await answeredInTime(arrivals, { threads, cost, maxBatchSize })
      expect(ours / best).toBeGreaterThanOrEqual(0.97)
    },
  )
})
