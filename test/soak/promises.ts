/**
 * Measures what docs/deploy/jobs-promises.md tells of jobs: a server and two workers of their own over one store. Each
 * line is a promise, and what was seen; one that does not hold ends the program.
 *
 * Run: `npm run build && npx tsx test/soak/promises.ts --store redis` (needs redis-server) or `sqlite` (Node 22.13 or
 * later). The log of the processes is in `--out promises.log`.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { eventsOf, type JobDocument } from '../jobs/harness.ts'
import { redisServer } from '../jobs/redis-server.ts'
import { until } from '../jobs/stores.ts'
import { Part } from './chaos.ts'

const { values: options } = parseArgs({
  options: {
    store: { type: 'string', default: 'redis' },
    out: { type: 'string', default: 'promises.log' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'serving-promises-'))
const log = openSync(options.out, 'w')
const redis =
  options.store === 'redis'
    ? await redisServer(['--appendonly', 'yes', '--appendfsync', 'always'])
    : undefined
const store = ['--job-store', redis?.url ?? `sqlite:${join(folder, 'jobs.db')}`]
const service = 'test/soak/promises.service.ts'
const front = new Part(['serve', '--job-role', 'submit', ...store], log, service)
const workers = [1, 2].map(() => new Part(['work', ...store], log, service))

/** Asks for a path of the server. */
const ask = (path: string, init: RequestInit = {}) => fetch(front.base + path, init)

async function submit(api: string, body: string, headers: Record<string, string> = {}) {
  const type = { 'content-type': 'text/plain', prefer: 'respond-async' }
  const answer = await ask(`/${api}`, { method: 'POST', headers: { ...type, ...headers }, body })
  assert.equal(answer.status, 202, `${answer.status}: ${await answer.clone().text()}`)
  return answer.headers.get('location') as string
}
const look = async (job: string) => (await (await ask(job)).json()) as JobDocument
const is = (job: string, status: string) =>
  until(async () => {
    const now = await look(job)
    if (now.status === status) return now
    assert.ok(!now.finishedAt, `expected ${job} to be ${status}, it is ${now.status}`)
    return false
  }, 60_000)
/** Waits for an attempt of `sleep` or `deaf`, and returns the process that runs it. */
const processOf = (job: string, unlike?: number) =>
  until(async () => {
    const { status, progress } = await look(job)
    return status === 'running' && typeof progress === 'number' && progress !== unlike && progress
  }, 60_000)
const events = async (job: string, headers = {}) =>
  eventsOf(await (await ask(`${job}/events`, { headers })).text())
const ends = async (job: string) =>
  (await events(job)).filter(({ data }) => /completed|failed|canceled/.test(String(data.status)))
const resultOf = async (job: string) => (await ask(`${job}/result`)).text()
const timed = async (act: () => Promise<unknown>) => {
  const start = performance.now()
  await act()
  return performance.now() - start
}
const inSeconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
const inMs = (ms: number) => `${Math.round(ms)} ms`

/** Runs a measurement three times. */
async function thrice(measure: () => Promise<number>, show: (ms: number) => string) {
  const times: string[] = []
  for (let i = 0; i < 3; i++) times.push(show(await measure()))
  return times.join(', ')
}

/** Of a process group. */
const leaderOf = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[2])

const promises: Readonly<Record<string, () => Promise<string>>> = {
  'the job of a worker that was killed runs again': () =>
    thrice(async () => {
      const job = await submit('sleep', '1000')
      const first = await processOf(job)
      process.kill(first, 'SIGKILL')
      const ms = await timed(() => processOf(job, first))
      assert.equal((await is(job, 'completed')).attempt, 2)
      return ms
    }, inSeconds),
  async 'a job that kills its worker twice fails by name'() {
    const job = await submit('sleep', '30000')
    const first = await processOf(job)
    process.kill(first, 'SIGKILL')
    process.kill(await processOf(job, first), 'SIGKILL')
    const { attempt } = await is(job, 'failed')
    const { code } = JSON.parse(await resultOf(job))
    assert.equal(code, 'worker_died')
    return `\`${code}\`, attempt ${attempt}`
  },
  async 'a worker that stood still for 30 s changes nothing'() {
    const job = await submit('deaf', '3000')
    const first = await processOf(job)
    process.kill(first, 'SIGSTOP')
    const start = performance.now()
    const second = await processOf(job, first)
    const ms = performance.now() - start
    await is(job, 'completed')
    await sleep(30_000 - (performance.now() - start))
    process.kill(first, 'SIGCONT')
    await sleep(5_000)
    assert.equal(await resultOf(job), String(second))
    assert.equal((await ends(job)).length, 1)
    return `again after ${inSeconds(ms)}, one end`
  },
  async 'a worker that stops hands its job back, uncounted'() {
    const job = await submit('deaf', '5000')
    const first = await processOf(job)
    const part = workers.find(({ pid }) => pid === leaderOf(first)) as Part
    const stopping = part.end('SIGTERM')
    const ms = await timed(() => processOf(job, first))
    await stopping
    await part.start()
    assert.equal((await is(job, 'completed')).attempt, 1)
    return `attempt 1 again ${inSeconds(ms)} after SIGTERM (grace 2 s)`
  },
  async 'a queued job is canceled at once'() {
    const running = await Promise.all(['20000', '20001', '20002'].map((ms) => submit('narrow', ms)))
    const job = running[2]
    const ms = await timed(async () => {
      const answer = await ask(`${job}/cancel`, { method: 'POST' })
      assert.equal(answer.status, 200)
      assert.equal(((await answer.json()) as JobDocument).status, 'canceled')
    })
    for (const each of running.slice(0, 2)) await ask(`${each}/cancel`, { method: 'POST' })
    return inMs(ms)
  },
  'a running job of another process is canceled': () =>
    thrice(async () => {
      const job = await submit('sleep', '60000')
      await processOf(job)
      return timed(async () => {
        await ask(`${job}/cancel`, { method: 'POST' })
        await is(job, 'canceled')
      })
    }, inMs),
  async 'so is a computing thread of a Runner (`terminate`)'() {
    const job = await submit('spin', '60000')
    await is(job, 'running')
    await sleep(1_000)
    const ms = await timed(async () => {
      await ask(`${job}/cancel`, { method: 'POST' })
      await is(job, 'canceled')
    })
    const next = await timed(async () => is(await submit('spin', '1'), 'completed'))
    return `${inMs(ms)}, the next job took ${inSeconds(next)}`
  },
  async 'an answer of 4xx is never tried again'() {
    const { attempt, responseStatus } = await is(await submit('refuse', 'x'), 'failed')
    assert.deepEqual([attempt, responseStatus], [1, 400])
    return `${responseStatus}, attempt ${attempt}`
  },
  'one of 5xx is, after a pause': () =>
    thrice(async () => {
      const job = await submit('flaky', 'x')
      assert.equal((await is(job, 'completed')).attempt, 2)
      const at = (await events(job)).flatMap(({ data }) =>
        data.status === undefined ? [] : [Date.parse(String(data.at))],
      )
      // Queued, running, queued, running, completed.
      return at[3] - at[2]
    }, inSeconds),
  async 'an ended job stays, a retry is a new one'() {
    const job = await submit('echo', 'same')
    await is(job, 'completed')
    const canceled = await ask(`${job}/cancel`, { method: 'POST' })
    const retried = await ask(`${job}/retry`, { method: 'POST' })
    const { id } = (await retried.json()) as JobDocument
    await is(`/jobs/${id}`, 'completed')
    assert.equal((await look(job)).status, 'completed')
    assert.equal(await resultOf(`/jobs/${id}`), 'same')
    assert.ok(!job.endsWith(id))
    return `cancel ${canceled.status}, retry ${retried.status} with another id`
  },
  async 'a result expires'() {
    const job = await submit('brief', 'x')
    await is(job, 'completed')
    const ms = await timed(() => until(async () => (await ask(`${job}/result`)).status === 410))
    const retried = await ask(`${job}/retry`, { method: 'POST' })
    assert.equal(retried.status, 410)
    return `410 after ${inSeconds(ms)} (\`resultTtl\` 2 s), a retry 410`
  },
  async 'a full queue refuses'() {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        ask('/narrow', {
          method: 'POST',
          headers: { 'content-type': 'text/plain', prefer: 'respond-async' },
          body: '3000',
        }),
      ),
    )
    const refused = answers.filter(({ status }) => status !== 202)
    assert.ok(refused.length >= 5)
    const told = new Set(
      refused.map(({ status, headers }) => `${status}, retry-after ${headers.get('retry-after')}`),
    )
    const taken = answers.filter(({ status }) => status === 202)
    for (const { headers } of taken)
      await ask(`${headers.get('location')}/cancel`, { method: 'POST' })
    return `${taken.length} of 12 taken (\`maxQueued\` 3), others ${[...told].join()}`
  },
  async 'an idempotency key is one job'() {
    const key = { 'idempotency-key': '"once"' }
    const jobs = await Promise.all(Array.from({ length: 200 }, () => submit('echo', 'x', key)))
    const other = await ask('/echo', {
      method: 'POST',
      headers: { 'content-type': 'text/plain', prefer: 'respond-async', ...key },
      body: 'y',
    })
    assert.deepEqual([new Set(jobs).size, other.status], [1, 422])
    return `200 at once: one id, another body ${other.status}`
  },
  async 'prefer: wait answers in one call'() {
    const ms = await timed(async () => {
      const answer = await ask('/sleep', {
        method: 'POST',
        headers: { 'content-type': 'text/plain', prefer: 'respond-async, wait=20' },
        body: '300',
      })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('preference-applied'), 'respond-async, wait=20')
      await answer.text()
    })
    return `a job of 300 ms after ${inMs(ms)}`
  },
  async 'events continue behind the last one'() {
    const job = await submit('sleep', '10')
    await is(job, 'completed')
    const all = await events(job)
    const rest = await events(job, { 'last-event-id': String(all[0].id) })
    assert.deepEqual(rest, all.slice(1))
    const end = await ask(`${job}/events`, { headers: { 'last-event-id': String(all.at(-1)?.id) } })
    assert.equal(end.status, 204)
    return `${rest.length} of ${all.length} behind the first, then ${end.status}`
  },
  async 'large bodies stay whole'() {
    const body = 'é'.repeat(1_500_000)
    let answer = ''
    const ms = await timed(async () => {
      const job = await submit('echo', body)
      await is(job, 'completed')
      answer = await resultOf(job)
    })
    assert.ok(answer === body)
    return `3 MB in and out in ${inSeconds(ms)}`
  },
}

try {
  await Promise.all([front, ...workers].map((part) => part.start()))
  console.log(`${options.store}, Node ${process.versions.node}`)
  for (const [promise, measure] of Object.entries(promises))
    console.log(`| ${promise} | ${await measure()} |`)
} finally {
  await Promise.all([front, ...workers].map((part) => part.end('SIGKILL').catch(() => {})))
  await redis?.stop()
  rmSync(folder, { recursive: true, force: true })
}
