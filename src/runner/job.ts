/** The calls that one message gives to a worker. @module */

import { errorText, FunctionError, InternalError, ServingError } from '../core/errors.ts'
import { Copies } from '../core/memory/copies.ts'
import type { JobTrace } from '../http/request-trace.ts'
import type { RunnerCounts } from '../telemetry/metrics/runner-counts.ts'
import type { NDArray } from '../values/array/ndarray.ts'
import type { Clock } from './clock.ts'
import { type PackedList, packList } from './lists.ts'
import type { ModelMessage, RunMessage, RunReply, StreamMessage } from './model-messages.ts'
import { joinRows, paddedLength, resized } from './rows.ts'
import type { CallOwner, RunnerCall } from './runner-call.ts'
import type { MethodSettings, RunnerSettings } from './runner-options.ts'
import { InputSender, isInputs } from './stream-inputs.ts'
import { pack } from './transfer.ts'
import { type Channel, type ModelWorker, type Transfer, WorkerEnded } from './worker.ts'

/** A stream that a worker has begun. */
export interface OpenStream {
  readonly channel: Channel
  readonly done: Promise<unknown>
  /** Undefined for a stream of one input, which its message has. */
  readonly inputs: InputSender | undefined
  abandon(): void
}

/** What a dispatcher needs of its runner. */
export interface DispatcherOptions
  extends Pick<RunnerSettings, 'name' | 'methods' | 'maxQueue' | 'concurrency' | 'boundary'> {
  readonly clock: Clock
  readonly counts: RunnerCounts
  /** Time after the deadline until a running call counts as hung. **Units**: milliseconds. */
  readonly graceMs: number
  /** Called if a call hangs in a worker, which gets no more calls until it returns. */
  onHung(worker: ModelWorker, method: string): void
}

/** A worker that has the model, and its jobs. */
export class Slot {
  readonly worker: ModelWorker
  busy = 0
  hung = 0
  isEnding = false

  constructor(worker: ModelWorker) {
    this.worker = worker
  }

  end(): void {
    this.isEnding = true
    this.worker.kill()
  }
}

/** Calls of one method in one worker. If all callers give up, the worker is told, or ended (`onAbort: 'terminate'`). */
export class Job implements CallOwner {
  readonly id: number
  readonly method: MethodSettings
  readonly #slot: Slot
  readonly #options: DispatcherOptions
  /** Second dimension of its padded rows. */
  readonly length: number
  readonly rows: number = 0
  /** What its time follows. */
  readonly size: number = 0
  calls: readonly RunnerCall[]
  #open: number
  #disarm: (() => void) | undefined
  #isOver = false
  #isHung = false

  constructor(
    id: number,
    method: MethodSettings,
    calls: readonly RunnerCall[],
    slot: Slot,
    options: DispatcherOptions,
  ) {
    this.id = id
    this.method = method
    this.#slot = slot
    this.#options = options
    this.calls = calls
    const { ragged } = method
    this.length =
      ragged.pad === undefined
        ? 0
        : paddedLength(
            calls.map(({ value }) => value as NDArray),
            ragged,
          )
    this.#open = calls.length
    slot.busy++
    for (const call of calls) {
      call.owner = this
      this.rows += call.rows
      this.size += call.size
    }
  }

  abandoned(): void {
    if (--this.#open > 0) return
    if (this.method.onAbort === 'terminate') {
      this.#slot.end()
      return
    }
    this.#watch()
    this.#slot.worker
      .run({ kind: 'cancel', id: this.id } satisfies ModelMessage, [])
      .catch(() => {})
  }

  end(): void {
    this.#isOver = true
    this.#disarm?.()
    this.#slot.busy--
    if (this.#isHung) this.#slot.hung--
  }

  #watch(): void {
    const { clock, graceMs, onHung } = this.#options
    const deadlineMs = lastDeadline(this.calls)
    if (deadlineMs === undefined || graceMs === Number.POSITIVE_INFINITY || this.#isOver) return
    const ms = Math.max(0, deadlineMs - clock.date()) + graceMs
    this.#disarm ??= clock.after(ms, () => {
      this.#isHung = true
      this.#slot.hung++
      onHung(this.#slot.worker, this.method.name)
    })
  }

  /**
   * Undefined if no call is left.
   *
   * @throws {@link WorkerEnded}; for the rows of a batch, those of {@link pack}.
   */
  async run(): Promise<RunReply | undefined> {
    const transfer: Transfer[] = []
    const { inputs, making } = this.#pack(transfer)
    if (making !== undefined) await making
    if (this.#open === 0) return undefined
    const trace = this.#trace(this.method.batchable)
    const message: RunMessage = { kind: 'run', ...this.#message(trace), inputs }
    return (await settled(this.#slot.worker.run(message, transfer), trace)) as RunReply
  }

  #message(trace: JobTrace | undefined) {
    const deadlineMs = lastDeadline(this.calls)
    return { id: this.id, method: this.method.name, deadlineMs, traceparent: trace?.traceparent }
  }

  #trace(isBatch: boolean): JobTrace | undefined {
    const traced = this.calls.find(({ trace }) => trace !== undefined)?.trace
    if (traced === undefined) return undefined
    const traces = this.calls.map(({ trace }) => trace)
    return traced.job(
      `${this.#options.name}.${this.method.name}`,
      traces,
      isBatch ? this.rows : undefined,
    )
  }

  /** Apart from {@link run}, which would keep what copies until the answer is there. */
  #pack(transfer: Transfer[]): { inputs: PackedList; making: Promise<void> | undefined } {
    const copies = new Copies()
    if (!this.method.batchable) {
      const inputs = this.#packEach(transfer, copies)
      return { inputs, making: copies.made() }
    }
    const { ragged } = this.method
    let values = this.calls.map(({ value }) => value)
    if (ragged.pad !== undefined) {
      const arrays = values as readonly NDArray[]
      values = arrays.map((array) => resized(array, this.length, ragged.pad))
    }
    const rows = joinRows(values, copies)
    const items = [pack(rows, this.#options.boundary, transfer, copies)]
    return { inputs: { items }, making: copies.made() }
  }

  #packEach(transfer: Transfer[], copies: Copies): PackedList {
    const calls = this.calls
    const { boundary, name } = this.#options
    const values = calls.map(({ value }) => value)
    const refuse = (error: unknown, i: number) => {
      calls[i].reject(callFailure(error, name))
      this.calls = this.calls.filter((call) => call !== calls[i])
      this.#open--
      return undefined
    }
    return packList(values, boundary, transfer, refuse, copies)
  }

  async stream(): Promise<void> {
    const [call] = this.calls
    const transfer: Transfer[] = []
    const copies = new Copies()
    const { boundary } = this.#options
    const { value } = call
    const input = isInputs(value) ? undefined : pack(value, boundary, transfer, copies)
    const making = copies.made()
    if (making !== undefined) await making
    if (this.#open === 0) return
    const trace = this.#trace(false)
    const message: StreamMessage = {
      kind: 'stream',
      ...this.#message(trace),
      ...(input && { input }),
    }
    const { channel, done } = this.#slot.worker.open(message, transfer)
    const traced = settled(done, trace)
    const inputs = isInputs(value) ? new InputSender(value, channel, boundary) : undefined
    call.resolve({
      channel,
      done: traced,
      inputs,
      abandon: () => this.#watch(),
    } satisfies OpenStream)
    await traced
  }
}

/** @returns the error of a call that failed. */
export function callFailure(error: unknown, runner: string): ServingError {
  if (ServingError.is(error)) return error
  const text = errorText(error)
  return error instanceof WorkerEnded
    ? new InternalError(`the runner ${runner} lost the call: ${text}`, { cause: error })
    : new FunctionError(`the runner ${runner} failed: ${text}`, { cause: error })
}

async function settled<T>(done: Promise<T>, trace: JobTrace | undefined): Promise<T> {
  try {
    const result = await done
    trace?.settled(undefined)
    return result
  } catch (error) {
    trace?.settled(error as Error)
    throw error
  }
}

/**
 * **Units**: milliseconds since the epoch.
 *
 * @returns the latest deadline; undefined if a call has no deadline.
 */
function lastDeadline(calls: readonly RunnerCall[]): number | undefined {
  let last = 0
  for (const { deadlineMs } of calls) {
    if (deadlineMs === undefined) return undefined
    last = Math.max(last, deadlineMs)
  }
  return last
}
