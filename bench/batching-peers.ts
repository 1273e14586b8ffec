/**
 * Goodput of texts over HTTP, of serving beside BentoML and Triton at each of their settings by hand: the most calls
 * per second of which 99 in 100 are answered within 50 ms. After `npm run build` and `bench/peers/python/install.sh`:
 * `npx tsx --tsconfig bench/tsconfig.json bench/batching-peers.ts [serving|bentoml|triton ...] [--seconds N]
 * [--model text|recurrent] [--quick] [--cpu]`. Servers have one core, one process and one thread of the model. `--cpu`
 * takes the calls of a second of CPU for goodput, which busy neighbours change little.
 * @module
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { workerNodeOptions } from '../src/server/workers/worker-options.ts'
import { capacity, deadlineMs, type Send, texts } from './goodput.ts'
import { startPython } from './peers/python.ts'
import { pinned, serverCore } from './pinning.ts'
import { usageOfTree } from './usage.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: 'string', default: 'recurrent' },
    seconds: { type: 'string', default: '3' },
    cpu: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
  },
})
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
process.env.BENCH_MODEL = here(`./models/${options.model}.onnx`)

interface Peer {
  readonly path: string
  readonly body: (tokens: number[]) => unknown
  /** Undefined for serving, which learns what others are told. */
  readonly settings?: readonly { readonly batch: number; readonly waitMs: number }[]
}

const settings = (waits: readonly number[]) =>
  (options.quick ? [4, 16] : [1, 4, 8, 16, 64]).flatMap((batch) =>
    waits.map((waitMs) => ({ batch, waitMs })),
  )

const peers: Readonly<Record<string, Peer>> = {
  serving: { path: '/predict', body: (tokens) => [tokens] },
  // The bound of its wait is also that of its answer, so that short ones refuse.
  bentoml: {
    path: '/predict',
    body: (tokens) => ({ texts: [tokens] }),
    settings: settings(options.quick ? [200] : [50, 200, 1000]),
  },
  triton: {
    path: '/v2/models/texts/infer',
    body: (data) => ({
      inputs: [{ name: 'text', datatype: 'INT32', shape: [1, data.length], data }],
    }),
    settings: settings(options.quick ? [0, 2] : [0, 2, 10]),
  },
}

async function startOurs() {
  const child = fork(here('./servers/texts.ts'), {
    ...pinned(serverCore, [...workerNodeOptions, '--import', 'tsx']),
    env: { ...process.env, NODE_ENV: 'production', TSX_TSCONFIG_PATH: here('tsconfig.json') },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const stop = async () => {
    const gone = once(child, 'exit')
    child.disconnect()
    await gone
  }
  return { url: `http://127.0.0.1:${port}`, pid: child.pid as number, stop }
}

const sample = texts(4096).map(({ data }) => [...data])

/** @returns the CPU of a call while 32 callers always wait for an answer: busy neighbours change it little. */
async function cpuOfCall(send: Send, pid: number, seconds: number): Promise<number> {
  const before = usageOfTree(pid)
  const end = performance.now() + seconds * 1000
  let sent = 0
  const call = async () => {
    while (performance.now() < end) await send({ deadlineMs: 0 }, sent++).catch(() => {})
  }
  await Promise.all(Array.from({ length: 32 }, call))
  return (usageOfTree(pid).cpuMicros - before.cpuMicros) / sent / 1000
}

async function goodputOf(name: string, label: string): Promise<number> {
  const { path, body } = peers[name]
  const { url, pid, stop } = await (name === 'serving' ? startOurs() : startPython(`texts-${name}`))
  const agent = new Agent({ keepAlive: true })
  const bodies = sample.map((tokens) => Buffer.from(JSON.stringify(body(tokens))))
  const send: Send = (_, i) =>
    new Promise<void>((resolve, reject) => {
      const bytes = bodies[i % bodies.length]
      const headers = {
        'content-type': 'application/json',
        'content-length': bytes.length,
        ...(name === 'serving' && !options.cpu && { 'grpc-timeout': `${deadlineMs}m` }),
      }
      const outgoing = request(url + path, { method: 'POST', agent, headers }, (response) => {
        response.resume()
        response.on('end', () =>
          response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`)),
        )
      })
      outgoing.on('error', reject)
      outgoing.end(bytes)
    })
  for (let i = 0; i < 50; i++) await send({ deadlineMs: 0 }, i).catch(() => {})
  const seconds = Number(options.seconds)
  const cpuMs = await cpuOfCall(send, pid, seconds)
  const goodput = options.cpu ? 1000 / cpuMs : await capacity(send, seconds)
  console.log(
    `${options.model}, ${label}: ${goodput.toFixed(0)}/s, ${cpuMs.toFixed(2)} ms of CPU a call`,
  )
  agent.destroy()
  await stop()
  return goodput
}

let ours: number | undefined
for (const name of positionals.length > 0 ? positionals : Object.keys(peers)) {
  const hands = peers[name].settings
  if (hands === undefined) {
    ours = await goodputOf(name, name)
    continue
  }
  let best = 0
  for (const { batch, waitMs } of hands) {
    process.env.BENCH_BATCH = String(batch)
    process.env.BENCH_WAIT_MS = String(waitMs)
    best = Math.max(best, await goodputOf(name, `${name} of ${batch} rows, ${waitMs} ms`))
  }
  if (ours !== undefined) console.log(`  ratio ${(ours / best).toFixed(2)} (target 1.3)`)
}
