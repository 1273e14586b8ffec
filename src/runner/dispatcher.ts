/**
 * Gives the calls of a runner to its threads: what goes next, where to, and what becomes of the answers.
 * @module
 */

import { FunctionError, InternalError, Overloaded, ServingError } from '../errors.ts'
import { BatchQueue } from './batch.ts'
import { type CallQueue, PlainQueue } from './call-queue.ts'
import type { Clock } from './clock.ts'
import { Job } from './job.ts'
import { unpackList } from './lists.ts'
import { splitRows } from './rows.ts'
import { type CallOwner, deadlinePassed, type RunnerCall } from './runner-call.ts'
import type { MethodSettings } from './runner-options.ts'
import type { ModelWorker } from './worker.ts'

/** What a dispatcher needs to know of its runner. */
export interface DispatcherOptions {
  readonly name: string
  readonly methods: readonly MethodSettings[]
  readonly maxQueue: number
  readonly concurrency: number
  /** Whether buffers can be moved to the places; else they are copied. */
  readonly moves: boolean
  readonly clock: Clock
}

/** A method's calls that wait. */
class MethodQueue implements CallOwner {
  readonly method: MethodSettings
  readonly queue: CallQueue<RunnerCall>
  readonly #onLeft: () => void

  constructor(method: MethodSettings, queue: CallQueue<RunnerCall>, onLeft: () => void) {
    this.method = method
    this.queue = queue
    this.#onLeft = onLeft
  }

  left(call: RunnerCall): void {
    if (this.queue.remove(call)) this.#onLeft()
  }
}

/** A thread with its model. */
interface Slot {
  readonly worker: ModelWorker
  busy: number
}

/**
 * A call waits in its method's queue until a thread is free and its queue says that it is due; among methods, the call that has
 * waited longest goes first.
 * A call that is given up leaves the queue and is never made; for one that runs already see {@link Job}.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #queues = new Map<string, MethodQueue>()
  readonly #slots = new Map<ModelWorker, Slot>()
  #waiting = 0
  #count = 0
  #pumps = false
  #disarm: (() => void) | undefined
  #closed: Error | undefined
  #onIdle: (() => void) | undefined

  constructor(options: DispatcherOptions) {
    this.#options = options
    for (const method of options.methods) {
      const queue = method.batchable
        ? new BatchQueue<RunnerCall>(method)
        : new PlainQueue<RunnerCall>(method.stream || method.terminates || options.concurrency > 1 ? 1 : undefined)
      const methodQueue = new MethodQueue(method, queue, () => {
        this.#waiting--
        this.#schedule()
      })
      this.#queues.set(method.name, methodQueue)
    }
  }

  /** Calls that wait for a thread. */
  get waiting(): number {
    return this.#waiting
  }

  /** Threads that take calls. */
  get slots(): number {
    return this.#slots.size
  }

  /** A thread takes calls from now on. */
  addWorker(worker: ModelWorker): void {
    this.#slots.set(worker, { worker, busy: 0 })
    this.#schedule()
  }

  /** A thread is gone. What it was doing fails by itself. */
  removeWorker(worker: ModelWorker): void {
    this.#slots.delete(worker)
  }

  /** From now on every call fails with that error, those that wait included; undefined takes calls again. */
  close(reason: Error | undefined): void {
    this.#closed = reason
    if (reason === undefined) return
    for (const { queue } of this.#queues.values()) {
      for (let calls = this.#take(queue); calls.length > 0; calls = this.#take(queue)) {
        for (const call of calls) call.reject(reason)
      }
    }
  }

  /** Resolves when no thread does anything, or when that time has passed. **Units**: milliseconds. */
  async idle(withinMs: number): Promise<void> {
    if (this.#isIdle()) return
    await new Promise<void>((resolve) => {
      const off = this.#options.clock.after(withinMs, resolve)
      this.#onIdle = () => {
        off()
        resolve()
      }
    })
    this.#onIdle = undefined
  }

  #isIdle(): boolean {
    for (const { busy } of this.#slots.values()) if (busy > 0) return false
    return true
  }

  /** Whether a call would be refused now, and why. */
  refusal(): Error | undefined {
    if (this.#closed !== undefined) return this.#closed
    const { maxQueue, name } = this.#options
    return this.#waiting < maxQueue ? undefined : new Overloaded(`too many calls wait for the runner ${name}`)
  }

  /** Queues a call. Its promise is its answer; for a stream, an {@link OpenStream}. */
  push(method: string, call: RunnerCall): void {
    if (call.over) return
    const methodQueue = this.#queue(method)
    call.owner = methodQueue
    this.#waiting++
    methodQueue.queue.push(call, this.#options.clock.now())
    this.#schedule()
  }

  #queue(method: string): MethodQueue {
    return this.#queues.get(method) as MethodQueue
  }

  #take(queue: CallQueue<RunnerCall>, free = 1): RunnerCall[] {
    const calls = queue.take(this.#options.clock.now(), free)
    this.#waiting -= calls.length
    return calls
  }

  /** Once for all calls of this turn of the event loop, so that they can share a message. */
  #schedule(): void {
    if (this.#pumps) return
    this.#pumps = true
    this.#options.clock.soon(() => {
      this.#pumps = false
      this.#pump()
    })
  }

  #pump(): void {
    this.#disarm?.()
    this.#disarm = undefined
    for (;;) {
      const free = [...this.#slots.values()].filter((slot) => slot.busy < this.#options.concurrency)
      if (free.length === 0) return
      const now = this.#options.clock.now()
      const methodQueue = this.#dueQueue(now)
      if (methodQueue === undefined) return
      const calls = this.#take(methodQueue.queue, free.length).filter((call) => !this.#isOver(call))
      if (calls.length === 0) continue
      const slot = free.reduce((least, one) => (one.busy < least.busy ? one : least))
      // The next call goes to another thread, so that all of them stay warm.
      this.#slots.delete(slot.worker)
      this.#slots.set(slot.worker, slot)
      void this.#send(methodQueue, slot, calls)
    }
  }

  /** The methodQueue whose call should go now; without one, the pump comes back when one is due. */
  #dueQueue(now: number): MethodQueue | undefined {
    let due: MethodQueue | undefined
    let next = Number.POSITIVE_INFINITY
    for (const methodQueue of this.#queues.values()) {
      const at = methodQueue.queue.dueAt(now)
      if (at > now) next = Math.min(next, at)
      else if (due === undefined || methodQueue.queue.oldest < due.queue.oldest) due = methodQueue
    }
    if (due === undefined && next < Number.POSITIVE_INFINITY) {
      this.#disarm = this.#options.clock.after(next - now, () => this.#pump())
    }
    return due
  }

  #isOver(call: RunnerCall): boolean {
    if (!call.over && call.isLate(this.#options.clock)) call.reject(deadlinePassed())
    return call.over
  }

  async #send(methodQueue: MethodQueue, slot: Slot, calls: readonly RunnerCall[]): Promise<void> {
    const job = new Job(++this.#count, methodQueue.method, calls, slot.worker)
    slot.busy++
    try {
      if (methodQueue.method.stream) await stream(job, this.#options.moves)
      else await this.#run(job, methodQueue)
    } catch (error) {
      // Its end is told later than its calls fail: until then it would look free.
      if (isWorkerEnded(error)) this.removeWorker(slot.worker)
      for (const call of calls) call.reject(this.#failure(error))
    } finally {
      slot.busy--
      this.#pump()
      if (this.#onIdle !== undefined && this.#isIdle()) this.#onIdle()
    }
  }

  async #run(job: Job, { queue }: MethodQueue): Promise<void> {
    const { clock, moves } = this.#options
    const { calls, method } = job
    const start = clock.now()
    const reply = await job.run(moves)
    const results = unpackList(reply.results)
    const failed = new Set(reply.failed)
    if (!method.batchable) {
      queue.learn(calls.length, reply.ms)
      for (const [i, call] of calls.entries()) settle(call, results[i], failed.has(i))
      return
    }
    // With the message's own cost, which a batch saves, too.
    if (!failed.has(0)) queue.learn(job.rows, clock.now() - start)
    if (failed.has(0)) this.#batchFailed(job, results[0] as Error)
    else this.#settleBatch(job, results[0])
  }

  #settleBatch({ method, calls }: Job, result: unknown): void {
    const parts = splitRows(
      result,
      calls.map((call) => call.rows),
      method.outputDim,
    )
    for (const [i, call] of calls.entries()) {
      const part = parts[i]
      const wrong = Array.isArray(part) ? part.find((row) => row instanceof Error) : undefined
      settle(call, wrong === undefined ? part : this.#failure(wrong), wrong !== undefined)
    }
  }

  #batchFailed({ method, calls }: Job, error: Error): void {
    const wanted = calls.filter((call) => !call.over)
    if (calls.length === 1) {
      for (const call of wanted) call.reject(error)
      return
    }
    if (method.retries) {
      for (const call of wanted) {
        // A key that no other call has: it goes alone.
        call.key = `alone ${++this.#count}`
        this.push(method.name, call)
      }
      return
    }
    // Not the error itself: a 400 for one request would be a 400 for all.
    const text = `a batch of ${calls.length} calls of ${method.name} failed: ${error.message}`
    for (const call of wanted) call.reject(new FunctionError(text, { cause: error }))
  }

  #failure(error: unknown): ServingError {
    if (ServingError.is(error)) return error
    const { name } = this.#options
    const text = error instanceof Error ? error.message : String(error)
    if (isWorkerEnded(error)) {
      return new InternalError(`the runner ${name} lost the call: ${text}`, { cause: error })
    }
    return new FunctionError(`the runner ${name} failed: ${text}`, { cause: error })
  }
}

async function stream(job: Job, moves: boolean): Promise<void> {
  const open = job.open(moves)
  job.calls[0].resolve(open)
  await open.done
}

function isWorkerEnded(error: unknown): boolean {
  return error instanceof Error && error.name === 'WorkerEnded'
}

function settle(call: RunnerCall, result: unknown, isFailure: boolean): void {
  if (isFailure) call.reject(result as Error)
  else call.resolve(result)
}
