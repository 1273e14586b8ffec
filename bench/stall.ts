/**
 * What bodies that are cheap to send and dear to read do to the requests of others: `npm run build` and
 * `npx tsx --tsconfig bench/tsconfig.json bench/stall.ts [--only TEXT] [--checkout DIR] [--raw] [--concurrent NUMBER]`.
 *
 * A server of one worker answers a neighbour, who sends a small array every 5 ms. Beside it each body of the list is
 * sent as gzip; SERVING_MAX_UNPACK_RATIO=2000 in the environment lifts the limit that would refuse most. Printed are
 * the answer, the neighbour's p99 and its longest wait, the longest stretch of the event loop in CPU time of its
 * thread, which other work on the machine does not add to, and the server's memory. Linux only: it looks into /proc.
 * `--raw` sends the bodies uncompressed, and repeated up to 60 MB; `--checkout` measures another build.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'

/** A body that a client could send. */
interface Attack {
  readonly name: string
  readonly path: string
  readonly type?: string
  /** The body with its middle repeated. */
  readonly make: (times: number) => string
  /** Sent as it is, without size: the answer is what is large, and made by a call before. */
  readonly isOutput?: boolean
}

const list = (element: string) => (times: number) => `[${`${element},`.repeat(times)}${element}]`
const distinct = (make: (i: number) => string) => (times: number) =>
  `[${Array.from({ length: times }, (_, i) => make(i)).join()}]`

const attacks: readonly Attack[] = [
  { name: 'json: numbers', path: '/json', make: list('0') },
  { name: 'json: empty lists', path: '/json', make: list('[]') },
  { name: 'json: empty objects', path: '/json', make: list('{}') },
  { name: 'json: lists of one', path: '/json', make: list('[0]') },
  { name: 'json: nested lists', path: '/json', make: list(`${'['.repeat(60)}${']'.repeat(60)}`) },
  { name: 'json: nested objects', path: '/json', make: list(`${'{"a":'.repeat(60)}0${'}'.repeat(60)}`) },
  { name: 'json: records', path: '/json', make: list('{"a":0,"b":"x"}') },
  { name: 'json: keys of their own', path: '/json', make: distinct((i) => `{"k${i}":0}`) },
  {
    name: 'json: one object',
    path: '/json',
    make: (times) => `{${Array.from({ length: times }, (_, i) => `"k${i}":0`).join()}}`,
  },
  { name: 'json: records, echoed', path: '/echo', make: list('{"a":0,"b":"x"}') },
  { name: 'json: a string, echoed', path: '/echo', make: (times) => `"${'abc'.repeat(times)}"` },
  { name: 'json: strings', path: '/json', make: list('"ab"') },
  { name: 'json: a string', path: '/json', make: (times) => `"${'abc'.repeat(times)}"` },
  { name: 'json: escapes', path: '/json', make: (times) => `"${'\\u0041'.repeat(times)}"` },
  { name: 'json: escaped quotes', path: '/json', make: (times) => `"${'\\"'.repeat(times)}"` },
  { name: 'json: escapes, fault', path: '/json', make: (times) => `["${'\\u0041'.repeat(times)}",x]` },
  { name: 'json: digits', path: '/json', make: (times) => `0.${'1'.repeat(times)}` },
  { name: 'json: blanks', path: '/json', make: (times) => `[0,${'   '.repeat(times)}1]` },
  { name: 'json: fault at the end', path: '/json', make: (times) => `[${'0,'.repeat(times)}x]` },
  { name: 'json: wide integers', path: '/json', make: list('9007199254740993') },
  { name: 'schema: wrong elements', path: '/strings', make: list('1') },
  { name: 'schema: right elements', path: '/strings', make: list('"a"') },
  {
    name: 'schema: wrong records',
    path: '/records',
    make: (times) => `{"rows":[${'{"a":"","b":0},'.repeat(times)}0]}`,
  },
  {
    name: 'schema: right records',
    path: '/records',
    make: (times) => `{"rows":[${'{"a":1,"b":"x"},'.repeat(times)}{"a":1,"b":"x"}]}`,
  },
  { name: 'array: numbers', path: '/array', make: list('[1,2]') },
  { name: 'array: strings', path: '/array', make: list('"ab"') },
  { name: 'frame: records', path: '/frame', make: list('{"a":0,"b":"x"}') },
  {
    name: 'frame: columns',
    path: '/columns',
    make: (times) => `{"a":{${Array.from({ length: times }, (_, i) => `"${i}":0`).join()}}}`,
  },
  { name: 'frame: csv', path: '/frame', type: 'text/csv', make: (times) => `a,b\n${'1,x\n'.repeat(times)}` },
  { name: 'series: numbers', path: '/series', make: list('0') },
  { name: 'series: strings', path: '/series', make: list('"ab"') },
  ...['records', 'columns', 'index', 'split', 'table', 'values'].map((orient) => ({
    name: `wide frame: ${orient}`,
    path: `/frame_${orient}`,
    make: wideFrame(orient),
  })),
  { name: 'wide frame: csv', path: '/frame', type: 'text/csv', make: wideFrame('csv') },
  ...[
    ...['long', 'wide'].flatMap((size) =>
      ['records', 'columns', 'index', 'split', 'table', 'values', 'csv', 'parquet'].map((form) => `${size}_${form}`),
    ),
    ...['array', 'words', 'series', 'series_words', 'text', 'text_wide', 'file', 'json', 'json_schema', 'json_object'],
  ].map((name) => ({ name: `output: ${name}`, path: `/out_${name}`, make: () => '0', isOutput: true })),
]

/** Returns frames of 16,000 columns. */
function wideFrame(form: string): Attack['make'] {
  const names = Array.from({ length: 16_000 }, (_, i) => `c${i}`)
  const row = (make: (name: string, i: number) => string) => names.map(make).join()
  return (times) => {
    const rows = Array.from({ length: Math.max(1, Math.ceil(times / 16_000)) }, (_, i) => i)
    const list = `[${row((_, i) => `${i}`)}]`
    if (form === 'csv') return `${names.join()}\n${rows.map(() => `${list.slice(1, -1)}\n`).join('')}`
    if (form === 'values') return `[${rows.map(() => list).join()}]`
    const record = `{${row((name, i) => `"${name}":${i}`)}}`
    if (form === 'records') return `[${rows.map(() => record).join()}]`
    if (form === 'index') return `{${rows.map((i) => `"${i}":${record}`).join()}}`
    if (form === 'split') return `{"columns":${JSON.stringify(names)},"data":[${rows.map(() => list).join()}]}`
    if (form === 'table') {
      const fields = row((name) => `{"name":"${name}","type":"integer"}`)
      return `{"schema":{"fields":[${fields}]},"data":[${rows.map(() => record).join()}]}`
    }
    return `{${row((name, i) => `"${name}":{${rows.map((row) => `"${row}":${i}`).join()}}`)}}`
  }
}

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    checkout: { type: 'string' },
    raw: { type: 'boolean', default: false },
    concurrent: { type: 'string', default: '1' },
  },
})
const concurrent = Number(options.concurrent)
// **Units**: bytes on the wire, as gzip or as they are.
const sizes = options.raw ? [1 << 20, 60_000_000] : [1024, 8192, 65_000]

await main()

async function main(): Promise<void> {
  const root = options.checkout ?? fileURLToPath(new URL('..', import.meta.url))
  const chosen = attacks.filter(
    ({ name }) => options.only.length === 0 || options.only.some((text) => name.includes(text)),
  )
  let server = await start(root)
  console.log(
    'body'.padEnd(26),
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
      if (attack.isOutput) await post(server.port, attack.path, wire, options.raw ? {} : { 'content-encoding': 'gzip' })
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
      if (seen.status === 'lost') server = await start(root)
    }
  }
  server.child.kill()
}

/** Returns a body of about `size` bytes on the wire. */
function bodyOf({ make, isOutput }: Attack, size: number): { readonly text: number; readonly wire: Buffer } {
  const pack = (text: string) => (options.raw ? Buffer.from(text) : gzipSync(text))
  if (isOutput) return { text: 1, wire: pack(make(1)) }
  const sample = pack(make(20_000)).length - pack(make(10_000)).length
  const unit = make(20_000).length - make(10_000).length
  const times = Math.min((size / Math.max(1, sample)) * 10_000, (60_000_000 / unit) * 10_000)
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

async function measure(port: number, { path, type = 'application/json' }: Attack, wire: Buffer): Promise<Seen> {
  const headers = { 'content-type': type, ...(options.raw ? {} : { 'content-encoding': 'gzip' }) }
  const neighbour = new Agent({ keepAlive: true, maxSockets: 64 })
  const waits: number[] = []
  const pending: Promise<void>[] = []
  const ask = () => {
    const began = performance.now()
    const done = post(port, '/double', Buffer.from('[[1,2],[3,4]]'), { 'content-type': 'application/json' }, neighbour)
    pending.push(done.then(() => void waits.push(performance.now() - began)))
  }
  // A warm connection, and the time alone.
  for (let i = 0; i < 20; i++) await post(port, '/double', Buffer.from('[1]'), {}, neighbour)
  waits.length = 0
  const longestTurn = () => post(port, '/longest_turn', Buffer.from('0'), {}, neighbour)
  await longestTurn()
  const timer = setInterval(ask, 5)
  await sleep(100)
  const began = performance.now()
  const answers = await Promise.all(Array.from({ length: concurrent }, () => post(port, path, wire, headers)))
  const ms = performance.now() - began
  await sleep(100)
  clearInterval(timer)
  await Promise.all(pending)
  const cpu = Number((await longestTurn()).text)
  neighbour.destroy()
  waits.sort((a, b) => a - b)
  return {
    status: answers[0].status,
    ms,
    p99: waits[Math.floor(waits.length * 0.99)] ?? 0,
    max: waits.at(-1) ?? 0,
    cpu,
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function post(
  port: number,
  path: string,
  body: Buffer,
  headers: Record<string, string>,
  agent?: Agent,
): Promise<{ readonly status: string; readonly text: string }> {
  return new Promise((resolve) => {
    const lost = () => resolve({ status: 'lost', text: '' })
    const req = request({
      host: '127.0.0.1',
      port,
      path,
      method: 'POST',
      headers: { ...headers, 'content-length': body.length },
      agent,
    })
    req.on('response', (res) => {
      const pieces: Buffer[] = []
      // Answers of megabytes are only read.
      res.on('data', (piece: Buffer) => pieces.length < 4 && pieces.push(piece))
      res.on('end', () => resolve({ status: String(res.statusCode), text: Buffer.concat(pieces).toString() }))
      res.on('error', lost)
    })
    req.on('error', lost)
    req.end(body)
  })
}

async function start(root: string): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const args = [
    'dist/cli/main.js',
    'serve',
    'bench/stall.service.ts',
    '--workers',
    '1',
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
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(/\s+/)
  const kb = Math.max(
    ...children.map((pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)),
  )
  return Math.round(kb / 1024)
}
