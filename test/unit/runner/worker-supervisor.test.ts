import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred } from '../../../src/core/promise.ts'
import { RunnerCall } from '../../../src/runner/runner-call.ts'
import { parseRunnerOptions, type RunnerOptions } from '../../../src/runner/runner-options.ts'
import { type ModelWorker, WorkerEnded, type WorkerOptions } from '../../../src/runner/worker.ts'
import { type RunnerEvent, WorkerSupervisor } from '../../../src/runner/worker-supervisor.ts'
import { RunnerCounts } from '../../../src/telemetry/metrics/runner-counts.ts'
import { TestClock } from './test-clock.ts'

/** A worker that loads or not, and answers no call until the test says so. */
class TestWorker implements ModelWorker {
  readonly name = 'thread 1'
  readonly loads: boolean | 'later'
  readonly replies: ((reply: unknown) => void)[] = []
  readonly #ended = deferred<WorkerEnded>()
  readonly ended = this.#ended.promise
  killed = false
  stopped = false

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

  async end(): Promise<void> {
    this.stopped = true
  }

  down(): void {
    this.#ended.resolve(new WorkerEnded(`${this.name} ended`))
  }
}

/** `workers`: those that it starts, in their order. */
function supervise(
  workers: readonly TestWorker[],
  options: Partial<RunnerOptions> = {},
  graceMs = 500,
) {
  const clock = new TestClock()
  const events: RunnerEvent[] = []
  const all = { module: '/model.js', methods: { predict: {} }, ...options } as RunnerOptions
  const next = [...workers]
  const started: TestWorker[] = []
  let told: WorkerOptions | undefined
  const supervisor = new WorkerSupervisor(parseRunnerOptions('test', all, []), {
    counts: new RunnerCounts(),
    start: (workerOptions) => {
      told = workerOptions
      const worker = next.shift() ?? new TestWorker()
      started.push(worker)
      return worker
    },
    clock,
    graceMs,
    onEvent: (event) => events.push(event),
  })
  const stray = (worker: TestWorker, error: Error) => told?.stray(worker, error)
  return { clock, events, supervisor, started, stray }
}

/** `replacements`: the workers after the first ones. */
async function setUp(
  options: Partial<RunnerOptions> = {},
  graceMs = 500,
  replacements: readonly TestWorker[] = [],
) {
  const first = Array.from({ length: options.threads ?? 1 }, () => new TestWorker())
  const all = supervise([...first, ...replacements], options, graceMs)
  const { clock, supervisor } = all
  await supervisor.started()
  const down = async (...workers: readonly TestWorker[]) => {
    for (const worker of workers) worker.down()
    await clock.settle()
  }
  const call = (deadlineMs?: number) => {
    const options = deadlineMs === undefined ? {} : { deadlineMs }
    const one = new RunnerCall({ value: 1, rows: 1, size: 1, key: '' }, options)
    one.follow(options, clock)
    supervisor.dispatcher.push('predict', one, options)
    return one.promise.catch((error: Error) => error)
  }
  return { ...all, first, down, call }
}

describe('a supervisor of workers', () => {
  it('leaves no timer behind when it stops while workers wait for their next attempt', async () => {
    const failing = [new TestWorker(false), new TestWorker(false)]
    const { clock, supervisor, down, first } = await setUp({ threads: 2 }, 500, failing)
    await down(...first)
    await down(...failing)
    expect(clock.timers).toBe(2)
    await supervisor.stop()
    expect(clock.timers).toBe(0)
  })

  it('tries again after pauses that double, and at once when a worker that had the model ends', async () => {
    const failing = Array.from({ length: 9 }, () => new TestWorker(false))
    const { clock, supervisor, started, down, first } = await setUp({}, 500, failing)
    await down(first[0])
    expect(started).toHaveLength(2)
    const pauses: number[] = []
    for (const worker of failing) {
      const begun = clock.now()
      await down(worker)
      for (let i = 0; i < 200 && started.at(-1) === worker; i++) await clock.pass(250)
      pauses.push(clock.now() - begun)
    }
    expect(pauses).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
    expect(supervisor.unready).toBeUndefined()
  })

  it('does not wait for a worker that ended while it loaded the model', async () => {
    const loading = new TestWorker('later')
    const { clock, supervisor, down, first } = await setUp({}, 500, [loading])
    await down(first[0])
    loading.replies[0]({ failure: { name: 'Error', message: 'no weights' } })
    await down(loading)
    expect(supervisor.dispatcher.workers).toBe(0)
    await clock.pass(60_000)
    expect(supervisor.unready).toBeUndefined()
  })

  it('waits for the others that load when one has failed, but not for ever, before it ends them all', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    for (const loads of [true, false]) {
      const [slow, failing] = [new TestWorker('later'), new TestWorker(false)]
      const { clock, supervisor } = supervise([slow, failing], { threads: 2 })
      const failed = supervisor.started().catch((error: Error) => error.message)
      await vi.advanceTimersByTimeAsync(999)
      expect([slow.stopped, failing.stopped]).toEqual([false, false])
      if (loads) slow.replies[0]({})
      else await vi.advanceTimersByTimeAsync(1)
      await clock.settle()
      expect([slow.stopped, failing.stopped]).toEqual([true, true])
      expect(await failed).toMatch(/could not load its model in thread 1: no weights/)
    }
  })

  it('ends and replaces a worker whose call goes on beyond its deadline and the grace, and says so once', async () => {
    const next = new TestWorker('later')
    const { clock, events, supervisor, down, first, call } = await setUp({}, 500, [next])
    void call(clock.date() + 100)
    await clock.pass(599)
    expect([first[0].killed, supervisor.unready, events]).toEqual([false, undefined, []])
    await clock.pass(1)
    expect(first[0].killed).toBe(true)
    expect(supervisor.unready).toBe('calls of the runner test hang in all of its workers')
    await down(first[0])
    expect(supervisor.unready).toBe('the runner test is loading its model')
    next.replies[0]({})
    await clock.settle()
    expect(supervisor.unready).toBeUndefined()
    expect(events.map(({ kind }) => kind)).toEqual(['hung', 'replaced'])
    const text =
      /^predict of the runner test has not returned in thread 1 500 ms after its deadline: .* ended and replaced$/
    expect(events[0].message).toMatch(text)
  })

  it('gives no call to a worker that it ends, though the call that hung returns before it has ended', async () => {
    const replacement = new TestWorker()
    const { clock, down, first, call } = await setUp({}, 500, [replacement])
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
    await down(worker)
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
    const { events, supervisor, stray, first } = await setUp()
    stray(first[0], new Error('socket closed'))
    expect(events).toMatchObject([
      { kind: 'unhandled_rejection', message: expect.stringMatching(/thread 1.*socket closed/) },
    ])
    expect([first[0].killed, supervisor.unready]).toEqual([false, undefined])
  })
})
