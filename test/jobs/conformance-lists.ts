/** How each job store lists jobs, and lets them expire before their time. @module */
import { beforeAll, describe, expect, it } from 'vitest'
import type { OwnerKey } from '../../src/api/caller-identity.ts'
import { type Attempt, type JobFilter, type JobStore, listed } from '../../src/jobs/job-store.ts'
import { type StartStore, storeOfTests } from './conformance.ts'
import { completed, inputText, newJob, until, untilStatus } from './stores.ts'

const ann = '["","ann"]' as OwnerKey
const bob = '["","bob"]' as OwnerKey

/** Each test has APIs and callers of its own in one store. */
export function listsJobs(name: string, start: StartStore): void {
  describe(name, () => {
    const { of, working, add, eventsOf } = storeOfTests(start)
    let store: JobStore
    beforeAll(() => {
      store = of()
    })
    const idsOf = async (filter: JobFilter) => {
      const ids: string[] = []
      for await (const { id } of listed(store, filter)) ids.push(id)
      return ids
    }

    it('lists the jobs of a caller alone, and no deliveries', async () => {
      const webhook = { url: 'https://example.com/' }
      const jobs = [
        newJob({ api: 'one', owner: ann, webhook }),
        newJob({ api: 'one', owner: bob }),
        newJob({ api: 'two', owner: ann }),
        newJob({ api: 'two', owner: undefined }),
      ]
      for (const [i, job] of jobs.entries()) await add({ ...job, createdAt: job.createdAt + i })
      const [first, other, second] = jobs.map(({ id }) => id)
      await store.cancel(first)
      expect(await idsOf({ owner: ann, limit: 10 })).toEqual([second, first])
      expect(await idsOf({ owner: bob, limit: 10 })).toEqual([other])
      expect(await idsOf({ owner: ann, api: 'one', limit: 10 })).toEqual([first])
      expect(await idsOf({ owner: ann, status: 'queued', limit: 10 })).toEqual([second])
      expect(await idsOf({ owner: ann, status: 'failed', limit: 10 })).toEqual([])
      expect(await idsOf({ owner: '["","nobody"]', limit: 10 })).toEqual([])
      expect(await idsOf({ api: '$webhooks', limit: 10 })).toHaveLength(1)
    })

    it('lists each job once, page by page, also those of one time', async () => {
      const owner = '["","pages"]' as OwnerKey
      const now = Date.now()
      const ids: string[] = []
      for (const i of Array(23).keys()) {
        const job = newJob({ api: `pages${i % 2}`, owner, createdAt: now + Math.floor(i / 6) })
        ids.push(await add(job))
        if (i % 3 === 0) await store.cancel(job.id)
      }
      const all = [...ids].sort()
      for (const limit of [1, 4, 23, 24]) {
        for (const filter of [
          { owner, limit },
          { api: 'pages0', limit },
        ]) {
          const found = await idsOf(filter)
          const expected = all.filter((id) => 'owner' in filter || ids.indexOf(id) % 2 === 0)
          expect([...found].sort()).toEqual(expected)
        }
        const page = await store.list({ owner, limit })
        expect(page.jobs.length).toBe(Math.min(limit, 23))
        expect(page.next === undefined).toBe(limit === 24)
      }
      const times = (await store.list({ owner, limit: 100 })).jobs.map(({ createdAt }) => createdAt)
      expect(times).toEqual([...times].sort((a, b) => b - a))
      const canceled = await idsOf({ owner, status: 'canceled', api: 'pages1', limit: 2 })
      expect([...canceled].sort()).toEqual(
        all.filter((id) => [3, 9, 15, 21].includes(ids.indexOf(id))),
      )
    })

    it('lists nothing behind a cursor of another store', async () => {
      const owner = '["","strange"]' as OwnerKey
      await add(newJob({ owner }))
      for (const after of ['1', `1.${'a'.repeat(22)}`])
        expect(await store.list({ owner, limit: 10, after })).toEqual({ jobs: [] })
    })

    it('lists jobs of a time', async () => {
      const owner = '["","times"]' as OwnerKey
      const ids: string[] = []
      for (const i of Array(6).keys())
        ids.unshift(await add(newJob({ api: 'times', owner, createdAt: 1_700_000_000_000 + i })))
      const [since, until] = [1_700_000_000_001, 1_700_000_000_004]
      for (const limit of [1, 2, 10]) {
        expect(await idsOf({ owner, since, until, limit })).toEqual(ids.slice(2, 5))
        expect(await idsOf({ api: 'times', since, limit })).toEqual(ids.slice(0, 5))
        expect(await idsOf({ api: 'times', until, status: 'queued', limit })).toEqual(ids.slice(2))
      }
    })

    it('ends each page after so many jobs, whatever it looks for', async () => {
      const owner = '["","large"]' as OwnerKey
      const first = await add(newJob({ api: 'needle', owner }))
      const fill = async () => {
        for (let i = 0; i < 100; i++)
          await store.add(newJob({ api: 'hay', owner, createdAt: Date.now() + 10 }), 10_000)
      }
      await Promise.all(Array.from({ length: 12 }, fill))
      const page = await store.list({ owner, api: 'needle', limit: 10 })
      expect(page.jobs).toEqual([])
      expect(page.next).toBeDefined()
      expect(await idsOf({ owner, api: 'needle', limit: 10 })).toEqual([first])
    }, 60_000)

    it('lets an ended job expire before its time, and no other', async () => {
      const owner = '["","expire"]' as OwnerKey
      const job = newJob({ api: 'expire', owner, idempotencyKey: 'k' }, 'x'.repeat(2_000_000))
      await add(job)
      expect(await store.expire('x'.repeat(22))).toBeUndefined()
      expect(await store.expire(job.id)).toMatchObject({ status: 'queued' })
      const run = async () => {
        expect(await store.expire(job.id)).toMatchObject({ status: 'running' })
        return completed('done')
      }
      await working('expire', run, () => untilStatus(store, job.id, 'completed'))
      const expired = await store.expire(job.id)
      expect(expired).toMatchObject({ id: job.id, status: 'expired', owner })
      expect(expired?.responseStatus).toBeUndefined()
      expect(await store.result(job.id)).toBeUndefined()
      expect(await store.again(job.id, newJob({ api: 'expire' }), 10)).toBeUndefined()
      expect((await eventsOf(job.id)).filter(({ kind }) => kind !== 'status')).toEqual([])
      expect(await store.expire(job.id)).toMatchObject({ status: 'expired' })
      expect(await idsOf({ owner, status: 'expired', limit: 10 })).toEqual([job.id])
      // Its key is free.
      const next = { ...job, id: newJob().id }
      expect(await store.add(next, 10)).toEqual({ kind: 'added' })
      await store.cancel(next.id)
      await store.expire(next.id)
      await until(async () => (await idsOf({ owner, limit: 10 })).length === 0)
      expect(await store.get(job.id)).toBeUndefined()
    })

    it('keeps the input of a job that has expired while a retry names it', async () => {
      const first = await add(newJob({ api: 'named' }, 'hello'))
      await store.cancel(first)
      const again = newJob({ api: 'named' })
      expect(await store.again(first, again, 10)).toEqual({ kind: 'added' })
      await store.expire(first)
      let input = ''
      const run = async ({ request }: Attempt) => {
        input = await inputText(request)
        return completed('')
      }
      await working('named', run, () => untilStatus(store, again.id, 'completed'))
      expect(input).toBe('hello')
    })
  })
}
