/**
 * What bodies that are cheap to send and dear to read do to the requests of others: `npm run build` and
 * `npx tsx --tsconfig bench/tsconfig.json bench/stall.ts [--only TEXT] [--engine uws|node] [--checkout DIR] [--raw]
 * [--size BYTES] [--concurrent NUMBER]`, of which `--only`, `--engine` and `--size` may come more than once.
 *
 * A server of one worker answers a neighbour, a process that sends a small array every 5 ms. Beside it each body of the
 * list is sent as gzip; SERVING_MAX_UNPACK_RATIO=2000 in the environment lifts the limit that would refuse most.
 * Printed are the answer, the neighbour's p99 and its longest wait, the longest stretch of the event loop in CPU time
 * of its thread, which other work on the machine does not add to, and the server's memory. Linux only: it looks into
 * /proc. `--raw` sends the bodies uncompressed, and repeated up to 60 MB, as messages of RPC are always; `--checkout`
 * measures another build. SERVING_PYTHON names a Python with numpy. The last line of an engine names the bodies above
 * the targets.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { Generator } from './load/load.ts'
import type { NeighbourRequest, NeighbourResult } from './load/neighbour.ts'
import { type Attack, attacks } from './stall-bodies.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    checkout: { type: 'string' },
    raw: { type: 'boolean', default: false },
    engine: { type: 'string', multiple: true, default: ['uws'] },
    size: { type: 'string', multiple: true },
    concurrent: { type: 'string', default: '1' },
  },
})
const concurrent = Number(options.concurrent)
// **Units**: bytes on the wire, as gzip or as they are.
const sizes =
  options.size?.map(Number) ?? (options.raw ? [1 << 20, 60_000_000] : [1024, 8192, 65_000])
/** **Units**: milliseconds. */
const targets = { p99: 50, cpu: 100 }

const neighbour = await Generator.start<NeighbourRequest, NeighbourResult>('./neighbour.ts')
for (const engine of options.engine) await main(engine)
await neighbour[Symbol.asyncDispose]()

async function main(engine: string): Promise<void> {
  const root = options.checkout ?? fileURLToPath(new URL('..', import.meta.url))
  const chosen = attacks.filter(
    ({ name }) => options.only.length === 0 || options.only.some((text) => name.includes(text)),
  )
  let server = await start(root, engine)
  const above: string[] = []
  let count = 0
  console.log(
    engine.padEnd(26),
    'wire'.padStart(9),
    'unpacked'.padStart(9),
    'status'.padStart(7),
    'ms'.padStart(7),
    'p99 ms'.padStart(8),
    'max ms'.padStart(8),
    'CPU ms'.padStart(8),
    'RSS MB'.padStart(7),
  )
  for (const attack of chosen) {
    for (const size of attack.isOutput ? [1] : sizes) {
      const { text, wire } = bodyOf(attack, size)
      if (attack.isOutput) await post(server.port, attack.path, wire, headersOf(attack))
      const seen = await measure(server.port, attack, wire)
      const cells = [
        `${wire.length}`.padStart(9),
        `${text}`.padStart(9),
        seen.status.padStart(7),
        seen.ms.toFixed(0).padStart(7),
        seen.p99.toFixed(1).padStart(8),
        seen.max.toFixed(1).padStart(8),
        seen.cpu.toFixed(1).padStart(8),
        `${rssMb(server.child)}`.padStart(7),
      ]
      console.log(attack.name.padEnd(26), cells.join(' '))
      count++
      if (seen.status === 'lost' || seen.p99 > targets.p99 || seen.cpu > targets.cpu) {
        above.push(`${attack.name} (p99 ${seen.p99.toFixed(0)}, CPU ${seen.cpu.toFixed(0)})`)
      }
      if (seen.status === 'lost') server = await start(root, engine)
    }
  }
  server.child.kill()
  const what = `p99 above ${targets.p99} ms or a stretch of CPU above ${targets.cpu} ms`
  console.log(
    `${engine}: ${count} bodies, ${above.length} with ${what}${above.length === 0 ? '' : `: ${above.join(', ')}`}`,
  )
}

function isCompressed({ isRaw }: Attack): boolean {
  return !options.raw && !isRaw
}

function headersOf(attack: Attack): Record<string, string> {
  const { type = 'application/json' } = attack
  return { 'content-type': type, ...(isCompressed(attack) && { 'content-encoding': 'gzip' }) }
}

/** Returns a body of about `size` bytes on the wire. */
function bodyOf(attack: Attack, size: number): { readonly text: number; readonly wire: Buffer } {
  const { make, isOutput } = attack
  const pack = (text: string | Buffer) =>
    isCompressed(attack) ? gzipSync(text) : Buffer.from(text as string)
  if (isOutput) return { text: 1, wire: pack(make(1)) }
  const [large, small] = [make(180_000), make(90_000)]
  const sample = pack(large).length - pack(small).length
  const unit = large.length - small.length
  const times = Math.min(
    (size / Math.max(1, sample)) * 90_000,
    (60_000_000 / Math.max(1, unit)) * 90_000,
    20_000_000,
  )
  const text = make(Math.max(1, Math.floor(times)))
  return { text: Buffer.byteLength(text), wire: pack(text) }
}

interface Seen {
  /** `lost` where the server ended. */
  readonly status: string
  readonly ms: number
  readonly p99: number
  readonly max: number
  /** Of the longest stretch of the event loop. */
  readonly cpu: number
}

async function measure(port: number, attack: Attack, wire: Buffer): Promise<Seen> {
  const { path } = attack
  const headers = headersOf(attack)
  const longestTurn = () => post(port, '/longest_turn', Buffer.from('0'), {})
  await neighbour.fire({ port })
  await longestTurn()
  await sleep(100)
  const began = performance.now()
  const answers = await Promise.all(
    Array.from({ length: concurrent }, () => post(port, path, wire, headers)),
  )
  const ms = performance.now() - began
  await sleep(100)
  const { p99Ms, maxMs } = await neighbour.fire({})
  const cpu = Number((await longestTurn()).text)
  return { status: answers[0].status, ms, p99: p99Ms, max: maxMs, cpu }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function post(
  port: number,
  path: string,
  body: Buffer,
  headers: Record<string, string>,
): Promise<{ readonly status: string; readonly text: string }> {
  return new Promise((resolve) => {
    const lost = () => resolve({ status: 'lost', text: '' })
    const req = request({
      host: '127.0.0.1',
      port,
      path,
      method: 'POST',
      headers: { ...headers, 'content-length': body.length },
    })
    req.on('response', (res) => {
      const pieces: Buffer[] = []
      // Answers of megabytes are only read.
      res.on('data', (piece: Buffer) => pieces.length < 4 && pieces.push(piece))
      res.on('end', () =>
        resolve({ status: String(res.statusCode), text: Buffer.concat(pieces).toString() }),
      )
      res.on('error', lost)
    })
    req.on('error', lost)
    req.end(body)
  })
}

async function start(
  root: string,
  engine: string,
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const args = [
    'dist/cli/main.js',
    'serve',
    'bench/stall.service.ts',
    ...['--workers', '1', '--engine', engine],
    '--port',
    '0',
    '--host',
    '127.0.0.1',
  ]
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const [chunk] of lines(child)) {
    const port = /:(\d+)/.exec(chunk)?.[1]
    if (port !== undefined) return { child, port: Number(port) }
  }
  throw new Error('the server did not start')
}

async function* lines(child: ChildProcess): AsyncGenerator<[string]> {
  while (child.stdout !== null) {
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
    yield [chunk.toString()]
  }
}

/** Returns the memory of the worker, the child of the server that is given. */
function rssMb(child: ChildProcess): number {
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
    .trim()
    .split(/\s+/)
  const kb = Math.max(
    ...children.map((pid) =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0),
    ),
  )
  return Math.round(kb / 1024)
}
