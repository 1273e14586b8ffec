/**
 * Calls that one message gives to a thread: how they are asked, and what becomes of the answers.
 * @module
 */

import { type PackedList, packList } from './lists.ts'
import type { CancelMessage, RunMessage, RunReply, StreamMessage } from './model-messages.ts'
import { joinRows } from './rows.ts'
import type { CallOwner, RunnerCall } from './runner-call.ts'
import type { MethodSettings } from './runner-options.ts'
import { pack } from './transfer.ts'
import type { Channel, ModelWorker } from './worker.ts'

/** A stream that a thread has begun. */
export interface OpenStream {
  readonly channel: Channel
  /** Settles when the thread is done with it; rejects when the thread has ended. */
  readonly done: Promise<unknown>
}

/**
 * Calls of one method, on their way to a thread or there.
 *
 * One that is given up is dropped, and when nobody wants anything any more, the thread is told so, or ended where the
 * method says so.
 */
export class Job implements CallOwner {
  readonly id: number
  readonly method: MethodSettings
  readonly calls: readonly RunnerCall[]
  readonly #worker: ModelWorker
  #wanted: number

  /** Takes the calls over from their queue. */
  constructor(id: number, method: MethodSettings, calls: readonly RunnerCall[], worker: ModelWorker) {
    this.id = id
    this.method = method
    this.calls = calls
    this.#worker = worker
    this.#wanted = calls.length
    for (const call of calls) call.owner = this
  }

  /** Rows of all calls together. */
  get rows(): number {
    return this.calls.reduce((sum, call) => sum + call.rows, 0)
  }

  left(): void {
    if (--this.#wanted > 0) return
    if (this.method.terminates) {
      this.#worker.kill()
      return
    }
    const message: CancelMessage = { kind: 'cancel', id: this.id }
    // Of a thread that is gone, the calls hear by themselves.
    this.#worker.run(message, []).catch(() => {})
  }

  /** Has the calls made. `moves`: whether buffers can be moved there. */
  async run(moves: boolean): Promise<RunReply> {
    const values = this.calls.map((call) => call.value)
    const inputs = this.method.batchable ? [joinRows(values, this.method.inputDim)] : values
    const transfer: ArrayBuffer[] = []
    try {
      return (await this.#worker.run(
        this.#message(packList(inputs, moves ? transfer : undefined)),
        transfer,
      )) as RunReply
    } catch (error) {
      if (!(error instanceof Error && error.name === 'DataCloneError')) throw error
      // Memory that cannot be moved, as WebAssembly's: nothing has been moved yet.
      return (await this.#worker.run(this.#message(packList(inputs)), [])) as RunReply
    }
  }

  #message(inputs: PackedList): RunMessage {
    return { kind: 'run', id: this.id, method: this.method.name, inputs, deadlineMs: lastDeadline(this.calls) }
  }

  /** Begins the stream of the only call. */
  open(moves: boolean): OpenStream {
    const [{ value, deadlineMs }] = this.calls
    const transfer: ArrayBuffer[] = []
    const inputs = pack([value], moves ? transfer : undefined)
    const message: StreamMessage = { kind: 'stream', id: this.id, method: this.method.name, inputs, deadlineMs }
    return this.#worker.open(message, transfer)
  }
}

function lastDeadline(calls: readonly RunnerCall[]): number | undefined {
  let last = 0
  for (const { deadlineMs } of calls) {
    if (deadlineMs === undefined) return undefined
    last = Math.max(last, deadlineMs)
  }
  return last
}
