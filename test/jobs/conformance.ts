/** What each job store holds, as far as it can be seen without killing it: `kill-conformance.ts` has the rest. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OwnerKey } from '../../src/api/caller-identity.ts'
import type { JobEvent, NewJob } from '../../src/jobs/job.ts'
import type { Attempt, JobStore, Outcome } from '../../src/jobs/job-store.ts'
import {
  answer,
  completed,
  failed,
  inputText,
  newJob,
  openStore,
  resultText,
  type StoreSpec,
  shortTimes,
  until,
  untilStatus,
} from './stores.ts'

/** Starts what a store needs. */
export type StartStore = () => Promise<{ spec: StoreSpec; stop(): Promise<void> }>

/** Opens a store for the tests of a file, as they come to it. */
export function storeOfTests(start: StartStore) {
  let store: JobStore
  let stop: () => Promise<void>
  beforeAll(async () => {
    const started = await start()
    stop = started.stop
    store = await openStore({ ...started.spec, times: { ...shortTimes, forgetMs: 2_000 } })
  }, 60_000)
  afterAll(async () => {
    await store.close()
    await stop()
  })
  return {
    of: () => store,
    /** Runs jobs of an API until the callback has ended. */
    async working(
      api: string,
      run: (attempt: Attempt) => Promise<Outcome> | Outcome,
      use: () => Promise<unknown>,
      concurrency = 1,
    ) {
      const worker = store.work([{ api, concurrency }], async (attempt) => run(attempt))
      try {
        await use()
      } finally {
        await worker.stop(0)
      }
    },
    async add(job: NewJob) {
      expect(await store.add(job, 1_000)).toEqual({ kind: 'added' })
      return job.id
    },
    eventsOf: (id: string) => store.events(id, 0, 100_000_000),
    dataOf: (events: readonly JobEvent[]) => events.map(({ kind, data }) => `${kind} ${data}`),
  }
}

/** Each test has APIs of its own in one store. */
export function conforms(name: string, start: StartStore): void {
  describe(name, () => {
    const { of, working, add, eventsOf, dataOf } = storeOfTests(start)
    let store: JobStore
    beforeAll(() => {
      store = of()
    })

    it('keeps what was submitted', async () => {
      const webhook = { url: 'https://example.com/hook' }
      const job = newJob({
        api: 'kept',
        webhook,
        trace: '00-1-2-01',
        retryOf: 'older',
        idempotencyKey: 'key',
      })
      await add(job)
      const { request, state, fingerprint, idempotencyKey, ...shown } = job
      const state0 = { status: 'queued', attempt: 0, queuePosition: 0, isCancelRequested: false }
      expect(await store.get(job.id)).toEqual({ ...shown, ...state0 })
      expect(await store.result(job.id)).toBeUndefined()
      expect(dataOf(await eventsOf(job.id))).toEqual(['status queued'])
    })

    it('gives the input of a job until it has expired', async () => {
      const id = await add(newJob({ api: 'read' }, 'hello'))
      const read = async () => {
        const input = await store.input(id)
        return input && { ...input, body: await inputText(input) }
      }
      const headers = [['content-type', 'text/plain']]
      expect(await read()).toEqual({ headers, query: 'x=1', body: 'hello' })
      await working(
        'read',
        () => completed(''),
        () => untilStatus(store, id, 'completed'),
      )
      expect((await read())?.body).toBe('hello')
      await store.expire(id)
      expect(await read()).toBeUndefined()
      expect(await store.input('x')).toBeUndefined()
    })

    it('keeps a job without owner and state', async () => {
      const job = newJob({ api: 'nobody', owner: undefined, state: undefined })
      await add(job)
      expect((await store.get(job.id))?.owner).toBeUndefined()
      await working(
        'nobody',
        ({ state }) => completed(String(state)),
        () => untilStatus(store, job.id, 'completed'),
      )
      expect(await resultText(store, job.id)).toBe('undefined')
    })

    it('knows no job of an unknown id', async () => {
      const [job, kept, result] = [
        store.get('x'),
        store.again('x', newJob(), 10),
        store.result('x'),
      ]
      expect(await Promise.all([job, kept, result, store.cancel('x')])).toEqual(
        Array(4).fill(undefined),
      )
      expect(await store.events('x', 0, 10)).toEqual([])
    })

    it('runs a job, and keeps its answer and events', async () => {
      const id = await add(newJob({ api: 'run' }, 'hello'))
      const seen: Attempt[] = []
      const run = async (attempt: Attempt) => {
        seen.push(attempt)
        await attempt.report('progress', '{"done":0.5}')
        await attempt.report('partial', 'piece')
        return { kind: 'completed', response: answer('world', 201) } as const
      }
      await working('run', run, () => untilStatus(store, id, 'completed'))
      const [{ job, request, state, number }] = seen
      expect({
        id: job.id,
        state,
        number,
        query: request.query,
        body: await inputText(request),
      }).toEqual({
        id,
        state: '{"caller":"me"}',
        number: 1,
        query: 'x=1',
        body: 'hello',
      })
      expect(request.headers).toEqual([['content-type', 'text/plain']])
      const { status, headers } = (await store.result(id)) ?? answer('')
      expect([status, headers, await resultText(store, id)]).toEqual([
        201,
        [['content-type', 'text/plain']],
        'world',
      ])
      const ended = await store.get(id)
      expect(ended).toMatchObject({ attempt: 1, progress: '{"done":0.5}', responseStatus: 201 })
      expect(ended?.queuePosition).toBeUndefined()
      expect(ended?.startedAt).toBeGreaterThanOrEqual(ended?.createdAt as number)
      expect(ended?.finishedAt).toBeGreaterThanOrEqual(ended?.startedAt as number)
      const events = await eventsOf(id)
      expect(dataOf(events)).toEqual([
        'status queued',
        'status running',
        'progress {"done":0.5}',
        'partial piece',
        'status completed',
      ])
      expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5])
      expect((await store.events(id, 2, 1)).map(({ sequence }) => sequence)).toEqual([3])
    })

    it('runs higher priorities first, and one priority in the order of arrival', async () => {
      const priorities = [0, 5, 0, 5, -3, 9]
      const ids: string[] = []
      for (const priority of priorities) ids.push(await add(newJob({ api: 'order', priority })))
      const positions = await Promise.all(
        ids.map(async (id) => (await store.get(id))?.queuePosition),
      )
      expect(positions).toEqual([3, 1, 4, 2, 5, 0])
      const order: string[] = []
      const run = ({ job }: Attempt) => {
        order.push(job.id)
        return completed('')
      }
      await working('order', run, () => until(() => order.length === ids.length))
      expect(order.map((id) => ids.indexOf(id))).toEqual([5, 1, 3, 0, 2, 4])
    })

    it('runs as many jobs of an API at once as its queue says', async () => {
      const ids = await Promise.all(Array.from({ length: 12 }, () => add(newJob({ api: 'many' }))))
      let [now, most] = [0, 0]
      const run = async () => {
        most = Math.max(most, ++now)
        await until(() => most === 3)
        await sleep(20)
        now--
        return completed('')
      }
      await working(
        'many',
        run,
        () => Promise.all(ids.map((id) => untilStatus(store, id, 'completed'))),
        3,
      )
      expect(most).toBe(3)
    })

    it('refuses what is above maxQueued, and counts only jobs of the API that wait', async () => {
      const first = newJob({ api: 'full' })
      expect(await store.add(first, 2)).toEqual({ kind: 'added' })
      const others = await Promise.all([1, 2, 3].map(() => store.add(newJob({ api: 'full' }), 2)))
      expect(others.map(({ kind }) => kind).sort()).toEqual(['added', 'full', 'full'])
      expect(await store.add(newJob({ api: 'other' }), 2)).toEqual({ kind: 'added' })
      await store.cancel(first.id)
      expect(await store.add(newJob({ api: 'full' }), 2)).toEqual({ kind: 'added' })
    })

    it('refuses what is above maxPerCaller, and counts only jobs of the caller that wait or run', async () => {
      const owner = '["","quota"]' as OwnerKey
      const job = () => newJob({ api: 'quota', owner })
      const [first, second] = [job(), job()]
      for (const each of [first, second])
        expect(await store.add(each, 10, 2)).toEqual({ kind: 'added' })
      const refused = await Promise.all([store.add(job(), 10, 2), store.add(job(), 10, 2)])
      expect(refused).toEqual([{ kind: 'quota' }, { kind: 'quota' }])
      expect(await store.add({ ...job(), owner: undefined }, 10, 2)).toEqual({ kind: 'added' })
      expect(await store.add({ ...job(), owner: 'other' as OwnerKey }, 10, 2)).toEqual({
        kind: 'added',
      })
      expect(await store.add({ ...job(), api: 'quota too' }, 10, 2)).toEqual({ kind: 'added' })
      let isReleased = false
      const run = async () => {
        await until(() => isReleased)
        return completed('')
      }
      await working('quota', run, async () => {
        await untilStatus(store, first.id, 'running')
        expect(await store.add(job(), 10, 2)).toEqual({ kind: 'quota' })
        isReleased = true
        await untilStatus(store, second.id, 'completed')
      })
      const third = job()
      expect(await store.add(third, 10, 1)).toEqual({ kind: 'added' })
      expect(await store.again(first.id, job(), 10, 1)).toEqual({ kind: 'quota' })
      await store.cancel(third.id)
      const fourth = job()
      expect(await store.again(first.id, fourth, 10, 1)).toEqual({ kind: 'added' })
      expect(await store.add(job(), 10, 1)).toEqual({ kind: 'quota' })
      await store.cancel(fourth.id)
      expect(await store.add(job(), 10)).toEqual({ kind: 'added' })
      // That one came without a quota.
      expect(await store.add(job(), 10, 1)).toEqual({ kind: 'added' })
    })

    it('takes an idempotency key once for an owner and API', async () => {
      const job = newJob({ api: 'once', idempotencyKey: 'k', fingerprint: 'one' })
      await add(job)
      const again = (more: Partial<NewJob>) =>
        store.add(newJob({ ...job, id: newJob().id, ...more }), 1_000)
      expect(await again({})).toEqual({ kind: 'exists', id: job.id, isSame: true })
      expect(await again({ fingerprint: 'two' })).toEqual({
        kind: 'exists',
        id: job.id,
        isSame: false,
      })
      expect(await again({ owner: 'you' as never })).toEqual({ kind: 'added' })
      expect(await again({ api: 'once more' })).toEqual({ kind: 'added' })
      expect(await again({ idempotencyKey: 'l' })).toEqual({ kind: 'added' })
    })

    it('runs an attempt again after the time it asks for, until no retry is left', async () => {
      const id = await add(newJob({ api: 'retry', retries: 2 }))
      const numbers: number[] = []
      const run = ({ number }: Attempt) => {
        numbers.push(number)
        return failed(500 + number, true, 50)
      }
      await working('retry', run, () => untilStatus(store, id, 'failed'))
      expect(numbers).toEqual([1, 2, 3])
      expect(await store.get(id)).toMatchObject({ attempt: 3, responseStatus: 503 })
      expect(await resultText(store, id)).toBe('failed 503')
    })

    it('waits by backoff before a retry, and lets the next job run', async () => {
      const first = await add(newJob({ api: 'backoff', retries: 1 }))
      const second = await add(newJob({ api: 'backoff' }))
      const order: string[] = []
      const run = ({ job, number }: Attempt) => {
        order.push(job.id)
        return job.id === first && number === 1 ? failed(500, true) : completed('')
      }
      await working('backoff', run, () => untilStatus(store, first, 'completed'))
      expect(order).toEqual([first, second, first])
    })

    it('never repeats what may not be, and what a function cannot run', async () => {
      const ids = [
        await add(newJob({ api: 'never', retries: 5 })),
        await add(newJob({ api: 'never' }, 'throw')),
      ]
      const run = async ({ request }: Attempt) => {
        if ((await inputText(request)) === 'throw') throw new Error('secret')
        return failed(400, false)
      }
      await working('never', run, () =>
        Promise.all(ids.map((id) => untilStatus(store, id, 'failed'))),
      )
      expect(await store.get(ids[0])).toMatchObject({ attempt: 1, responseStatus: 400 })
      expect((await store.result(ids[1]))?.status).toBe(500)
      expect(await resultText(store, ids[1])).not.toContain('secret')
    })

    it('thins progress, and keeps the last', async () => {
      const id = await add(newJob({ api: 'thin' }))
      const run = async ({ report }: Attempt) => {
        for (let i = 0; i <= 500; i++) await report('progress', String(i))
        return completed('')
      }
      await working('thin', run, () => untilStatus(store, id, 'completed'))
      expect(await store.get(id)).toMatchObject({ progress: '500' })
      const progress = (await eventsOf(id))
        .filter(({ kind }) => kind === 'progress')
        .map(({ data }) => data)
      expect(progress.at(-1)).toBe('500')
      expect(progress.length).toBeLessThan(500)
    })

    it('tells those who watch of each change, until they leave', async () => {
      const id = await add(newJob({ api: 'watch' }))
      let [first, second] = [0, 0]
      const [leave, leaveToo] = [store.watch(id, () => first++), store.watch(id, () => second++)]
      // What a watcher must not miss comes after a look at the job.
      await store.get(id)
      await working(
        'watch',
        () => completed(''),
        () => untilStatus(store, id, 'completed'),
      )
      await until(() => first > 0 && second > 0)
      leave()
      leave()
      leaveToo()
    })

    it('lists jobs, the latest first', async () => {
      const ids: string[] = []
      for (let i = 0; i < 3; i++)
        ids.unshift(await add(newJob({ api: 'list', createdAt: Date.now() + i })))
      await store.cancel(ids[0])
      const found = async (filter: Parameters<JobStore['list']>[0]) =>
        (await store.list(filter)).jobs.map(({ id }) => id)
      expect(await found({ api: 'list', limit: 10 })).toEqual(ids)
      expect(await found({ api: 'list', limit: 2 })).toEqual(ids.slice(0, 2))
      expect(await found({ api: 'list', status: 'queued', limit: 10 })).toEqual(ids.slice(1))
      expect((await found({ limit: 1_000 })).filter((id) => ids.includes(id))).toEqual(ids)
    })

    it('counts the jobs of each API, and knows the age of the oldest that waits', async () => {
      await add(newJob({ api: 'states', createdAt: Date.now() - 60_000 }))
      await store.cancel(await add(newJob({ api: 'states' })))
      const state = (await store.states()).find(({ api }) => api === 'states')
      expect(state?.counts).toEqual({
        queued: 1,
        running: 0,
        completed: 0,
        failed: 0,
        canceled: 1,
        expired: 0,
      })
      expect(state?.oldestMs).toBeGreaterThanOrEqual(60_000)
      expect(state?.oldestMs).toBeLessThan(600_000)
    })
  })
}
