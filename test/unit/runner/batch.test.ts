import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BatchQueue, CallCost } from '../../../src/runner/batch.ts'
import type { Waiting } from '../../../src/runner/call-queue.ts'
import { Share } from '../../../src/runner/shares.ts'

interface Request extends Waiting {
  readonly name: number
}
const never = () => false
let count = 0
const share = new Share().of({})
const request = (rows = 1, key = 'a', dueAt = Number.POSITIVE_INFINITY): Request => ({
  ...{ name: ++count, rows, size: rows, key, share, weight: 1, dueAt },
  ...{ queuedAt: 0, expectedMs: 0 },
})

/**
 * Returns a queue of a model with a fixed cost of 8 ms a call and 0.1 ms a row, with requests that have come every
 * `gapMs`.
 */
function busyQueue(gapMs: number, limits = { maxBatchSize: 8, maxWaitMs: 20 }) {
  const queue = new BatchQueue<Request>(limits)
  for (const rows of [1, 2, 4, 1, 8]) queue.learn(rows, 8 + 0.1 * rows)
  let now = 0
  for (let i = 0; i < 20; i++) {
    now += gapMs
    queue.push(request(), now, false)
    queue.take(now, 1, never)
  }
  while (queue.size > 0) queue.take(now, 1, never)
  return { queue, now }
}

describe('a batch queue', () => {
  it('lets a lone request go at once: the first ever, and any at low load', () => {
    const fresh = new BatchQueue<Request>({ maxBatchSize: 8, maxWaitMs: 20 })
    fresh.push(request(), 5, false)
    expect(fresh.dueAt(5)).toBeLessThanOrEqual(5)
    const { queue, now } = busyQueue(1_000)
    queue.push(request(), now + 1_000, false)
    expect(queue.dueAt(now + 1_000)).toBeLessThanOrEqual(now + 1_000)
  })

  it('lets every request of a single caller go at once, however much the times of its calls differ', () => {
    const queue = new BatchQueue<Request>({ maxBatchSize: 8, maxWaitMs: 20 })
    let now = 0
    for (let i = 0; i < 500; i++) {
      queue.push(request(), now, true)
      expect(queue.dueAt(now)).toBeLessThanOrEqual(now)
      queue.take(now, 1, never)
      // Now and then something else has the core.
      const ms = i % 7 === 0 ? 2 : 0.05
      queue.learn(1, ms)
      now += ms + 0.001
    }
  })

  it('waits for the second of two callers who are answered together', () => {
    const queue = new BatchQueue<Request>({ maxBatchSize: 8, maxWaitMs: 20 })
    let now = 0
    for (let i = 0; i < 50; i++) {
      queue.push(request(), now, true)
      if (i > 10) expect(queue.dueAt(now)).toBeGreaterThan(now)
      queue.push(request(), now + 0.1, false)
      queue.take(now + 0.1, 1, never)
      queue.learn(2, 8)
      now += 8
    }
  })

  it('waits for the next request while it is expected sooner than the wait costs', () => {
    const { queue, now } = busyQueue(1)
    queue.push(request(), now + 1, false)
    const due = queue.dueAt(now + 1)
    expect(due).toBeGreaterThan(now + 2)
    expect(due).toBeLessThanOrEqual(now + 1 + 20)
  })

  it('gives the wait up when the next request does not come', () => {
    const { queue, now } = busyQueue(1)
    queue.push(request(), now + 1, false)
    const due = queue.dueAt(now + 1)
    expect(queue.dueAt(due)).toBeLessThanOrEqual(due)
  })

  it('waits the less, the more requests lose by it', () => {
    const { queue, now } = busyQueue(1)
    const waits = [1, 2, 3, 4].map((i) => {
      queue.push(request(), now + i, false)
      return queue.dueAt(now + i) - (now + i)
    })
    expect(waits.toSorted((a, b) => b - a)).toEqual(waits)
    expect(waits[3]).toBeLessThan(waits[0] / 2)
  })

  it('never lets a request wait beyond maxWaitMs while a thread is free', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            gap: fc.double({ min: 0, max: 30, noNaN: true }),
            rows: fc.integer({ min: 0, max: 8 }),
          }),
          {
            minLength: 1,
            maxLength: 60,
          },
        ),
        fc.double({ min: 0, max: 25, noNaN: true }),
        fc.double({ min: 0, max: 100, noNaN: true }),
        (arrivals, maxWaitMs, fixedMs) => {
          const queue = new BatchQueue<Request>({ maxBatchSize: 8, maxWaitMs })
          for (const rows of [1, 4]) queue.learn(rows, fixedMs + rows)
          const since = new Map<number, number>()
          let now = 0
          const takeUntil = (time: number) => {
            for (let due = queue.dueAt(now); due <= time; due = queue.dueAt(now)) {
              now = Math.max(now, due)
              const batch = queue.take(now, 1, never)
              expect(batch.length).toBeGreaterThan(0)
              for (const { name } of batch)
                expect(now - (since.get(name) as number)).toBeLessThanOrEqual(maxWaitMs + 1e-9)
            }
            now = time
          }
          for (const { gap, rows } of arrivals) {
            takeUntil(now + gap)
            const one = request(rows)
            since.set(one.name, now)
            queue.push(one, now, false)
          }
          takeUntil(now + 1e6)
          expect(queue.size).toBe(0)
        },
      ),
    )
  })

  it('never makes a batch above maxBatchSize, loses no request, and keeps the order of each kind', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.array(
          fc.record({
            rows: fc.nat({ max: 9 }),
            key: fc.constantFrom('a', 'b', 'c'),
            takes: fc.boolean(),
          }),
        ),
        (maxBatchSize, steps) => {
          const queue = new BatchQueue<Request>({ maxBatchSize, maxWaitMs: 5 })
          const given: Request[] = []
          const taken: Request[] = []
          const take = (now: number) => {
            const batch = queue.take(now, 1, never)
            expect(batch.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(maxBatchSize)
            expect(new Set(batch.map(({ key }) => key)).size).toBeLessThanOrEqual(1)
            taken.push(...batch)
          }
          for (const [now, { rows, key, takes }] of steps.entries()) {
            const one = request(Math.min(rows, maxBatchSize), key)
            given.push(one)
            queue.push(one, now, false)
            if (takes) take(now)
          }
          while (queue.size > 0) take(steps.length)
          for (const key of ['a', 'b', 'c']) {
            expect(taken.filter((one) => one.key === key)).toEqual(
              given.filter((one) => one.key === key),
            )
          }
        },
      ),
    )
  })

  it('sends a full batch at once, counting rows and not requests', () => {
    const { queue, now } = busyQueue(1)
    queue.push(request(3), now + 1, false)
    queue.push(request(4), now + 1, false)
    expect(queue.dueAt(now + 1)).toBeGreaterThan(now + 1)
    queue.push(request(1), now + 1, false)
    expect(queue.dueAt(now + 1)).toBeLessThanOrEqual(now + 1)
    expect(queue.take(now + 1, 1, never).map(({ rows }) => rows)).toEqual([3, 4, 1])
  })

  it('takes first the request that has waited longest, full batches of others notwithstanding', () => {
    const queue = new BatchQueue<Request>({ maxBatchSize: 2, maxWaitMs: 0 })
    queue.push(request(1, 'a'), 0, false)
    for (let i = 0; i < 4; i++) queue.push(request(1, 'b'), 1, false)
    expect(queue.take(1, 1, never).map(({ key }) => key)).toEqual(['a'])
    expect(queue.take(1, 1, never).map(({ key }) => key)).toEqual(['b', 'b'])
  })

  it('lets a full batch pass one that is better off waiting', () => {
    const { queue, now } = busyQueue(1)
    queue.push(request(1, 'lone'), now + 1, false)
    queue.push(request(8, 'full'), now + 1, false)
    expect(queue.take(now + 1, 1, never).map(({ key }) => key)).toEqual(['full'])
    expect(queue.size).toBe(1)
  })

  it('works with batches of one', () => {
    const queue = new BatchQueue<Request>({ maxBatchSize: 1, maxWaitMs: 20 })
    const requests = [request(), request(), request()]
    for (const one of requests) queue.push(one, 0, false)
    expect(requests.map(() => queue.dueAt(0) <= 0 && queue.take(0, 1, never)[0])).toEqual(requests)
  })

  it('forgets a request that is taken out', () => {
    const queue = new BatchQueue<Request>({ maxBatchSize: 4, maxWaitMs: 20 })
    const [one, two] = [request(3), request(1)]
    queue.push(one, 0, false)
    queue.push(two, 0, false)
    expect([queue.remove(one), queue.remove(one)]).toEqual([true, false])
    expect(queue.take(0, 1, never)).toEqual([two])
    expect([queue.size, queue.dueAt(0), queue.first]).toEqual([
      0,
      Number.POSITIVE_INFINITY,
      undefined,
    ])
  })

  it('has a burst after a long silence in batches after a few requests', () => {
    const { queue, now } = busyQueue(10_000)
    for (let i = 0; i < 6; i++) queue.push(request(), now + 60_000 + i * 0.05, false)
    expect(queue.dueAt(now + 60_000.25)).toBeGreaterThan(now + 60_000.25)
  })
})

describe('the cost of a call', () => {
  it('is told apart into a part for the call and one for the rows', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 50, noNaN: true }),
        fc.double({ min: 0, max: 5, noNaN: true }),
        (fixed, row) => {
          const cost = new CallCost()
          for (const rows of [1, 5, 2, 8, 3, 3, 6]) cost.learn(rows, fixed + row * rows)
          expect(cost.fixedMs).toBeCloseTo(fixed, 6)
        },
      ),
    )
  })

  it('is not guessed for large calls from small ones whose times differ by chance', () => {
    const cost = new CallCost()
    for (const [size, ms] of [
      [1, 2],
      [2, 9],
      [1, 3],
      [3, 4],
      [2, 2],
      [3, 14],
      [1, 2],
    ])
      cost.learn(size, ms)
    expect(cost.msOf(1_000)).toBeLessThan(50)
    for (let i = 0; i < 200; i++) cost.learn(100 * (1 + (i % 5)), 2 + (1 + (i % 5)) * 1)
    expect(cost.msOf(1_000)).toBeCloseTo(12, 0)
  })

  it('is all fixed while every call has had the same size, and nothing before the first', () => {
    const cost = new CallCost()
    expect(cost.fixedMs).toBe(0)
    for (let i = 0; i < 5; i++) cost.learn(1, 4)
    expect(cost.fixedMs).toBeCloseTo(4)
  })

  it('is never negative, whatever was measured', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.integer({ min: 1, max: 64 }), fc.double({ min: 0, max: 1e3, noNaN: true })),
        ),
        (calls) => {
          const cost = new CallCost()
          for (const [rows, ms] of calls) cost.learn(rows, ms)
          expect(cost.fixedMs).toBeGreaterThanOrEqual(0)
        },
      ),
    )
  })
})

describe('the wait of a free thread', () => {
  it('is over so early that the first deadline holds, without an option', () => {
    const limits = { maxBatchSize: 8, maxWaitMs: Number.POSITIVE_INFINITY }
    const { queue, now } = busyQueue(1, limits)
    queue.push(request(1, 'a'), now + 1, false)
    const patient = queue.dueAt(now + 1)
    expect(patient).toBeGreaterThan(now + 2)
    // No longer than the fixed cost of a call.
    expect(patient).toBeLessThanOrEqual(now + 1 + 8.01)
    // A batch of two takes 8.2 ms.
    queue.push(request(1, 'a', now + 11), now + 1.5, false)
    expect(queue.dueAt(now + 1.5)).toBeLessThanOrEqual(now + 2.81)
  })
})
