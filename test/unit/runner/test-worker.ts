/** A dispatcher with workers that a test answers for. @module */
import { Dispatcher } from '../../../src/runner/dispatcher.ts'
import { packList, unpackList } from '../../../src/runner/lists.ts'
import type { RunMessage, RunReply } from '../../../src/runner/model-messages.ts'
import { RunnerCall } from '../../../src/runner/runner-call.ts'
import type { CallOptions, MethodSettings } from '../../../src/runner/runner-options.ts'
import { type ModelWorker, WorkerEnded } from '../../../src/runner/worker.ts'
import { RunnerCounts } from '../../../src/telemetry/metrics/runner-counts.ts'
import { TestClock } from './test-clock.ts'

const fail = (error: unknown): never => {
  throw error
}

/** A thread whose calls end when the test says so. */
export class TestWorker implements ModelWorker {
  readonly name = 'thread 1'
  readonly sent: {
    message: RunMessage
    inputs: unknown[]
    reply: (results: unknown[], failed?: number[], ms?: number) => void
    end: () => void
  }[] = []
  readonly others: unknown[] = []
  readonly ended = new Promise<never>(() => {})
  killed = false
  run(message: unknown): Promise<unknown> {
    const run = message as RunMessage
    if (run.kind !== 'run') {
      this.others.push(message)
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      this.sent.push({
        message: run,
        inputs: unpackList(run.inputs, fail),
        reply: (results, failed = [], ms = 1) =>
          resolve({ results: packList(results, 'none', [], fail), failed, ms } satisfies RunReply),
        end: () => reject(new WorkerEnded('thread 1 ended')),
      })
    })
  }

  open(): never {
    throw new Error('no streams here')
  }

  kill() {
    this.killed = true
  }

  async end() {}
}

const method = (own: Partial<MethodSettings> = {}): MethodSettings => ({
  name: 'predict',
  batchable: true,
  maxBatchSize: 4,
  maxWaitMs: 10,
  onBatchError: 'retry',
  stream: false,
  onAbort: 'signal',
  ragged: {},
  ...own,
})

export function setUp(own: Partial<MethodSettings> = {}, places = 1, maxQueue = 100) {
  const clock = new TestClock()
  const hung: [ModelWorker, string][] = []
  const dispatcher = new Dispatcher({
    counts: new RunnerCounts(),
    name: 'test',
    methods: [method(own)],
    maxQueue,
    concurrency: 1,
    boundary: 'thread',
    clock,
    graceMs: 100,
    onHung: (worker, name) => hung.push([worker, name]),
  })
  const threads = Array.from({ length: places }, () => new TestWorker())
  for (const thread of threads) dispatcher.addWorker(thread)
  const call = (value: unknown, options: CallOptions = {}, key = 'list') => {
    const rows = Array.isArray(value) ? value.length : 1
    const one = new RunnerCall({ value, rows, size: rows, key }, options)
    one.follow(options, clock)
    dispatcher.push('predict', one, options)
    return one.promise.catch((error: Error) => error)
  }
  return { clock, dispatcher, hung, call, thread: threads[0], threads }
}
