import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { isBuiltin } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openBullmqStore } from '../../src/jobs/bullmq/bullmq-store.ts'
import { deliveryApi, deliveryId } from '../../src/jobs/delivery.ts'
import type { NewJob } from '../../src/jobs/job.ts'
import type { JobStore, JobWorker } from '../../src/jobs/job-store.ts'
import { openSqliteStore } from '../../src/jobs/sqlite/sqlite-store.ts'
import { Webhooks } from '../../src/jobs/webhooks.ts'
import { hasRedis, redisServer } from './redis-server.ts'
import { resultText } from './stores.ts'

const secret = `whsec_${Buffer.alloc(32, 'a').toString('base64')}`
const webhooks = new Webhooks({ secrets: [secret], allowPrivate: true })

/** Each store: whether it runs here, how to open one, and how to remove it. */
const stores = {
  sqlite: {
    runs: isBuiltin('node:sqlite'),
    async open() {
      const dir = mkdtempSync(join(tmpdir(), 'jobs-'))
      const store = openSqliteStore(join(dir, 'jobs.db'))
      return { store, remove: async () => rmSync(dir, { recursive: true }) }
    },
  },
  redis: {
    runs: hasRedis,
    async open() {
      const server = await redisServer()
      const store = openBullmqStore({ url: server.url, warn: () => {} })
      return { store, remove: () => server.stop() }
    },
  },
}

function newJob(url: string, more: Partial<NewJob> = {}): NewJob {
  return {
    id: randomBytes(16).toString('base64url'),
    api: 'double',
    owner: undefined,
    state: undefined,
    request: { headers: [], query: '', body: Buffer.from('1') },
    createdAt: Date.now(),
    priority: 0,
    retries: 0,
    timeoutMs: 10_000,
    resultTtlMs: 60_000,
    fingerprint: '',
    webhook: { url },
    ...more,
  }
}

describe.each(Object.entries(stores))('a job with a webhook in %s', (_, { runs, open }) => {
  let store: JobStore
  let remove: () => Promise<void>
  let worker: JobWorker | undefined
  let receiver: Server
  let url: string
  let received: { type: string; data: Record<string, unknown> }[]
  let statuses: number[]

  beforeEach(async () => {
    if (!runs) return
    ;({ store, remove } = await open())
    await store.open()
    received = []
    statuses = []
    receiver = createServer(async (request, response) => {
      let body = ''
      for await (const piece of request) body += piece
      received.push(
        new Webhook(secret).verify(body, request.headers as Record<string, string>) as never,
      )
      const status = statuses.shift() ?? 200
      response.writeHead(status, status === 503 ? { 'retry-after': '6' } : {}).end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  })

  afterEach(async () => {
    if (!runs) return
    await worker?.stop(1_000)
    worker = undefined
    await store.close()
    await remove()
    receiver.close()
  })

  const response = { status: 200, headers: [], body: Buffer.from('2') } as const

  function work(): void {
    const queues = [
      { api: 'double', concurrency: 1 },
      { api: deliveryApi, concurrency: 2 },
    ]
    worker = store.work(queues, async (attempt) =>
      attempt.job.api === deliveryApi ? webhooks.deliver(attempt) : { kind: 'completed', response },
    )
  }

  async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await isSo())) await sleep(20)
  }

  it.runIf(runs)('tells its receiver once that it has completed', async () => {
    work()
    const job = newJob(url)
    await store.add(job, 10)
    await until(async () => (await store.get(deliveryId(job.id)))?.status === 'completed')
    expect(received).toHaveLength(1)
    const [{ type, data }] = received
    expect(type).toBe('job.completed')
    expect(data).toMatchObject({
      id: job.id,
      api: 'double',
      status: 'completed',
      attempt: 1,
      responseStatus: 200,
    })
    const { finishedAt } = (await store.get(job.id)) ?? {}
    expect(data.finishedAt).toBe(new Date(finishedAt ?? 0).toISOString())
    expect((await store.states()).find(({ api }) => api === deliveryApi)?.counts.completed).toBe(1)
  })

  it.runIf(runs)('tells that it was canceled while it waited', async () => {
    const job = newJob(url)
    await store.add(job, 10)
    await store.cancel(job.id)
    work()
    await until(() => received.length > 0)
    expect(received).toMatchObject([{ type: 'job.canceled', data: { id: job.id, attempt: 0 } }])
    expect(received[0].data).not.toHaveProperty('responseStatus')
  })

  it.runIf(runs)(
    'is told again as the receiver asks, while the job itself stays ended',
    async () => {
      statuses = [503]
      work()
      const job = newJob(url)
      await store.add(job, 10)
      await until(() => received.length === 2)
      expect(received[1]).toEqual(received[0])
      await until(async () => (await store.get(deliveryId(job.id)))?.status === 'completed')
      expect((await store.get(deliveryId(job.id)))?.attempt).toBe(2)
      expect((await store.events(job.id, 0, 10_000)).map(({ data }) => data)).toEqual([
        'queued',
        'running',
        'completed',
      ])
    },
  )

  it.runIf(runs)('tells nothing twice where the receiver is gone for good', async () => {
    statuses = [410]
    work()
    const job = newJob(url)
    await store.add(job, 10)
    await until(async () => (await store.get(deliveryId(job.id)))?.status === 'failed')
    expect(await resultText(store, deliveryId(job.id))).toBe(
      'expected a status of 2xx of the receiver, it answered 410',
    )
    expect(received).toHaveLength(1)
  })
})
