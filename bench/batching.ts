/**
 * Goodput of batches: answers within 50 ms of calls that come at random (Poisson), whether or not others are answered.
 * Run after `npm run build`: `npx tsx --tsconfig bench/tsconfig.json bench/batching.ts [PART...] [--seconds N]
 * [--quick]`, where each PART is one of:
 *
 * - `rows`: a model of 2 ms a call and 10 µs a row. The Runner is told `maxBatchSize: 2048` alone. The others are
 *   batches by hand: so many rows at most, so long a wait at most, so many waiting calls at most. The best of them is
 *   found anew for each load.
 * - `text`, `recurrent`: texts of Zipf lengths from 8 to 512 through a transformer or a recurrent network in ONNX,
 *   padded, beside batches of equal shape.
 * - `mixed`: calls of 1 ms of one API beside a flood of 20 ms of another.
 * - `idle`: how long the only call waits for a thread.
 * - `simulated`: that model in simulated time, at any load, beside 100 settings by hand.
 * @module
 */
import { parseArgs } from 'node:util'
import { io, NDArray, Runner, type RunnerLife, Service, serve } from 'serving'
import { onnxRunner } from 'serving/onnx'
import {
  answeredByHand,
  answeredInTime,
  handSettings,
  poisson,
} from '../test/unit/runner/simulated.ts'
import { capacity, deadlineMs, type Outcome, openLoop, shown, texts } from './goodput.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '3' },
    quick: { type: 'boolean', default: false },
  },
})
const seconds = Number(options.seconds)
const wants = (name: string) => positionals.length === 0 || positionals.includes(name)
const maxWaiting = 16_384

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

interface ByHand {
  readonly maxBatchSize: number
  readonly maxWaitMs: number
  readonly maxQueue: number
}

/** Batches by hand: the next goes to the free thread when it is full, or its oldest call has waited. */
function byHand(
  run: (x: NDArray<'float32'>) => Promise<NDArray>,
  { maxBatchSize, maxWaitMs, maxQueue }: ByHand,
) {
  interface Waiting {
    readonly at: number
    readonly x: NDArray<'float32'>
    readonly resolve: (value: unknown) => void
    readonly reject: (reason: Error) => void
  }
  const waiting: Waiting[] = []
  let isBusy = false
  let isScheduled = false
  const dispatch = () => {
    isScheduled = false
    while (waiting.length > 0 && performance.now() - waiting[0].at > deadlineMs)
      waiting.shift()?.reject(new Error('too late'))
    if (isBusy || waiting.length === 0) return
    const restMs = waiting[0].at + maxWaitMs - performance.now()
    if (waiting.length < maxBatchSize && restMs > 0) {
      if (restMs < 1) schedule()
      else setTimeout(dispatch, restMs)
      return
    }
    void go(waiting.splice(0, maxBatchSize))
  }
  const go = async (batch: readonly Waiting[]) => {
    isBusy = true
    const columns = batch[0].x.shape[1]
    const data = new Float32Array(batch.length * columns)
    for (const [i, { x }] of batch.entries()) data.set(x.data, i * columns)
    const { data: sums } = await run(new NDArray(data, [batch.length, columns], 'float32'))
    isBusy = false
    for (const [i, { resolve }] of batch.entries())
      resolve((sums as Float32Array).subarray(i, i + 1))
    dispatch()
  }
  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(dispatch)
  }
  return (x: NDArray<'float32'>) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= maxQueue) {
        reject(new Error('too many'))
        return
      }
      waiting.push({ at: performance.now(), x, resolve, reject })
      schedule()
    })
}

async function withRunner<R extends RunnerLife>(runner: R, use: (runner: R) => Promise<void>) {
  await runner.start()
  await use(runner)
  await runner.stop()
}

const shapes = new URL('./models/shapes.ts', import.meta.url)
type Shapes = typeof import('./models/shapes.ts')
const row = () => new NDArray(new Float32Array([5.1, 3.5, 1.4, 0.2]), [1, 4], 'float32')

async function rows(): Promise<void> {
  const loads = options.quick ? [400, 10_000] : [100, 400, 2_000, 10_000, 20_000, 40_000]
  const hands: ByHand[] = []
  for (const maxBatchSize of options.quick ? [64, 2048] : [16, 64, 512, 2048])
    for (const maxWaitMs of options.quick ? [0, 5] : [0, 2, 5, 10])
      for (const maxQueue of options.quick ? [1024] : [256, 1024, 4096])
        hands.push({ maxBatchSize, maxWaitMs, maxQueue })
  const batched = new Runner<Shapes>('batched', {
    module: shapes,
    maxQueue: maxWaiting,
    methods: { network: { batchable: true, maxBatchSize: 2048 } },
  })
  const plain = new Runner<Shapes>('plain', { module: shapes, methods: { network: {} } })
  await withRunner(batched, () =>
    withRunner(plain, async () => {
      for (const load of loads) {
        const learned = (deadline: object) => batched.network(row(), deadline)
        const ours = [await openLoop(load, learned, seconds)]
        let best: { readonly hand: ByHand; readonly outcome: Outcome } | undefined
        for (const hand of hands) {
          const call = byHand((x) => plain.network(x), hand)
          const outcome = await openLoop(load, () => call(row()), seconds)
          if (best === undefined || outcome.goodput > best.outcome.goodput) best = { hand, outcome }
          await wait(100)
        }
        if (best === undefined) return
        // Once more each, in turns: the best of many is also the luckiest.
        const call = byHand((x) => plain.network(x), best.hand)
        const hand = await openLoop(load, () => call(row()), seconds)
        ours.push(await openLoop(load, learned, seconds))
        const goodput = Math.max(...ours.map((one) => one.goodput))
        const ratio = goodput / best.outcome.goodput
        const { maxBatchSize, maxWaitMs, maxQueue } = best.hand
        console.log(`${load}/s of a model of 2 ms and 10 µs a row:`)
        for (const one of ours) console.log(`  Runner: ${shown(one)}`)
        const set = `${maxBatchSize} rows, ${maxWaitMs} ms, ${maxQueue} waiting`
        console.log(`  by hand (${set}): ${shown(best.outcome)}, again ${shown(hand)}`)
        console.log(`  ratio ${ratio.toFixed(3)} (target 0.97)`)
      }
    }),
  )
}

async function text(model: string): Promise<void> {
  const sample = texts(4096)
  const goodputOf = async (name: string, own: object) => {
    const runner = onnxRunner(name, new URL(`./models/${model}.onnx`, import.meta.url), {
      maxQueue: maxWaiting,
      methods: { predict: { batchable: true, ...own } },
      intraOpThreads: 1,
      outputs: ['scores'],
    })
    await runner.start()
    const send = (deadline: object, i: number) =>
      runner.predict(sample[i % sample.length], deadline)
    const goodput = await capacity(send, seconds)
    console.log(`${model}, ${name}: ${goodput.toFixed(0)}/s with 99 in 100 in time`)
    await runner.stop()
    return goodput
  }
  const padded = await goodputOf('padded', { batch: { pad: 0 } })
  let best = 0
  for (const maxBatchSize of options.quick ? [64] : [8, 64])
    for (const maxWaitMs of options.quick ? [0] : [0, 2, 10])
      best = Math.max(
        best,
        await goodputOf(`equal-${maxBatchSize}-${maxWaitMs}`, { maxBatchSize, maxWaitMs }),
      )
  console.log(`  ratio ${(padded / best).toFixed(2)} (target 1.3)`)
}

async function mixed(): Promise<void> {
  const runner = new Runner<Shapes>('mixed', { module: shapes, methods: { spin: {} } })
  const svc = new Service('mixed', { runners: [runner] })
  const text = { input: new io.Text(), output: new io.Text() }
  for (const [name, ms] of [
    ['long', 20],
    ['short', 1],
  ] as const)
    svc.api({ ...text, name }, async (given, ctx) => {
      await runner.spin(ms, ctx)
      return given
    })
  const server = await serve(svc, { port: 0, host: '127.0.0.1' })
  const call = async (name: string) => {
    const headers = { 'content-type': 'text/plain' }
    const { status } = await fetch(`http://127.0.0.1:${server.port}/${name}`, {
      method: 'POST',
      headers,
      body: name,
    })
    if (status !== 200) throw new Error(`expected status 200, received ${status}`)
  }
  let isOver = false
  const flood = Array.from({ length: 200 }, async () => {
    while (!isOver) await call('long')
  })
  await wait(500)
  const outcome = await openLoop(50, () => call('short'), 16)
  isOver = true
  await Promise.all(flood)
  await server.close()
  console.log(`1 ms beside 200 waiting calls of 20 ms: ${shown(outcome)} (target p99 30 ms)`)
}

async function idle(): Promise<void> {
  const runner = new Runner<Shapes>('idle', {
    module: shapes,
    methods: { network: { batchable: true }, empty: {} },
  })
  await withRunner(runner, async () => {
    const [times, empty]: [number[], number[]] = [[], []]
    for (let i = 0; i < 300; i++) {
      const start = performance.now()
      await runner.network(row())
      const middle = performance.now()
      await runner.empty()
      times.push(middle - start - 2.01)
      empty.push(performance.now() - middle)
      await wait(2)
    }
    for (const list of [times, empty]) list.sort((a, b) => a - b)
    console.log(
      `a lone call: median ${times[150].toFixed(2)} ms beside the model's 2.01, an empty call ${empty[150].toFixed(2)}`,
    )
  })
}

async function simulated(): Promise<void> {
  const maxBatchSize = 2048
  const cost = (rows: number) => 2 + 0.01 * rows
  for (const threads of [1, 2])
    for (const load of [400, 10_000, 40_000, 90_000 * threads, 135_000 * threads]) {
      const arrivals = poisson(load / 1000, 500)
      const byHand = handSettings(maxBatchSize).map((hand) =>
        answeredByHand(arrivals, { threads, cost }, hand),
      )
      const ours = await answeredInTime(arrivals, { threads, cost, maxBatchSize })
      const ratio = (ours / Math.max(...byHand)).toFixed(3)
      const share = (ours / arrivals.times.length).toFixed(3)
      console.log(`simulated, ${threads} threads, ${load}/s: ${share} in time, ratio ${ratio}`)
    }
}

if (wants('rows')) await rows()
for (const model of ['text', 'recurrent']) if (wants(model)) await text(model)
if (wants('mixed')) await mixed()
if (wants('idle')) await idle()
if (wants('simulated')) await simulated()
