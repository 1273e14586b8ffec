/**
 * What a capture costs: CPU per request of an array of 2×4 with 1 % and with all of the calls recorded, in pairs with
 * the same server without a capture; and bytes per call beside what KServe logs, bodies as base64 in a Parquet column.
 * `npx tsx --tsconfig bench/tsconfig.json bench/capture.ts [--only bytes|cpu] [--rounds N] [--requests N]`, after
 * `npm run build`. Needs Linux and wrk.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { columnOf } from '../src/values/table/columns.ts'
import { encodeFile } from '../src/values/table/file-decoder.ts'
import { wrk } from './load/wrk.ts'
import { usageOfTree } from './usage.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    requests: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '3' },
    only: { type: 'string', default: 'bytes,cpu' },
  },
})
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bench-capture-'))

interface Server {
  readonly child: ChildProcess
  readonly origin: string
  readonly to: string
}

async function start(rate?: number): Promise<Server> {
  const to = mkdtempSync(join(folder, 'rate-'))
  const captured = rate === undefined ? {} : { CAPTURE_RATE: String(rate), CAPTURE_TO: to }
  const args = ['dist/cli/main.js', 'serve', 'bench/capture.service.ts', '--host', '127.0.0.1']
  const child = spawn(process.execPath, [...args, '--port', '0', '--docs', 'off'], {
    cwd: root,
    env: { ...process.env, ...captured },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let printed = ''
  for await (const text of child.stdout) {
    printed += text
    const [origin] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? []
    if (origin === undefined) continue
    child.stdout.resume()
    return { child, origin, to }
  }
  throw new Error(`the server ended: ${printed}`)
}

async function stop({ child }: Server): Promise<void> {
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/** **Units**: microseconds of CPU per request. */
async function cpuOf({ child, origin }: Server): Promise<number> {
  const bodyFile = join(folder, 'body.json')
  writeFileSync(bodyFile, '[[1,2,3,4],[5,6,7,8]]')
  const load = { contentType: 'application/json', headers: {}, bodyFile, connections: 16 }
  const before = usageOfTree(child.pid as number).cpuMicros
  const { requests } = await wrk({
    ...load,
    url: `${origin}/ndarray`,
    seconds: Number(options.seconds),
  })
  return (usageOfTree(child.pid as number).cpuMicros - before) / requests
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}

async function cpu(): Promise<void> {
  const [plain, some, all] = [await start(), await start(0.01), await start(1)]
  for (const server of [plain, some, all]) await cpuOf(server)
  const ratios: { some: number; all: number; micros: number }[] = []
  for (let round = 0; round < Number(options.rounds); round++) {
    const order = round % 2 === 0 ? [plain, some, all] : [all, some, plain]
    const micros = new Map<Server, number>()
    for (const server of order) micros.set(server, await cpuOf(server))
    const base = micros.get(plain) ?? 0
    const ratio = (server: Server) => (micros.get(server) ?? 0) / base
    ratios.push({ some: ratio(some), all: ratio(all), micros: base })
  }
  for (const server of [plain, some, all]) await stop(server)
  const print = (what: string, values: readonly number[]) =>
    console.log(
      `${what}: ${median(values).toFixed(3)} (${values.map((each) => each.toFixed(3)).join(' ')})`,
    )
  print(
    'µs of CPU per request without',
    ratios.map(({ micros }) => micros),
  )
  print(
    'CPU at 1 % over without',
    ratios.map(({ some }) => some),
  )
  print(
    'CPU at 100 % over without',
    ratios.map(({ all }) => all),
  )
}

const sizeOf = (place: string) =>
  readdirSync(place).reduce((sum, name) => sum + statSync(join(place, name)).size, 0)

/** Numbers as numpy's `random` makes them, with 53 bits. */
const randoms = (count: number) => Array.from({ length: count }, Math.random)

const whole = (most: number) => Math.floor(Math.random() * most)
const oneOf = <T>(list: readonly T[]) => list[whole(list.length)]
const words = 'red blue steel wooden soft round chair table lamp shelf desk box'.split(' ')
const places = 'Berlin Dublin Lisbon London Madrid Oslo Paris Rome Vienna Zagreb'.split(' ')
const products = Array.from({ length: 300 }, () => ({
  product: [oneOf(words), oneOf(words), whole(100)].join(' '),
  category: oneOf(['book', 'food', 'garden', 'music', 'toy']),
  price: whole(100_000) / 100,
}))
let lastOrder = 4_000_000
let lastTime = Date.UTC(2026, 10, 1)

/** Orders of a shop of 300 products and 100,000 customers, one after another. */
const orders = (count: number) =>
  Array.from({ length: count }, () => {
    lastOrder += 1 + whole(3)
    lastTime += whole(10_000)
    return {
      order: lastOrder,
      customer: whole(100_000),
      at: new Date(lastTime).toISOString(),
      ...oneOf(products),
      quantity: 1 + whole(9),
      discount: whole(30) / 100,
      place: oneOf(places),
      is_new: Math.random() < 0.2,
    }
  })

const bodies: Readonly<Record<string, readonly [api: string, make: () => unknown]>> = {
  'float32, 1,000 elements': ['float32s', () => Array.from(Float32Array.from(randoms(1000)))],
  'float64, 1,000 elements': ['float64s', () => randoms(1000)],
  'frame of ten float columns, 100 rows': [
    'frame',
    () =>
      Array.from({ length: 100 }, () =>
        Object.fromEntries(randoms(10).map((value, i) => [`column_${i}`, value])),
      ),
  ],
  'frame of ten columns of a shop, 100 rows': ['shop', () => orders(100)],
  // The ten columns of other measurements of frames here.
  'frame of five floats, three integers, a text and a boolean, 100 rows': [
    'frame',
    () =>
      Array.from({ length: 100 }, () => {
        const floats = Object.fromEntries(randoms(5).map((value, i) => [`float_${i}`, value]))
        const wholes = { int_0: whole(1000), int_1: whole(1000), int_2: whole(1000) }
        return { ...floats, ...wholes, text: `t${whole(97)}`, flag: whole(2) === 0 }
      }),
  ],
}

/** Both directions of each call, as KServe's logger writes them: a row each, the body as base64 of its JSON. */
async function bytes(): Promise<void> {
  for (const [name, [api, make]] of Object.entries(bodies)) {
    const server = await start(1)
    const ids: string[] = []
    const logged: string[] = []
    for (let i = 0; i < Number(options.requests); i++) {
      const body = JSON.stringify(make())
      const answer = await fetch(`${server.origin}/${api}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      const id = answer.headers.get('x-request-id') ?? ''
      for (const [direction, text] of [
        ['request', body],
        ['response', await answer.text()],
      ]) {
        ids.push(`${id} ${direction}`)
        logged.push(Buffer.from(text).toString('base64'))
      }
    }
    await stop(server)
    const columns = [columnOf('id', 'str', ids), columnOf('body', 'str', logged)]
    const other = (await encodeFile({ rows: ids.length, columns }, {})).length
    const ours = sizeOf(join(server.to, api))
    console.log(`${name}: ${ours} against ${other} bytes, ${(ours / other).toFixed(3)}`)
  }
}

try {
  if (options.only.includes('bytes')) await bytes()
  if (options.only.includes('cpu')) await cpu()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit(0)
