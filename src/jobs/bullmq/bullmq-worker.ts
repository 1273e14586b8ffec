import { ClientClosed, InternalError, Overloaded, ServingError } from '../../core/errors.ts'
import { deferred, within } from '../../core/promise.ts'
import { backoffMs } from '../backoff.ts'
import { deliveryId } from '../delivery.ts'
import type { StoredResponse } from '../job.ts'
import { type Attempt, type JobTimes, maxCrashes, type Outcome, type WorkQueue } from '../job-store.ts'
import { responseBlob } from '../kept-body.ts'
import { crashAnswer, failedBy } from '../problem-answer.ts'
import { Thinned } from '../thinned.ts'
import { type BullJob, loadBullmq, type Worker } from './bullmq-package.ts'
import type { JobRecords } from './job-records.ts'
import { faultOf } from './redis-faults.ts'

const handBackMs = 2_000

/** What a worker has of its store. */
export interface WorkerStore {
  /** Over a connection whose commands wait for the server to come back. */
  readonly records: JobRecords
  readonly times: JobTimes
  readonly failed: (error: unknown) => void
  readonly sendRest: (id: string) => Promise<void>
}

/** What BullMQ has of a job beside its name. */
export interface JobData {
  readonly retries: number
  readonly hasWebhook: boolean
}

interface Running {
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
  readonly #running = new Map<string, Running>()
  #isStopping = false

  constructor(store: WorkerStore, queues: readonly WorkQueue[], run: (attempt: Attempt) => Promise<Outcome>) {
    this.#store = store
    this.#records = store.records
    this.#failed = store.failed
    this.#run = run
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
      lockRenewTime: times.renewMs,
      stalledInterval: times.sweepMs,
      // The attempt fails a job whose workers die, so that it has an answer.
      maxStalledCount: 1_000_000,
      runRetryDelay: 1_000,
      // BullMQ 6.7 wakes no waiting worker for a job with a priority that is handed back. **Units**: seconds.
      drainDelay: 1,
      settings: { backoffStrategy: (made, _, error) => (error instanceof Again && error.afterMs) || backoffMs(made) },
    })
    // What fails is tried again by BullMQ. Of a lost lease the attempt tells.
    worker.on('error', (error) => {
      if (!error.message.startsWith('Missing lock')) this.#failed(error)
    })
    worker.on('lockRenewalFailed', (ids) => {
      for (const id of ids) this.#running.get(id)?.abort.abort(new Overloaded('the lease of the job was lost'))
    })
    // A message is lost where a connection breaks.
    worker.on('locksRenewed', ({ jobIds }) => void this.#askCanceled(jobIds).catch(this.#failed))
    return worker
  }

  async #askCanceled(ids: readonly string[]): Promise<void> {
    const { client, prefix } = this.#records
    for (const id of ids) if ((await client.hexists(prefix + id, 'cancel')) === 1) this.cancel(id)
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
  }

  /** Called by BullMQ for each attempt. */
  async #take(job: BullJob<JobData>, token: string): Promise<void> {
    const id = job.id as string
    const abort = new AbortController()
    const gaveUp = deferred<undefined>()
    const ended = this.#attempt(job, token, abort.signal, gaveUp.promise)
    this.#running.set(id, { abort, giveUp: () => gaveUp.resolve(undefined), ended })
    try {
      await ended
    } catch (error) {
      // All else fails of the server's: then the job runs again when its lease ends.
      const isMeant = error instanceof Again || error instanceof loadBullmq().WaitingError || ServingError.is(error)
      if (!isMeant) this.#failed(new InternalError(`the end of job ${id} is not kept`, { cause: faultOf(error) }))
      throw error
    } finally {
      // Another attempt may have begun here since the lease of this one was lost.
      if (this.#running.get(id)?.abort === abort) this.#running.delete(id)
      if (job.data.hasWebhook) await this.#store.sendRest(deliveryId(id)).catch(this.#failed)
    }
  }

  /** Resolves if BullMQ may drop the job; throws what tells it otherwise. */
  async #attempt(job: BullJob<JobData>, token: string, signal: AbortSignal, gaveUp: Promise<undefined>): Promise<void> {
    const { scripts } = this.#records
    const id = job.id as string
    if (this.#isStopping) return handBack(job, token)
    if (job.stalledCounter >= maxCrashes) {
      const response = crashAnswer(id)
      return this.#finish(id, 'failed', '', response, await this.#records.keep('', response))
    }
    const begun = await scripts.start(id)
    if (begun === null) return
    const [start, number] = begun
    const thinned = new Thinned((kind, data) => scripts.report(id, start, kind, data).then(() => {}, this.#failed))
    const running = this.#outcome(id, start, { number, signal, report: thinned.report })
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
    if (outcome.kind === 'canceled') return this.#finish(id, 'canceled', start)
    const { response } = outcome
    if (outcome.kind === 'failed' && outcome.mayRetry && job.attemptsMade < job.data.retries) {
      await this.#records.drop(body?.[1] ?? '')
      if ((await scripts.requeue(id, start, 0)) === 0) return
      throw new Again(`answered ${response.status}`, outcome.retryAfterMs)
    }
    return this.#finish(id, outcome.kind, start, response, body)
  }

  /** Runs the job and keeps a large answer. What fails of the store's is a failed attempt, too. */
  async #outcome(
    id: string,
    start: number,
    attempt: Pick<Attempt, 'number' | 'signal' | 'report'>,
  ): Promise<{ outcome: Outcome; body?: Body }> {
    try {
      const [job, { request, state }] = await Promise.all([this.#records.job(id), this.#records.submitted(id)])
      if (job === undefined) return { outcome: { kind: 'canceled' } }
      const outcome = await this.#run({ ...attempt, job, request, state })
      if (outcome.kind === 'canceled') return { outcome }
      return { outcome, body: await this.#records.keep(responseBlob(id, start), outcome.response) }
    } catch (error) {
      this.#failed(error)
      const outcome = failedBy(error, id)
      return { outcome, body: await this.#records.keep('', outcome.response) }
    }
  }

  /** Stores the end of a job, if its attempt is the last one that began. */
  async #finish(
    id: string,
    status: Outcome['kind'],
    start: number | '',
    response?: StoredResponse,
    [inline, blob]: Body = ['', ''],
  ): Promise<void> {
    const answer = response === undefined ? ['', ''] : [response.status, JSON.stringify(response.headers)]
    const { scripts } = this.#records
    const counts = await scripts.finish(id, start, status, ...answer, inline, blob)
    if (counts === 0) await this.#records.drop(blob)
  }
}

class Again extends Error {
  readonly afterMs: number | undefined

  constructor(message: string, afterMs: number | undefined) {
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
