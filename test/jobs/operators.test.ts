/** What operators see of jobs and do with them: over HTTP as admins, and in each store. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { isBuiltin } from 'node:module'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { apiKey } from '../../src/api/auth/index.ts'
import { ownerKey } from '../../src/api/caller-identity.ts'
import { deferred } from '../../src/core/promise.ts'
import { type Context, Forbidden, io, type Service, type ServiceOptions } from '../../src/index.ts'
import { actOnPage, jobReport } from '../../src/jobs/operators.ts'
import { folder, jsonOf, type Served, start as serve } from './harness.ts'
import { hasRedis, redisServer } from './redis-server.ts'
import {
  completed,
  failed,
  newJob,
  openStore,
  type StoreSpec,
  until,
  untilStatus,
} from './stores.ts'

const keyOf = (name: string) => ({
  name,
  hash: createHash('sha256').update(`${name}-key`).digest('hex'),
})
const as = (name: string) => ({ 'x-api-key': `${name}-key` })
const auth = apiKey({ keys: ['ann', 'bob', 'ops'].map(keyOf) })
/** The hook of the service that calls `ops` admin. */
const onRequest = ({ state }: Context) => {
  if (state.caller?.name === 'ops') state.caller = { ...state.caller, isAdmin: true }
}
const text = { input: new io.Text(), output: new io.Text() } as const

const { promise: released, resolve: release } = deferred<string>()

/** `own` has an auth that calls everybody admin, `wait` ends when it is released. */
function define(svc: Service): void {
  svc.onRequest(onRequest)
  svc.api({ ...text, name: 'shout', async: { retries: 0 } }, (words, { state }) => {
    if (words === 'fail') throw new Forbidden('no such words')
    return `${words.toUpperCase()} ${state.caller?.name}`
  })
  const everybody = ({ state }: Context) => {
    state.caller = { name: 'eve', isAdmin: true }
  }
  svc.api({ ...text, name: 'wait', async: true }, () => released)
  svc.api({ ...text, name: 'own', auth: everybody, async: true }, (words) => words)
}

const start = (options: ServiceOptions = {}) => serve('node', define, {}, { auth, ...options })

const ended = ({ get }: Served, job: string, name: string) =>
  get(`${job}/result`, { ...as(name), prefer: 'wait=20' })

describe.skipIf(!isBuiltin('node:sqlite'))('an admin over HTTP', () => {
  it('sees the jobs of all callers, and why one failed', async () => {
    const served = await start()
    const { get, submit } = served
    const bad = await submit('/shout', 'fail', as('ann'))
    const good = await submit('/shout', 'hi', as('bob'))
    expect((await ended(served, bad, 'ann')).status).toBe(403)
    expect(await (await ended(served, good, 'ops')).text()).toBe('HI bob')
    const list = async (query: string) => {
      const { jobs } = await jsonOf(await get(`/jobs${query}`, as('ops')))
      return (jobs as { readonly caller: string }[]).map(({ caller }) => caller)
    }
    expect(await list('')).toEqual(['bob', 'ann'])
    expect(await list('?caller=ann')).toEqual(['ann'])
    expect(await list('?caller=ann&issuer=https://elsewhere')).toEqual([])
    expect(await jsonOf(await get(bad, as('ops')))).toMatchObject({
      status: 'failed',
      caller: 'ann',
      errorCode: 'forbidden',
      errorDetail: 'no such words',
      worker: `${hostname()} ${process.pid}`,
    })
    expect(await jsonOf(await get(bad, as('ann')))).not.toHaveProperty('caller')
    const { queues } = await jsonOf(await get('/jobs/queues', as('ops')))
    expect(queues).toMatchObject([{ api: 'shout', counts: { completed: 1, failed: 1 } }])
  })

  it('runs jobs again as their callers, and ends and purges them', async () => {
    const served = await start()
    const { get, post, submit } = served
    const job = await submit('/shout', 'hi', as('ann'))
    await ended(served, job, 'ann')
    const retried = await post(`${job}/retry`, undefined, as('ops'))
    expect(retried.status).toBe(202)
    const again = retried.headers.get('location') as string
    expect(await (await ended(served, again, 'ann')).text()).toBe('HI ann')
    const purged = await jsonOf(await post('/jobs/purge?caller=ann&limit=1', undefined, as('ops')))
    expect(purged).toMatchObject({ jobs: [{ caller: 'ann', status: 'expired' }] })
    const rest = `/jobs/purge?caller=ann&after=${purged.next}`
    expect(await jsonOf(await post(rest, undefined, as('ops')))).toMatchObject({
      jobs: [{ status: 'expired' }],
    })
    expect((await ended(served, again, 'ann')).status).toBe(410)
    const unnamed = await post('/jobs/purge', undefined, as('ops'))
    expect([unnamed.status, (await jsonOf(unnamed)).detail]).toEqual([
      400,
      'expected which jobs: by API, status, caller or age',
    ])
    expect((await get('/jobs?caller=ann', as('ops'))).status).toBe(200)
    // Alone it would purge the jobs of all callers.
    const issuer = await post('/jobs/purge?status=failed&issuer=a', undefined, as('ops'))
    expect([issuer.status, (await jsonOf(issuer)).detail]).toEqual([
      400,
      'expected a caller beside the issuer',
    ])
  })

  it('waits until no job of an API is queued or running', async () => {
    const { get, submit } = await start()
    const queues = async (query: string, prefer: string) => {
      const answer = await jsonOf(await get(`/jobs/queues${query}`, { ...as('ops'), prefer }))
      const [{ counts }] = answer.queues as { counts: Record<string, number> }[]
      return counts.queued + counts.running
    }
    await submit('/wait', '', as('ann'))
    expect(await queues('', 'wait=0')).toBe(1)
    expect(await queues('?api=wait', 'wait=1')).toBe(1)
    const drained = queues('?api=wait', 'wait=20')
    await sleep(10)
    release('')
    expect(await drained).toBe(0)
  })

  it('is nobody whom the service does not call so', async () => {
    const { get, post, submit } = await start()
    const job = await submit('/shout', 'hi', as('ann'))
    const asked = (headers: Record<string, string>) =>
      Promise.all([
        get('/jobs/queues', headers),
        get('/jobs?caller=ann', headers),
        post('/jobs/cancel?status=queued', undefined, headers),
        post('/jobs/purge?caller=ann', undefined, headers),
        get(job, headers),
      ])
    const statuses = async (headers: Record<string, string>) =>
      (await asked(headers)).map(({ status }) => status)
    expect(await statuses(as('bob'))).toEqual([403, 403, 403, 403, 404])
    expect(await statuses({})).toEqual([401, 401, 401, 401, 401])
    // The auth of one API says nothing about the others.
    const own = await submit('/own', 'x')
    expect((await get(own)).status).toBe(200)
    expect(await jsonOf(await get(own))).not.toHaveProperty('caller')
    expect((await get('/jobs?api=own&caller=ann')).status).toBe(401)
  })

  it('sees what a receiver answered, and when it is told again', async () => {
    const receiver = createServer((_, response) => response.writeHead(503).end())
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void receiver.close())
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/told`
    const secrets = [`whsec_${Buffer.alloc(32).toString('base64')}`]
    const store = `sqlite:${join(folder(), 'jobs.db')}`
    const { get, submit } = await start({
      jobs: { store, webhooks: { secrets, allowPrivate: true } },
    })
    const job = await submit('/shout', 'hi', { ...as('ann'), 'webhook-url': url })
    const delivery = await until(async () => {
      const { delivery } = (await jsonOf(await get(job, as('ops')))) as {
        delivery?: { status: string; attempt: number; progress?: { nextTryAt: string } }
      }
      return delivery?.status === 'queued' && delivery.progress !== undefined && delivery
    })
    expect(delivery).toMatchObject({
      api: '$webhooks',
      attempt: 1,
      webhook: url,
      progress: { reason: 'expected a status of 2xx of the receiver, it answered 503' },
    })
    // The first wait is 4 to 6 seconds.
    const waitMs = Date.parse(delivery.progress?.nextTryAt ?? '') - Date.now()
    expect(waitMs).toBeLessThan(6_000)
    expect(await jsonOf(await get(job, as('ann')))).not.toHaveProperty('delivery')
  })
})

const stores: readonly [string, boolean, () => Promise<StoreSpec>][] = [
  [
    'SQLite',
    isBuiltin('node:sqlite'),
    async () => ({ kind: 'sqlite', path: join(folder(), 'jobs.db') }),
  ],
  [
    'Redis',
    hasRedis,
    async () => {
      const server = await redisServer()
      onTestFinished(() => server.stop())
      return { kind: 'redis', url: server.url }
    },
  ],
]

describe.each(stores)('operators of jobs on %s', (_, runs, begin) => {
  const opened = async () => {
    const store = await openStore(await begin())
    onTestFinished(() => store.close())
    return store
  }

  it.skipIf(!runs)('see who runs what since when', async () => {
    const store = await opened()
    const job = newJob()
    await store.add(job, 10)
    expect(await store.get(job.id)).not.toHaveProperty('worker', expect.anything())
    const worker = store.work([{ api: 'a', concurrency: 1 }], async ({ signal }) => {
      await until(() => signal.aborted)
      return { kind: 'canceled' }
    })
    const running = await untilStatus(store, job.id, 'running')
    const me = `${hostname()} ${process.pid}`
    expect(running).toMatchObject({ worker: me, startedAt: expect.any(Number) })
    expect((await store.list({ limit: 10 })).jobs).toMatchObject([{ worker: me }])
    await worker.stop(0)
  })

  it.skipIf(!runs)('cancel, retry and purge by filter, page by page', async () => {
    const store = await opened()
    const owners = [ownerKey('ann'), ownerKey('bob')]
    const jobs = Array.from({ length: 7 }, (_, i) => newJob({ owner: owners[i % 2] }, String(i)))
    for (const job of jobs) await store.add(job, 100)
    const all = async (action: Parameters<typeof actOnPage>[1], filter: object) => {
      const ids: string[] = []
      let after: string | undefined
      do {
        const page = await actOnPage(store, action, { ...filter, after, limit: 2 })
        ids.push(...page.jobs.map(({ retryOf, id }) => retryOf ?? id))
        after = page.next
      } while (after !== undefined)
      return ids.sort()
    }
    const ids = (numbers: readonly number[]) => numbers.map((i) => jobs[i].id).sort()
    expect(await all('cancel', { owner: owners[1] })).toEqual(ids([1, 3, 5]))
    const worker = store.work([{ api: 'a', concurrency: 1 }], async ({ job }) =>
      job.id === jobs[0].id ? failed(400, false) : completed('run'),
    )
    for (const i of [0, 2, 4, 6]) await until(async () => (await store.get(jobs[i].id))?.finishedAt)
    await worker.stop(0)
    // Of those that ended, the failed one alone.
    expect(await all('retry', { api: 'a' })).toEqual(ids([0]))
    expect(await all('cancel', { until: Date.now() - 3_600_000 })).toEqual([])
    expect(await all('purge', { status: 'canceled' })).toEqual(ids([1, 3, 5]))
    expect(await all('purge', { owner: owners[1] })).toEqual([])
    expect(await all('purge', { since: 0 })).toEqual(ids([0, 2, 4, 6]))
    for (const job of jobs) expect(await store.get(job.id)).toMatchObject({ status: 'expired' })
    expect((await store.states())[0].counts).toMatchObject({ queued: 1, expired: 7 })
    const failedOne = newJob({ webhook: { url: 'https://example.com/' } })
    await store.add(failedOne, 100)
    expect(await jobReport(store, (await store.get(failedOne.id)) as never)).toMatchObject({
      webhook: 'https://example.com/',
      delivery: undefined,
    })
  })
})
