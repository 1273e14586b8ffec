/** How each job store cancels jobs, and hands back what runs when a worker stops. @module */
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
