/**
 * The program of the store's thread: it owns the connection, which blocks, and commits the calls that came during one
 * commit by the next one. It renews leases itself, so that a busy main thread keeps its jobs. @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import { workerName } from '../job.ts'
import type { WorkQueue } from '../job-store.ts'
import { lateWarnings } from '../problem-answer.ts'
import {
  type Database,
  openDatabase,
  type Statement,
  transaction,
  withoutSync,
} from './database.ts'
import { FileState } from './file-state.ts'
import { JobRecords } from './job-records.ts'
import { type Lease, type Leases, leaseClock, leasesOf, type Taken } from './leases.ts'
import type { Answer, Call, Fault, News, ThreadData, ThreadOperations } from './messages.ts'
import { WriteWatch } from './write-watch.ts'

/** Pause between looks at all attempts and watched jobs of this process. **Units**: milliseconds. */
const noticeMs = 10

/** Operations that change the file. */
const writes: ReadonlySet<string> = new Set([
  'add',
  'again',
  'cancel',
  'report',
  'keep',
  'finish',
  'release',
  'expire',
  'pause',
])

interface Running extends Lease {
  readonly worker: number
  readonly api: string
  /** The time of the attempt, by the clock of leases. */
  readonly endsAt: number
  /** What the main thread was told about the end. */
  told: 'canceled' | 'lost' | undefined
}

class StoreThread {
  readonly #database: Database
  readonly #records: JobRecords
  readonly #leases: Leases
  readonly #dataVersion: Statement
  readonly #operations: ThreadOperations
  readonly #timers: NodeJS.Timeout[]
  readonly #workers = new Map<number, readonly WorkQueue[]>()
  readonly #running = new Map<string, Running>()
  readonly #watched = new Map<string, number>()
  #calls: Call[] = []
  #version: unknown
  #nextDue = 0
  readonly #writes: WriteWatch
  readonly #file: FileState
  #noticeTimer: NodeJS.Timeout | undefined
  #hasNews = false
  #isClosed = false

  constructor({ path, times }: ThreadData) {
    this.#database = openDatabase(path)
    this.#records = new JobRecords(this.#database)
    this.#leases = leasesOf(this.#database, workerName(), times)
    this.#dataVersion = this.#database.prepare('PRAGMA data_version')
    this.#version = this.#dataVersion.get()?.data_version
    this.#operations = this.#makeOperations()
    this.#file = new FileState(path, this.#database, (unready) => post({ kind: 'state', unready }))
    this.#writes = new WriteWatch(`${path}-wal`, () => this.#look(), this.#failed)
    this.#timers = [
      setInterval(() => this.#guard(() => this.#renew()), times.renewMs),
      setInterval(() => {
        this.#guard(() => this.#file.look())
        // Who waited for a lock is late, and not dead.
        this.#guard(() => this.#renew())
        this.#guard(() => this.#sweep())
      }, times.sweepMs),
    ]
    this.#guard(() => this.#sweep())
  }

  /** Calls that arrive while a transaction commits wait in the port, and make the next group. */
  receive(calls: readonly Call[]): void {
    if (this.#calls.length === 0) setImmediate(() => this.#runGroup(this.#calls.splice(0)))
    this.#calls.push(...calls)
  }

  #makeOperations(): ThreadOperations {
    const leases = this.#leases
    return {
      watch: (id, isWatched) => {
        if (isWatched) this.#watched.set(id, this.#records.version(id))
        else this.#watched.delete(id)
      },
      work: (worker, queues) => {
        if (queues.length === 0) this.#workers.delete(worker)
        else this.#workers.set(worker, queues)
        this.#nextDue = 0
        this.#writes.lookIn(0)
      },
      report: (...of) => leases.report(...of),
      keep: (...of) => leases.keep(...of),
      finish: (lease, outcome) => {
        // Also if this fails: then the lease ends, and the job runs again.
        this.#running.delete(keyOf(lease))
        return leases.finish(lease, outcome)
      },
      release: (list) => {
        for (const lease of list) {
          this.#running.delete(keyOf(lease))
          leases.release(lease)
        }
      },
      expire: (id) => {
        const blobs = leases.expire(id)
        return { job: this.#records.get(id), blobs }
      },
      close: () => {
        this.#isClosed = true
        this.#writes.close()
        for (const timer of [...this.#timers, this.#noticeTimer]) clearTimeout(timer)
        setImmediate(() => {
          this.#database.close()
          parentPort?.close()
        })
      },
    }
  }

  #runGroup(calls: readonly Call[]): void {
    const changes = calls.filter(({ name }) => writes.has(name))
    const answers = changes.length === 0 ? [] : this.#write(changes)
    for (const call of calls)
      if (!writes.has(call.name)) answers.push(answerOf(call, () => this.#run(call)))
    post({ kind: 'answers', answers })
    if (changes.length > 0) this.#notice()
  }

  /** Runs a group in one transaction, with the start of jobs; if that fails, each call in its own. */
  #write(calls: readonly Call[]): Answer[] {
    try {
      const run = () => calls.map((call) => ({ id: call.id, value: this.#run(call) }))
      // What an attempt tells need not outlive a loss of power, in which the attempt ends, too.
      if (calls.every(({ name }) => name === 'report'))
        return withoutSync(this.#database, () => this.#commit(run))
      return this.#commit(run)
    } catch (error) {
      if (calls.length > 1) return calls.flatMap((call) => this.#write([call]))
      this.#file.failed(error)
      return calls.map(({ id }) => ({ id, fault: faultOf(error) }))
    }
  }

  #run({ name, args }: Call): unknown {
    const target = name in this.#operations ? this.#operations : this.#records
    return (
      target as unknown as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>
    )[name](...args)
  }

  /** Commits a change, together with the start of the jobs that may start then. */
  #commit<T>(change: () => T): T {
    const [result, taken] = transaction(this.#database, () => [change(), this.#take()] as const)
    for (const [worker, job] of taken) {
      const { seq, lease } = job
      const { api, timeoutMs } = job.job
      this.#running.set(keyOf(job), {
        seq,
        lease,
        worker,
        api,
        endsAt: leaseClock() + timeoutMs,
        told: undefined,
      })
      post({ kind: 'taken', worker, taken: job })
    }
    return result
  }

  #take(): (readonly [worker: number, taken: Taken])[] {
    const now = Date.now()
    return [...this.#freeQueues()].flatMap(([worker, { api }, free]) =>
      this.#leases.take(api, free, now).map((taken) => [worker, taken] as const),
    )
  }

  *#freeQueues(): Generator<readonly [worker: number, queue: WorkQueue, free: number]> {
    for (const [worker, queues] of this.#workers) {
      for (const queue of queues) {
        let free = queue.concurrency
        for (const running of this.#running.values()) {
          if (running.worker === worker && running.api === queue.api) free--
        }
        if (free > 0) yield [worker, queue, free]
      }
    }
  }

  /** Finds out what other processes have changed, and which retries are due. Returns when the next one is. */
  #look(): number {
    if (this.#workers.size + this.#running.size + this.#watched.size === 0)
      return Number.POSITIVE_INFINITY
    const now = Date.now()
    const version = this.#dataVersion.get()?.data_version
    const isChanged = version !== this.#version
    if (!isChanged && now < this.#nextDue) return this.#nextDue
    const canTake = [...this.#freeQueues()].some(([, { api }]) => this.#leases.canTake(api, now))
    if (canTake) this.#commit(() => {})
    this.#version = version
    this.#nextDue = this.#leases.nextDue(now)
    if (isChanged || canTake) this.#notice()
    return this.#nextDue
  }

  #renew(): void {
    if (this.#running.size === 0) return
    transaction(this.#database, () => {
      for (const running of this.#running.values()) this.#leases.renew(running, running.endsAt)
    })
    this.#notice()
  }

  /** Ends all states whose time is over, a part of it in each transaction. */
  #sweep(): void {
    if (this.#isClosed || !this.#leases.canSweep()) return
    const { blobs, late } = this.#commit(() => this.#leases.sweep())
    if (blobs.length > 0) post({ kind: 'blobs', names: blobs })
    for (const message of lateWarnings(late)) post({ kind: 'warning', message })
    this.#notice()
    setImmediate(() => this.#guard(() => this.#sweep()))
  }

  /** Tells the attempts of this process and the watchers of jobs about changes: at once, but not too often. */
  #notice(): void {
    if (this.#isClosed) return
    this.#nextDue = 0
    this.#writes.lookIn(1)
    this.#hasNews = true
    if (this.#noticeTimer !== undefined || this.#running.size + this.#watched.size === 0) return
    this.#hasNews = false
    for (const running of this.#running.values()) this.#noticeRunning(running)
    for (const [id, version] of this.#watched) {
      const now = this.#records.version(id)
      if (now === version) continue
      this.#watched.set(id, now)
      post({ kind: 'changed', id })
    }
    this.#noticeTimer = setTimeout(() => {
      this.#noticeTimer = undefined
      if (this.#hasNews) this.#guard(() => this.#notice())
    }, noticeMs)
  }

  /** A lost attempt keeps its place until the main thread releases it: one that computes gets no other job. */
  #noticeRunning(running: Running): void {
    const { seq, lease } = running
    const found = this.#leases.look(running)
    if (found === 'held' || found === running.told) return
    running.told = found
    post({ kind: 'end', lease: { seq, lease }, why: found })
  }

  /** A busy or full disk ends no thread: the next turn of the timer tries again. */
  #guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#failed(error)
    }
  }

  readonly #failed = (error: unknown): void => {
    this.#file.failed(error)
    post({ kind: 'warning', message: (error as Error).message })
  }
}

function keyOf({ seq, lease }: Lease): string {
  return `${seq}:${lease}`
}

function answerOf({ id }: Call, run: () => unknown): Answer {
  try {
    return { id, value: run() }
  } catch (error) {
    return { id, fault: faultOf(error) }
  }
}

function faultOf(error: unknown): Fault {
  const { message, errcode } = error as Error & { readonly errcode?: number }
  return { message, errcode }
}

function post(news: News): void {
  parentPort?.postMessage(news)
}

try {
  const thread = new StoreThread(workerData as ThreadData)
  parentPort?.on('message', (calls: readonly Call[]) => thread.receive(calls))
  post({ kind: 'opened' })
} catch (error) {
  post({ kind: 'opened', fault: faultOf(error) })
}
