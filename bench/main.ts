/**
 * `npm run bench`: each descriptor against bare uWebSockets.js, Fastify, Python's servers, and libraries in a loop.
 * `bench/README.md` explains the rows.
 *
 * Options: `--quick` (small bodies, short, JavaScript only; fails for wrong answers, not for figures), `--only TEXT`
 * (jobs whose name holds it, may be repeated), `--json`, `--publish` (into the project's files, see
 * `bench/publish.ts`), `--seconds N`, `--rounds N`.
 * @module
 */
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { casePlans } from './cases/index.ts'
import { Generator } from './load/load.ts'
import { hasWrk, wrk } from './load/wrk.ts'
import { type CaseResult, measureCase } from './measure.ts'
import { measureMemory, memoryName } from './memory.ts'
import { measureMixed, mixedName } from './mixed.ts'
import { serverCore } from './pinning.ts'
import { publish } from './publish.ts'
import { printCase, printRest, printWorseP99, type Report } from './report.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [''] },
    json: { type: 'boolean', default: false },
    publish: { type: 'boolean', default: false },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
  },
})
const seconds = Number(options.seconds ?? (options.quick ? 0.2 : 0.7))
// Small requests vary more.
const smallSeconds = options.quick || options.seconds !== undefined ? seconds : 2
const rounds = Number(options.rounds ?? (options.quick ? 1 : 3))
const isSelected = (name: string) => options.only.some((text) => name.includes(text))
const plans = casePlans.filter((plan) => isSelected(plan.name) && (plan.isQuick || !options.quick))
const jobs = plans.length + [mixedName, memoryName].filter(isSelected).length
if (jobs === 0) throw new Error(`no job's name holds ${options.only.join(' or ')}`)

const loadAverage = Number(loadavg()[0].toFixed(2))
const start = performance.now()
let done = 0
const progress = (text: string) => {
  const minutes = ((performance.now() - start) / 60_000).toFixed(1)
  const head = `${Math.min(done + 1, jobs)} of ${jobs}, ${minutes} min`
  if (process.stderr.isTTY)
    process.stderr.write(`\r\x1b[K${text === '' ? '' : `[${head}] ${text}`}`)
}

const results: CaseResult[] = []
await using generator = await Generator.start()
for (const plan of plans) {
  const { fire } = generator
  // wrk's shortest run is a second, too long for a smoke test.
  const check = options.quick || !hasWrk() ? undefined : wrk
  const settings = {
    seconds,
    smallSeconds,
    rounds,
    withoutPython: options.quick,
    autocannon: fire,
    wrk: check,
    progress,
  }
  try {
    const result = await measureCase(plan, settings)
    results.push(result)
    progress('')
    if (!options.json) printCase(result)
  } catch (error) {
    // The other jobs are measured, and published, all the same.
    console.error(`${plan.name}:`, error)
    process.exitCode = 1
  }
  done++
}

// An array of 20 MB; 200 KB for a smoke test.
const rows = options.quick ? 10 : 1040
const mixed = isSelected(mixedName)
  ? await measureMixed(rows, options.quick ? 1 : 5, progress)
  : undefined
done++
const memory = isSelected(memoryName)
  ? await measureMemory(rows, generator.fire, progress)
  : undefined
progress('')
if (!options.json) {
  printRest({ mixed, memory })
  printWorseP99({ results })
}

const report: Report = {
  date: new Date().toISOString().slice(0, 10),
  cpu: cpus()[0].model.trim(),
  cores: cpus().length,
  node: process.version,
  isPinned: serverCore !== undefined,
  loadAverage,
  seconds,
  smallSeconds,
  rounds,
  minutes: Number(((performance.now() - start) / 60_000).toFixed(1)),
  measured: jobs - plans.length + results.length,
  results,
  mixed,
  memory,
}
if (options.json) console.log(JSON.stringify(report, null, 2))
else console.log(`\n${report.minutes} minutes`)
if (options.publish) publish(report)
