/** Gives the calls of a runner to its workers: which goes next, to which worker, and what its answer is. @module */

import { FunctionError, Overloaded } from '../core/errors.ts'
import type { NDArray } from '../values/array/ndarray.ts'
import { BatchQueue } from './batch.ts'
import { type CallQueue, goesBefore, PlainQueue } from './call-queue.ts'
import { callFailure, type DispatcherOptions, Job, Slot } from './job.ts'
import { unpackList } from './lists.ts'
import { splitRows, trimRows } from './rows.ts'
import { type CallOwner, deadlinePassed, type RunnerCall } from './runner-call.ts'
import type { CallOptions, MethodSettings } from './runner-options.ts'
import { Share } from './shares.ts'
import { type ModelWorker, WorkerEnded } from './worker.ts'

// More turns add nothing. A turn without a new call ends the wait.
const maxExtraTurns = 3

interface MethodQueue {
  readonly method: MethodSettings
  readonly calls: CallQueue<RunnerCall>
  running: number
}

/** Calls wait in their method's queue for a free worker; the method whose first call has the most right goes first. */
export class Dispatcher implements CallOwner {
  readonly #options: DispatcherOptions
  readonly #queues = new Map<string, MethodQueue>()
  readonly #slots = new Map<ModelWorker, Slot>()
  readonly #shares = new Share()
  #count = 0
  #isScheduled = false
  #disarm: (() => void) | undefined
  #closed: Error | undefined
  #onJobEnd: (() => void) | undefined

  constructor(options: DispatcherOptions) {
    this.#options = options
    for (const method of options.methods) {
      const isAlone = method.stream || method.onAbort === 'terminate' || options.concurrency > 1
      const calls: CallQueue<RunnerCall> = method.batchable
        ? new BatchQueue(method)
        : new PlainQueue(isAlone ? 1 : undefined)
      this.#queues.set(method.name, { method, calls, running: 0 })
    }
  }

  get waiting(): number {
    let waiting = 0
    for (const { calls } of this.#queues.values()) waiting += calls.size
    return waiting
  }

  get workers(): number {
    return this.#slots.size
  }

  get usable(): number {
    return this.workers - this.states.hung
  }

  get states(): { readonly busy: number; readonly idle: number; readonly hung: number } {
    const states = { busy: 0, idle: 0, hung: 0 }
    for (const { busy, hung } of this.#slots.values()) {
      if (hung > 0) states.hung++
      else if (busy > 0) states.busy++
      else states.idle++
    }
    return states
  }

  addWorker(worker: ModelWorker): void {
    this.#slots.set(worker, new Slot(worker))
    this.#schedule()
  }

  endWorker(worker: ModelWorker): void {
    this.#slots.get(worker)?.end()
  }

  /** Called when a worker has ended. Its calls fail through their jobs. */
  removeWorker(worker: ModelWorker): void {
    this.#slots.delete(worker)
  }

  /** Refuses every call with that error, those that wait included, until {@link Dispatcher.open}. */
  close(reason: Error): void {
    this.#closed = reason
    const refused = (call: RunnerCall) => {
      call.reject(reason)
      return true
    }
    for (const { calls } of this.#queues.values())
      while (calls.size > 0) calls.take(this.#options.clock.now(), 1, refused)
  }

  open(): void {
    this.#closed = undefined
  }

  /** Resolves when no worker has a job, or after that time. **Units**: milliseconds. */
  async idle(withinMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const disarm = this.#options.clock.after(withinMs, resolve)
      this.#onJobEnd = () => {
        const { busy, hung } = this.states
        if (busy + hung > 0) return
        disarm()
        resolve()
      }
      this.#onJobEnd()
    })
  }

  refusal(): Error | undefined {
    const { maxQueue, name } = this.#options
    if (this.#closed !== undefined || this.waiting < maxQueue) return this.#closed
    return new Overloaded(`too many calls wait for the runner ${name}`, { limit: 'queue' })
  }

  /** Queues a call, or once more without `options`. Its promise resolves to its answer, or to an {@link OpenStream}. */
  push(method: string, call: RunnerCall, options?: CallOptions): void {
    if (call.over) return
    const queue = this.#queues.get(method) as MethodQueue
    const { clock } = this.#options
    const now = clock.now()
    if (call.deadlineMs !== undefined) call.dueAt = now + call.deadlineMs - clock.date()
    if (options !== undefined) call.share = this.#shares.of(options)
    call.owner = this
    queue.calls.push(call, now, queue.running === 0)
    if (this.#isHopeless(call, queue, now)) {
      queue.calls.remove(call)
      call.reject(this.#tooLate())
    } else this.#schedule()
  }

  /** Whether what goes before a call, and the call itself, take longer than it may. Nobody knows before others wait. */
  #isHopeless(call: RunnerCall, { calls }: MethodQueue, now: number): boolean {
    const restMs = call.dueAt - now
    if (restMs <= 0 || restMs === Number.POSITIVE_INFINITY || this.waiting < 2) return false
    const places = Math.max(1, this.#slots.size * this.#options.concurrency)
    const ownMs = calls.expectedMs(call)
    const fits = (ms: number) => Math.max(0, ms - ownMs) / places + ownMs <= restMs
    if (fits(this.#shares.waitingMs)) return false
    let callerMs = call.share.waitingMs
    for (const queue of this.#queues.values()) callerMs -= queue.calls.msAfter(call)
    return !fits(call.share.msBefore(callerMs))
  }

  #tooLate(): Overloaded {
    const text = `the runner ${this.#options.name} cannot answer before the request deadline: too many calls go first`
    return new Overloaded(text, { limit: 'deadline' })
  }

  abandoned(call: RunnerCall): void {
    for (const { calls } of this.#queues.values()) if (calls.remove(call)) this.#schedule()
  }

  /** Dispatches once for all calls of this turn of the event loop, so that they share a message. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#afterTurn(1, maxExtraTurns)
  }

  /** Dispatches after this turn, or up to so many turns later while each brings more calls worth waiting for. */
  #afterTurn(seen: number, extraTurns: number): void {
    this.#options.clock.soon(() => {
      if (extraTurns > 0 && this.waiting > seen && this.#gathers()) {
        this.#afterTurn(this.waiting, extraTurns - 1)
        return
      }
      this.#isScheduled = false
      this.#dispatch()
    })
  }

  #gathers(): boolean {
    for (const { calls } of this.#queues.values())
      if (calls.size > 0 && !calls.gathers) return false
    return true
  }

  #dispatch(): void {
    this.#disarm?.()
    this.#disarm = undefined
    for (;;) {
      if (this.waiting === 0) return
      const free: Slot[] = []
      for (const slot of this.#slots.values()) {
        if (slot.busy < this.#options.concurrency && slot.hung === 0 && !slot.isEnding)
          free.push(slot)
      }
      if (free.length === 0) return
      const now = this.#options.clock.now()
      const queue = this.#dueQueue(now)
      if (queue === undefined) return
      let { waiting } = this
      const calls = queue.calls.take(now, free.length, (call, ms) => {
        const restMs = call.dueAt - now
        if (restMs <= 0) call.reject(deadlinePassed())
        // If no other waits, even a call that should not make it costs nobody anything, and is measured.
        else if (restMs < ms && waiting > 1) call.reject(this.#tooLate())
        if (call.over) waiting--
        return call.over
      })
      if (calls.length === 0) continue
      const slot = free.reduce((min, one) => (one.busy < min.busy ? one : min))
      this.#slots.delete(slot.worker)
      this.#slots.set(slot.worker, slot)
      void this.#send(queue, slot, calls)
    }
  }

  /** @returns the queue whose call should go now, or sets a timer for the next that is due. */
  #dueQueue(now: number): MethodQueue | undefined {
    let due: MethodQueue | undefined
    let next = Number.POSITIVE_INFINITY
    for (const queue of this.#queues.values()) {
      const at = queue.calls.dueAt(now)
      if (at > now) next = Math.min(next, at)
      else if (
        due === undefined ||
        goesBefore(queue.calls.first as RunnerCall, due.calls.first as RunnerCall)
      )
        due = queue
    }
    if (due === undefined && next < Number.POSITIVE_INFINITY) {
      this.#disarm = this.#options.clock.after(next - now, () => this.#dispatch())
    }
    return due
  }

  async #send(queue: MethodQueue, slot: Slot, calls: readonly RunnerCall[]): Promise<void> {
    const job = new Job(++this.#count, queue.method, calls, slot, this.#options)
    const start = this.#options.clock.now()
    this.#countDispatch(job)
    queue.running++
    try {
      if (queue.method.stream) await job.stream()
      else await this.#run(job, queue)
    } catch (error) {
      const failure = callFailure(error, this.#options.name)
      // The `down` event comes after the calls have failed: until then the worker would look free.
      if (error instanceof WorkerEnded) this.removeWorker(slot.worker)
      if (error instanceof WorkerEnded || !queue.method.batchable)
        for (const call of calls) call.reject(failure)
      else this.#batchFailed(job, failure)
    } finally {
      job.end()
      queue.running--
      const msOfSize = (this.#options.clock.now() - start) / (job.size || 1)
      // In place of the expected time.
      for (const { share, weight, expectedMs, size } of calls)
        share.charge((msOfSize * size - expectedMs) / weight)
      this.#schedule()
      this.#onJobEnd?.()
    }
  }

  #countDispatch({ calls, method, rows, length }: Job): void {
    const { counts, clock } = this.#options
    const now = clock.now()
    for (const { queuedAt, trace } of calls) {
      counts.queueWait.add((now - queuedAt) / 1000)
      trace?.dispatched()
    }
    if (!method.batchable) return
    counts.batches++
    counts.batchRows.add(rows)
    if (method.ragged.pad === undefined) return
    const sent = calls.reduce((sum, { value, rows }) => sum + rows * (value as NDArray).shape[1], 0)
    counts.sentLength += sent
    counts.paddedLength += rows * length - sent
  }

  async #run(job: Job, { calls: queue }: MethodQueue): Promise<void> {
    const { clock, name } = this.#options
    const { method } = job
    const start = clock.now()
    const reply = await job.run()
    if (reply === undefined) return
    const { calls } = job
    const failed = [...reply.failed]
    const results = unpackList(reply.results, (error, i) => {
      failed.push(i)
      return callFailure(error, name)
    })
    if (!method.batchable) {
      queue.learn(calls.length, reply.ms)
      for (const [i, call] of calls.entries()) {
        if (failed.includes(i)) call.reject(results[i] as Error)
        else call.resolve(results[i])
      }
    } else if (failed.length > 0) {
      this.#batchFailed(job, results[0] as Error)
    } else {
      queue.learn(job.size, clock.now() - start)
      try {
        this.#settleBatch(job, results[0])
      } catch (error) {
        // A result with a wrong number of rows: calling again would give the same.
        for (const call of calls) call.reject(callFailure(error, name))
      }
    }
  }

  #settleBatch({ calls, length, method }: Job, result: unknown): void {
    const sizes = calls.map(({ rows }) => rows)
    const { trim } = method.ragged
    for (const [i, whole] of splitRows(result, sizes).entries()) {
      const { shape } = calls[i].value as NDArray
      const part = trim === undefined ? whole : trimRows(whole, trim, length, shape[1])
      const wrong = Array.isArray(part) ? part.find((row) => row instanceof Error) : undefined
      if (wrong === undefined) calls[i].resolve(part)
      else calls[i].reject(callFailure(wrong, this.#options.name))
    }
  }

  #batchFailed({ method, calls }: Job, error: Error): void {
    if (calls.length === 1) calls[0].reject(error)
    else if (method.onBatchError === 'retry') {
      for (const call of calls) {
        call.key = `alone ${++this.#count}`
        this.push(method.name, call)
      }
    } else {
      // Not the error itself: a 400 for one request would be a 400 for all.
      const text = `a batch of ${calls.length} calls of ${method.name} failed: ${error.message}`
      for (const call of calls) call.reject(new FunctionError(text, { cause: error }))
    }
  }
}
