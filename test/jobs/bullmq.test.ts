import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { OwnerKey } from '../../src/api/caller-identity.ts'
import { openRedis } from '../../src/core/redis.ts'
import { io } from '../../src/index.ts'
import { openBullmqStore } from '../../src/jobs/bullmq/bullmq-store.ts'
import { jobScripts } from '../../src/jobs/bullmq/scripts.ts'
import type { Attempt, JobStore, JobTimes } from '../../src/jobs/job-store.ts'
import { conforms, type StartStore } from './conformance.ts'
import { keepsBodies } from './conformance-bodies.ts'
import { endsJobs } from './conformance-ending.ts'
import { listsJobs } from './conformance-lists.ts'
import { keepsRows } from './conformance-rows.ts'
import { start } from './harness.ts'
import { hasRedis, type RedisServer, redisServer } from './redis-server.ts'
import {
  completed,
  failed,
  newJob,
  openStore,
  resultText,
  shortTimes,
  until,
  untilStatus,
} from './stores.ts'

async function testServer(options?: readonly string[]): Promise<RedisServer> {
  const server = await redisServer(options)
  onTestFinished(() => server.stop())
  return server
}

async function warningsOf({ url }: RedisServer): Promise<string[]> {
  const warnings: string[] = []
  const store = openBullmqStore({ url, warn: (message) => warnings.push(message) })
  await store.open()
  await store.close()
  return warnings
}

describe.skipIf(!hasRedis)('a job store on Redis', () => {
  const begin: StartStore = async () => {
    const server = await redisServer()
    return { spec: { kind: 'redis', url: server.url }, stop: () => server.stop() }
  }
  conforms('alone', begin)
  endsJobs('its ends', begin)
  listsJobs('its lists', begin)
  keepsBodies('its bodies', begin)
  keepsRows('its rows', begin)

  it('warns of a server that would lose jobs, and of no other', async () => {
    const appends = (sync: string) => ['--appendonly', 'yes', '--appendfsync', sync]
    expect(await warningsOf(await testServer(appends('always')))).toEqual([])
    for (const sync of ['everysec', 'no']) {
      expect(await warningsOf(await testServer(appends(sync)))).toEqual([
        expect.stringContaining(`set appendfsync always, it is ${sync}`),
      ])
    }
    const forgetful = [
      '--appendonly',
      'no',
      '--maxmemory',
      '100mb',
      '--maxmemory-policy',
      'allkeys-lru',
    ]
    expect(await warningsOf(await testServer(forgetful))).toEqual([
      expect.stringContaining('set appendonly yes'),
      expect.stringContaining('set maxmemory-policy noeviction, it is allkeys-lru'),
    ])
  })

  it('lists jobs of a version that had no lists of callers', async () => {
    const { url } = await testServer()
    const store = await opened(url)
    const webhook = { url: 'https://example.com/' }
    const jobs = [newJob({ webhook }), newJob(), newJob({ owner: undefined })]
    for (const job of jobs) await store.add(job, 10)
    await store.cancel(jobs[0].id)
    const client = openRedis(url, 'the test')
    onTestFinished(() => client.disconnect())
    for (const { id } of jobs) await client.hdel(`serving-jobs:${id}`, 'owner')
    await client.del('serving-jobs:owner:me', 'serving-jobs:adopted')
    const owner = jobs[0].owner as OwnerKey
    expect((await store.list({ owner, limit: 10 })).jobs).toEqual([])
    const later = await opened(url)
    const found = (await later.list({ owner, limit: 10 })).jobs.map(({ id }) => id)
    expect(found.sort()).toEqual([jobs[0].id, jobs[1].id].sort())
  })

  it('sends the commands of one turn together', async () => {
    const client = openRedis((await testServer()).url, 'the test')
    onTestFinished(() => client.disconnect())
    await client.ping()
    const { stream } = client
    const answers = Promise.all([client.ping(), client.ping()])
    const waiting = stream.writableLength
    await new Promise(setImmediate)
    expect([waiting > 0, stream.writableLength, await answers]).toEqual([true, 0, ['PONG', 'PONG']])
  })

  it('keeps what it has accepted over the death of the server, and says 503 meanwhile', async () => {
    const server = await testServer()
    const store = openBullmqStore({ url: server.url, warn: () => {} })
    await store.open()
    const jobs = Array.from({ length: 20 }, () => newJob())
    for (const job of jobs) await store.add(job, 100)
    await server.kill()
    await expect(store.add(newJob(), 100)).rejects.toMatchObject({
      status: 503,
      code: 'overloaded',
    })
    await server.start()
    for (const { id } of jobs) expect(await store.get(id)).toMatchObject({ status: 'queued' })
    await store.close()
  })
})

describe.skipIf(!hasRedis)('jobs on Redis', () => {
  it('runs a job again whose lease was lost, whatever its attempt says', async () => {
    const { url } = await testServer()
    const store = await opened(url)
    const reasons: unknown[] = []
    const worker = store.work([{ api: 'a', concurrency: 1 }], async ({ number, signal }) => {
      if (number > 1) return completed('twice')
      await loseLease(url, id)
      await until(() => signal.aborted)
      reasons.push(signal.reason.code)
      return failed(503, true)
    })
    const { id } = newJob()
    await store.add(newJob({ id }), 10)
    await untilStatus(store, id, 'completed')
    expect(reasons).toEqual(['overloaded'])
    await worker.stop(0)
  })

  it('runs a stored job that could not be given to BullMQ at first', async () => {
    const { url } = await testServer()
    const store = await opened(url)
    const client = openRedis(url, 'the test')
    onTestFinished(() => client.disconnect())
    // What BullMQ counts in first: it takes no job then, and has written nothing.
    await client.lpush('serving:a:id', 'no number')
    const { id } = newJob()
    expect(await store.add(newJob({ id }), 10)).toEqual({ kind: 'added' })
    await client.del('serving:a:id')
    const worker = store.work([{ api: 'a', concurrency: 1 }], async () => completed('run'))
    await untilStatus(store, id, 'completed')
    await worker.stop(0)
  })

  it('aborts a canceled job that runs where an attempt before it ended late', async () => {
    const { url } = await testServer()
    const store = await opened(url)
    const attempts: Attempt[] = []
    let endFirst = () => {}
    const worker = store.work([{ api: 'a', concurrency: 2 }], async (attempt) => {
      if (attempts.push(attempt) > 1) await until(() => attempt.signal.aborted)
      else await new Promise<void>((resolve) => (endFirst = resolve))
      return { kind: 'canceled' }
    })
    const { id } = newJob()
    await store.add(newJob({ id }), 10)
    await until(() => attempts.length === 1)
    await loseLease(url, id)
    await until(() => attempts.length === 2)
    endFirst()
    await until(async () => (await store.get(id))?.status === 'running')
    await store.cancel(id)
    await untilStatus(store, id, 'canceled')
    expect(attempts[1].signal.reason).toMatchObject({ code: 'client_closed' })
    await worker.stop(0)
  })

  it.each([true, false])(
    'stops without waiting for jobs that it cannot keep (away before: %s)',
    async (before) => {
      const server = await testServer()
      const store = await opened(server.url)
      const reasons: string[] = []
      let isCalled = false
      const worker = store.work([{ api: 'a', concurrency: 1 }], async ({ signal }) => {
        isCalled = true
        await until(() => signal.aborted)
        reasons.push(signal.reason.code)
        return { kind: 'canceled' }
      })
      const { id } = newJob()
      await store.add(newJob({ id }), 10)
      // Its status is 'running' before the worker has read the job.
      await until(() => isCalled)
      if (before) await server.kill()
      const stopped = worker.stop(3_600_000)
      if (!before) await server.kill()
      await stopped
      await until(() => reasons.length === 1)
      expect(reasons).toEqual(['overloaded'])
    },
  )

  it('tells at once that it has no states while the server is away', async () => {
    const server = await testServer()
    const store = await opened(server.url)
    await server.kill()
    await expect(store.get(newJob().id)).rejects.toMatchObject({ code: 'overloaded' })
    let told: unknown
    store.states().catch(({ code }) => {
      told = code
    })
    await new Promise(setImmediate)
    expect(told).toBe('overloaded')
  })

  it('refuses bodies that would hold up other jobs, both ways', async () => {
    const { url } = await testServer()
    const store = await opened(url)
    const large = 'x'.repeat(16 * 1024 * 1024 + 1)
    const refusal = {
      status: 413,
      message: expect.stringMatching(/at most 16777216 bytes .* received 16777217: jobs\.blobs/),
    }
    await expect(store.add(newJob({}, large), 10)).rejects.toMatchObject(refusal)
    const worker = store.work([{ api: 'a', concurrency: 1 }], async () => completed(large))
    const { id } = newJob()
    await store.add(newJob({ id, retries: 3 }, large.slice(1)), 10)
    expect(await untilStatus(store, id, 'failed')).toMatchObject({
      attempt: 1,
      responseStatus: 413,
    })
    await worker.stop(0)
  })

  it('takes a submission whose answer came late for what it is', async () => {
    const { url } = await testServer()
    const store = await opened(url)
    const client = openRedis(url, 'the test')
    onTestFinished(() => client.disconnect())
    const job = newJob()
    // Longer than the time for a command.
    await client.call('CLIENT', 'PAUSE', '5500', 'ALL')
    expect(await store.add(job, 10)).toEqual({ kind: 'added' })
    expect(await store.get(job.id)).toMatchObject({ status: 'queued' })
  })

  it('stores a job once, however often its submission comes', async () => {
    const { url } = await testServer()
    const store = await opened(url)
    const worker = store.work([{ api: 'a', concurrency: 1 }], async () => completed('once'))
    const job = newJob()
    await store.add(job, 10)
    await untilStatus(store, job.id, 'completed')
    // As by a connection that sends again what it lost.
    expect(await store.add(job, 10)).toEqual({ kind: 'added' })
    expect(await store.get(job.id)).toMatchObject({ status: 'completed', attempt: 1 })
    await worker.stop(0)
  })

  it('takes each step of a job once, also if a connection sends it again', async () => {
    const { url } = await testServer()
    const store = await opened(url)
    const client = openRedis(url, 'the test')
    onTestFinished(() => client.disconnect())
    const { start, requeue, finish } = jobScripts(client, 'serving-jobs:')
    const startAs = async (name: string) => (await start(id, name))?.[0]
    const twice = async <T>(step: () => Promise<T>) => [await step(), await step()]
    const { id } = newJob()
    await store.add(newJob({ id }), 10)
    expect(await twice(() => startAs('first'))).toEqual(['1', '1'])
    expect(await twice(() => requeue(id, 1, 0))).toEqual([1, 1])
    expect(await twice(() => startAs('second'))).toEqual(['2', '2'])
    expect(await requeue(id, 1, 0)).toBe(0)
    expect(await twice(() => finish(id, 2, 'completed', 200, '[]', '', 'blob-2'))).toEqual([1, 1])
    expect(await finish(id, 1, 'completed', 200, '[]', '', 'blob-1')).toBe(0)
    expect(await store.get(id)).toMatchObject({ status: 'completed', attempt: 2 })
  })

  it.each([2, -2])(
    'keeps results as long as Redis says, whatever the clock of a process (%i days off)',
    async (days) => {
      const { url } = await testServer()
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * 86_400_000 })
      onTestFinished(() => void vi.useRealTimers())
      const store = await opened(url, { ...shortTimes, sweepMs: 50 })
      const worker = store.work([{ api: 'a', concurrency: 1 }], async () => completed('kept'))
      const [short, long] = [newJob({ resultTtlMs: 500 }), newJob()]
      for (const job of [short, long]) await store.add(job, 10)
      await untilStatus(store, short.id, 'expired')
      expect(await store.get(long.id)).toMatchObject({ status: 'completed' })
      expect(await resultText(store, long.id)).toBe('kept')
      await worker.stop(0)
    },
  )

  it('tries a job again in time after a process whose clock is ahead', async () => {
    const { url } = await testServer()
    const store = await opened(url)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 86_400_000 })
    onTestFinished(() => void vi.useRealTimers())
    const ahead = await opened(url)
    const first = ahead.work([{ api: 'a', concurrency: 1 }], async () => failed(503, true, 100))
    const { id } = newJob()
    await store.add(newJob({ id, retries: 3 }), 10)
    await until(async () => {
      const { status, attempt } = (await store.get(id)) ?? {}
      return status === 'queued' && attempt === 1
    })
    await first.stop(0)
    vi.useRealTimers()
    const second = store.work([{ api: 'a', concurrency: 1 }], async () => completed('again'))
    await untilStatus(store, id, 'completed')
    await second.stop(0)
  })

  it('keeps expired jobs known while several processes sweep', async () => {
    const { url } = await testServer()
    const times = { ...shortTimes, sweepMs: 20 }
    const stores = await Promise.all(Array.from({ length: 4 }, () => opened(url, times)))
    const jobs = Array.from({ length: 200 }, () => newJob({ resultTtlMs: 1 }))
    for (const job of jobs) await stores[0].add(job, 1_000)
    for (const { id } of jobs) await stores[0].cancel(id)
    await until(async () => (await stores[0].states())[0].counts.expired === jobs.length)
    for (const { id } of jobs) expect(await stores[0].get(id)).toMatchObject({ status: 'expired' })
  })

  it('answers 404 for an id that no job has, whatever Redis has of that name', async () => {
    const { url } = await testServer()
    const echo = { input: new io.JSON(), output: new io.JSON(), name: 'echo', async: true } as const
    const define = (svc: Parameters<Parameters<typeof start>[1]>[0]) =>
      svc.api(echo, (value: unknown) => value)
    const { get, submit, result } = await start('node', define, {}, { jobs: { store: url } })
    expect((await result(await submit('/echo', 1))).status).toBe(200)
    for (const id of ['apis', 'ends', 'unsent', 'x'])
      expect((await get(`/jobs/${id}`)).status).toBe(404)
  })
})

async function opened(url: string, times: Partial<JobTimes> = shortTimes): Promise<JobStore> {
  const store = await openStore({ kind: 'redis', url, times })
  onTestFinished(() => store.close())
  return store
}

/** Ends the lease of a job that runs, as a server does for a worker that stands still. */
async function loseLease(url: string, id: string): Promise<void> {
  const client = openRedis(url, 'a test')
  expect(await client.del(`serving:a:${id}:lock`)).toBe(1)
  client.disconnect()
}

describe('a job store on Redis, where no server is', () => {
  it('says where it looked, without the password', async () => {
    const store = openBullmqStore({ url: 'redis://me:secret@127.0.0.1:1/', warn: () => {} })
    const error = await store.open().catch((caught: Error) => caught as Error)
    expect(error).toMatchObject({ code: 'invalid_argument' })
    expect((error as Error).message).toMatch(
      /^expected a Redis or Valkey server at redis:\/\/me:.*@127\.0\.0\.1:1/,
    )
    expect((error as Error).message).not.toContain('secret')
  })

  it('refuses another URL', () => {
    expect(() => openBullmqStore({ url: 'http://localhost', warn: () => {} })).toThrow(
      'expected redis://HOST:PORT or rediss:// for the URL of the job store',
    )
  })
})
