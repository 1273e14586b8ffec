/**
 * The benchmarks that other projects publish: their requests and their generators, their servers and ours in one run.
 * README.md beside it says how to run it.
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { PeerServer } from '../peers/start.ts'
import { usageOfTree } from '../usage.ts'
import {
  startGreeter,
  startKserve,
  startLitserve,
  startMlserver,
  startServing,
} from './contenders.ts'
import { type Figures, ghz, installed, k6, readStreams, vegeta } from './load.ts'
import { publish, type Row } from './table.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    publish: { type: 'boolean', default: false },
  },
})

interface Contender {
  readonly name: string
  readonly start: () => Promise<PeerServer>
  readonly load: (server: PeerServer, seconds: number) => Promise<Figures>
}

interface Benchmark {
  readonly name: string
  readonly contenders: readonly Contender[]
}

const serving = { name: 'serving', start: () => startServing() }
const scikit = { name: 'serving, model in Python', start: () => startServing(true) }
const greeting = existsSync(installed('payload'))
  ? readFileSync(installed('payload'), 'utf8')
  : '{}'
const greeter = ghz('helloworld.Greeter.SayHello', 'helloworld', greeting)

const irisOf = (protocol: 'rest' | 'grpc'): Benchmark => ({
  name: `MLServer: iris by ${protocol === 'rest' ? 'REST' : 'gRPC'}, 300 users`,
  contenders: [serving, scikit, { name: 'MLServer', start: startMlserver }].map((contender) => ({
    ...contender,
    load: k6(protocol),
  })),
})
const rateOf = (rate: number): Benchmark => ({
  name: `KServe: iris, ${rate} a second`,
  contenders: [serving, scikit, { name: 'KServe', start: startKserve }].map((contender) => ({
    ...contender,
    load: vegeta(rate),
  })),
})

const benchmarks: readonly Benchmark[] = [
  {
    name: 'LitServe: stream of 10,000 pieces',
    contenders: [serving, { name: 'LitServe', start: startLitserve }].map((contender) => ({
      ...contender,
      load: readStreams,
    })),
  },
  irisOf('rest'),
  irisOf('grpc'),
  rateOf(500),
  rateOf(1000),
  rateOf(5000),
  {
    name: 'grpc_bench: complex message',
    contenders: [
      { ...serving, load: greeter },
      {
        name: 'grpc-js',
        start: () =>
          startGreeter('grpc-js', process.execPath, (port) => [
            here('grpc_js.mjs'),
            port,
            installed('helloworld.proto'),
          ]),
        load: greeter,
      },
      {
        name: 'grpc-go',
        start: () => startGreeter('grpc-go', installed('grpc-go/server'), (port) => [port]),
        load: greeter,
      },
      {
        name: 'tonic',
        start: () => startGreeter('tonic', installed('tonic/release/server'), (port) => [port]),
        load: greeter,
      },
    ],
  },
]

/** Starts a contender, warms it up, and measures one round. One runs at a time: a second would take its core. */
async function round(
  { start, load }: Contender,
  seconds: number,
): Promise<Figures & { readonly cpuMicros: number }> {
  const server = await start()
  try {
    await load(server, Math.min(3, seconds))
    const before = usageOfTree(server.pid).cpuMicros
    const figures = await load(server, seconds)
    return {
      ...figures,
      cpuMicros: (usageOfTree(server.pid).cpuMicros - before) / Math.max(figures.answered, 1),
    }
  } finally {
    await server.stop()
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}

async function measure({ name, contenders }: Benchmark): Promise<Row[]> {
  const rounds = new Map(
    contenders.map((contender) => [contender.name, [] as Awaited<ReturnType<typeof round>>[]]),
  )
  for (let i = 0; i < Number(options.rounds); i++) {
    for (const contender of i % 2 === 0 ? contenders : contenders.toReversed()) {
      const figures = await round(contender, Number(options.seconds))
      rounds.get(contender.name)?.push(figures)
      console.error(`${name}: ${contender.name}`, JSON.stringify(figures))
    }
  }
  return [...rounds].map(([contender, all]) => {
    const middle = (key: keyof (typeof all)[number]) => median(all.map((each) => each[key]))
    return {
      benchmark: name,
      contender,
      perSecond: middle('perSecond'),
      p50Ms: middle('p50Ms'),
      p99Ms: middle('p99Ms'),
      failed: middle('failed'),
      cpuMicros: middle('cpuMicros'),
    }
  })
}

const load = loadavg()[0]
const rows: Row[] = []
for (const benchmark of benchmarks.filter(({ name }) => name.includes(options.only))) {
  rows.push(...(await measure(benchmark)))
}
publish(rows, {
  load,
  seconds: Number(options.seconds),
  rounds: Number(options.rounds),
  toPage: options.publish,
})
