/**
 * RPC against its limits, in one run: large arrays over Connect against a bare uWebSockets.js echo of the same bytes, small calls over
 * Connect against the same calls over gRPC, gRPC against a bare @grpc/grpc-js echo.
 *
 * Contenders alternate; the median of the rounds counts. The load runs in a process of its own. Ratios are given of answers a
 * second and of the server's CPU time an answer: the gRPC client is slower than its server, so that answers a second are its own.
 * Run: `npm run build && npx tsx --tsconfig bench/tsconfig.json bench/rpc.ts [--seconds 3] [--rounds 3] [--only TEXT]`
 * @module
 */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { encodeNdarrayFlatbuffer } from '../src/data/ndarray-flatbuffer.ts'
import { decodeResponse, encodeRequest } from '../src/wire/proto.ts'

const { values: options } = parseArgs({
  options: { seconds: { type: 'string' }, rounds: { type: 'string' }, only: { type: 'string' } },
})
const seconds = Number(options.seconds ?? 3)
const rounds = Number(options.rounds ?? 3)
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const method = '/serving.v1.ServingService/Call'

interface Contender {
  readonly child: ChildProcess
  readonly port: number
  readonly grpcPort: number
}

async function start(file: string, ...args: string[]): Promise<Contender> {
  const env = { ...process.env, NODE_ENV: 'production', TSX_TSCONFIG_PATH: here('tsconfig.json') }
  const child = fork(here(`servers/${file}`), args, {
    execArgv: ['--import', 'tsx'],
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [ports] = await once(child, 'message')
  return { child, ...(ports as { port: number; grpcPort: number }) }
}

async function cpuMicros({ child }: Contender): Promise<number> {
  const reply = once(child, 'message')
  child.send('usage')
  const [message] = await reply
  return (message.usage ?? message).cpuMicros
}

interface Result {
  readonly perSecond: number
  readonly cpuMicros: number
}

type Load = (contender: Contender, body: Uint8Array) => Promise<{ requests: number; seconds: number }>

const dir = mkdtempSync(join(tmpdir(), 'bench-rpc-'))

function http(connections: number): Load {
  return ({ port }, body) =>
    load('http-load.ts', body, (file) => [`http://127.0.0.1:${port}${method}`, file, `${connections}`])
}

const grpc: Load = ({ grpcPort }, body) => load('grpc-load.ts', body, (file) => [String(grpcPort), file])

async function load(script: string, body: Uint8Array, args: (file: string) => string[]): ReturnType<Load> {
  const file = join(dir, `body-${body.length}`)
  writeFileSync(file, body)
  const child = fork(here(`servers/${script}`), [...args(file), String(seconds)], { execArgv: ['--import', 'tsx'] })
  const [result] = await once(child, 'message')
  assert.equal(result.errors ?? 0, 0, 'every answer is right')
  return result
}

async function measure(contender: Contender, load: Load, body: Uint8Array): Promise<Result> {
  const before = await cpuMicros(contender)
  const { requests, seconds: took } = await load(contender, body)
  return { perSecond: requests / took, cpuMicros: ((await cpuMicros(contender)) - before) / requests }
}

const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]

async function compare(
  title: string,
  target: number,
  contenders: [string, Contender, Load, Uint8Array][],
): Promise<void> {
  if (!title.includes(options.only ?? '')) return
  const results = contenders.map((): Result[] => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [i, [, contender, load, body]] of contenders.entries()) {
      const result = await measure(contender, load, body)
      // The first round warms up.
      if (round > 0) results[i].push(result)
    }
  }
  const [ours, other] = results.map((list) => ({
    perSecond: median(list.map(({ perSecond }) => perSecond)),
    cpu: median(list.map(({ cpuMicros }) => cpuMicros)),
  }))
  console.log(`${title} (target ${target})`)
  for (const [i, each] of [ours, other].entries()) {
    console.log(
      `  ${contenders[i][0]}: ${each.perSecond.toFixed(0)} a second, ${each.cpu.toFixed(1)} µs of the server's CPU each`,
    )
  }
  console.log(
    `  ratio: ${(ours.perSecond / other.perSecond).toFixed(2)} by answers a second, ${(other.cpu / ours.cpu).toFixed(2)} by CPU`,
  )
}

const serving = await start('rpc.ts', 'serving')
const bareUws = await start('bare.ts')
const bareGrpc = await start('rpc.ts', 'bare-grpc')
try {
  const array = (size: number) => ({
    dtype: 'float32' as const,
    shape: [size],
    data: Float32Array.from({ length: size }, Math.random),
  })
  const large = encodeRequest('ndarray', {
    field: 'serialized_bytes',
    message: encodeNdarrayFlatbuffer(array(1_000_000)),
  })
  const small = encodeRequest('ndarray', {
    field: 'ndarray',
    message: { dtype: 1, shape: [2, 4], floatValues: array(8).data },
  })
  const answer = await fetch(`http://127.0.0.1:${serving.port}${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/proto', accept: 'application/x-flatbuffers' },
    body: large,
  })
  const content = decodeResponse(Buffer.from(await answer.arrayBuffer()))
  assert(large.includes(Buffer.from(content?.message as Uint8Array)), 'the array comes back as it was')
  await compare('1M float32 as serialized bytes over Connect, against bare uWebSockets.js', 0.6, [
    ['Connect', serving, http(2), large],
    ['bare uWebSockets.js', bareUws, http(2), large],
  ])
  await compare('small NDArray over Connect, against gRPC', 3, [
    ['Connect', serving, http(64), small],
    ['gRPC', serving, grpc, small],
  ])
  await compare('small NDArray over gRPC, against a bare grpc-js echo', 0.7, [
    ['gRPC', serving, grpc, small],
    ['bare grpc-js', bareGrpc, grpc, small],
  ])
} finally {
  for (const { child } of [serving, bareUws, bareGrpc]) child.kill()
  rmSync(dir, { recursive: true })
}
