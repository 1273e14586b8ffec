/**
 * Jobs over two servers and two workers that are killed and ended again and again, and so is Redis. At the end each
 * accepted job must be in a final state: none lost, none with two ends, each with the answer to its own request.
 *
 * Run: `npm run soak:jobs -- --minutes 10`; `--store redis` (the default; needs redis-server) or `sqlite` (Node 22.13
 * or later), `--rate 15` (submissions a second), `--every 5` (seconds between kills), `--out soak-jobs` (writes
 * soak-jobs.log).
 * @module
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type RedisServer, redisServer } from '../jobs/redis-server.ts'
import { startCommand } from './start-command.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    store: { type: 'string', default: 'redis' },
    rate: { type: 'string', default: '15' },
    every: { type: 'string', default: '5' },
    out: { type: 'string', default: 'soak-jobs' },
  },
})
const finalStatuses = ['completed', 'failed', 'canceled']
/** All that was accepted must have ended this long after the last kill. **Units**: milliseconds. */
const settleMs = 180_000

/** A job that was accepted. */
interface Accepted {
  readonly id: string
  readonly text: string
  /** The first final status that somebody saw. */
  seen?: string
}

/** A command that is started again on its port after its end. */
class Part {
  readonly #args: readonly string[]
  #port = 0
  #child!: ChildProcess

  constructor(args: readonly string[]) {
    this.#args = args
  }

  get base(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  async start(): Promise<void> {
    const more = ['test/soak/jobs.service.ts', '--port', String(this.#port), '--workers', '1']
    // A group of its own, so that the server's processes die together, as those of a machine.
    const { child, port } = await startCommand([...this.#args, ...more], log, true)
    this.#child = child
    this.#port = port
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const ended = once(this.#child, 'exit')
    const pid = this.#child.pid as number
    process.kill(signal === 'SIGKILL' ? -pid : pid, signal)
    await ended
  }
}

const folder = mkdtempSync(join(tmpdir(), 'serving-soak-jobs-'))
const log = openSync(`${options.out}.log`, 'w')
const redis: RedisServer | undefined = options.store === 'redis' ? await redisServer() : undefined
const store = ['--job-store', redis?.url ?? `sqlite:${join(folder, 'jobs.db')}`]
const servers = [1, 2].map(() => new Part(['serve', '--job-role', 'submit', ...store]))
const workers = [1, 2].map(() => new Part(['work', ...store]))
const parts = [...servers, ...workers]
const accepted: Accepted[] = []
const counts = {
  refused: 0,
  unreachable: 0,
  killed: 0,
  terminated: 0,
  redisKilled: 0,
  cancelsAsked: 0,
}
const faults: string[] = []
let isOver = false

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]

/** Asks any server until one answers below 500. */
async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  for (;;) {
    try {
      const answer = await fetch(pick(servers).base + path, {
        ...init,
        signal: AbortSignal.timeout(20_000),
      })
      if (answer.status < 500) return answer
      await answer.arrayBuffer()
      counts.refused++
    } catch {
      counts.unreachable++
    }
    await wait(200)
  }
}

/** Submits by a key, so that a submission whose answer was lost is the same job. */
async function submit(number: number): Promise<void> {
  const text = `take ${Math.round(50 + Math.random() * 1000)} ${number}`
  const headers = {
    'content-type': 'text/plain',
    prefer: 'respond-async',
    'idempotency-key': `"${number}"`,
  }
  const answer = await ask('/take', { method: 'POST', headers, body: text })
  const { id } = (await answer.json()) as { id: string }
  if (answer.status !== 202) faults.push(`${text}: submission answered ${answer.status}`)
  const job: Accepted = { id, text }
  accepted.push(job)
  if (number % 25 !== 1) return
  counts.cancelsAsked++
  await wait(Math.random() * 1000)
  await (await ask(`/jobs/${id}/cancel`, { method: 'POST' })).arrayBuffer()
}

/** Looks at a job; a final status must be the one that was seen before. */
async function look(job: Accepted): Promise<string> {
  const answer = await ask(`/jobs/${job.id}`)
  const { status = `answer ${answer.status}` } = (await answer.json()) as {
    status?: string | number
  }
  if (job.seen !== undefined && status !== job.seen)
    faults.push(`${job.text}: ${job.seen}, and later ${status}`)
  if (finalStatuses.includes(String(status))) job.seen = String(status)
  return String(status)
}

async function disturb(): Promise<void> {
  while (!isOver) {
    await wait(Number(options.every) * 1000)
    if (isOver) return
    if (redis !== undefined && Math.random() < 0.25) {
      counts.redisKilled++
      await redis.kill()
      await wait(Math.random() * 2000)
      await redis.start()
      continue
    }
    const part = pick(parts)
    const signal = Math.random() < 0.7 ? 'SIGKILL' : 'SIGTERM'
    counts[signal === 'SIGKILL' ? 'killed' : 'terminated']++
    await part.end(signal)
    await part.start()
  }
}

/** Checks a job that has ended: one end, and the answer to its request. */
async function check(job: Accepted): Promise<void> {
  const events = await (await ask(`/jobs/${job.id}/events`)).text()
  const ends = [...events.matchAll(/"status":"(\w+)"/g)].filter(([, status]) =>
    finalStatuses.includes(status),
  )
  if (ends.length !== 1 || ends[0][1] !== job.seen)
    faults.push(`${job.text}: ${job.seen}, ends ${ends.join(' ')}`)
  // The result of a failed one is its problem of 5xx.
  if (job.seen !== 'completed') return
  const body = await (await ask(`/jobs/${job.id}/result`)).text()
  if (body !== job.text) faults.push(`${job.text}: answered ${body}`)
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

try {
  await Promise.all(parts.map((part) => part.start()))
  const end = Date.now() + Number(options.minutes) * 60_000
  const disturbing = disturb()
  const submissions: Promise<void>[] = []
  for (let number = 1; Date.now() < end; number++) {
    submissions.push(submit(number))
    if (number % 10 === 0 && accepted.length > 0)
      submissions.push(look(pick(accepted)).then(() => {}))
    await wait(1000 / Number(options.rate))
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
  for (const job of waiting)
    faults.push(`${job.text}: lost or without an end, it is ${await look(job)}`)
  await each(
    accepted.filter(({ seen }) => seen !== undefined),
    check,
  )
  const ids = new Set(accepted.map(({ id }) => id))
  if (ids.size !== accepted.length)
    faults.push(`${accepted.length - ids.size} jobs have the id of another`)
} finally {
  await Promise.all(parts.map((part) => part.end('SIGKILL').catch(() => {})))
  await redis?.stop()
  rmSync(folder, { recursive: true, force: true })
}
const tally = (status: string | undefined) => accepted.filter(({ seen }) => seen === status).length
const ended = finalStatuses.map((status) => `${tally(status)} ${status}`).join(', ')
console.log(
  `${options.store}, ${options.minutes} minutes, Node ${process.versions.node}: ${JSON.stringify(counts)}`,
)
console.log(`${accepted.length} jobs accepted: ${ended}, ${tally(undefined)} without an end`)
console.log(`${faults.length} faults`)
for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
process.exitCode = faults.length === 0 ? 0 : 1
