/**
 * `npm run bench`: each descriptor against bare uWebSockets.js, Fastify, Python's servers, and libraries in a loop. What the rows mean:
 * `bench/README.md`.
 *
 * Options: `--quick` (small bodies, short, JavaScript only; fails on a wrong answer, never on a figure), `--only TEXT` (jobs whose name
 * holds it, may be repeated), `--json`, `--out FILE` (JSON into a file beside the tables; jobs that were not measured stay in it), `--seconds N`, `--rounds N`.
 * @module
 */
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { casePlans } from './cases/index.ts'
import { Generator } from './load/load.ts'
import { hasWrk, wrk } from './load/wrk.ts'
import { type CaseResult, measureCase } from './measure.ts'
import { serverCore } from './pinning.ts'
import { printCase } from './report.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [''] },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
  },
})
const seconds = Number(options.seconds ?? (options.quick ? 0.2 : 1.5))
const rounds = Number(options.rounds ?? (options.quick ? 1 : 3))
const plans = casePlans.filter(
  (plan) => options.only.some((text) => plan.name.includes(text)) && (plan.isQuick || !options.quick),
)
if (plans.length === 0) throw new Error(`no job's name holds ${options.only.join(' or ')}`)

const start = performance.now()
let done = 0
const progress = (text: string) => {
  const minutes = ((performance.now() - start) / 60_000).toFixed(1)
  const head = `${done + 1} of ${plans.length}, ${minutes} min`
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text === '' ? '' : `[${head}] ${text}`}`)
}

const results: CaseResult[] = []
await using generator = await Generator.start()
for (const plan of plans) {
  const { fire } = generator
  // wrk's shortest run is a second: nothing for a smoke test.
  const check = options.quick || !hasWrk() ? undefined : wrk
  const settings = { seconds, rounds, withoutPython: options.quick, autocannon: fire, wrk: check, progress }
  const result = await measureCase(plan, settings)
  results.push(result)
  done++
  progress('')
  if (!options.json) printCase(result)
}

const report = {
  date: new Date().toISOString().slice(0, 10),
  cpu: cpus()[0].model.trim(),
  cores: cpus().length,
  node: process.version,
  isPinned: serverCore !== undefined,
  seconds,
  rounds,
  minutes: Number(((performance.now() - start) / 60_000).toFixed(1)),
  results,
}
if (options.json) console.log(JSON.stringify(report, null, 2))
if (options.out !== undefined) await merge(options.out)

async function merge(file: string): Promise<void> {
  const old = existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')).results as CaseResult[]) : []
  const byName = new Map([...old, ...results].map((result) => [result.name, result]))
  const inOrder = casePlans.flatMap(({ name }) => byName.get(name) ?? [])
  await writeFile(file, `${JSON.stringify({ ...report, results: inOrder }, null, 2)}\n`)
}
