/**
 * Four served processes behind HAProxy, by the recipe of docs/: replaces all of them under load, over HTTP (wrk) and
 * gRPC, then kills one; no request may fail. Prints how calls were spread, and how soon a replica got no more of them.
 *
 * Run: `npm run build && npx tsx test/soak/haproxy.ts`; `--requests 100000` (at least, for each engine),
 * `--connections 32`, `--delay 1500` (their --drain-delay-ms), `--engines uws,node`. Needs haproxy and wrk.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { encodeRequest } from '../../src/messages/envelope.ts'
import { takePort } from '../../src/server/workers/free-port.ts'
import { GrpcClient } from '../rpc/harness.ts'

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    connections: { type: 'string', default: '32' },
    delay: { type: 'string', default: '1500' },
    engines: { type: 'string', default: 'uws,node' },
  },
})
const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'serving-haproxy-'))
const children = new Set<ChildProcess>()

function start(command: string, args: string[], log: string): ChildProcess {
  const stderr = openSync(join(folder, log), 'a')
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', stderr] })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

const freePort = () => takePort(0, '127.0.0.1')

/** Waits until `check` holds. Returns how long that took. **Units**: milliseconds. */
async function until(what: string, check: () => Promise<boolean>): Promise<number> {
  const begun = performance.now()
  while (!(await check())) {
    if (performance.now() - begun > 60_000) throw new Error(`waited in vain for ${what}`)
    await wait(10)
  }
  return performance.now() - begun
}

/** A served process on ports of its own. */
class Replica {
  readonly name: string
  readonly port: number
  readonly grpcPort: number
  readonly #engine: string
  #process!: ChildProcess

  constructor(name: string, port: number, grpcPort: number, engine: string) {
    this.name = name
    this.port = port
    this.grpcPort = grpcPort
    this.#engine = engine
  }

  start(): void {
    const where = [
      '--host',
      '127.0.0.1',
      '--port',
      String(this.port),
      '--grpc-port',
      String(this.grpcPort),
    ]
    const how = ['--workers', '1', '--engine', this.#engine, '--drain-delay-ms', options.delay]
    this.#process = start(
      process.execPath,
      [join(folder, 'build/main.js'), ...where, ...how],
      `${this.name}.log`,
    )
  }

  /** Ends it in order. Returns its exit code. */
  async stop(): Promise<number | null> {
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGTERM')
    return (await ended)[0]
  }

  /** Ends its supervisor and its worker at once. */
  kill(): void {
    const pid = this.#process.pid as number
    const worker = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    this.#process.kill('SIGKILL')
    process.kill(Number(worker), 'SIGKILL')
  }

  /** Returns how many requests it has answered. */
  async answered(transport: string): Promise<number> {
    const page = await (await fetch(`http://127.0.0.1:${this.port}/metrics`)).text()
    const lines = page.split('\n').filter((line) => line.startsWith('serving_requests_total{'))
    const counts = lines
      .filter((line) => line.includes(`transport="${transport}"`))
      .map((line) => line.split(' ')[1])
    return counts.reduce((sum, count) => sum + Number(count), 0)
  }
}

/** HAProxy in front of replicas, by the configuration that the page of load balancers shows. */
class Balancer {
  readonly port: number
  readonly grpcPort: number
  readonly #socket: string
  readonly #process: ChildProcess

  constructor(replicas: readonly Replica[], port: number, grpcPort: number) {
    this.port = port
    this.grpcPort = grpcPort
    this.#socket = join(folder, `haproxy-${port}.sock`)
    const recipe =
      /```haproxy\n([^`]+)```/.exec(
        readFileSync(join(root, 'docs/deploy/load-balancer.md'), 'utf8'),
      )?.[1] ?? ''
    const config = recipe
      .replace('bind :80\n', `bind 127.0.0.1:${port}\n`)
      .replace('bind :81 ', `bind 127.0.0.1:${grpcPort} `)
      .replace(/10\.0\.0\.(\d):(3000|3001)/g, (_, i, which) => {
        const replica = replicas[i - 1]
        return `127.0.0.1:${which === '3000' ? replica.port : replica.grpcPort}`
      })
    const file = join(folder, `haproxy-${port}.cfg`)
    writeFileSync(file, `global\n  stats socket ${this.#socket} level admin\n${config}`)
    this.#process = start('haproxy', ['-db', '-f', file], 'haproxy.log')
  }

  /** Returns a column of HAProxy's statistics by server: `a` to `d`, of the backend `http`. */
  async column(name: string): Promise<ReadonlyMap<string, string>> {
    const socket = connect(this.#socket)
    socket.end('show stat\n')
    const [head, ...rows] = (await text(socket).catch(() => '')).replace('# ', '').split('\n')
    const index = head.split(',').indexOf(name)
    const cells = rows.map((row) => row.split(',')).filter(([backend]) => backend === 'http')
    return new Map(cells.map((row) => [row[1], row[index]]))
  }

  /** Waits until HAProxy's checks say so of a replica. Returns how long that took. **Units**: milliseconds. */
  async becomes(status: 'UP' | 'DOWN', replica: Replica): Promise<number> {
    return await until(
      `${replica.name} ${status}`,
      async () => (await this.column('status')).get(replica.name) === status,
    )
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await ended
  }
}

/** Calls over one gRPC channel, eight at a time, until it is stopped. */
class GrpcLoad {
  readonly failures: string[] = []
  calls = 0
  readonly #client: GrpcClient
  readonly #loops: Promise<void>[]
  #isOver = false

  constructor(port: number) {
    this.#client = new GrpcClient(port)
    this.#loops = Array.from({ length: 8 }, () => this.#loop())
  }

  async #loop(): Promise<void> {
    const message = { dtype: 1, shape: [1, 4], floatValues: Float32Array.of(5.1, 3.5, 1.4, 0.2) }
    const flower = encodeRequest('classify', { field: 'ndarray', message })
    while (!this.#isOver) {
      const { error } = await this.#client.raw(flower)
      this.calls++
      if (error !== undefined) this.failures.push(`${error.code} ${error.details}`)
      // A tenth of the load, so that wrk has the processor.
      await wait(5)
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#loops)
    this.#client.close()
  }
}

/** wrk, until it is stopped. */
class HttpLoad {
  readonly #process: ChildProcess
  readonly #output: Promise<string>

  constructor(port: number) {
    const script = fileURLToPath(new URL('reload.lua', import.meta.url))
    const how = [
      '-t',
      '1',
      '-c',
      options.connections,
      '-d',
      '3600',
      '--timeout',
      '10',
      '-s',
      script,
    ]
    this.#process = start('wrk', [...how, `http://127.0.0.1:${port}/classify`], 'wrk.log')
    this.#output = text(this.#process.stdout as NodeJS.ReadableStream)
  }

  /** Returns the number of requests, and what wrk says of those that failed. */
  async stop(): Promise<{ requests: number; failures: string[] }> {
    this.#process.kill('SIGINT')
    const output = await this.#output
    const failures = output.split('\n').filter((line) => /Socket errors|Non-2xx/.test(line))
    return {
      requests: Number(/(\d+) requests in/.exec(output)?.[1]),
      failures: failures.map((line) => line.trim()),
    }
  }
}

const list = (values: readonly number[]) =>
  values.map((value) => String(Math.round(value))).join(', ')

/** Returns whether no request failed. */
async function run(engine: string): Promise<boolean> {
  const replicas: Replica[] = []
  for (const name of 'abcd')
    replicas.push(new Replica(name, await freePort(), await freePort(), engine))
  const balancer = new Balancer(replicas, await freePort(), await freePort())
  for (const replica of replicas) replica.start()
  for (const replica of replicas) await balancer.becomes('UP', replica)

  const spread = new GrpcClient(balancer.grpcPort)
  const message = { dtype: 1, shape: [1, 4], floatValues: Float32Array.of(5.1, 3.5, 1.4, 0.2) }
  for (let i = 0; i < 400; i++)
    await spread.raw(encodeRequest('classify', { field: 'ndarray', message }))
  spread.close()
  const calls = await Promise.all(replicas.map((replica) => replica.answered('grpc')))
  console.log(`${engine}: 400 gRPC calls of one channel went to replicas as ${list(calls)}`)

  const [http, grpc] = [new HttpLoad(balancer.port), new GrpcLoad(balancer.grpcPort)]
  const [exits, removals]: [(number | null)[], number[]] = [[], []]
  const total = async () => Number((await balancer.column('req_tot')).get('BACKEND'))
  const before = await total()
  do {
    for (const replica of replicas) {
      const [exit, removal] = await Promise.all([replica.stop(), balancer.becomes('DOWN', replica)])
      exits.push(exit)
      removals.push(removal)
      replica.start()
      await balancer.becomes('UP', replica)
    }
  } while ((await total()) - before < Number(options.requests))
  await grpc.stop()
  const { requests, failures } = await http.stop()
  failures.push(...new Set(grpc.failures))
  const rolled = `${requests} requests and ${grpc.calls} gRPC calls during ${exits.length} replacements`
  console.log(
    `${engine}: ${rolled}: ${failures.join('; ') || '0 failed'}; out of rotation after ${list(removals)} ms`,
  )

  const unlucky = new HttpLoad(balancer.port)
  const begun = await total()
  await until('load', async () => (await total()) - begun > 1000)
  const [victim, ...others] = replicas
  victim.kill()
  const removal = await balancer.becomes('DOWN', victim)
  const atDown = await Promise.all(others.map((replica) => replica.answered('http')))
  await until('the others to go on', async () => {
    const now = await Promise.all(others.map((replica) => replica.answered('http')))
    return now.every((count, i) => count > atDown[i] + 500)
  })
  const killed = await unlucky.stop()
  const lost = killed.failures.join('; ') || '0 failed'
  console.log(
    `${engine}: ${killed.requests} requests, one replica killed: ${lost}; out after ${list([removal])} ms`,
  )

  const codes = await Promise.all(others.map((replica) => replica.stop()))
  await balancer.stop()
  const isSpread = Math.max(...calls) - Math.min(...calls) <= 4
  const isOrderly = [...exits, ...codes].every((code) => code === 0)
  if (!isOrderly) console.log(`${engine}: exit codes ${exits}, ${codes}`)
  return failures.length === 0 && killed.failures.length === 0 && isSpread && isOrderly
}

let failed = false
try {
  const build = [
    'dist/cli/main.js',
    'build',
    'examples/iris/service.ts',
    '--out',
    join(folder, 'build'),
  ]
  const [code] = await once(start(process.execPath, build, 'build.log'), 'exit')
  if (code !== 0) throw new Error(readFileSync(join(folder, 'build.log'), 'utf8'))
  for (const engine of options.engines.split(',')) if (!(await run(engine))) failed = true
} finally {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = failed ? 1 : 0
