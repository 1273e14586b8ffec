/**
 * What loading a model does to the calls of others in a `ModelPool`: `npm run build`, and
 * `npx tsx --tsconfig bench/tsconfig.json bench/micro/pool.ts [COLD.onnx] [--rounds NUMBER] [--elsewhere]`.
 *
 * A pool has room for two models. The hot one is called every 2 ms. In every other window of two seconds, two cold ones
 * are called in turn, each of which has to be loaded. Printed are the times of the hot calls in both kinds of windows,
 * and the longest turn of the event loop. With `--elsewhere` another process loads the cold ones, with ONNX Runtime
 * alone: what that costs the hot calls is the machine's part. Linux only.
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { NDArray } from 'serving'
import { type OnnxRunner, onnxRunner } from 'serving/onnx'
import { ModelPool } from 'serving/pool'

const digits = fileURLToPath(new URL('../../examples/digits/model.onnx', import.meta.url))
const loader = fileURLToPath(new URL('./model-loader.ts', import.meta.url))
const {
  values: { rounds, elsewhere },
  positionals: [coldFile = digits],
} = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '9' },
    elsewhere: { type: 'boolean', default: false },
  },
})
const windowMs = 2_000

let loads = 0
const pool = new ModelPool<OnnxRunner>('bench', {
  maxBytes: 2,
  async load(id) {
    loads++
    const file = id === 'hot' ? digits : coldFile
    const runner = onnxRunner(id, file, { intraOpThreads: 1 })
    await runner.start()
    return { model: runner, bytes: 1, pin: id === 'hot', close: () => runner.stop() }
  },
})
await pool.start()
const x = new NDArray(new Float32Array(64), [1, 64])

/** Returns the times of the hot calls of one window. **Units**: milliseconds. */
async function hotCalls(): Promise<number[]> {
  const times: number[] = []
  const end = performance.now() + windowMs
  while (performance.now() < end) {
    const start = performance.now()
    await pool.use('hot', (model) => model.predict(x))
    times.push(performance.now() - start)
    await wait(2)
  }
  return times.sort((a, b) => a - b)
}

const other = elsewhere ? fork(loader, [coldFile]) : undefined

/** Loads models in the other process, until the hot calls are over. */
async function loadElsewhere(process: ChildProcess, until: Promise<unknown>): Promise<void> {
  process.send('load')
  await until
  process.send('stop')
  const [count] = (await once(process, 'message')) as [number]
  loads += count
}

async function coldCalls(until: Promise<unknown>): Promise<void> {
  if (other !== undefined) return loadElsewhere(other, until)
  let isOver = false
  void until.then(() => {
    isOver = true
  })
  for (let i = 0; !isOver; i++) await pool.use(`cold${i % 2}`, () => {})
}

const cpuMs = () =>
  Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6
/** Of the event loop between two ticks of a timer, in CPU time of its thread: other work adds nothing. */
const turns: number[] = []
let last = cpuMs()
setInterval(() => {
  const now = cpuMs()
  turns.push(now - last)
  last = now
}, 2).unref()

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]
const at = (times: readonly number[], share: number) => times[Math.floor(times.length * share)]
await hotCalls()
const ratios: Record<'p50' | 'p99', number[]> = { p50: [], p99: [] }
const alone: Record<'p50' | 'p99', number[]> = { p50: [], p99: [] }
const longest: number[] = []
for (let round = 0; round < Number(rounds); round++) {
  const quiet = await hotCalls()
  turns.length = 0
  const hot = hotCalls()
  await coldCalls(hot)
  longest.push(Math.max(...turns))
  const beside = await hot
  for (const [name, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    alone[name].push(at(quiet, share))
    ratios[name].push(at(beside, share) / at(quiet, share))
  }
}
console.log(`${loads - 1} loads in ${rounds} windows of ${windowMs / 1000} s`)
for (const name of ['p50', 'p99'] as const) {
  const times = median(ratios[name]).toFixed(2)
  console.log(
    `${name} of hot calls: ${median(alone[name]).toFixed(2)} ms, beside loads ${times} times`,
  )
}
console.log(`the longest turn of the loop beside loads: ${median(longest).toFixed(1)} ms of CPU`)
await pool.stop()
other?.disconnect()
