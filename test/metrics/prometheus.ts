/**
 * Lets a real Prometheus scrape two workers under load, and compares its sums with what the load generator counted:
 * `npm run build && npx tsx test/metrics/prometheus.ts`. Needs the program prometheus (Debian package of that name).
 * Options: `--seconds N` (default 20), `--engine uws|node`.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    engine: { type: 'string', default: 'uws' },
  },
})
const root = fileURLToPath(new URL('../../', import.meta.url))

if (spawnSync('prometheus', ['--version']).error !== undefined) {
  process.stderr.write('prometheus is not installed: apt-get install prometheus\n')
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), 'serving-prometheus-'))
const children: ChildProcess[] = []

/** Returns a port that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

function start(command: string, args: readonly string[]): ChildProcess {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] })
  children.push(child)
  let last = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    last = (last + text).slice(-2000)
  })
  child.once('exit', (code) => {
    if (code !== 0 && code !== null)
      process.stderr.write(`${command} ended with code ${code}:\n${last}\n`)
  })
  return child
}

/** What was counted: by API and status, and the bytes of the bodies. */
interface Counted {
  readonly byStatus: Map<string, number>
  sent: number
  received: number
}

const kinds = [
  { path: '/pid', type: 'text/plain', body: 'who' },
  { path: '/pid', type: 'text/plain', body: 'x'.repeat(3000) },
  { path: '/pid', type: 'image/png', body: 'not text' },
  { path: '/nowhere', type: 'text/plain', body: '' },
]

/** Sends one request after another over a connection that is kept; each tenth request opens a new one. */
async function client(port: number, until: number, counted: Counted): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let i = 0; performance.now() < until; i++) {
    const { path, type, body } = kinds[i % kinds.length]
    const { status, bytes } = await ask(port, path, type, body, i % 10 === 9 ? undefined : agent)
    const api = path === '/nowhere' ? 'none' : path.slice(1)
    const key = `${api} ${status}`
    counted.byStatus.set(key, (counted.byStatus.get(key) ?? 0) + 1)
    // Bodies of requests without an endpoint are not received.
    if (api !== 'none') counted.sent += body.length
    counted.received += bytes
  }
  agent.destroy()
}

function ask(port: number, path: string, type: string, body: string, agent: Agent | undefined) {
  return new Promise<{ status: number; bytes: number }>((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path, method: 'POST', agent: agent ?? false }
    const sent = request({ ...options, headers: { 'content-type': type } }, (response) => {
      let bytes = 0
      response.on('data', (piece: Buffer) => {
        bytes += piece.length
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Returns the result of a query, by the values of the labels. */
async function query(prometheus: number, text: string): Promise<Map<string, number>> {
  const url = `http://127.0.0.1:${prometheus}/api/v1/query?query=${encodeURIComponent(text)}`
  const answer = (await (await fetch(url)).json()) as {
    readonly data: {
      readonly result: readonly {
        readonly metric: Record<string, string>
        readonly value: [number, string]
      }[]
    }
  }
  return new Map(
    answer.data.result.map(({ metric, value }) => [
      `${metric.api ?? ''} ${metric.code ?? ''}`.trim(),
      Number(value[1]),
    ]),
  )
}

async function untilReady(url: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if ((await fetch(url).catch(() => undefined))?.ok) return
    await wait(100)
  }
  throw new Error(`${url} did not answer`)
}

async function main(): Promise<boolean> {
  const [serving, metrics, prometheus] = [await freePort(), await freePort(), await freePort()]
  const service = join(root, 'test/cli/services/probe.service.mjs')
  const ports = [
    '--port',
    String(serving),
    '--metrics-port',
    String(metrics),
    '--host',
    '127.0.0.1',
  ]
  const settings = ['--workers', '2', '--engine', values.engine, '--log-level', 'warn']
  start(process.execPath, [join(root, 'dist/cli/main.js'), 'serve', service, ...ports, ...settings])
  await untilReady(`http://127.0.0.1:${serving}/readyz`)
  // Both ways to the metrics: through whichever worker takes the connection, and through the supervisor.
  const job = (name: string, port: number) =>
    `  - job_name: ${name}\n    scrape_interval: 1s\n    static_configs:\n      - targets: ['127.0.0.1:${port}']\n`
  const config = `scrape_configs:\n${job('workers', serving)}${job('supervisor', metrics)}`
  writeFileSync(join(folder, 'prometheus.yml'), config)
  start('prometheus', [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${prometheus}`,
    '--log.level=error',
  ])
  await untilReady(`http://127.0.0.1:${prometheus}/-/ready`)

  const counted: Counted = { byStatus: new Map(), sent: 0, received: 0 }
  const until = performance.now() + Number(values.seconds) * 1000
  await Promise.all(Array.from({ length: 16 }, () => client(serving, until, counted)))
  const total = [...counted.byStatus.values()].reduce((sum, count) => sum + count, 0)
  const perJob = (name: string) => `serving_requests_total{job="${name}",api=~"pid|none"}`
  for (let tries = 0; tries < 100; tries++) {
    // Until both jobs have scraped after the end of the load.
    const sums = await Promise.all(
      ['workers', 'supervisor'].map((name) => query(prometheus, `sum(${perJob(name)})`)),
    )
    if (sums.every((sum) => sum.get('') === total)) break
    await wait(200)
  }

  let ok = true
  const compare = (what: string, expected: number, seen: number | undefined) => {
    if (seen !== expected) ok = false
    process.stdout.write(
      `${seen === expected ? 'equal' : 'DIFFERENT'}  ${what}: counted ${expected}, Prometheus ${seen}\n`,
    )
  }
  for (const name of ['workers', 'supervisor']) {
    const byStatus = await query(prometheus, `sum by (api, code) (${perJob(name)})`)
    for (const [key, count] of counted.byStatus)
      compare(`${name}, ${key}`, count, byStatus.get(key))
    const sum = async (metric: string) =>
      (await query(prometheus, `sum(${metric}{job="${name}",api=~"pid|none"})`)).get('')
    compare(`${name}, histogram`, total, await sum('serving_request_duration_seconds_count'))
    compare(`${name}, bytes in`, counted.sent, await sum('serving_request_body_bytes_total'))
    compare(`${name}, bytes out`, counted.received, await sum('serving_response_body_bytes_total'))
    compare(
      `${name}, workers`,
      2,
      (await query(prometheus, `serving_workers{job="${name}"}`)).get(''),
    )
    const failures = await query(prometheus, `count_over_time((up{job="${name}"} == 0)[5m:1s])`)
    compare(`${name}, failed scrapes`, 0, failures.get('') ?? 0)
  }
  const rate = (total / Number(values.seconds)).toFixed(0)
  process.stdout.write(
    `${total} requests of 16 clients in ${values.seconds} s, ${rate} a second, engine ${values.engine}\n`,
  )
  return ok
}

let ok = false
try {
  ok = await main()
} finally {
  for (const child of children) {
    if (child.exitCode !== null) continue
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('exit', resolve))
  }
  rmSync(folder, { recursive: true })
}
process.exit(ok ? 0 : 1)
