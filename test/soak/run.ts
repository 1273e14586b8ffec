/**
 * A server under a steady load for a long time, with clients that harm and workers that are killed, and what it costs
 * over time.
 *
 * Run: `npm run soak -- --minutes 60`; `--load 0.8` of the capacity measured at the start, or `--rate 500` requests a
 * second where other work makes that figure useless, `--engine node`,
 * `--workers 2`, `--kill 1` and `--reload 5` (minutes between them, 0 for never; a reload is SIGHUP), `--out soak`
 * (writes soak.svg, soak.json and soak.log). Linux only: it looks into /proc.
 * @module
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { percentile } from '../fuzz/good-load.ts'
import { childrenOf, descriptorsOf, memory, startOf } from '../fuzz/processes.ts'
import type { Mark } from './chart.ts'
import { drawSamples, rise, riseOfWorkers, type Sample } from './samples.ts'
import { type Failure, startSteadyLoad } from './steady-load.ts'
import { startTrouble } from './trouble.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    load: { type: 'string', default: '0.8' },
    rate: { type: 'string' },
    engine: { type: 'string', default: 'uws' },
    workers: { type: 'string', default: '2' },
    kill: { type: 'string', default: '1' },
    reload: { type: 'string', default: '5' },
    out: { type: 'string', default: 'soak' },
  },
})
const minuteMs = 60_000
const durationMs = Number(options.minutes) * minuteMs
// About 150 points, each of enough requests for a p99.9.
const windowMs = Math.max(2000, Math.min(30_000, durationMs / 150))
const capacitySeconds = 10
/** A killed worker's requests fail within this time, and no others. */
const lossMs = 2000
const lost = /other side closed|ECONNRESET|ECONNREFUSED|EPIPE|socket hang up|^[^:]+: 14 /

async function startServer(tmp: string) {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const { PATH = '', HOME = '' } = process.env
  const args = [
    'dist/cli/main.js',
    'serve',
    'test/soak/soak.service.ts',
    '--port',
    '0',
    '--host',
    '127.0.0.1',
  ]
  const more = ['--grpc-port', '0', '--workers', options.workers, '--engine', options.engine]
  const child = spawn(process.execPath, [...args, ...more], {
    cwd: root,
    env: { PATH, HOME, TMPDIR: tmp },
    stdio: ['ignore', 'pipe', openSync(`${options.out}.log`, 'w')],
  })
  let port = 0
  for await (const line of createInterface(child.stdout as Readable)) {
    const found = Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1])
    if (line.startsWith('serving ')) port = found
    else if (line.startsWith('gRPC at ')) return { child, port, grpcPort: found }
  }
  throw new Error(`the server did not start; is it built? See ${options.out}.log`)
}

interface Heap {
  readonly pid: number
  readonly heapUsed: number
  readonly external: number
}

/** Asks until it is answered by the worker, which other connections may go to. */
async function heapOf(port: number, pid: number): Promise<Heap | undefined> {
  for (let i = 0; i < 12; i++) {
    const heap = await anyHeap(port)
    if (heap?.pid === pid) return heap
  }
  return undefined
}

async function anyHeap(port: number): Promise<Heap | undefined> {
  try {
    // A connection of its own, so that any worker may answer.
    const answer = await fetch(`http://127.0.0.1:${port}/memory`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: 'null',
      signal: AbortSignal.timeout(5000),
    })
    return answer.ok ? ((await answer.json()) as Heap) : undefined
  } catch {
    return undefined
  }
}

const tmp = mkdtempSync(join(tmpdir(), 'serving-soak-'))
const { child, port, grpcPort } = await startServer(tmp)
const supervisor = child.pid as number
const marks: (Mark & { readonly time: number; readonly isKill: boolean })[] = []
const samples: Sample[] = []
const unexplained: Failure[] = []
/** Writes what there is so far, so that a soak that is cut off leaves its picture. */
const save = () => {
  const pace =
    options.rate === undefined ? `${options.load} of capacity` : `${options.rate} requests/s`
  const set = `${options.engine}, ${options.workers} workers, ${options.minutes} minutes at ${pace}`
  const title = `${set}; dashed: a worker is killed (red), all are reloaded (green)`
  writeFileSync(`${options.out}.svg`, drawSamples(title, samples, marks))
  writeFileSync(
    `${options.out}.json`,
    `${JSON.stringify({ options, marks, samples, unexplained }, undefined, 1)}\n`,
  )
}
let echoed = 0
const trouble = { counts: {} as Readonly<Record<string, number>> }
try {
  const load = await startSteadyLoad(port, grpcPort, capacitySeconds)
  const pace =
    options.rate === undefined ? load.capacity * Number(options.load) : Number(options.rate)
  console.log(
    `engine ${options.engine}, ${options.workers} workers; capacity ${load.capacity.toFixed(0)} requests/s with 32`,
  )
  console.log(
    `connections; ${pace.toFixed(0)}/s for ${options.minutes} minutes, a worker killed every ${options.kill}`,
  )
  load.start(pace)
  const harm = startTrouble(port)
  trouble.counts = harm.counts
  const begun = Date.now()
  /** When workers were seen first. */
  const births = new Map<number, number>()
  const at = () => (Date.now() - begun) / minuteMs
  let nextKill = Number(options.kill) / 2
  let nextReload = Number(options.reload)
  let reported = begun
  while (Date.now() - begun < durationMs && child.exitCode === null) {
    await wait(windowMs)
    const workers = childrenOf(supervisor).sort((a, b) => (startOf(a) ?? 0) - (startOf(b) ?? 0))
    for (const pid of workers) if (!births.has(pid)) births.set(pid, at())
    const [eldest] = workers
    if (eldest === undefined) continue
    const heap = await heapOf(port, eldest)
    const { times, failures, skipped, messages } = await load.report()
    echoed += messages
    const seconds = (Date.now() - reported) / 1000
    reported = Date.now()
    const all = [...failures, ...harm.failures.splice(0)]
    const isLost = ({ at: time, what }: Failure) =>
      lost.test(what) &&
      marks.some((mark) => mark.isKill && time >= mark.time - 100 && time <= mark.time + lossMs)
    const others = all.filter((failure) => !isLost(failure))
    unexplained.push(...others)
    const share = (p: number) => (times.length === 0 ? undefined : percentile(times, p))
    samples.push({
      ...{ minutes: at(), seconds, answered: times.length, skipped },
      ...{ lostToKills: all.length - others.length, failures: others.length },
      ...{ p50: share(0.5), p99: share(0.99), p999: share(0.999) },
      ...{
        pid: eldest,
        ageMinutes: at() - (births.get(eldest) ?? 0),
        rss: memory(eldest, 'VmRSS'),
      },
      ...{
        heap: heap?.heapUsed,
        external: heap?.external,
        supervisorRss: memory(supervisor, 'VmRSS'),
      },
      descriptors: workers.reduce((sum, pid) => sum + descriptorsOf(pid), 0),
      temporaryFiles: readdirSync(tmp).length,
    })
    save()
    for (const { what } of others.slice(0, 3))
      console.log(`  ${at().toFixed(2)} min: ${what.slice(0, 300)}`)
    if (nextReload > 0 && at() >= nextReload) {
      nextReload += Number(options.reload)
      marks.push({ at: at(), colour: '#009e73', time: Date.now(), isKill: false })
      process.kill(supervisor, 'SIGHUP')
    } else if (
      Number(options.kill) > 0 &&
      at() >= nextKill &&
      workers.length === Number(options.workers)
    ) {
      // Never during a reload, when there is one more: it ends when a worker that takes over is killed.
      nextKill = at() + Number(options.kill)
      marks.push({ at: at(), colour: '#d55e00', time: Date.now(), isKill: true })
      // The youngest: the eldest lives until the reload, so that what it never gives back is seen.
      process.kill(workers.at(-1) as number, 'SIGKILL')
    }
  }
  await harm.stop()
  load.stop()
} finally {
  if (child.exitCode === null) {
    child.kill('SIGTERM')
    await once(child, 'exit')
  } else unexplained.push({ at: Date.now(), what: `the server ended with ${child.exitCode}` })
  rmSync(tmp, { recursive: true, force: true })
}

const sum = (of: (sample: Sample) => number) =>
  samples.reduce((total, sample) => total + of(sample), 0)
const [answered, skipped, killed] = [
  sum((s) => s.answered),
  sum((s) => s.skipped),
  sum((s) => s.lostToKills),
]
const kills = marks.filter(({ isKill }) => isKill).length
console.log(`${answered} requests answered, ${skipped} not sent; ${killed} lost to ${kills} kills`)
console.log(`${unexplained.length} other failures over ${marks.length - kills} reloads`)
console.log(`${echoed} messages of live streams came back`)
console.log(`harmful clients: ${JSON.stringify(trouble.counts)}`)
const supervisorRise = rise(samples, (s) => s.supervisorRss)
console.log(`last third to first: RSS of workers at equal age ${riseOfWorkers(samples).toFixed(3)}`)
console.log(
  `RSS of the supervisor ${supervisorRise.toFixed(3)}, p99 ${rise(samples, (s) => s.p99).toFixed(2)}`,
)
console.log(`written: ${options.out}.svg, ${options.out}.json, ${options.out}.log`)
process.exitCode = unexplained.length === 0 ? 0 : 1
