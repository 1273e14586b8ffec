/**
 * How far one machine carries: requests a second and CPU per request of `serving serve` with 1, 2, 4… workers, or
 * threads of a Runner, as far as the machine has cores, and with 64 to 10,000 connections.
 *
 * `npx tsx --tsconfig bench/tsconfig.json bench/scaling.ts [--seconds N] [--json] [--only TEXT]`, after
 * `npm run build`. Needs Linux, wrk and taskset. The server has as many cores as workers, wrk has the others. The row
 * "control" is JSON.parse and JSON.stringify in as many bare processes: what the machine itself scales to.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { BenchCase } from './cases/case.ts'
import { casePlans } from './cases/index.ts'
import { wrkOn } from './load/wrk.ts'
import { steps } from './models/shapes.ts'
import { usageOfTree } from './usage.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
})
const seconds = Number(options.seconds)
const cores = Array.from({ length: availableParallelism() }, (_, core) => core)
const sizes = [1, 2, 4, 8, 12, 16].filter((size) => size <= cores.length)
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bench-scaling-'))

interface Row {
  readonly what: string
  /** Workers, or threads of the Runner. */
  readonly size: number
  readonly connections: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly cpuMicros: number
  readonly errors: number
  /** The rate over the size times the rate at 1. */
  readonly efficiency: number
  /** CPU per request over that at 1. */
  readonly cpuRatio: number
  /** Whether server and load share cores: only the CPU counts then. */
  readonly isShared: boolean
}

interface Setup {
  readonly workers: number
  readonly threads: number
  /** Those of the server; wrk has the others. */
  readonly cores: readonly number[]
}

/** As many steps as take 2 ms here. */
function twoMilliseconds(): number {
  steps(5e6)
  const start = performance.now()
  steps(1e7)
  return Math.round((2 * 1e7) / (performance.now() - start))
}
const modelSteps = twoMilliseconds()

async function start({ workers, threads, cores }: Setup): Promise<[ChildProcess, string]> {
  const args = [
    ...['-c', cores.join(','), process.execPath, 'dist/cli/main.js', 'serve'],
    ...['bench/scaling.service.ts', '--workers', String(workers), '--max-in-flight', '20000'],
    ...['--host', '127.0.0.1', '--port', '0', '--docs', 'off'],
  ]
  const env = { SCALING_THREADS: String(threads), SCALING_STEPS: String(modelSteps) }
  const child = spawn('taskset', args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let printed = ''
  for await (const text of child.stdout) {
    printed += text
    const [origin] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? []
    if (origin !== undefined) {
      child.stdout.resume()
      return [child, origin]
    }
  }
  throw new Error(`the server ended: ${printed}`)
}

const rows: Row[] = []

/** Measures a job with each number of connections, on one server. */
async function measure(what: string, job: BenchCase, setup: Setup, connections: readonly number[]) {
  if (!what.includes(options.only)) return
  const others = cores.filter((core) => !setup.cores.includes(core))
  const isShared = others.length === 0
  const load = wrkOn(isShared ? cores : others)
  const bodyFile = join(folder, 'body')
  writeFileSync(bodyFile, job.body)
  const [server, origin] = await start(setup)
  try {
    const { path, contentType, body } = job
    const headers = { 'content-type': contentType }
    const init = { method: 'POST', body: Uint8Array.from(body), headers }
    const answer = await fetch(origin + path, init)
    const answered = Buffer.from(await answer.arrayBuffer())
    if (!job.isRight(answered, answer.headers.get('content-type') ?? ''))
      throw new Error(`${what}: wrong answer: ${answer.status} ${answered.subarray(0, 200)}`)
    for (const count of connections) {
      const request = { url: origin + path, contentType, headers: {}, bodyFile, connections: count }
      await load({ ...request, seconds: 1 })
      const before = usageOfTree(server.pid as number).cpuMicros
      const result = await load({ ...request, seconds })
      const cpuMicros = (usageOfTree(server.pid as number).cpuMicros - before) / result.requests
      const size = Math.max(setup.workers, setup.threads)
      add({ what, size, connections: count, ...result, cpuMicros, isShared })
    }
  } finally {
    const gone = once(server, 'exit')
    server.kill()
    await gone
  }
}

function add(row: Omit<Row, 'efficiency' | 'cpuRatio'>): void {
  const { what, size, connections, perSecond, p50Ms, p99Ms, cpuMicros, errors, isShared } = row
  const first = rows.find((other) => other.what === what) ?? row
  const efficiency = perSecond / size / (first.perSecond / first.size)
  const cpuRatio = cpuMicros / first.cpuMicros
  const figures = { perSecond, p50Ms, p99Ms, cpuMicros, errors, efficiency, cpuRatio, isShared }
  rows.push({ what, size, connections, ...figures })
  if (options.json) return
  const shared = isShared ? ', cores shared with the load' : ''
  console.log(
    `${what}, ${size}, ${connections} connections: ${Math.round(perSecond)}/s, ` +
      `efficiency ${efficiency.toFixed(2)}, CPU ${cpuMicros.toFixed(1)} µs (${cpuRatio.toFixed(2)}), ` +
      `p50 ${p50Ms.toFixed(2)} p99 ${p99Ms.toFixed(2)} ms, ${errors} errors${shared}`,
  )
}

/** Counts how often n processes parse and print some JSON. */
async function control(size: number): Promise<void> {
  const text = 'JSON.stringify(Array.from({ length: 2000 }, (_, i) => ({ a: i, b: i / 7 })))'
  const loop = `while (Date.now() < end) { JSON.stringify(JSON.parse(text)); count++ }`
  const first = `const text = ${text}; let count = 0; const end = Date.now() + ${seconds * 1000}`
  const program = `${first}; ${loop} console.log(count)`
  const counts = cores.slice(0, size).map(async (core) => {
    const child = spawn('taskset', ['-c', String(core), process.execPath, '-e', program])
    const printed: Buffer[] = await child.stdout.toArray()
    return Number(Buffer.concat(printed))
  })
  const total = (await Promise.all(counts)).reduce((sum, count) => sum + count)
  const perSecond = total / seconds
  const cpuMicros = (1e6 * size) / perSecond
  const rest = { connections: 0, p50Ms: 0, p99Ms: 0, errors: 0, isShared: false }
  add({ what: 'control', size, perSecond, cpuMicros, ...rest })
}

async function jobOf(name: string): Promise<BenchCase> {
  const plan = casePlans.find((plan) => plan.name === name)
  if (plan === undefined) throw new Error(`there is no job ${name}`)
  return { name, ...(await plan.make()) }
}

const work: BenchCase = {
  name: 'Runner of 2 ms',
  path: '/work',
  contentType: 'application/json',
  body: Buffer.from('1'),
  connections: 4,
  bare: 'echo',
  isRight: (answer) => answer.toString() === '"done"',
}
/** Connections for each worker: enough to fill it. */
const perWorker: readonly (readonly [string, number])[] = [
  ['ndarray 2×4 JSON', 64],
  ['frame records 1000×10', 16],
  ['JPEG 1080p to a 3×224×224 tensor', 8],
]

try {
  if ('control'.includes(options.only)) for (const size of sizes) await control(size)
  for (const [name, connections] of perWorker) {
    const job = await jobOf(name)
    for (const size of sizes) {
      const setup = { workers: size, threads: 0, cores: cores.slice(0, size) }
      await measure(name, job, setup, [connections * size])
    }
  }
  // The load needs little; the loops of the processes and the threads of the models share the other cores.
  const most = cores.length === 1 ? cores : cores.slice(0, -1)
  for (const size of sizes) {
    await measure('Runner, workers', work, { workers: size, threads: 1, cores: most }, [4 * size])
  }
  for (const size of sizes) {
    await measure('Runner, threads', work, { workers: 1, threads: size, cores: most }, [4 * size])
  }
  const workers = Math.max(1, Math.min(4, cores.length >> 1))
  const setup = { workers, threads: 0, cores: cores.slice(0, workers) }
  const many = [64, 256, 1000, 4000, 10_000]
  await measure('connections', await jobOf('ndarray 2×4 JSON'), setup, many)
} finally {
  rmSync(folder, { recursive: true })
}

if (options.json) {
  const machine = { cpu: cpus()[0].model.trim(), cores: cores.length, node: process.version }
  console.log(JSON.stringify({ ...machine, load: loadavg()[0], seconds, rows }, null, 2))
}
