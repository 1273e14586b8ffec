import { ClientClosed, Overloaded } from '../../core/errors.ts'
import { deferred, within } from '../../core/promise.ts'
import type { BlobStore } from '../blob-store.ts'
import type { Attempt, JobWorker, Outcome } from '../job-store.ts'
import { keepBody, responseBlob, unread } from '../kept-body.ts'
import { failedBy } from '../problem-answer.ts'
import { thinnedBy } from '../thinned.ts'
import type { KeptOutcome, Lease, Taken } from './leases.ts'
import type { Operations } from './messages.ts'

/** Calls an operation of the thread. */
export type CallThread = <K extends keyof Operations>(
  name: K,
  ...args: Parameters<Operations[K]>
) => Promise<ReturnType<Operations[K]>>

/** What the workers of one store share. */
export interface WorkerStore {
  readonly blobs: BlobStore
  readonly call: CallThread
  readonly warn: (message: string) => void
}

interface Running {
  readonly lease: Lease
  readonly abort: AbortController
  /** Whether somebody else has the job now: the outcome counts for nothing. */
  isLost: boolean
  done: Promise<void>
}

/** The worker of one call of {@link JobStore.work}; `number` names it to the thread. */
export class SqliteWorker implements JobWorker {
  readonly #store: WorkerStore
  readonly #number: number
  readonly #run: (attempt: Attempt) => Promise<Outcome>
  readonly #running = new Set<Running>()

  constructor(store: WorkerStore, number: number, run: (attempt: Attempt) => Promise<Outcome>) {
    this.#store = store
    this.#number = number
    this.#run = run
  }

  start(taken: Taken): void {
    const { seq, lease } = taken
    const running = {
      lease: { seq, lease },
      abort: new AbortController(),
      isLost: false,
      done: Promise.resolve(),
    }
    this.#running.add(running)
    const over = deferred<void>()
    running.done = this.#attempt(taken, running, over.promise)
      // The thread no longer renews the lease of an attempt whose end it could not keep: the job runs again.
      .catch((error: Error) =>
        this.#store.warn(`the end of job ${taken.job.id} is not kept: ${error.message}`),
      )
      .finally(() => {
        this.#running.delete(running)
        over.resolve()
      })
  }

  /** Ends the attempt of a lease, if it is of this worker. */
  end({ seq, lease }: Lease, why: 'canceled' | 'lost'): void {
    for (const running of this.#running) {
      if (running.lease.seq !== seq || running.lease.lease !== lease) continue
      if (why === 'lost') {
        lose(running, 'the lease of the job is lost')
        this.#store.call('release', [running.lease]).catch(() => {})
      } else running.abort.abort(new ClientClosed('the job was canceled'))
    }
  }

  /** Ends all attempts, when the store has failed or closes. */
  loseAll(): Lease[] {
    return [...this.#running].map((running) => {
      lose(running, 'the worker stops')
      return running.lease
    })
  }

  async stop(graceMs: number): Promise<void> {
    // These fail only if the thread has ended: then it has lost all attempts.
    await this.#store.call('work', this.#number, []).catch(() => {})
    await within(Promise.all([...this.#running].map(({ done }) => done)), graceMs, undefined)
    const rest = this.loseAll()
    if (rest.length > 0) await this.#store.call('release', rest).catch(() => {})
  }

  async #attempt(taken: Taken, running: Running, over: Promise<void>): Promise<void> {
    const { call, blobs } = this.#store
    const { job } = taken
    const thinned = thinnedBy(async (kind, data) => {
      if (!running.isLost) await call('report', running.lease, kind, data).catch(() => {})
    })
    let outcome: Outcome
    try {
      outcome = await this.#run({
        job,
        request: await unread(blobs, taken.request),
        state: taken.state,
        number: job.attempt,
        starts: taken.lease,
        deaths: taken.deaths,
        signal: running.abort.signal,
        over,
        report: thinned.report,
        rows: {
          blobs,
          kept: () => call('kept', job.id),
          async keep(...of) {
            const isKept = await call('keep', running.lease, ...of)
            if (!isKept) throw new Overloaded('the lease of the job is lost')
          },
        },
      })
    } catch (error) {
      outcome = failedBy(error, job.id)
    }
    if (running.isLost) return
    await thinned.flush()
    await this.#finish(outcome, running.lease, responseBlob(job.id, running.lease.lease))
  }

  async #finish(outcome: Outcome, lease: Lease, blob: string): Promise<void> {
    const { call, blobs } = this.#store
    if (outcome.kind === 'canceled') return void (await call('finish', lease, outcome))
    const response = await keepBody(blobs, blob, outcome.response)
    const isKept = await call('finish', lease, { ...outcome, response } as KeptOutcome)
    if (!isKept && response.body === blob) await blobs.delete(blob)
  }
}

function lose(running: Running, why: string): void {
  running.isLost = true
  running.abort.abort(new Overloaded(why))
}
