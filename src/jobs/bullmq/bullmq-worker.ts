import { setTimeout as wait } from 'node:timers/promises'
import { ClientClosed, InternalError, Overloaded, ServingError } from '../../core/errors.ts'
import { deferred, within } from '../../core/promise.ts'
import { backoffMs } from '../backoff.ts'
import { deliveryId } from '../delivery.ts'
import { type StoredResponse, workerName } from '../job.ts'
import {
  type Attempt,
  type AttemptRows,
  type JobTimes,
  maxCrashes,
  maxRowCrashes,
  type Outcome,
  type WorkQueue,
} from '../job-store.ts'
import { responseBlob } from '../kept-body.ts'
import { crashAnswer, failedBy, lostAnswer } from '../problem-answer.ts'
import { Thinned } from '../thinned.ts'
import { type BullJob, loadBullmq, type Worker } from './bullmq-package.ts'
import type { JobRecords } from './job-records.ts'
import { type LeaseNews, Leases } from './leases.ts'
import { faultOf } from './redis-faults.ts'

const handBackMs = 2_000

/** What a worker has of its store. */
export interface WorkerStore {
  /** Over a connection whose commands wait for the server to come back. */
  readonly records: JobRecords
  readonly times: JobTimes
  /** URL of the server. */
  readonly url: string
  readonly failed: (error: unknown) => void
  readonly sendRest: (id: string) => Promise<void>
}

/** What BullMQ has of a job beside its name. */
export interface JobData {
  readonly retries: number
  readonly timeoutMs: number
  readonly hasWebhook: boolean
}

interface Running {
  /** BullMQ's name of the attempt. */
  readonly token: string
  readonly abort: AbortController
  /** Ends the attempt for the store, whatever the function does. */
  readonly giveUp: () => void
  readonly ended: Promise<void>
}

/** The kept form of a body. */
type Body = readonly [inline: Buffer | string, blob: string]

/** Takes jobs until it is stopped. */
export class BullmqWorker {
  readonly #store: WorkerStore
  readonly #records: JobRecords
  readonly #failed: (error: unknown) => void
  readonly #run: (attempt: Attempt) => Promise<Outcome>
  readonly #workers: readonly Worker[]
  readonly #leases: Leases
  readonly #running = new Map<string, Running>()
  #isStopping = false

  constructor(
    store: WorkerStore,
    queues: readonly WorkQueue[],
    run: (attempt: Attempt) => Promise<Outcome>,
  ) {
    this.#store = store
    this.#records = store.records
    this.#failed = store.failed
    this.#run = run
    const { times, url } = store
    const { prefix, queuePrefix } = store.records
    this.#leases = new Leases({ ...times, url, prefix, queuePrefix }, (news) => this.#heard(news))
    this.#workers = queues.map((queue) => this.#worker(queue))
  }

  #worker({ api, concurrency }: WorkQueue): Worker {
    const { Worker } = loadBullmq()
    const { times } = this.#store
    const worker = new Worker<JobData>(api, (job, token) => this.#take(job, token as string), {
      connection: this.#records.client,
      concurrency,
      prefix: this.#records.queuePrefix,
      lockDuration: times.leaseMs,
      skipLockRenewal: true,
      stalledInterval: times.sweepMs,
      // The attempt fails a job whose workers die, so that it has an answer.
      maxStalledCount: 1_000_000,
      runRetryDelay: 1_000,
      // BullMQ 6.7 wakes no waiting worker for a job with a priority that is handed back. **Units**: seconds.
      drainDelay: 1,
      settings: {
        backoffStrategy: (made, _, error) =>
          error instanceof Again ? error.afterMs : backoffMs(made),
      },
    })
    // What fails is tried again by BullMQ. Of a lost lease the attempt tells.
    worker.on('error', (error) => {
      if (!/^(?:Missing lock|Lock mismatch)/.test(error.message)) this.#failed(error)
    })
    return worker
  }

  #heard(news: LeaseNews): void {
    if (news.kind === 'failed') {
      this.#failed(news.error)
      return
    }
    const running = this.#running.get(news.id)
    if (running?.token !== news.token) return
    // A message of the cancel is lost where a connection breaks.
    if (news.kind === 'canceled') this.cancel(news.id)
    else running.abort.abort(new Overloaded('the lease of the job was lost'))
  }

  /** Aborts the attempt at a job if it runs here. */
  cancel(id: string): void {
    this.#running.get(id)?.abort.abort(new ClientClosed('the job was canceled'))
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#workers.map((worker) => worker.pause(true)))
    const { client } = this.#records
    const isAway = () => client.status !== 'ready'
    const ended = Promise.allSettled([...this.#running.values()].map((each) => each.ended))
    // Without its server nothing is kept of what ends: then the jobs run again when their leases end.
    const lost = deferred<void>()
    client.once('close', lost.resolve)
    if (!isAway()) await within(Promise.race([ended, lost.promise]), graceMs, undefined)
    for (const { abort, giveUp } of this.#running.values()) {
      giveUp()
      abort.abort(new Overloaded('the worker stops'))
    }
    if (!isAway()) await within(ended, handBackMs, undefined)
    await Promise.all(
      this.#workers.map(async (worker) => {
        // Where the server is slow, both would wait for it.
        const isLate = await within(worker.close(isAway()), handBackMs, true)
        if (isLate) await within(worker.disconnect(), handBackMs, undefined)
      }),
    )
    await this.#leases.close()
  }

  /** Called by BullMQ for each attempt. */
  async #take(job: BullJob<JobData>, token: string): Promise<void> {
    const id = job.id as string
    const abort = new AbortController()
    const gaveUp = deferred<undefined>()
    const { hasWebhook, timeoutMs } = job.data
    this.#leases.send({ kind: 'hold', queue: job.queueName, id, token, timeoutMs })
    const over = deferred<void>()
    const ended = this.#attempt(
      job,
      token,
      { signal: abort.signal, over: over.promise },
      gaveUp.promise,
    )
    this.#running.set(id, { token, abort, giveUp: () => gaveUp.resolve(undefined), ended })
    try {
      await ended
    } catch (error) {
      // All else fails of the server's: then the job runs again when its lease ends.
      const isMeant =
        error instanceof Again ||
        error instanceof loadBullmq().WaitingError ||
        ServingError.is(error)
      if (!isMeant)
        this.#failed(
          new InternalError(`the end of job ${id} is not kept`, { cause: faultOf(error) }),
        )
      throw error
    } finally {
      // Another attempt may have begun here since the lease of this one was lost.
      if (this.#running.get(id)?.abort === abort) this.#running.delete(id)
      if (hasWebhook) await this.#store.sendRest(deliveryId(id)).catch(this.#failed)
      this.#leases.send({ kind: 'drop', token })
      over.resolve()
    }
  }

  /** Resolves if BullMQ may drop the job; throws what tells it otherwise. */
  async #attempt(
    job: BullJob<JobData>,
    token: string,
    { signal, over }: Pick<Attempt, 'signal' | 'over'>,
    gaveUp: Promise<undefined>,
  ): Promise<void> {
    const { scripts } = this.#records
    const id = job.id as string
    if (this.#isStopping) return handBack(job, token)
    const { stalledCounter: deaths } = job
    const { client, prefix } = this.#records
    const hasRows = deaths > 0 && (await client.exists(`${prefix}${id}:kept`)) === 1
    if (deaths >= (hasRows ? maxRowCrashes : maxCrashes)) {
      const response =
        (await client.hexists(prefix + id, 'survived')) === 1 ? lostAnswer(id) : crashAnswer(id)
      return this.#finish(
        id,
        'failed',
        '',
        signal,
        response,
        await this.#records.keep('', response),
      )
    }
    const begun = await this.#records.begin(id, workerName())
    if (begun === undefined) return
    const { start, job: begunJob } = begun
    const thinned = new Thinned((kind, data) =>
      scripts.report(id, start, kind, data).then(() => {}, this.#failed),
    )
    const running = this.#outcome({
      job: begunJob,
      number: begunJob.attempt,
      starts: start,
      deaths,
      signal,
      over,
      report: thinned.report,
      rows: this.#rowsOf(id, start, signal),
    })
    const ended = await Promise.race([running, gaveUp])
    await thinned.flush()
    if (ended === undefined) {
      if ((await scripts.requeue(id, start, 1)) === 0) return
      return handBack(job, token)
    }
    const { outcome, body } = ended
    if (signal.reason instanceof Overloaded) {
      // BullMQ gives the job to another attempt.
      await this.#records.drop(body?.[1] ?? '')
      throw signal.reason
    }
    if (outcome.kind === 'canceled') return this.#finish(id, 'canceled', start, signal)
    const { response } = outcome
    if (outcome.kind === 'failed' && outcome.mayRetry && job.attemptsMade < job.data.retries) {
      await this.#records.drop(body?.[1] ?? '')
      const afterMs = outcome.retryAfterMs || backoffMs(job.attemptsMade + 1)
      if ((await scripts.requeue(id, start, 0, afterMs)) === 0) return
      throw new Again(`answered ${response.status}`, afterMs)
    }
    return this.#finish(id, outcome.kind, start, signal, response, body)
  }

  #rowsOf(id: string, start: number, signal: AbortSignal): AttemptRows {
    const { scripts, blobs, queuePrefix } = this.#records
    return {
      blobs,
      kept: () => this.#records.kept(id),
      keep: async (chunk, isFurther, blob = '') => {
        const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
        const args = [start, bytes, blob, isFurther ? queuePrefix : '']
        const isKept = await this.#kept(signal, () => scripts.keep(id, ...args))
        if (isKept === 0) throw new Overloaded('the lease of the job was lost')
      },
    }
  }

  /** Runs the job and keeps a large answer. What fails of the store's is a failed attempt, too. */
  async #outcome(
    attempt: Omit<Attempt, 'request' | 'state'>,
  ): Promise<{ outcome: Outcome; body?: Body }> {
    const { id } = attempt.job
    try {
      const submitted = await this.#records.submitted(id)
      const outcome = await this.#run({ ...attempt, ...submitted })
      if (outcome.kind === 'canceled') return { outcome }
      const name = responseBlob(id, attempt.starts)
      return { outcome, body: await this.#records.keep(name, outcome.response) }
    } catch (error) {
      this.#failed(error)
      const outcome = failedBy(error, id)
      return { outcome, body: await this.#records.keep('', outcome.response) }
    }
  }

  /** Writes again while the server is full or takes no changes, as long as the attempt has its lease. */
  async #kept<T>(signal: AbortSignal, write: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await write()
      } catch (cause) {
        const fault = faultOf(cause)
        this.#failed(fault)
        if (signal.aborted || fault instanceof InternalError) throw cause
        await wait(this.#store.times.renewMs, undefined, { signal }).catch(() => {})
      }
    }
  }

  /** Stores the end of a job, if its attempt is the last one that began. */
  async #finish(
    id: string,
    status: Outcome['kind'],
    start: number | '',
    signal: AbortSignal,
    response?: StoredResponse,
    [inline, blob]: Body = ['', ''],
  ): Promise<void> {
    const answer =
      response === undefined ? ['', ''] : [response.status, JSON.stringify(response.headers)]
    const { scripts } = this.#records
    const counts = await this.#kept(signal, () =>
      scripts.finish(id, start, status, ...answer, inline, blob),
    )
    if (counts === 0) await this.#records.drop(blob)
  }
}

class Again extends Error {
  readonly afterMs: number

  constructor(message: string, afterMs: number) {
    super(message)
    this.afterMs = afterMs
  }
}

/** Puts a job back in front of its queue without counting the attempt, and tells BullMQ so. */
async function handBack(job: BullJob, token: string): Promise<never> {
  await job.moveToWait(token)
  const { WaitingError } = loadBullmq()
  throw new WaitingError()
}
