/**
 * A server under a steady load for a long time, with clients that harm and workers that are killed, and what it costs
 * over time.
 *
 * Run: `npm run soak -- --minutes 60`; `--share 0.8` of the capacity measured at the start, `--engine node`,
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
import { childrenOf, descriptorsOf, memory } from '../fuzz/processes.ts'
import { drawCharts } from './chart.ts'
import { type Failure, startSteadyLoad } from './steady-load.ts'
import { startTrouble } from './trouble.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    share: { type: 'string', default: '0.8' },
    engine: { type: 'string', default: 'uws' },
    workers: { type: 'string', default: '2' },
    kill: { type: 'string', default: '1' },
    reload: { type: 'string', default: '0' },
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

/** One window. **Units**: requests per second, milliseconds, bytes. */
interface Sample {
  readonly minutes: number
  readonly perSecond: number
  /** Due and not sent: more waited than can be caught up with. */
  readonly skippedPerSecond: number
  readonly lostToKills: number
  readonly failures: number
  readonly p50: number | undefined
  readonly p99: number | undefined
  readonly p999: number | undefined
  /** Of the largest worker. */
  readonly rss: number
  readonly heap: number | undefined
  readonly external: number | undefined
  /** Of all workers together. */
  readonly descriptors: number
  readonly temporaryFiles: number
}

async function startServer(tmp: string) {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const { PATH = '', HOME = '' } = process.env
  const args = ['dist/cli/main.js', 'serve', 'test/soak/soak.service.ts', '--port', '0', '--host', '127.0.0.1']
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

async function heapOf(port: number): Promise<Heap | undefined> {
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
const marks: { at: number; colour: string; time: number }[] = []
const samples: Sample[] = []
const unexplained: Failure[] = []
const trouble = { counts: {} as Readonly<Record<string, number>> }
try {
  const load = await startSteadyLoad(port, grpcPort, capacitySeconds)
  const pace = load.capacity * Number(options.share)
  console.log(
    `engine ${options.engine}, ${options.workers} workers; capacity ${load.capacity.toFixed(0)} requests/s with 32`,
  )
  console.log(`connections; ${pace.toFixed(0)}/s for ${options.minutes} minutes, a worker killed every ${options.kill}`)
  load.start(pace)
  const harm = startTrouble(port)
  trouble.counts = harm.counts
  const begun = Date.now()
  const heaps = new Map<number, Heap>()
  const at = () => (Date.now() - begun) / minuteMs
  let nextKill = Number(options.kill)
  let nextReload = Number(options.reload)
  while (Date.now() - begun < durationMs && child.exitCode === null) {
    await wait(windowMs)
    const heap = await heapOf(port)
    if (heap !== undefined) heaps.set(heap.pid, heap)
    const workers = childrenOf(supervisor)
    for (const pid of heaps.keys()) if (!workers.includes(pid)) heaps.delete(pid)
    const { times, failures, skipped } = await load.report()
    const all = [...failures, ...harm.failures.splice(0)]
    const isLost = ({ at: time, what }: Failure) =>
      lost.test(what) && marks.some((mark) => time >= mark.time - 100 && time <= mark.time + lossMs)
    const others = all.filter((failure) => !isLost(failure))
    unexplained.push(...others)
    const share = (p: number) => (times.length === 0 ? undefined : percentile(times, p))
    samples.push({
      ...{ minutes: at(), perSecond: (times.length * 1000) / windowMs, skippedPerSecond: (skipped * 1000) / windowMs },
      ...{ lostToKills: all.length - others.length, failures: others.length },
      ...{ p50: share(0.5), p99: share(0.99), p999: share(0.999) },
      rss: Math.max(...workers.map((pid) => memory(pid, 'VmRSS'))),
      heap: heap && Math.max(...[...heaps.values()].map(({ heapUsed }) => heapUsed)),
      external: heap && Math.max(...[...heaps.values()].map(({ external }) => external)),
      descriptors: workers.reduce((sum, pid) => sum + descriptorsOf(pid), 0),
      temporaryFiles: readdirSync(tmp).length,
    })
    for (const { what } of others.slice(0, 3)) console.log(`  ${at().toFixed(2)} min: ${what.slice(0, 300)}`)
    if (nextReload > 0 && at() >= nextReload) {
      nextReload += Number(options.reload)
      marks.push({ at: at(), colour: '#009e73', time: Date.now() })
      process.kill(supervisor, 'SIGHUP')
    } else if (nextKill > 0 && at() >= nextKill && workers.length > 0) {
      nextKill += Number(options.kill)
      marks.push({ at: at(), colour: '#d55e00', time: Date.now() })
      // The youngest: the oldest lives as long as the soak, so that what it never gives back is seen.
      process.kill(Math.max(...workers), 'SIGKILL')
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

const curve = (name: string, of: (sample: Sample) => number | undefined) => ({ name, values: samples.map(of) })
const mb = (bytes: number | undefined) => (bytes === undefined ? undefined : bytes / 1e6)
const set = `${options.engine}, ${options.workers} workers, ${options.minutes} minutes at ${options.share} of capacity`
const title = `${set}; dashed: a worker is killed`
const panels = [
  {
    title: 'requests per second',
    curves: [curve('answered', (s) => s.perSecond), curve('not sent: 2,000 wait', (s) => s.skippedPerSecond)],
  },
  {
    title: 'failures',
    curves: [curve('of killed workers', (s) => s.lostToKills), curve('others', (s) => s.failures)],
  },
  {
    ...{ title: 'milliseconds', logarithmic: true },
    curves: [curve('p50', (s) => s.p50), curve('p99', (s) => s.p99), curve('p99.9', (s) => s.p999)],
  },
  {
    title: 'MB, largest worker',
    curves: [
      curve('RSS', (s) => mb(s.rss)),
      curve('heap', (s) => mb(s.heap)),
      curve('external', (s) => mb(s.external)),
    ],
  },
  { title: 'file descriptors of all workers', curves: [curve('open', (s) => s.descriptors)] },
  { title: 'temporary files', curves: [curve('there', (s) => s.temporaryFiles)] },
]
const minutes = samples.map((sample) => sample.minutes)
writeFileSync(`${options.out}.svg`, drawCharts(title, minutes, panels, marks))
writeFileSync(`${options.out}.json`, `${JSON.stringify({ options, marks, samples, unexplained }, undefined, 1)}\n`)

/** Medians of the first and the last third behind the first fifth, in which everything is compiled and warmed up. */
function drift(of: (sample: Sample) => number | undefined): number {
  const warm = samples.slice(Math.ceil(samples.length / 5)).map((sample) => of(sample) ?? Number.NaN)
  const third = Math.max(1, Math.floor(warm.length / 3))
  return percentile(warm.slice(-third), 0.5) / percentile(warm.slice(0, third), 0.5)
}
const sum = (of: (sample: Sample) => number) => samples.reduce((total, sample) => total + of(sample), 0)
const answered = sum((sample) => (sample.perSecond * windowMs) / 1000)
const skipped = sum((sample) => (sample.skippedPerSecond * windowMs) / 1000)
const killed = sum((sample) => sample.lostToKills)
console.log(
  `${answered.toFixed(0)} requests answered, ${skipped.toFixed(0)} not sent; ${killed} lost to ${marks.length} kills`,
)
console.log(`${unexplained.length} other failures; harmful clients: ${JSON.stringify(trouble.counts)}`)
console.log(`RSS at the end to the beginning ${drift((s) => s.rss).toFixed(3)}, p99 ${drift((s) => s.p99).toFixed(2)}`)
console.log(`written: ${options.out}.svg, ${options.out}.json, ${options.out}.log`)
process.exitCode = unexplained.length === 0 ? 0 : 1
