/**
 * Stores of jobs in process: `tsx bench/micro/jobs.ts [FOLDER]` on Node 22.13 or later, with redis-server in the PATH
 * for the rows of Redis. They run in turns beside bare BullMQ with the same payload, and beside the stores of another
 * version, if the folder of one is given: both must be built. Prints medians of jobs a second, of the CPU of a job with
 * that of Redis, and of the CPU as a part of what this version needs in the same turn.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Queue, Worker } from 'bullmq'
import { deferred } from '../../src/core/promise.ts'
import type { NewJob } from '../../src/jobs/job.ts'
import type { JobStore } from '../../src/jobs/job-store.ts'
import { hasRedis, redisServer } from '../../test/jobs/redis-server.ts'
import { usageOfTree } from '../usage.ts'

const jobs = 3_000
const callers = 64
const turns = 5
const body = Buffer.alloc(1_024, 'x')
const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]

/** What adds jobs and runs them: `work` calls back for each, and returns what ends that. */
interface Contender {
  add(): Promise<unknown>
  work(ran: () => void): () => Promise<unknown>
  close(): Promise<unknown>
}

interface Row {
  readonly store: string
  readonly version: string
  open(): Promise<Contender>
  readonly measures: Measure[][]
}

interface Measure {
  readonly perSecond: number
  readonly micros: number
}

function newJob(): NewJob {
  return {
    id: randomBytes(16).toString('base64url'),
    api: 'bench',
    owner: 'me' as NewJob['owner'],
    state: '{}',
    request: { headers: [['content-type', 'text/plain']], query: '', body },
    createdAt: Date.now(),
    priority: 0,
    retries: 0,
    timeoutMs: 60_000,
    queueTtlMs: 3_600_000,
    resultTtlMs: 3_600_000,
    fingerprint: '',
  }
}

async function storeOf(folder: string, store: string): Promise<Contender> {
  const { openStore } = await import(join(folder, 'src/jobs/open-store.ts'))
  const opened: JobStore = await openStore({ store }, console.error)
  return {
    add: () => opened.add(newJob(), 1_000_000),
    work(ran) {
      const worker = opened.work([{ api: 'bench', concurrency: callers }], async () => {
        ran()
        return { kind: 'completed', response: { status: 200, headers: [], body } }
      })
      return () => worker.stop(5_000)
    },
    close: () => opened.close(),
  }
}

async function bareBullmq(url: string): Promise<Contender> {
  const connection = { url, maxRetriesPerRequest: null }
  const queue = new Queue('bare', { connection })
  const data = body.toString()
  return {
    add: () => queue.add('bench', data, { removeOnComplete: true }),
    work(ran) {
      const run = async () => {
        ran()
        return data
      }
      const worker = new Worker('bare', run, { connection, concurrency: callers })
      return () => worker.close()
    },
    close: () => queue.close(),
  }
}

/** Adds all jobs by all callers at once. */
async function addAll({ add }: Contender): Promise<void> {
  let left = jobs
  const caller = async () => {
    while (left-- > 0) await add()
  }
  await Promise.all(Array.from({ length: callers }, caller))
}

async function measured(run: () => Promise<unknown>): Promise<Measure> {
  const cpu = () => process.cpuUsage().user + process.cpuUsage().system + serverMicros()
  const [before, start] = [cpu(), performance.now()]
  await run()
  const seconds = (performance.now() - start) / 1_000
  return { perSecond: jobs / seconds, micros: (cpu() - before) / jobs }
}

async function turn({ open, measures }: Row): Promise<void> {
  const contender = await open()
  const submit = await measured(() => addAll(contender))
  let rest = jobs
  let ended = deferred<void>()
  const stop = contender.work(() => {
    if (--rest === 0) ended.resolve()
  })
  // The start of a worker is no cost of a job.
  await ended.promise
  rest = jobs
  ended = deferred()
  const toEnd = await measured(() => Promise.all([addAll(contender), ended.promise]))
  await stop()
  measures.push([submit, toEnd])
  await contender.close()
}

/** How long a job takes to start where nothing else runs. */
async function startMs({ open }: Row): Promise<number> {
  const contender = await open()
  let started = () => {}
  const stop = contender.work(() => started())
  const waits: number[] = []
  for (let i = 0; i < 100; i++) {
    const { promise, resolve } = deferred<void>()
    started = resolve
    const at = performance.now()
    await contender.add()
    await promise
    waits.push(performance.now() - at)
    await wait(20)
  }
  await stop()
  await contender.close()
  return median(waits)
}

const here = resolve(import.meta.dirname, '../..')
const folders = [here, ...process.argv.slice(2).map((folder) => resolve(folder))]
const files = mkdtempSync(join(tmpdir(), 'serving-bench-'))
const redis = hasRedis ? await redisServer() : undefined
const serverMicros = () => (redis === undefined ? 0 : usageOfTree(redis.pid).cpuMicros)
const row = (store: string, version: string, open: Row['open']): Row => ({
  store,
  version,
  open,
  measures: [],
})
const rows = folders.flatMap((folder, i) => {
  const version = i === 0 ? 'now' : folder
  const file = `sqlite:${join(files, `${i}.db`)}`
  const sqlite = row('SQLite', version, () => storeOf(folder, file))
  if (redis === undefined) return [sqlite]
  return [sqlite, row('Redis', version, () => storeOf(folder, `${redis.url}/${i}`))]
})
if (redis !== undefined) rows.push(row('Redis', 'bare BullMQ', () => bareBullmq(`${redis.url}/9`)))
for (let i = 0; i < turns; i++)
  for (const each of i % 2 === 0 ? rows : rows.toReversed()) await turn(each)
for (const [place, what] of ['submit', 'submit to end'].entries()) {
  for (const { store, version, measures } of rows) {
    const ours = rows.find((each) => each.store === store)?.measures ?? []
    // The first turn warms up.
    const kept = measures.slice(1).map((each) => each[place])
    const share = median(kept.map(({ micros }, i) => micros / ours[i + 1][place].micros))
    const [perSecond, micros] = [
      median(kept.map((each) => each.perSecond)),
      median(kept.map((each) => each.micros)),
    ].map(Math.round)
    const columns = [`${perSecond}/s`, `${micros} µs of CPU`, share.toFixed(2)]
    console.log(
      `${store}: ${what}, ${version}`.padEnd(56),
      ...columns.map((text) => text.padStart(16)),
    )
  }
}
for (const each of rows.slice(0, hasRedis ? 2 : 1))
  console.log(`${each.store}: submit to start, idle, p50: ${(await startMs(each)).toFixed(1)} ms`)
await redis?.stop()
rmSync(files, { recursive: true })
