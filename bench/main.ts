/**
 * `npm run bench`: each descriptor against bare uWebSockets.js echoing the same bytes and against Fastify doing the same job.
 *
 * Contenders alternate within a run and their order is reversed every round; the median of the rounds counts. Options:
 * `--quick` (small bodies, short), `--only TEXT` (cases whose name holds it), `--tool autocannon|wrk`, `--json`,
 * `--seconds N`, `--rounds N`.
 * @module
 */
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { type BenchCase, benchCases } from './cases.ts'
import { type Contender, contenders, startContender } from './contender.ts'
import { autocannon, hasWrk, type Load, type LoadResult, wrk } from './load.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    tool: { type: 'string', default: 'autocannon' },
    json: { type: 'boolean', default: false },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
  },
})
const seconds = Number(options.seconds ?? (options.quick ? 1 : 4))
const rounds = Number(options.rounds ?? (options.quick ? 1 : 3))
if (options.tool === 'wrk' && !hasWrk()) throw new Error('wrk is not installed')
const load: Load = options.tool === 'wrk' ? wrk : autocannon

interface Row extends LoadResult {
  readonly contender: string
  /** **Units**: microseconds of the server's CPU per request. */
  readonly cpuMicros: number
  /** **Units**: bytes. */
  readonly peakBytes: number
}

const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]
const progress = (text: string) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`)

async function assertRight(contender: Contender, job: BenchCase): Promise<void> {
  const response = await fetch(contender.url + job.path, {
    method: 'POST',
    headers: { 'content-type': job.contentType },
    body: job.body,
  })
  const answer = await response.text()
  assert(
    response.ok && job.isRight(answer),
    `${contender.name} answers ${job.name} wrong: ${response.status} ${answer.slice(0, 200)}`,
  )
}

async function measure(contender: Contender, job: BenchCase): Promise<Row> {
  const before = await contender.usage()
  const result = await load(contender.url, job, seconds)
  const after = await contender.usage()
  assert.equal(result.errors, 0, `${contender.name} failed requests of ${job.name}`)
  const cpuMicros = (after.cpuMicros - before.cpuMicros) / result.requests
  return { ...result, contender: contender.name, cpuMicros, peakBytes: after.peakBytes }
}

async function runCase(job: BenchCase): Promise<Row[]> {
  const measured = new Map<string, Row[]>()
  const names = Object.keys(contenders).filter((name) => name !== 'fastify, JSON only' || job.path === '/ndarray')
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      progress(`${job.name}: ${name}, round ${round + 1} of ${rounds}`)
      // A fresh process each time: nothing that one run left in memory or in the compiler helps or harms the next.
      await using contender = await startContender(name)
      await assertRight(contender, job)
      await load(contender.url, job, Math.min(1, seconds))
      measured.set(name, [...(measured.get(name) ?? []), await measure(contender, job)])
    }
  }
  progress('')
  return [...measured].map(([contender, rows]) => ({
    contender,
    requests: rows.reduce((sum, row) => sum + row.requests, 0),
    errors: 0,
    perSecond: median(rows.map((row) => row.perSecond)),
    p50Ms: median(rows.map((row) => row.p50Ms)),
    p99Ms: median(rows.map((row) => row.p99Ms)),
    cpuMicros: median(rows.map((row) => row.cpuMicros)),
    peakBytes: Math.max(...rows.map((row) => row.peakBytes)),
  }))
}

function print(job: BenchCase, rows: readonly Row[]): void {
  const ours = rows.find((row) => row.contender === 'serving') as Row
  console.log(`\n${job.name} (${job.body.length} bytes, ${job.connections} connections, ${options.tool})`)
  console.table(
    Object.fromEntries(
      rows.map((row) => [
        row.contender,
        {
          'req/s': Number(row.perSecond.toPrecision(4)),
          'p50 ms': row.p50Ms,
          'p99 ms': row.p99Ms,
          'server CPU µs/req': Number(row.cpuMicros.toPrecision(3)),
          'peak MB': Math.round(row.peakBytes / 2 ** 20),
          'serving ÷ it, req/s': Number((ours.perSecond / row.perSecond).toFixed(2)),
          'its CPU ÷ serving': Number((row.cpuMicros / ours.cpuMicros).toFixed(2)),
          target: job.targets[row.contender] ?? '',
        },
      ]),
    ),
  )
}

const results: { readonly case: string; readonly rows: readonly Row[] }[] = []
for (const job of benchCases(options.quick)) {
  if (!job.name.includes(options.only)) continue
  const rows = await runCase(job)
  results.push({ case: job.name, rows })
  if (!options.json) print(job, rows)
}
if (options.json)
  console.log(JSON.stringify({ tool: options.tool, seconds, rounds, node: process.version, results }, null, 2))
