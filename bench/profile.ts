/**
 * A CPU profile of serving under one job:
 * `npx tsx --tsconfig bench/tsconfig.json bench/profile.ts JOB [seconds=3] [folder]`, where JOB is part of a job's
 * name. Prints the functions that took most time; the file is for Chrome's DevTools.
 * @module
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { casePlans } from './cases/index.ts'
import { contenders } from './contender.ts'
import { Generator } from './load/load.ts'
import { pinned, serverCore } from './pinning.ts'

const [wanted = '', seconds = '3', folder = mkdtempSync(join(tmpdir(), 'bench-profile-'))] =
  process.argv.slice(2)
const plan = casePlans.find(({ name }) => name.includes(wanted))
if (plan === undefined) throw new Error(`no job's name holds ${wanted}`)
const job = await plan.make()
const bodyFile = join(folder, 'body')
writeFileSync(bodyFile, job.body)

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const { file, env, nodeOptions = [], isGrpc } = contenders[plan.ours ?? 'serving']
const profiling = ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--import', 'tsx']
const { execPath, execArgv } = pinned(serverCore, [...nodeOptions, ...profiling])
const child = fork(here(`servers/${file}`), {
  execPath,
  execArgv,
  env: {
    ...process.env,
    ...env,
    BENCH_PATH: job.path,
    BENCH_BODY: bodyFile,
    NODE_ENV: 'production',
    TSX_TSCONFIG_PATH: here('tsconfig.json'),
  },
  stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
})
const [{ port }] = (await once(child, 'message')) as [{ port: number }]
await using generator = await Generator.start()
const { contentType, headers, connections, live } = job
const scheme = isGrpc ? 'grpc' : live === undefined ? 'http' : 'ws'
const url = `${scheme}://127.0.0.1:${port}${job.path}`
// V8's clock of profiles.
const firedAt = Number(process.hrtime.bigint() / 1000n)
await generator.fire({
  url,
  contentType,
  headers,
  bodyFile,
  connections,
  live,
  seconds: Number(seconds),
})
const gone = once(child, 'exit')
child.disconnect()
await gone

interface Profile {
  readonly nodes: readonly {
    id: number
    callFrame: { functionName: string; url: string; lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly startTime: number
  readonly timeDeltas: readonly number[]
}

const spent = new Map<string, number>()
for (const file of readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'))) {
  const { nodes, samples, timeDeltas, startTime } = JSON.parse(
    readFileSync(join(folder, file), 'utf8'),
  ) as Profile
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  let at = startTime
  for (const [i, sample] of samples.entries()) {
    at += timeDeltas[i]
    const frame = frames.get(sample)
    if (at < firedAt || frame === undefined || frame.functionName === '(idle)') continue
    const place = `${frame.functionName || '(anonymous)'} ${basename(frame.url)}:${frame.lineNumber + 1}`
    spent.set(place, (spent.get(place) ?? 0) + timeDeltas[i])
  }
}
const total = [...spent.values()].reduce((sum, micros) => sum + micros, 0)
console.log(`${plan.name}: self time under load without idling, ${folder}`)
for (const [place, micros] of [...spent].sort((a, b) => b[1] - a[1]).slice(0, 15)) {
  console.log(`${((100 * micros) / total).toFixed(1).padStart(5)} %  ${place}`)
}
