/**
 * Stores of jobs in process: `tsx bench/micro/jobs.ts` on Node 22.13 or later, with redis-server in the PATH for the
 * rows of Redis, beside bare BullMQ with the same payload. Prints jobs a second, and jobs per second of CPU.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Queue, Worker } from 'bullmq'
import { deferred } from '../../src/core/promise.ts'
import type { NewJob } from '../../src/jobs/job.ts'
import type { JobStore } from '../../src/jobs/job-store.ts'
import { openStore } from '../../src/jobs/open-store.ts'
import { hasRedis, redisServer } from '../../test/jobs/redis-server.ts'

const jobs = 5_000
const callers = 64
const body = Buffer.alloc(1_024, 'x')

function newJob(): NewJob {
  return {
    id: randomBytes(16).toString('base64url'),
    api: 'bench',
    owner: undefined,
    state: '{}',
    request: { headers: [['content-type', 'text/plain']], query: '', body },
    createdAt: Date.now(),
    priority: 0,
    retries: 0,
    timeoutMs: 60_000,
    resultTtlMs: 3_600_000,
    fingerprint: '',
  }
}

/** Runs a task as often as there are jobs, by all callers at once. */
async function each(task: () => Promise<unknown>): Promise<void> {
  let left = jobs
  const caller = async () => {
    while (left-- > 0) await task()
  }
  await Promise.all(Array.from({ length: callers }, caller))
}

async function measured(name: string, run: () => Promise<unknown>): Promise<void> {
  const [cpu, start] = [process.cpuUsage(), performance.now()]
  await run()
  const seconds = (performance.now() - start) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  const [perSecond, perCpu] = [seconds, (user + system) / 1e6].map((time) =>
    Math.round(jobs / time),
  )
  console.log(
    `${name.padEnd(36)} ${String(perSecond).padStart(7)}/s ${String(perCpu).padStart(7)} per s of CPU`,
  )
}

async function measureStore(name: string, store: JobStore): Promise<void> {
  await measured(`${name}: submit`, () => each(() => store.add(newJob(), 1_000_000)))
  let ended = 0
  await measured(`${name}: complete`, async () => {
    const { promise, resolve } = deferred<void>()
    const worker = store.work([{ api: 'bench', concurrency: callers }], async () => {
      if (++ended === jobs) resolve()
      return { kind: 'completed', response: { status: 200, headers: [], body } }
    })
    await promise
    await worker.stop(5_000)
  })
  const waits: number[] = []
  let started = () => {}
  const worker = store.work([{ api: 'bench', concurrency: 1 }], async () => {
    started()
    return { kind: 'completed', response: { status: 200, headers: [], body } }
  })
  for (let i = 0; i < 200; i++) {
    const { promise, resolve } = deferred<void>()
    started = resolve
    const at = performance.now()
    await store.add(newJob(), 1_000_000)
    await promise
    waits.push(performance.now() - at)
    await new Promise((wake) => setTimeout(wake, 20))
  }
  const p50 = waits.sort((a, b) => a - b)[100]
  console.log(`${name}: idle, submit to start, p50`.padEnd(36), `${p50.toFixed(1)} ms`)
  await worker.stop(5_000)
}

async function measureBullmq(url: string): Promise<void> {
  const connection = { url, maxRetriesPerRequest: null }
  const queue = new Queue('bare', { connection })
  const data = body.toString()
  await measured('bare BullMQ: submit', () =>
    each(() => queue.add('bench', data, { removeOnComplete: true })),
  )
  let ended = 0
  await measured('bare BullMQ: complete', async () => {
    const { promise, resolve } = deferred<void>()
    const run = async () => {
      if (++ended === jobs) resolve()
      return data
    }
    const worker = new Worker('bare', run, { connection, concurrency: callers })
    await promise
    await worker.close()
  })
  await queue.close()
}

const folder = mkdtempSync(join(tmpdir(), 'serving-bench-'))
const sqlite = await openStore({ store: `sqlite:${join(folder, 'jobs.db')}` }, console.error)
await measureStore('SQLite', sqlite)
await sqlite.close()
rmSync(folder, { recursive: true })
if (hasRedis) {
  const redis = await redisServer()
  for (let round = 0; round < 2; round++) {
    await measureBullmq(redis.url)
    const store = await openStore({ store: redis.url }, console.error)
    await measureStore('Redis', store)
    await store.close()
  }
  await redis.stop()
}
