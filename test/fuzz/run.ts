/**
 * Sends broken bodies by the thousand to real servers under a load of good ones, and says what became of both.
 *
 * Run: `npm run fuzz -- --count 5000 --seed 1 --only parquet --engine uws`; `--only parquet:17` sends one body again,
 * `--total 1000000` divides that many among kinds and engines.
 * @module
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { attack } from './attack.ts'
import { type Kind, kinds } from './corpora.ts'
import { type LoadResult, percentile, startGoodLoad } from './good-load.ts'
import { watchProcesses } from './processes.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const workerCount = 2
const baselineMs = 5000

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '5000' },
    total: { type: 'string' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    engine: { type: 'string' },
  },
})
const seed = Number(options.seed)
const [onlyKind, onlyIndex] = options.only?.split(':') ?? []
const from = Number(onlyIndex ?? 0)
const chosen = kinds.filter((kind) => onlyKind === undefined || kind === onlyKind)
const engines = options.engine === undefined ? ['uws', 'node'] : [options.engine]
const count =
  options.total === undefined
    ? Number(options.count)
    : Math.ceil(Number(options.total) / chosen.length / engines.length)
const to = onlyIndex === undefined ? count : from + 1
if (chosen.length === 0)
  throw new Error(`expected one of ${kinds.join(', ')} for --only, received ${onlyKind}`)
const mb = (bytes: number) => `${Math.round(bytes / 1e6)} MB`

async function startServer(engine: string, tmp: string) {
  const { PATH = '', HOME = '' } = process.env
  const ports = ['--port', '0', '--grpc-port', '0', '--host', '127.0.0.1']
  const args = ['dist/cli/main.js', 'serve', 'test/fuzz/fuzz.service.ts', ...ports]
  const child = spawn(
    process.execPath,
    [...args, '--workers', String(workerCount), '--engine', engine],
    {
      cwd: root,
      env: { PATH, HOME, TMPDIR: tmp },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  let port: number | undefined
  for await (const line of createInterface(child.stdout)) {
    const found = /:(\d+)/.exec(line.slice(line.indexOf('http://') + 7))?.[1]
    if (line.startsWith('serving ') && found !== undefined) port = Number(found)
    const grpcPort = /gRPC at \S*?:(\d+)/.exec(line)?.[1]
    if (port !== undefined && grpcPort !== undefined)
      return { child, port, grpcPort: Number(grpcPort) }
  }
  throw new Error('the server did not start; is it built?')
}

function printLoad(title: string, { times }: LoadResult): void {
  const shown = [...times].map(([name, list]) => {
    const [p50, p99, max] = [0.5, 0.99, 1].map((p) => percentile(list, p).toFixed(1))
    return `${name} ${p50}/${p99}/${max}`
  })
  console.log(`  ${title}: p50/p99/max ms: ${shown.join(', ')}`)
}

async function run(engine: string): Promise<boolean> {
  console.log(
    `engine ${engine}, ${workerCount} workers, seed ${seed}, bodies ${from} to ${to - 1} of ${chosen.join(', ')}`,
  )
  const tmp = mkdtempSync(join(tmpdir(), 'serving-fuzz-tmp-'))
  const { child, ...ports } = await startServer(engine, tmp)
  const { port } = ports
  const watch = watchProcesses(child.pid as number)
  const problems: string[] = []
  try {
    const alone = await startGoodLoad(port)
    await wait(baselineMs)
    const baseline = await alone.stop()
    printLoad('good requests alone', baseline)
    const load = await startGoodLoad(port)
    // All kinds at once: what one of them waits for, such as a thread that reads Parquet, costs the others no time.
    const results = await Promise.all(
      chosen.map((kind) => attack(ports, seed, kind as Kind, from, to)),
    )
    const others = await load.stop()
    for (const [i, result] of results.entries()) {
      problems.push(...result.failures)
      const statuses = [...result.statuses]
        .sort(([a], [b]) => a - b)
        .map(([status, count]) => `${count} × ${status}`)
      const slowest = `${result.slowest.ms.toFixed(0)} ms, ${result.slowest.title}`
      console.log(
        `  ${chosen[i]}: ${statuses.join(', ')} in ${result.seconds.toFixed(1)} s; slowest ${slowest}`,
      )
    }
    problems.push(...baseline.failures, ...others.failures)
    const failed = baseline.failures.length + others.failures.length
    printLoad('good requests beside', others)
    const count = [...others.times.values()].flat().length
    console.log(
      `  other requests ${count}, failed ${failed}, answered by ${others.pids.size} workers`,
    )
    const { workers, workerPeak, workerNow } = watch.seen()
    const left = readdirSync(tmp).filter((name) => name.startsWith('serving'))
    if (left.length > 0) problems.push(`temporary files left: ${left.join(', ')}`)
    if (workers.size > workerCount) problems.push(`workers lost: ${workers.size - workerCount}`)
    console.log(
      `  worker processes lost ${workers.size - workerCount}; temporary files left ${left.length}`,
    )
    console.log(`  peak worker ${mb(workerPeak)} (at the end ${mb(workerNow)})`)
  } finally {
    watch.stop()
    child.kill('SIGTERM')
    await once(child, 'exit')
    rmSync(tmp, { recursive: true, force: true })
  }
  for (const problem of problems.slice(0, 20)) console.log(`  FAILED ${problem}`)
  if (problems.length > 20) console.log(`  and ${problems.length - 20} more`)
  return problems.length === 0
}

const begun = performance.now()
let isGood = true
for (const engine of engines) {
  if (!(await run(engine))) isGood = false
}
console.log(
  `${isGood ? 'nothing failed' : 'FAILED'}; ${((performance.now() - begun) / 1000).toFixed(0)} s`,
)
process.exitCode = isGood ? 0 : 1
