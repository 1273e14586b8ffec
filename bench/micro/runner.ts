/**
 * Costs and gains of runners without HTTP: messages, moved arrays, batches, threads, and the delay of the event loop.
 * Each figure is a ratio within one run, with contenders taking turns. Over HTTP:
 * `npm run bench -- --only runner`. Run after `npm run build`:
 * `npx tsx --tsconfig bench/tsconfig.json bench/micro/runner.ts [moves|python|scale|digits|delay ...]`
 * `python` needs a Python with numpy, which the variable PYTHON may name, and Linux.
 * @module
 */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { move, NDArray, Runner } from 'serving'
import { Generator } from '../load/load.ts'
import { steps } from '../models/shapes.ts'

type Models = typeof import('../models/shapes.ts')
const module = new URL('../models/shapes.ts', import.meta.url)
const wanted = process.argv.slice(2).filter((name) => !name.startsWith('--'))
const wants = (name: string) => wanted.length === 0 || wanted.includes(name)
const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1]
const micros = (ms: number) => `${(ms * 1000).toFixed(1)} µs`

/** Median time of a call, contenders taking turns. **Units**: milliseconds. */
async function compare(
  contenders: readonly (() => Promise<unknown>)[],
  calls: number,
  rounds = 9,
): Promise<number[]> {
  const times = contenders.map((): number[] => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [i, contender] of contenders.entries()) {
      const start = performance.now()
      for (let call = 0; call < calls; call++) await contender()
      // The first round warms up.
      if (round > 0) times[i].push((performance.now() - start) / calls)
    }
  }
  return times.map(median)
}

async function moves(): Promise<void> {
  const runner = new Runner<typeof import('../models/moves.ts')>('moves', {
    module: new URL('../models/moves.ts', import.meta.url),
    methods: { empty: {}, echo: {}, give: {} },
  })
  await runner.start()
  let owned: NDArray = new NDArray(new Float32Array(150_000))
  const kept = new NDArray(new Float32Array(150_000).fill(1))
  assert.equal((await runner.echo(kept)).data[149_999], 1)
  const [empty, moved, copied] = await compare(
    [
      () => runner.empty(),
      async () => {
        owned = await runner.give(move(owned))
      },
      () => runner.echo(kept),
    ],
    400,
  )
  const structured = await compare([async () => structuredClone(structuredClone(kept.data))], 100)
  console.log(`600 KB of float32 there and back: ${micros(moved)}, an empty call: ${micros(empty)}`)
  console.log(
    `  ratio ${(moved / empty).toFixed(2)} (target < 2.5); copied ${(copied / empty).toFixed(2)}`,
  )
  console.log(`  two structured clones of it alone: ${(structured[0] / empty).toFixed(2)}`)
  await runner.stop()
}

/** What a call of a process in Python costs, in times of one of a thread: time, and CPU of both processes. */
async function python(): Promise<void> {
  const thread = new Runner<typeof import('../models/moves.ts')>('thread', {
    module: new URL('../models/moves.ts', import.meta.url),
    methods: { echo: {} },
  })
  const process_ = new Runner<{ echo(x: NDArray): NDArray; pid(): number }>('python', {
    python: new URL('../models/echo.py', import.meta.url),
    executable: process.env.PYTHON ?? 'python3',
    methods: { echo: {}, pid: {} },
  })
  await Promise.all([thread.start(), process_.start()])
  const pid = await process_.pid()
  for (const bytes of [4, 16 * 1024, 64 * 1024, 600_000, 6_000_000]) {
    const x = new NDArray(new Float32Array(bytes / 4).fill(1))
    const calls = bytes > 1e6 ? 40 : 400
    const cpu = [0, 0]
    const measured = (runner: { echo(x: NDArray): Promise<NDArray> }, i: number) => async () => {
      const before = cpuMs(pid)
      for (let call = 0; call < calls; call++) await runner.echo(x)
      cpu[i] += cpuMs(pid) - before
    }
    assert.equal((await process_.echo(x)).data[bytes / 4 - 1], 1)
    const [inThread, inPython] = await compare([measured(thread, 0), measured(process_, 1)], 1)
    const times = `${micros(inPython / calls)}, a thread's ${micros(inThread / calls)}`
    console.log(`a call of ${bytes} bytes of a model in Python: ${times}`)
    console.log(
      `  ratio ${(inPython / inThread).toFixed(2)} (target < 3), by CPU ${(cpu[1] / cpu[0]).toFixed(2)}`,
    )
  }
  await Promise.all([thread.stop(), process_.stop()])
}

/** Returns the CPU time of this process and of another one. **Units**: milliseconds. */
function cpuMs(pid: number): number {
  const { user, system } = process.cpuUsage()
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  // In hundredths of a second.
  return (user + system) / 1000 + (Number(fields[11]) + Number(fields[12])) * 10
}

/** The same work in bare worker threads, called one after the other: the limit of the machine at this moment. */
async function bareThreads(count: number, work: number) {
  const program = `
    const { parentPort } = require('node:worker_threads')
    const steps = ${steps.toString()}
    parentPort.on('message', (calls) => {
      for (let i = 0; i < calls; i++) steps(${work})
      parentPort.postMessage(0)
    })`
  const threads = Array.from({ length: count }, () => new Worker(program, { eval: true }))
  const run = (calls: number) =>
    Promise.all(
      threads.map((thread) => {
        thread.postMessage(calls / count)
        return once(thread, 'message')
      }),
    )
  await run(count)
  return { run, stop: () => Promise.all(threads.map((thread) => thread.terminate())) }
}

async function scale(): Promise<void> {
  const work = 8_000_000
  const calls = 8
  const runners = [1, 2].map(
    (threads) => new Runner<Models>('scale', { module, methods: { steps: {} }, threads }),
  )
  await Promise.all(runners.map((runner) => runner.start()))
  const bare = await Promise.all([bareThreads(1, work), bareThreads(2, work)])
  const [one, two, bareOne, bareTwo] = await compare(
    [
      ...runners.map(
        (runner) => () => Promise.all(Array.from({ length: calls }, () => runner.steps(work))),
      ),
      ...bare.map(
        ({ run }) =>
          () =>
            run(calls),
      ),
    ],
    2,
  )
  const [gain, limit] = [one / two, bareOne / bareTwo]
  console.log(
    `2 threads, CPU-bound: ${gain.toFixed(2)} times 1 thread (target 1.85; ${availableParallelism()} cores)`,
  )
  console.log(
    `  bare threads at the same time: ${limit.toFixed(2)}; runner ÷ bare ${(gain / limit).toFixed(2)}`,
  )
  await Promise.all([...runners, ...bare].map((one) => one.stop()))
}

/** The digits network with 64 concurrent callers: the gain of batches where HTTP is not the limit. */
async function digits(): Promise<void> {
  const start = async (batchable: boolean) => {
    const runner = new Runner<typeof import('../models/onnx.ts')>('digits', {
      module: new URL('../models/onnx.ts', import.meta.url),
      methods: { predict: { batchable } },
      init: {
        path: new URL('../../examples/digits/model.onnx', import.meta.url),
        outputs: ['probabilities'],
      },
    })
    await runner.start()
    return runner
  }
  const runners = [await start(false), await start(true)]
  const perSecond = runners.map((): number[] => [])
  const p99 = runners.map((): number[] => [])
  for (let round = 0; round <= 5; round++) {
    for (const [i, runner] of runners.entries()) {
      const times: number[] = []
      const begin = performance.now()
      const caller = async () => {
        for (let now = begin; now < begin + 1_000; ) {
          const { shape } = await runner.predict(
            new NDArray(new Float32Array(64), [1, 64], 'float32'),
          )
          assert.deepEqual(shape, [1, 10])
          const then = now
          now = performance.now()
          if (then !== begin) times.push(now - then)
        }
      }
      await Promise.all(Array.from({ length: 64 }, caller))
      if (round === 0) continue
      perSecond[i].push(times.length / ((performance.now() - begin) / 1000))
      p99[i].push(times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)])
    }
  }
  const [one, batched] = perSecond.map(median)
  const [oneP99, batchedP99] = p99.map((list) => median(list).toFixed(2))
  console.log(`digits network, 64 callers: ${Math.round(one)}/s, p99 ${oneP99} ms`)
  console.log(`  batched ${Math.round(batched)}/s, p99 ${batchedP99} ms`)
  console.log(`  batched ÷ unbatched ${(batched / one).toFixed(1)} (target 3, p99 not above)`)
  await Promise.all(runners.map((runner) => runner.stop()))
}

/** The delay of the event loop while a model computes in a thread. */
async function delay(url: string, { fire }: Generator): Promise<void> {
  const ask = async (what: string) => {
    const response = await fetch(`${url}/delay`, {
      method: 'POST',
      body: what,
      headers: { 'content-type': 'text/plain' },
    })
    return (await response.json()) as { p50Ms: number; p99Ms: number }
  }
  await ask('start')
  const idle = (await new Promise((resolve) => setTimeout(resolve, 3_000)).then(() =>
    ask('stop'),
  )) as { p99Ms: number }
  await ask('start')
  const bodyFile = join(dir, 'body')
  await writeFile(bodyFile, 'x')
  const { perSecond } = await fire({
    url: `${url}/slow`,
    contentType: 'text/plain',
    bodyFile,
    connections: 8,
    seconds: 4,
  })
  const { p50Ms, p99Ms } = await ask('stop')
  const delays = `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`
  console.log(`a model of 50 ms, ${perSecond.toFixed(0)} calls/s: event loop delay ${delays}`)
  console.log(`  (target p99 < 5 ms; of the same process idle ${idle.p99Ms.toFixed(2)} ms)`)
}

async function served(
  measure: (url: string, generator: Generator) => Promise<void>,
): Promise<void> {
  const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
  const child = fork(here('../servers/delay.ts'), {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, NODE_ENV: 'production', TSX_TSCONFIG_PATH: here('../tsconfig.json') },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [message] = await once(child, 'message')
  try {
    await using generator = await Generator.start()
    await measure(`http://127.0.0.1:${(message as { port: number }).port}`, generator)
  } finally {
    child.kill()
    await once(child, 'exit')
  }
}

const dir = await mkdtemp(join(tmpdir(), 'bench-'))
if (wants('moves')) await moves()
if (wants('python')) await python()
if (wants('scale')) await scale()
if (wants('digits')) await digits()
if (wants('delay')) await served(delay)
await rm(dir, { recursive: true, force: true })
