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
import { thinnedBy } from '../thinned.ts'
import { type BullJob, loadBullmq } from './bullmq-package.ts'
import type { JobRecords } from './job-records.ts'
import { type LeaseNews, leasesOf } from './leases.ts'
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
export function bullmqWorker(
  { records, times, url, failed, sendRest }: WorkerStore,
  queues: readonly WorkQueue[],
  run: (attempt: Attempt) => Promise<Outcome>,
) {
  const { Worker, WaitingError } = loadBullmq()
  const { client, prefix, queuePrefix, scripts, blobs } = records
  const running = new Map<string, Running>()
  const leases = leasesOf({ ...times, url, prefix, queuePrefix }, heard)
  const workers = queues.map(({ api, concurrency }) => {
    const worker = new Worker<JobData>(api, (job, token) => take(job, token as string), {
      connection: client,
      concurrency,
      prefix: queuePrefix,
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
    return worker.on('error', (error) => {
      if (!/^(?:Missing lock|Lock mismatch)/.test(error.message)) failed(error)
    })
  })
  let isStopping = false

  function heard(news: LeaseNews): void {
    if (news.kind === 'failed') {
      failed(news.error)
      return
    }
    const held = running.get(news.id)
    if (held?.token !== news.token) return
    // A message of the cancel is lost where a connection breaks.
    if (news.kind === 'canceled') cancel(news.id)
    else held.abort.abort(new Overloaded('the lease of the job was lost'))
  }

  /** Aborts the attempt at a job if it runs here. */
  function cancel(id: string): void {
    running.get(id)?.abort.abort(new ClientClosed('the job was canceled'))
  }

  async function stop(graceMs: number): Promise<void> {
    isStopping = true
    await Promise.all(workers.map((worker) => worker.pause(true)))
    const isAway = () => client.status !== 'ready'
    const ended = Promise.allSettled([...running.values()].map((each) => each.ended))
    // Without its server nothing is kept of what ends: then the jobs run again when their leases end.
    const lost = deferred<void>()
    client.once('close', lost.resolve)
    if (!isAway()) await within(Promise.race([ended, lost.promise]), graceMs, undefined)
    for (const { abort, giveUp } of running.values()) {
      giveUp()
      abort.abort(new Overloaded('the worker stops'))
    }
    if (!isAway()) await within(ended, handBackMs, undefined)
    await Promise.all(
      workers.map(async (worker) => {
        // Where the server is slow, both would wait for it.
        const isLate = await within(worker.close(isAway()), handBackMs, true)
        if (isLate) await within(worker.disconnect(), handBackMs, undefined)
      }),
    )
    await leases.close()
  }

  /** Called by BullMQ for each attempt. */
  async function take(job: BullJob<JobData>, token: string): Promise<void> {
    const id = job.id as string
    const abort = new AbortController()
    const gaveUp = deferred<undefined>()
    const { hasWebhook, timeoutMs } = job.data
    leases.send({ kind: 'hold', queue: job.queueName, id, token, timeoutMs })
    const over = deferred<void>()
    const { signal } = abort
    const ended = attempt(job, token, { signal, over: over.promise }, gaveUp.promise)
    running.set(id, { token, abort, giveUp: () => gaveUp.resolve(undefined), ended })
    try {
      await ended
    } catch (error) {
      // All else fails of the server's: then the job runs again when its lease ends.
      const isMeant =
        error instanceof Again || error instanceof WaitingError || ServingError.is(error)
      if (!isMeant)
        failed(new InternalError(`the end of job ${id} is not kept`, { cause: faultOf(error) }))
      throw error
    } finally {
      // Another attempt may have begun here since the lease of this one was lost.
      if (running.get(id)?.abort === abort) running.delete(id)
      if (hasWebhook) await sendRest(deliveryId(id)).catch(failed)
      leases.send({ kind: 'drop', token })
      over.resolve()
    }
  }

  /** Resolves if BullMQ may drop the job; throws what tells it otherwise. */
  async function attempt(
    job: BullJob<JobData>,
    token: string,
    { signal, over }: Pick<Attempt, 'signal' | 'over'>,
    gaveUp: Promise<undefined>,
  ): Promise<void> {
    const id = job.id as string
    if (isStopping) return handBack(job, token)
    const { stalledCounter: deaths } = job
    const hasRows = deaths > 0 && (await client.exists(`${prefix}${id}:kept`)) === 1
    if (deaths >= (hasRows ? maxRowCrashes : maxCrashes)) {
      const hasSurvived = (await client.hexists(prefix + id, 'survived')) === 1
      const response = hasSurvived ? lostAnswer(id) : crashAnswer(id)
      return finish(id, 'failed', '', signal, response, await records.keep('', response))
    }
    const begun = await records.begin(id, workerName())
    if (begun === undefined) return
    const { start, job: begunJob } = begun
    const thinned = thinnedBy((kind, data) =>
      scripts.report(id, start, kind, data).then(() => {}, failed),
    )
    const outcome = outcomeOf({
      job: begunJob,
      number: begunJob.attempt,
      starts: start,
      deaths,
      signal,
      over,
      report: thinned.report,
      rows: rowsOf(id, start, signal),
    })
    const ended = await Promise.race([outcome, gaveUp])
    await thinned.flush()
    if (ended === undefined) {
      if ((await scripts.requeue(id, start, 1)) === 0) return
      return handBack(job, token)
    }
    const { outcome: end, body } = ended
    if (signal.reason instanceof Overloaded) {
      // BullMQ gives the job to another attempt.
      await records.drop(body?.[1] ?? '')
      throw signal.reason
    }
    if (end.kind === 'canceled') return finish(id, 'canceled', start, signal)
    const { response } = end
    if (end.kind === 'failed' && end.mayRetry && job.attemptsMade < job.data.retries) {
      await records.drop(body?.[1] ?? '')
      const afterMs = end.retryAfterMs || backoffMs(job.attemptsMade + 1)
      if ((await scripts.requeue(id, start, 0, afterMs)) === 0) return
      throw new Again(`answered ${response.status}`, afterMs)
    }
    return finish(id, end.kind, start, signal, response, body)
  }

  function rowsOf(id: string, start: number, signal: AbortSignal): AttemptRows {
    return {
      blobs,
      kept: () => records.kept(id),
      keep: async (chunk, isFurther, blob = '') => {
        const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
        const args = [start, bytes, blob, isFurther ? queuePrefix : '']
        const isKept = await kept(signal, () => scripts.keep(id, ...args))
        if (isKept === 0) throw new Overloaded('the lease of the job was lost')
      },
    }
  }

  /** Runs the job and keeps a large answer. What fails of the store's is a failed attempt, too. */
  async function outcomeOf(
    attempt: Omit<Attempt, 'request' | 'state'>,
  ): Promise<{ outcome: Outcome; body?: Body }> {
    const { id } = attempt.job
    try {
      const outcome = await run({ ...attempt, ...(await records.submitted(id)) })
      if (outcome.kind === 'canceled') return { outcome }
      const name = responseBlob(id, attempt.starts)
      return { outcome, body: await records.keep(name, outcome.response) }
    } catch (error) {
      failed(error)
      const outcome = failedBy(error, id)
      return { outcome, body: await records.keep('', outcome.response) }
    }
  }

  /** Writes again while the server is full or takes no changes, as long as the attempt has its lease. */
  async function kept<T>(signal: AbortSignal, write: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await write()
      } catch (cause) {
        const fault = faultOf(cause)
        failed(fault)
        if (signal.aborted || fault instanceof InternalError) throw cause
        await wait(times.renewMs, undefined, { signal }).catch(() => {})
      }
    }
  }

  /** Stores the end of a job, if its attempt is the last one that began. */
  async function finish(
    id: string,
    status: Outcome['kind'],
    start: number | '',
    signal: AbortSignal,
    response?: StoredResponse,
    [inline, blob]: Body = ['', ''],
  ): Promise<void> {
    const answer =
      response === undefined ? ['', ''] : [response.status, JSON.stringify(response.headers)]
    const counts = await kept(signal, () =>
      scripts.finish(id, start, status, ...answer, inline, blob),
    )
    if (counts === 0) await records.drop(blob)
  }

  return { cancel, stop }
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
