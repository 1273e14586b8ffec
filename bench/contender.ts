/**
 * A contender: a server, or a library in a loop, in a process of its own.
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { quantileOf } from '../src/cli/load/summary.ts'
import { workerNodeOptions } from '../src/server/workers/worker-options.ts'
import type { BenchCase } from './cases/case.ts'
import { callByGrpc } from './load/grpc.ts'
import type { Load, LoadResult } from './load/load.ts'
import { askByWebSocket } from './load/websocket.ts'
import { findProgram, startProgram } from './peers/compiled.ts'
import { findPython, startPython } from './peers/python.ts'
import { pinned, serverCore } from './pinning.ts'
import { findSharp } from './servers/fastify/image.ts'
import type { Usage } from './servers/listening.ts'
import { hasProcFs, usageOfTree } from './usage.ts'

/** A process that can do the job. */
export interface Contender extends AsyncDisposable {
  readonly name: string
  readonly pid: number
  /** undefined for a library in a loop; `grpc:` for gRPC. */
  readonly url?: string
  usage(): Promise<Usage>
  /** Returns the answer to one request. */
  ask(): Promise<{ readonly ok: boolean; readonly type: string; readonly body: Buffer }>
  /** Makes many requests; `fire` sends them where there is a server. */
  load(fire: Load, seconds: number, amount?: number): Promise<LoadResult>
}

interface Kind {
  readonly file?: string
  readonly env?: Readonly<Record<string, string>>
  readonly nodeOptions?: readonly string[]
  /** The checkout that it runs from, when it is not this one. */
  readonly root?: string
  readonly python?: string
  /** Built by the script in the folder of this name below peers. */
  readonly program?: string
  /** Whether it may use every core. */
  readonly isFree?: boolean
  /** Whether it serves gRPC instead of HTTP. */
  readonly isGrpc?: boolean
  /** Where it answers a job of live streams over HTTP instead. */
  readonly httpPath?: string
  /** Why it is not available. */
  readonly missing?: () => string | undefined
}

const pythonPeer = (python: string): Kind => ({ python, missing: () => findPython(python).missing })
const compiledPeer = (program: string): Kind => ({
  program,
  missing: () => findProgram(program).missing,
})
const loopOf = (BENCH_LOOP: string): Kind => ({ file: 'loop.ts', env: { BENCH_LOOP } })
/** One process, with the options of Node that `serving serve` gives its workers. */
const asWorker = (file: string, env?: Kind['env']): Kind => ({
  file,
  env,
  nodeOptions: workerNodeOptions,
})
const ours = (env?: Kind['env']): Kind => asWorker('serving.ts', env)
const runnerAs = (BENCH_RUNNER: string): Kind => ours({ BENCH_RUNNER })

/** All contenders by name; `bench/compare.ts` adds one. */
export const contenders: Record<string, Kind> = {
  bare: asWorker('bare.ts'),
  serving: ours(),
  fastify: { file: 'fastify/main.ts' },
  'fastify, JSON only': { file: 'fastify/main.ts', env: { BENCH_PLAIN: '1' } },
  'fastify, sharp': {
    file: 'fastify/main.ts',
    env: { BENCH_IMAGE: 'sharp' },
    missing: () =>
      findSharp() === undefined ? 'sharp is not installed (see bench/README.md)' : undefined,
  },
  'model inline': runnerAs('inline'),
  'no model': runnerAs('inline'),
  unbatched: runnerAs('pooled'),
  batched: runnerAs('batched'),
  bentoml: pythonPeer('bentoml'),
  fastapi: pythonPeer('fastapi'),
  litserve: pythonPeer('litserve'),
  mlserver: pythonPeer('mlserver'),
  'mlserver, gRPC': { ...pythonPeer('mlserver'), isGrpc: true },
  triton: pythonPeer('triton'),
  'triton, gRPC': { ...pythonPeer('triton'), isGrpc: true },
  go: compiledPeer('go'),
  rust: compiledPeer('rust'),
  'serving, gRPC': { ...ours({ BENCH_GRPC: '1' }), isGrpc: true },
  'serving, Text stream': { ...ours(), httpPath: '/stream' },
  'serving, 2 workers': { file: 'workers.ts', isFree: true },
  'serving, node': ours({ BENCH_ENGINE: 'node' }),
  'bare, node': asWorker('bare-node.ts'),
  ws: asWorker('bare-ws.ts'),
  'bare, gRPC': { ...asWorker('bare-grpc.ts'), isGrpc: true },
  'Polars in a loop': loopOf('polars'),
  'codec in a loop': loopOf('codec'),
  '@napi-rs/image in a loop': loopOf('napi'),
  'native codec in a loop': loopOf('native'),
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/**
 * Starts a contender and waits until it is ready. `bodyFile` holds the job's body, the file of that name and `.answer`
 * what bare answers.
 */
export async function startContender(
  name: string,
  job: BenchCase,
  bodyFile: string,
): Promise<Contender> {
  const {
    file,
    env,
    nodeOptions = [],
    python,
    program,
    root,
    isFree,
    isGrpc,
    httpPath,
  } = contenders[name]
  const asked: BenchCase =
    httpPath === undefined ? job : { ...job, path: httpPath, live: undefined }
  const bench = root === undefined ? here('.') : `${root}/bench`
  if (python !== undefined || program !== undefined) {
    const server = await (python === undefined
      ? startProgram(program as string)
      : startPython(python))
    const { url, grpcUrl, pid, stop } = server
    const usage = async () =>
      hasProcFs ? usageOfTree(pid) : { cpuMicros: Number.NaN, peakBytes: Number.NaN }
    return {
      name,
      pid,
      usage,
      ...overNetwork(
        isGrpc ? grpcUrl : url,
        { ...job, path: job.paths?.[name] ?? job.path },
        bodyFile,
      ),
      [Symbol.asyncDispose]: stop,
    }
  }
  const child = fork(`${bench}/servers/${file}`, {
    ...pinned(isFree === true ? undefined : serverCore, [...nodeOptions, '--import', 'tsx']),
    env: {
      ...process.env,
      ...env,
      // In a file, since an answer may be too long for an environment variable.
      BENCH_BARE: job.bare === 'echo' ? 'echo' : JSON.stringify({ ...job.bare, body: undefined }),
      BENCH_BODY: bodyFile,
      BENCH_LIVE: job.live === undefined ? '' : String(job.live.answers),
      BENCH_PATH: job.path,
      NODE_ENV: 'production',
      // dist, not src, since that is what users install.
      TSX_TSCONFIG_PATH: `${bench}/tsconfig.json`,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const { port } = await reply<{ port: number }>(child)
  const pid = child.pid as number
  return {
    name,
    pid,
    async usage() {
      return hasProcFs ? usageOfTree(pid) : (await tell<{ usage: Usage }>(child, 'usage')).usage
    },
    ...(port === 0
      ? inLoop(child)
      : overNetwork(`${isGrpc === true ? 'grpc' : 'http'}://127.0.0.1:${port}`, asked, bodyFile)),
    async [Symbol.asyncDispose]() {
      const gone = once(child, 'exit')
      child.kill()
      await gone
    },
  }
}

function overNetwork(
  origin: string,
  job: BenchCase,
  bodyFile: string,
): Pick<Contender, 'url' | 'ask' | 'load'> {
  const { contentType, headers, connections, live } = job
  const url = (live === undefined ? origin : origin.replace('http:', 'ws:')) + job.path
  return {
    url,
    async ask() {
      if (live !== undefined)
        return { ok: true, type: '', body: await askByWebSocket(url, job.body, live) }
      if (url.startsWith('grpc:')) {
        return { ok: true, type: '', body: await callByGrpc(url, Buffer.from(job.body), headers) }
      }
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': contentType, ...headers },
        body: job.body as Uint8Array<ArrayBuffer>,
      })
      const type = response.headers.get('content-type') ?? ''
      return { ok: response.ok, type, body: Buffer.from(await response.arrayBuffer()) }
    },
    load: (fire, seconds, amount) =>
      fire({ url, contentType, headers, bodyFile, connections, seconds, amount, live }),
  }
}

function inLoop(child: ChildProcess): Pick<Contender, 'ask' | 'load'> {
  return {
    async ask() {
      const { answer } = await tell<{ answer: string }>(child, 'once')
      return { ok: true, type: '', body: Buffer.from(answer, 'base64') }
    },
    async load(_fire, _seconds, times = 3) {
      const { latencies, seconds } = await tell<{ latencies: number[]; seconds: number }>(child, {
        times,
      })
      latencies.sort((a, b) => a - b)
      return {
        requests: times,
        perSecond: times / seconds,
        seconds,
        p50Ms: quantileOf(latencies, 0.5),
        p99Ms: quantileOf(latencies, 0.99),
        errors: 0,
        loadCpuMicros: 0,
      }
    },
  }
}

function tell<T>(child: ChildProcess, message: string | object): Promise<T> {
  const answer = reply<T>(child)
  child.send(message)
  return answer
}

async function reply<T>(child: ChildProcess): Promise<T> {
  const control = new AbortController()
  const { signal } = control
  const exited = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`the contender's process ended with code ${code}`)
  })
  exited.catch(() => {})
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), exited])
    return message as T
  } finally {
    control.abort()
  }
}
