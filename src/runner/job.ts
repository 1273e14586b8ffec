/** The calls that one message gives to a worker. @module */

import { type JobTrace, tracer } from '../telemetry/tracing/tracer.ts'
import type { Clock } from './clock.ts'
import { type PackedList, packList } from './lists.ts'
import type { CancelMessage, RunMessage, RunReply, StreamMessage } from './model-messages.ts'
import { joinRows } from './rows.ts'
import type { CallOwner, RunnerCall } from './runner-call.ts'
import type { MethodSettings } from './runner-options.ts'
import { type Boundary, pack } from './transfer.ts'
import type { Channel, ModelWorker, Transfer } from './worker.ts'

/** A stream that a worker has begun. */
export interface OpenStream {
  readonly channel: Channel
  readonly done: Promise<unknown>
  abandon(): void
}

/** What a job needs of its runner. */
export interface JobContext {
  readonly name: string
  readonly boundary: Boundary
  readonly clock: Clock
  /** Time after the deadline until a running job counts as hung. **Units**: milliseconds. */
  readonly graceMs: number
  /** Called at most once for a job, never after its {@link Job.end}. */
  hung(job: Job): void
  endWorker(worker: ModelWorker): void
  refused(call: RunnerCall, error: unknown): void
}

/** Calls of one method in one worker. If all callers give up, the worker is told, or ended (`onAbort: 'terminate'`). */
export class Job implements CallOwner {
  readonly id: number
  readonly method: MethodSettings
  readonly worker: ModelWorker
  readonly #context: JobContext
  #calls: readonly RunnerCall[]
  #open: number
  #disarm: (() => void) | undefined
  #isOver = false
  #isHung = false

  constructor(
    id: number,
    method: MethodSettings,
    calls: readonly RunnerCall[],
    worker: ModelWorker,
    context: JobContext,
  ) {
    this.id = id
    this.method = method
    this.worker = worker
    this.#calls = calls
    this.#open = calls.length
    this.#context = context
    for (const call of calls) call.owner = this
  }

  /** The calls in order, without those that were refused. */
  get calls(): readonly RunnerCall[] {
    return this.#calls
  }

  get rows(): number {
    let rows = 0
    for (const call of this.#calls) rows += call.rows
    return rows
  }

  get isHung(): boolean {
    return this.#isHung
  }

  abandoned(): void {
    if (--this.#open > 0) return
    if (this.method.terminates) {
      this.#context.endWorker(this.worker)
      return
    }
    this.#watch()
    const message: CancelMessage = { kind: 'cancel', id: this.id }
    this.worker.run(message, []).catch(() => {})
  }

  end(): void {
    this.#isOver = true
    this.#disarm?.()
  }

  #watch(): void {
    const { clock, graceMs } = this.#context
    const deadlineMs = lastDeadline(this.#calls)
    if (deadlineMs === undefined || graceMs === Number.POSITIVE_INFINITY || this.#isOver) return
    const ms = Math.max(0, deadlineMs - clock.date()) + graceMs
    this.#disarm ??= clock.after(ms, () => {
      this.#isHung = true
      this.#context.hung(this)
    })
  }

  /** Undefined if no call is left. **Errors**: {@link WorkerEnded}; for the rows of a batch, those of {@link pack}. */
  async run(): Promise<RunReply | undefined> {
    const transfer: Transfer[] = []
    const inputs = this.method.batchable ? this.#packBatch(transfer) : this.#packEach(transfer)
    if (this.#calls.length === 0) return undefined
    const deadlineMs = lastDeadline(this.#calls)
    const message: RunMessage = { kind: 'run', id: this.id, method: this.method.name, inputs, deadlineMs }
    const trace = this.#trace(this.method.batchable)
    if (trace === undefined) return (await this.worker.run(message, transfer)) as RunReply
    const traced: RunMessage = { ...message, traceparent: trace.traceparent }
    return (await settled(this.worker.run(traced, transfer), trace)) as RunReply
  }

  #trace(isBatch: boolean): JobTrace | undefined {
    if (tracer === undefined) return undefined
    const traces = this.#calls.map(({ trace }) => trace)
    return tracer.job(`${this.#context.name}.${this.method.name}`, traces, isBatch ? this.rows : undefined)
  }

  #packBatch(transfer: Transfer[]): PackedList {
    const rows = joinRows(this.#calls.map(({ value }) => value))
    return { items: [pack(rows, this.#context.boundary, transfer)] }
  }

  #packEach(transfer: Transfer[]): PackedList {
    const { boundary } = this.#context
    const values = this.#calls.map(({ value }) => value)
    const refused = new Set<RunnerCall>()
    const packed = packList(values, boundary, transfer, (error, i) => {
      refused.add(this.#calls[i])
      this.#context.refused(this.#calls[i], error)
      return undefined
    })
    if (refused.size > 0) {
      this.#calls = this.#calls.filter((call) => !refused.has(call))
      this.#open -= refused.size
    }
    return packed
  }

  /** Begins the stream of the only call; resolves when the stream has ended. */
  async stream(): Promise<void> {
    const [call] = this.#calls
    const { value, deadlineMs } = call
    const transfer: Transfer[] = []
    const input = pack(value, this.#context.boundary, transfer)
    const trace = this.#trace(false)
    const message: StreamMessage = {
      kind: 'stream',
      id: this.id,
      method: this.method.name,
      input,
      deadlineMs,
      ...(trace === undefined ? {} : { traceparent: trace.traceparent }),
    }
    const { channel, done } = this.worker.open(message, transfer)
    const traced = trace === undefined ? done : settled(done, trace)
    call.resolve({ channel, done: traced, abandon: () => this.#watch() } satisfies OpenStream)
    await traced
  }
}

async function settled<T>(done: Promise<T>, trace: JobTrace): Promise<T> {
  try {
    const result = await done
    trace.settled(undefined)
    return result
  } catch (error) {
    trace.settled(error as Error)
    throw error
  }
}

/** Returns the latest deadline; undefined if a call has no deadline. **Units**: milliseconds since the epoch. */
function lastDeadline(calls: readonly RunnerCall[]): number | undefined {
  let last = 0
  for (const { deadlineMs } of calls) {
    if (deadlineMs === undefined) return undefined
    last = Math.max(last, deadlineMs)
  }
  return last
}
