/** How each job store cancels jobs, and hands back what runs when a worker stops. @module */
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { ClientClosed, Overloaded } from '../../src/core/errors.ts'
import type { Attempt, JobStore, Outcome } from '../../src/jobs/job-store.ts'
import { type StartStore, storeOfTests } from './conformance.ts'
import { completed, failed, newJob, resultText, until, untilStatus } from './stores.ts'

/** Each test has APIs of its own in one store. */
export function endsJobs(name: string, start: StartStore): void {
  describe(name, () => {
    const { of, working, add, eventsOf, dataOf } = storeOfTests(start)
    let store: JobStore
    beforeAll(() => {
      store = of()
    })

    it('cancels a queued job at once, and changes no final state', async () => {
      const id = await add(newJob({ api: 'cancel' }))
      const other = await add(newJob({ api: 'cancel' }))
      expect(await store.cancel(id)).toMatchObject({
        status: 'canceled',
        finishedAt: expect.any(Number),
      })
      const ran: string[] = []
      const run = ({ job }: Attempt) => {
        ran.push(job.id)
        return completed('')
      }
      await working('cancel', run, () => untilStatus(store, other, 'completed'))
      expect(ran).toEqual([other])
      expect(await store.cancel(other)).toMatchObject({
        status: 'completed',
        isCancelRequested: false,
      })
      expect(dataOf(await eventsOf(id))).toEqual(['status queued', 'status canceled'])
    })

    it('aborts a running job that is canceled', async () => {
      const id = await add(newJob({ api: 'abort', retries: 3 }))
      let attempt: Attempt | undefined
      let isReleased = false
      const run = async (given: Attempt): Promise<Outcome> => {
        attempt = given
        await until(() => given.signal.aborted && isReleased)
        return { kind: 'canceled' }
      }
      await working('abort', run, async () => {
        await untilStatus(store, id, 'running')
        expect(await store.cancel(id)).toMatchObject({ status: 'running', isCancelRequested: true })
        isReleased = true
        await untilStatus(store, id, 'canceled')
      })
      expect(attempt?.signal.reason).toBeInstanceOf(ClientClosed)
      expect(await store.result(id)).toBeUndefined()
      expect(await store.get(id)).toMatchObject({ attempt: 1 })
    })

    it('cancels a job that is to end and fails, instead of trying it again', async () => {
      const id = await add(newJob({ api: 'fails', retries: 3 }))
      const run = async () => {
        await store.cancel(id)
        return failed(500, true, 600_000)
      }
      await working('fails', run, () => untilStatus(store, id, 'canceled'))
    })

    it('keeps the answer of a job that ended although it was canceled', async () => {
      const id = await add(newJob({ api: 'late' }))
      const run = async ({ signal }: Attempt) => {
        await until(() => signal.aborted)
        return completed('done')
      }
      await working('late', run, async () => {
        await untilStatus(store, id, 'running')
        await store.cancel(id)
        await untilStatus(store, id, 'completed')
      })
      expect(await resultText(store, id)).toBe('done')
    })

    it('hands back what runs when a worker stops, without counting the attempt', async () => {
      const id = await add(newJob({ api: 'stop' }))
      let first: Attempt | undefined
      const run = async (attempt: Attempt) => {
        first = attempt
        await until(() => attempt.signal.aborted)
        return completed('of the first')
      }
      await working('stop', run, () => until(() => first !== undefined))
      expect(first?.signal.reason).toBeInstanceOf(Overloaded)
      expect(await store.get(id)).toMatchObject({ status: 'queued', attempt: 0 })
      await working(
        'stop',
        ({ number, starts }) => completed(`attempt ${number}, start ${starts}`),
        () => untilStatus(store, id, 'completed'),
      )
      expect(await resultText(store, id)).toBe('attempt 1, start 2')
    })

    it('takes no jobs of an API that is paused, until it is resumed', async () => {
      const isPaused = async (api: string) =>
        (await store.states()).find((state) => state.api === api)?.isPaused
      expect(await isPaused('paused')).toBeUndefined()
      await store.pause('paused', true)
      await store.pause('paused', true)
      expect(await isPaused('paused')).toBe(true)
      const held = await add(newJob({ api: 'paused' }))
      const free = await add(newJob({ api: 'not paused' }))
      const order: string[] = []
      const run = ({ job }: Attempt) => {
        order.push(job.id)
        return completed('')
      }
      const worker = store.work(
        [
          { api: 'paused', concurrency: 1 },
          { api: 'not paused', concurrency: 1 },
        ],
        async (attempt) => run(attempt),
      )
      await untilStatus(store, free, 'completed')
      await add(newJob({ api: 'paused' }))
      await sleep(1_500)
      expect(order).toEqual([free])
      expect(await isPaused('not paused')).toBe(false)
      await store.pause('paused', false)
      await untilStatus(store, held, 'completed')
      expect(await isPaused('paused')).toBe(false)
      await worker.stop(0)
    })

    it('lets a job of an API that is paused go on, and cancels one that waits', async () => {
      const [first, second] = [
        await add(newJob({ api: 'pausing' })),
        await add(newJob({ api: 'pausing' })),
      ]
      let isReleased = false
      const run = async () => {
        await until(() => isReleased)
        return completed('')
      }
      await working('pausing', run, async () => {
        await untilStatus(store, first, 'running')
        await store.pause('pausing', true)
        isReleased = true
        await untilStatus(store, first, 'completed')
        expect(await store.cancel(second)).toMatchObject({ status: 'canceled' })
      })
      await store.pause('pausing', false)
    })

    it('starts no job before its time, and lets others run', async () => {
      const start = Date.now()
      const later = newJob({ api: 'delay', priority: 9, notBefore: start + 1_500 })
      await add(later)
      const at = await add(newJob({ api: 'delay' }))
      expect(await store.get(later.id)).toMatchObject({ notBefore: later.notBefore })
      expect((await store.get(later.id))?.queuePosition).toBeUndefined()
      expect((await store.get(at))?.queuePosition).toBe(0)
      const state = (await store.states()).find(({ api }) => api === 'delay')
      expect(state).toMatchObject({ delayed: 1, counts: { queued: 2 } })
      const order: string[] = []
      const run = ({ job }: Attempt) => {
        order.push(job.id)
        return completed('')
      }
      await working('delay', run, () => untilStatus(store, later.id, 'completed'))
      expect(order).toEqual([at, later.id])
      expect((await store.get(later.id))?.startedAt).toBeGreaterThanOrEqual(start + 1_500)
    })

    it('counts the wait of a delayed job from its time, and its age, too', async () => {
      const now = Date.now()
      const createdAt = now - 60_000
      const late = newJob({ api: 'delayed', createdAt, notBefore: now - 30_000 })
      const waits = { ...newJob({ api: 'delayed', createdAt }), queueTtlMs: 1 }
      const later = await add({ ...waits, notBefore: now + 600_000 })
      await add(late)
      const state = (await store.states()).find(({ api }) => api === 'delayed')
      expect(state).toMatchObject({ delayed: 1 })
      expect(state?.oldestMs).toBeGreaterThanOrEqual(30_000)
      expect(state?.oldestMs).toBeLessThan(60_000)
      const soon = await add(newJob({ api: 'delayed', notBefore: now + 500, queueTtlMs: 1 }))
      await untilStatus(store, soon, 'failed')
      expect(await store.get(later)).toMatchObject({ status: 'queued' })
      expect(await store.cancel(later)).toMatchObject({ status: 'canceled' })
      // Its input runs again without the delay.
      const again = newJob({ api: 'delayed' })
      expect(await store.again(later, { id: again.id, createdAt: now }, 10)).toEqual({
        kind: 'added',
      })
      expect((await store.get(again.id))?.notBefore).toBeUndefined()
      expect((await store.get(again.id))?.queuePosition).toBe(1)
    })

    it('waits for what runs as long as the grace lasts', async () => {
      const id = await add(newJob({ api: 'grace' }))
      let isReleased = false
      const worker = store.work([{ api: 'grace', concurrency: 1 }], async () => {
        await until(() => isReleased)
        return completed('')
      })
      await untilStatus(store, id, 'running')
      const stopped = worker.stop(30_000)
      const next = await add(newJob({ api: 'grace' }))
      isReleased = true
      await stopped
      expect(await store.get(id)).toMatchObject({ status: 'completed' })
      expect(await store.get(next)).toMatchObject({ status: 'queued' })
    })
  })
}
