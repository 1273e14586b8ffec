import { NDArray } from 'serving'
import { describe, expect, it } from 'vitest'
import type { RunnerLife } from '../../src/runner/runner.ts'
import { BucketCounts } from '../../src/telemetry/metrics/metric-family.ts'
import { runnerFamilies, runnerState } from '../../src/telemetry/metrics/runner-counts.ts'
import { model, started } from './runner.ts'

/** Returns the values of a metric of a runner, by what they are of. */
function valuesOf(runner: RunnerLife, name: string): Record<string, number> {
  const state = runnerState(runner)
  if (state === undefined) throw new Error('expected a runner of this package')
  const family = runnerFamilies([state]).find((each) => each.name === name)
  return Object.fromEntries(
    (family?.values ?? []).map(({ labels, metricName, value }) => {
      const own = Object.entries(labels).filter(([label]) => label !== 'runner')
      return [
        [metricName?.replace(name, ''), ...own.map(([, text]) => text)].filter(Boolean).join(' '),
        value,
      ]
    }),
  )
}

describe('metrics of a runner', () => {
  it('count waits, batches and their rows, and tell what its threads do', async () => {
    const runner = await started<typeof import('./models/arithmetic.ts')>({
      module: model('arithmetic'),
      methods: { scale: { batchable: true, maxBatchSize: 8 } },
    })
    const rows = (count: number) =>
      new NDArray(new Float32Array(count), [count, 1]) as NDArray<'float32'>
    await Promise.all([1, 2, 3].map((count) => runner.scale(rows(count))))
    const waits = valuesOf(runner, 'serving_queue_wait_seconds')
    expect(waits._count).toBe(3)
    expect(waits._sum).toBeGreaterThan(0)
    const batches = valuesOf(runner, 'serving_batch_rows')
    expect(batches._sum).toBe(6)
    expect(valuesOf(runner, 'serving_batches_total')).toEqual({ '': batches._count })
    expect(batches._count).toBeLessThanOrEqual(3)
    expect(valuesOf(runner, 'serving_runner_threads')).toEqual({
      busy: 0,
      idle: 1,
      hung: 0,
      starting: 0,
    })
    expect(valuesOf(runner, 'serving_queue_depth')).toEqual({ '': 0 })
  })

  it('tell how much of the length of padded batches was sent, and how much is padding', async () => {
    const runner = await started<typeof import('./models/ragged.ts')>({
      module: model('ragged'),
      methods: { sums: { batchable: true, batch: { pad: -1, buckets: [8, 32] } } },
    })
    const rows = (count: number, length: number) =>
      new NDArray(new Float32Array(count * length), [count, length], 'float32')
    await Promise.all([rows(1, 3), rows(2, 8), rows(3, 20)].map((x) => runner.sums(x)))
    expect(valuesOf(runner, 'serving_batch_length_total')).toEqual({
      sent: 3 + 2 * 8 + 3 * 20,
      padding: 8 - 3 + 3 * (32 - 20),
    })
  })

  it('count threads that were replaced', async () => {
    const runner = await started<typeof import('./models/dies.ts')>({
      module: model('dies'),
      methods: { exit: {} },
    })
    const replaced = new Promise<void>((resolve) => {
      runner.watch(({ kind }) => kind === 'replaced' && resolve())
    })
    await expect(runner.exit(undefined)).rejects.toThrow('lost the call')
    await replaced
    expect(valuesOf(runner, 'serving_runner_threads_replaced_total')).toEqual({ '': 1 })
  })
})

describe('counts of a histogram', () => {
  it('are of all values up to each bound', () => {
    const counts = new BucketCounts([1, 2, 5])
    for (const value of [0, 1, 1.5, 2, 3, 5, 6]) counts.add(value)
    const values = counts
      .values('x', {})
      .map(({ labels, value, metricName }) => [metricName, labels.le, value])
    expect(values).toEqual([
      ['x_bucket', 1, 2],
      ['x_bucket', 2, 4],
      ['x_bucket', 5, 6],
      ['x_bucket', '+Inf', 7],
      ['x_sum', undefined, 18.5],
      ['x_count', undefined, 7],
    ])
  })
})
