import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { RunnerCall } from '../../../src/runner/runner-call.ts'
import { parseRunnerOptions, type RunnerOptions } from '../../../src/runner/runner-options.ts'
import {
  type ModelWorker,
  WorkerEnded,
  type WorkerPoolOptions,
} from '../../../src/runner/worker.ts'
import { type RunnerEvent, superviseWorkers } from '../../../src/runner/worker-supervisor.ts'
import { RunnerCounts } from '../../../src/telemetry/metrics/runner-counts.ts'
import { TestClock } from './test-clock.ts'

/** A worker that loads or not, and answers no call until the test says so. */
class TestWorker implements ModelWorker {
  readonly index = 0
  readonly name = 'thread 1'
  readonly loads: boolean | 'later'
  readonly replies: ((reply: unknown) => void)[] = []
  killed = false

  constructor(loads: boolean | 'later' = true) {
    this.loads = loads
  }

  async run(message: unknown): Promise<unknown> {
    const { kind } = message as { kind: string }
    if (kind === 'run' || this.loads === 'later')
      return await new Promise((reply) => this.replies.push(reply))
    return this.loads ? {} : { failure: { name: 'Error', message: 'no weights' } }
  }

  open(): never {
    throw new Error('no streams here')
  }

  kill(): void {
    this.killed = true
  }
}

function supervise(options: Partial<RunnerOptions> = {}, graceMs = 500) {
  const clock = new TestClock()
  const events: RunnerEvent[] = []
  const all = { module: '/model.js', methods: { predict: {} }, ...options } as RunnerOptions
  let pool!: WorkerPoolOptions
  const stops: 'stop'[] = []
  const supervisor = superviseWorkers(parseRunnerOptions('test', all, []), {
    counts: new RunnerCounts(),
    start: (poolOptions) => {
      pool = poolOptions
      return { stop: async () => void stops.push('stop') }
    },
    entry: new URL('file:///model-thread.js'),
    clock,
    graceMs,
    onEvent: (event) => events.push(event),
  })
  const up = async (...workers: TestWorker[]) => {
    for (const worker of workers) pool.up(worker)
    await clock.settle()
    return workers
  }
  const down = (worker: TestWorker) => pool.down(worker, new WorkerEnded(`${worker.name} ended`))
  return { clock, events, supervisor, pool, up, down, stops }
}

async function setUp(options: Partial<RunnerOptions> = {}, graceMs = 500) {
  const all = supervise(options, graceMs)
  const { clock, supervisor, up } = all
  const first = await up(...Array.from({ length: options.threads ?? 1 }, () => new TestWorker()))
  await supervisor.started()
  const call = (deadlineMs?: number) => {
    const one = new RunnerCall(1, 1, '', deadlineMs)
    one.follow(deadlineMs === undefined ? {} : { deadlineMs }, clock)
    supervisor.dispatcher.push('predict', one)
    return one.promise.catch((error: Error) => error)
  }
  return { ...all, first, call }
}

describe('a supervisor of workers', () => {
  it('leaves no timer behind when it stops while workers wait for their next attempt', async () => {
    const { clock, supervisor, up, down, first } = await setUp({ threads: 2 })
    for (const worker of first) down(worker)
    const failing = await up(new TestWorker(false), new TestWorker(false))
    for (const worker of failing) down(worker)
    await up(new TestWorker(), new TestWorker())
    expect(clock.timers).toBe(2)
    await supervisor.stop()
    expect(clock.timers).toBe(0)
  })

  it('does not try to load the model into a worker that ended while it waited for its attempt', async () => {
    const { clock, supervisor, up, down, first } = await setUp()
    down(first[0])
    const [failing] = await up(new TestWorker(false))
    down(failing)
    const [gone] = await up(new TestWorker())
    down(gone)
    await clock.pass(60_000)
    expect(supervisor.dispatcher.workers).toBe(0)
    await up(new TestWorker())
    await clock.pass(60_000)
    expect(supervisor.unready).toBeUndefined()
  })

  it('waits for the others that load when one has failed, but not for ever, before it ends them all', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    for (const loads of [true, false]) {
      const { clock, supervisor, up, stops } = supervise({ threads: 2 })
      const failed = supervisor.started().catch((error: Error) => error.message)
      const [slow] = await up(new TestWorker('later'), new TestWorker(false))
      await vi.advanceTimersByTimeAsync(999)
      expect(stops).toHaveLength(0)
      if (loads) slow.replies[0]({})
      else await vi.advanceTimersByTimeAsync(1)
      await clock.settle()
      expect(stops).toHaveLength(1)
      expect(await failed).toMatch(/could not load its model in thread 1: no weights/)
    }
  })

  it('ends and replaces a worker whose call goes on beyond its deadline and the grace, and says so once', async () => {
    const { clock, events, supervisor, up, down, first, call } = await setUp()
    void call(clock.date() + 100)
    await clock.pass(599)
    expect([first[0].killed, supervisor.unready, events]).toEqual([false, undefined, []])
    await clock.pass(1)
    expect(first[0].killed).toBe(true)
    expect(supervisor.unready).toBe('calls of the runner test hang in all of its workers')
    down(first[0])
    expect(supervisor.unready).toBe('the runner test is loading its model')
    await up(new TestWorker())
    expect(supervisor.unready).toBeUndefined()
    expect(events.map(({ kind }) => kind)).toEqual(['hung', 'replaced'])
    const text =
      /^predict of the runner test has not returned in thread 1 500 ms after its deadline: .* ended and replaced$/
    expect(events[0].message).toMatch(text)
  })

  it('gives no call to a worker that it ends, though the call that hung returns before it has ended', async () => {
    const { clock, up, down, first, call } = await setUp()
    const late = call(clock.date() + 100)
    await clock.settle()
    await clock.pass(700)
    const [worker] = first
    expect([worker.killed, worker.replies.length]).toEqual([true, 1])
    expect(await late).toMatchObject({ status: 504 })
    worker.replies[0]({ results: { items: [] }, failed: [], ms: 600 })
    await clock.settle()
    const next = call()
    await clock.settle()
    expect(worker.replies).toHaveLength(1)
    down(worker)
    const [replacement] = await up(new TestWorker())
    await clock.settle()
    expect(replacement.replies).toHaveLength(1)
    void next
  })

  it('gives no calls to a worker in which one hangs, and stays ready while another is left', async () => {
    const { clock, events, supervisor, first, call } = await setUp({
      threads: 2,
      concurrency: 2,
      onHang: 'report',
    })
    void call(clock.date() + 100)
    await clock.pass(700)
    expect(events.map(({ kind }) => kind)).toEqual(['hung'])
    expect(first.map(({ killed }) => killed)).toEqual([false, false])
    expect(supervisor.unready).toBeUndefined()
    const [two, three, four] = [call(), call(), call()]
    await clock.settle()
    expect(supervisor.dispatcher.waiting).toBe(1)
    void [two, three, four]
  })

  it('lets calls without a deadline and with an endless grace run for ever', async () => {
    const endless = await setUp({}, Number.POSITIVE_INFINITY)
    void endless.call(endless.clock.date() + 100)
    const { clock, supervisor, first, call } = await setUp()
    void call()
    for (const one of [clock, endless.clock]) await one.pass(1e9)
    expect([first[0].killed, supervisor.unready]).toEqual([false, undefined])
    expect([endless.first[0].killed, endless.supervisor.unready]).toEqual([false, undefined])
  })

  it('reports what a model left to nobody, and keeps its worker', async () => {
    const { events, supervisor, pool, first } = await setUp()
    pool.stray(first[0], new Error('socket closed'))
    expect(events).toMatchObject([
      { kind: 'unhandled_rejection', message: expect.stringMatching(/thread 1.*socket closed/) },
    ])
    expect([first[0].killed, supervisor.unready]).toEqual([false, undefined])
  })
})
