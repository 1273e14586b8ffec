/**
 * The load generators that others use for their benchmarks: started on the core of the load, and their reports read.
 * @module
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { PeerServer } from '../peers/start.ts'
import { loadCore, onCore } from '../pinning.ts'

/** What a generator reports of one round. */
export interface Figures {
  /** Requests, or pieces, that were answered. */
  readonly answered: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

/** Returns the path of what bench/public/install.sh made. */
export function installed(path: string): string {
  return fileURLToPath(new URL(`../.venv/${path}`, import.meta.url))
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

async function run(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const [command, commandArgs] = onCore(loadCore, program, args)
  // One core is the generator's, whatever the machine has.
  const options = { env: { ...process.env, GOMAXPROCS: '1', ...env }, maxBuffer: 2 ** 28 }
  return (await promisify(execFile)(command, commandArgs, options)).stdout
}

/** LitServe's client: one stream after the other. The latencies are those of the first piece. */
export async function readStreams({ url }: PeerServer, seconds: number): Promise<Figures> {
  const lines = await run(installed('public/bin/python'), [
    here('python/stream_client.py'),
    `${url}/predict`,
    `${seconds}`,
  ])
  const streams = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { pieces: number; seconds: number; first: number })
  const answered = streams.reduce((sum, { pieces }) => sum + pieces, 0)
  const firsts = streams.map(({ first }) => first * 1000).sort((a, b) => a - b)
  return {
    answered,
    perSecond: answered / streams.reduce((sum, each) => sum + each.seconds, 0),
    p50Ms: firsts[firsts.length >> 1],
    p99Ms: firsts[firsts.length - 1],
    failed: streams.filter(({ pieces }) => pieces !== 10_000).length,
  }
}

/** MLServer's k6: 300 users. */
export function k6(protocol: 'rest' | 'grpc') {
  return async ({ url, grpcUrl }: PeerServer, seconds: number): Promise<Figures> => {
    const { host } = new URL(protocol === 'grpc' ? grpcUrl : url)
    const variables = {
      PROTOCOL: protocol,
      ADDRESS: host,
      SECONDS: `${seconds}`,
      PROTO: here('../../proto/inference'),
    }
    const flags = Object.entries(variables).flatMap(([name, value]) => ['-e', `${name}=${value}`])
    const report = JSON.parse(
      await run(installed('tools/k6'), [
        'run',
        '--quiet',
        '--no-usage-report',
        ...flags,
        here('k6.js'),
      ]),
    )
    const { answered, failed, perSecond, med, 'p(99)': p99 } = report
    return { answered, failed, perSecond, p50Ms: med, p99Ms: p99 }
  }
}

/** KServe's vegeta: a fixed rate, whether or not answers come. */
export function vegeta(rate: number) {
  return async ({ url }: PeerServer, seconds: number): Promise<Figures> => {
    const folder = await mkdtemp(join(tmpdir(), 'bench-'))
    try {
      const body = join(folder, 'body')
      const target = join(folder, 'target')
      await writeFile(body, '{"instances": [[6.8, 2.8, 4.8, 1.4], [6.0, 3.4, 4.5, 1.6]]}')
      await writeFile(
        target,
        `POST ${url}/v1/models/sklearn-iris:predict\nContent-Type: application/json\n@${body}\n`,
      )
      const file = join(folder, 'results')
      const attack = [
        '-cpus=1',
        'attack',
        `-rate=${rate}/1s`,
        `-duration=${seconds}s`,
        `-targets=${target}`,
      ]
      await run(installed('tools/vegeta'), [...attack, '-timeout=10s', `-output=${file}`])
      const report = JSON.parse(
        await run(installed('tools/vegeta'), ['report', '-type=json', file]),
      )
      const answered = report.status_codes['200'] ?? 0
      const { '50th': p50, '99th': p99 } = report.latencies
      const perSecond = report.throughput
      return {
        answered,
        perSecond,
        p50Ms: p50 / 1e6,
        p99Ms: p99 / 1e6,
        failed: report.requests - answered,
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/** grpc_bench's ghz: 50 connections, 1,000 calls in flight. */
export function ghz(call: string, messages: string, data: string) {
  return async ({ grpcUrl }: PeerServer, seconds: number): Promise<Figures> => {
    const { host } = new URL(grpcUrl)
    const what = [
      `--protoset=${installed(`${messages}.protoset`)}`,
      `--call=${call}`,
      `--data=${data}`,
    ]
    const how = ['--insecure', '--concurrency=1000', '--connections=50', `--duration=${seconds}s`]
    const stop = ['--duration-stop=ignore', '--format=json']
    const report = JSON.parse(await run(installed('tools/ghz'), [...what, ...how, ...stop, host]))
    const answered = report.statusCodeDistribution.OK ?? 0
    const at = (percentage: number) =>
      report.latencyDistribution.find(
        (each: { percentage: number }) => each.percentage === percentage,
      ).latency / 1e6
    return {
      answered,
      perSecond: report.rps,
      p50Ms: at(50),
      p99Ms: at(99),
      failed: report.count - answered,
    }
  }
}
