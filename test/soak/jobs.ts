/**
 * Jobs over two servers and three workers while much goes wrong: kills, stops, full disks and memory, a network that
 * swallows, wrong clocks, another version (chaos.ts). Jobs come over HTTP, gRPC and Connect, as batches and as
 * responses in the background (job-doors.ts). At the end each accepted one must be in a final state: none lost, none
 * with two ends, none stuck, each with the answer to its own request.
 *
 * Run: `npm run soak:jobs -- --seconds 600`; `--store redis` (the default; needs redis-server) or `sqlite` (Node 22.13
 * or later), `--jobs 11000` (goes on until so many submissions), `--rate 22` (submissions a second), `--every 4`
 * (seconds between disturbances), `--only kill,stop` (of them), `--fsync always` (`appendfsync` of Redis),
 * `--out soak-jobs` (writes soak-jobs.log). A full disk needs the
 * right to mount, a wrong clock `faketime`.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { status as grpcStatus } from '@grpc/grpc-js'
import { freePort, redisServer } from '../jobs/redis-server.ts'
import { silentProxy } from '../jobs/silent-proxy.ts'
import { GrpcClient } from '../rpc/harness.ts'
import { disturbances, mountDisk, Part, pick } from './chaos.ts'
import { batchLines, doorsOf } from './job-doors.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    store: { type: 'string', default: 'redis' },
    jobs: { type: 'string', default: '0' },
    rate: { type: 'string', default: '22' },
    every: { type: 'string', default: '4' },
    only: { type: 'string', default: '' },
    fsync: { type: 'string', default: 'always' },
    out: { type: 'string', default: 'soak-jobs' },
  },
})
const finalStatuses = ['completed', 'failed', 'canceled']
/** All that was accepted must have ended this long after the last disturbance. **Units**: milliseconds. */
const settleMs = 180_000

/** A job that was accepted. */
interface Accepted {
  readonly id: string
  readonly text: string
  readonly door: Door
  /** Since the start. **Units**: seconds. */
  readonly at: string
  /** The first final status that somebody saw. */
  seen?: string
}

/** A server, and how gRPC reaches it. */
interface Front {
  readonly part: Part
  readonly grpc: GrpcClient
}

const folder = mkdtempSync(join(tmpdir(), 'serving-soak-jobs-'))
const disk = join(folder, 'disk')
mkdirSync(disk)
const isMounted = mountDisk(disk, '512m')
const log = openSync(`${options.out}.log`, 'w')
/** By default what the documentation asks for: otherwise Redis answers writes that a full disk does not keep. */
const durable = ['--appendonly', 'yes', '--appendfsync', options.fsync, '--dir', disk]
const redis = options.store === 'redis' ? await redisServer(durable) : undefined
const proxies =
  redis === undefined ? [] : await Promise.all([1, 2, 3, 4, 5].map(() => silentProxy(redis.url)))
/** The store, as the process with this number reaches it. */
const storeOf = (i: number) => ['--job-store', proxies[i]?.url ?? `sqlite:${join(disk, 'jobs.db')}`]
const fronts = await Promise.all(
  [0, 1].map(async (i): Promise<Front> => {
    const port = await freePort()
    const args = ['serve', '--job-role', 'submit', '--grpc-port', String(port), ...storeOf(i)]
    return { part: new Part(args, log), grpc: new GrpcClient(port) }
  }),
)
const workers = [2, 3, 4].map((i) => new Part(['work', ...storeOf(i)], log))
const parts = [...fronts.map(({ part }) => part), ...workers]
const accepted: Accepted[] = []
const counts: Record<string, number> = { refused: 0, unreachable: 0, cancelsAsked: 0 }
const faults = { lost: [], twice: [], stuck: [], wrong: [] } as Record<string, string[]>
let isOver = false

/** Asks any server until one answers below 500, and returns what `attempt` made of that. */
async function ask<T>(attempt: (front: Front) => Promise<T | undefined>): Promise<T> {
  for (;;) {
    try {
      const answer = await attempt(pick(fronts))
      if (answer !== undefined) return answer
      counts.refused++
    } catch {
      counts.unreachable++
    }
    await wait(200)
  }
}

/** Asks over HTTP. Connect says 429 where HTTP says 503. */
function http(path: string, init: RequestInit = {}): Promise<{ status: number; text: string }> {
  return ask(async ({ part }) => {
    const answer = await fetch(part.base + path, { ...init, signal: AbortSignal.timeout(20_000) })
    const text = await answer.text()
    return answer.status < 500 && answer.status !== 429
      ? { status: answer.status, text }
      : undefined
  })
}

const doors = doorsOf(http, (method, request, metadata = {}) =>
  ask(async ({ grpc }) => {
    const answer = await grpc.raw(request, { metadata, deadline: 20_000 }, method)
    const isUnknown = answer.error?.code === grpcStatus.NOT_FOUND
    return answer.bytes !== undefined || isUnknown ? answer : undefined
  }),
)
type Door = keyof typeof doors
/** Of each seven submissions. One of twenty fails first, one of 25 is canceled: of each door in turn. */
const turns = ['http', 'grpc', 'connect', 'background', 'http', 'grpc', 'batch'] as const
const startedAt = Date.now()
const seconds = () => ((Date.now() - startedAt) / 1000).toFixed(1)

/** Submits by a key, so that a submission whose answer was lost is the same job. */
async function submit(number: number): Promise<void> {
  const text = `take ${Math.round(50 + Math.random() * 400)} ${number}`
  const door = turns[number % turns.length]
  const id = await doors[door].submit(text, `"${number}"`)
  if (typeof id !== 'string') {
    faults.lost.push(`${text}: ${door} did not accept it: ${JSON.stringify(id)}`)
    return
  }
  accepted.push({ id, text, door, at: seconds() })
  if (number % 25 !== 1) return
  counts.cancelsAsked++
  await wait(Math.random() * 1000)
  await http(`/jobs/${id}/cancel`, { method: 'POST' })
}

/** Looks at a job; a final status must be the one that was seen before. */
async function look(job: Accepted): Promise<string> {
  const { status, text } = await http(`/jobs/${job.id}`)
  const now = status === 200 ? String(JSON.parse(text).status) : `answer ${status}`
  if (job.seen !== undefined && now !== job.seen)
    faults.twice.push(`${job.text}: ${job.seen}, and later ${now}`)
  if (finalStatuses.includes(now)) job.seen = now
  return now
}

/** Checks a job that has ended: one end, and the answer to its request. */
async function check(job: Accepted): Promise<void> {
  const { text } = await http(`/jobs/${job.id}/events`)
  const ends = [...text.matchAll(/"status":"(\w+)"/g)].filter(([, status]) =>
    finalStatuses.includes(status),
  )
  if (ends.length !== 1 || ends[0][1] !== job.seen)
    faults.twice.push(`${job.text}: ${job.seen}, ends ${ends.join(' ')}`)
  if (job.seen === 'failed') {
    const { code } = JSON.parse((await failure(job.id)).text || '{}')
    counts[code] = (counts[code] ?? 0) + 1
  }
  if (job.seen !== 'completed') return
  const answer = await doors[job.door].answer(job.id, job.text)
  if (answer !== job.text) faults.wrong.push(`${job.text}: ${job.door} answered ${answer}`)
}

/** The result of a failed job is its problem, of 5xx. */
function failure(id: string): Promise<{ text: string }> {
  return ask(async ({ part }) => {
    const answer = await fetch(`${part.base}/jobs/${id}/result`)
    return { text: await answer.text() }
  })
}

/** Runs `act` for each job, 16 at a time. */
async function each(
  jobs: readonly Accepted[],
  act: (job: Accepted) => Promise<unknown>,
): Promise<void> {
  const rest = [...jobs]
  const next = async () => {
    for (let job = rest.pop(); job !== undefined; job = rest.pop()) await act(job)
  }
  await Promise.all(Array.from({ length: 16 }, next))
}

/** Disturbs each few seconds until it is over, and resolves when all is well again. */
async function disturb(): Promise<void> {
  const scene = { parts, workers, redis, proxies, disk: isMounted ? disk : undefined }
  const known = Object.entries(disturbances(scene))
  const chosen = known.filter(
    ([name]) => options.only === '' || options.only.split(',').includes(name),
  )
  if (chosen.length === 0) throw new Error(`expected --only of ${known.map(([name]) => name)}`)
  const going: Promise<unknown>[] = []
  // One after the other, so that a short run has each of them.
  for (let i = 0; !isOver; i++) {
    const [name, run] = chosen[i % chosen.length]
    counts[name] = (counts[name] ?? 0) + 1
    const begunAt = seconds()
    going.push(
      run()
        .catch((error) => void faults.wrong.push(`${name}: ${error.message}`))
        .then(() => writeSync(log, `${name} from ${begunAt} to ${seconds()} s\n`)),
    )
    await wait(Number(options.every) * 1000)
  }
  await Promise.all(going)
}

try {
  await Promise.all(parts.map((part) => part.start()))
  const end = Date.now() + Number(options.seconds) * 1000
  const disturbing = disturb()
  const submissions: Promise<void>[] = []
  const begunAt = performance.now()
  for (let number = 1; Date.now() < end || number <= Number(options.jobs); number++) {
    submissions.push(submit(number))
    if (number % 10 === 0 && accepted.length > 0)
      submissions.push(look(pick(accepted)).then(() => {}))
    // By the clock, since timers of a busy machine come late.
    const due = begunAt + (number * 1000) / Number(options.rate)
    await wait(Math.max(0, due - performance.now()))
  }
  isOver = true
  await disturbing
  await Promise.all(submissions)
  const limit = Date.now() + settleMs
  let waiting: readonly Accepted[] = accepted
  while (waiting.length > 0 && Date.now() < limit) {
    await each(waiting, look)
    waiting = waiting.filter(({ seen }) => seen === undefined)
    if (waiting.length > 0) await wait(1000)
  }
  for (const job of waiting) {
    const now = await look(job)
    faults[now.startsWith('answer') ? 'lost' : 'stuck'].push(
      `${job.text} (${job.id}, by ${job.door} at ${job.at} s): it is ${now}`,
    )
  }
  await each(
    accepted.filter(({ seen }) => seen !== undefined),
    check,
  )
  const ids = new Set(accepted.map(({ id }) => id))
  if (ids.size !== accepted.length)
    faults.wrong.push(`${accepted.length - ids.size} jobs have the id of another`)
} finally {
  await Promise.all(parts.map((part) => part.end('SIGKILL').catch(() => {})))
  for (const { grpc } of fronts) grpc.close()
  for (const proxy of proxies) proxy.close()
  await redis?.stop()
  if (isMounted) spawnSync('umount', ['--lazy', disk])
  rmSync(folder, { recursive: true, force: true })
}
const tally = (status: string | undefined) => accepted.filter(({ seen }) => seen === status).length
const ended = finalStatuses.map((status) => `${tally(status)} ${status}`).join(', ')
console.log(
  `${options.store}, ${options.seconds} seconds, Node ${process.versions.node}: ${JSON.stringify(counts)}`,
)
console.log(`${accepted.length} jobs accepted: ${ended}, ${tally(undefined)} without an end`)
const byDoor = Object.keys(doors).map((name) => {
  const jobs = accepted.filter(({ door }) => door === name)
  return `${jobs.length} by ${name}`
})
const batches = accepted.filter(({ door }) => door === 'batch')
console.log(`${byDoor.join(', ')}, ${batches.length * batchLines} lines of batches`)
const sums = Object.entries(faults).map(([name, list]) => `${name} ${list.length}`)
console.log(`${sums.join(', ')} of ${accepted.length}`)
for (const fault of Object.values(faults).flat().slice(0, 30)) console.log(`  ${fault}`)
process.exitCode = Object.values(faults).every((list) => list.length === 0) ? 0 : 1
