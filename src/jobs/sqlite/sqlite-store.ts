/** The embedded job store: one file of SQLite, which several processes of a machine may share. @module */
import { once } from 'node:events'
import { isBuiltin } from 'node:module'
import { resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import {
  causesOf,
  InsufficientStorage,
  InternalError,
  InvalidArgument,
  MissingDependencyException,
  Overloaded,
} from '../../core/errors.ts'
import { Questions } from '../../core/questions.ts'
import type { BlobStore } from '../blob-store.ts'
import { FolderBlobs } from '../folder-blobs.ts'
import type { NewJob } from '../job.ts'
import { gone } from '../job-answers.ts'
import {
  type Added,
  type Attempt,
  type JobStore,
  type JobTimes,
  type JobWorker,
  jobTimes,
  type Outcome,
  type WorkQueue,
} from '../job-store.ts'
import { blobBody, keepBody, requestBlob, sweepOrphans, unread } from '../kept-body.ts'
import { Listeners } from '../listeners.ts'
import { type StoredAnswer, StoredBody, type UnreadRequest } from '../stored-body.ts'
import type { Call, Fault, News, Operations, ThreadData } from './messages.ts'
import { type CallThread, SqliteWorker } from './sqlite-worker.ts'

/** Pause between searches for blobs that no job names. **Units**: milliseconds. */
const orphansMs = 3_600_000

/** Options of {@link openSqliteStore}. */
export interface SqliteOptions {
  readonly blobs?: BlobStore
  readonly warn?: (message: string) => void
  readonly times?: JobTimes
}

/**
 * @returns a store in a file.
 * @throws MissingDependencyException on a Node without node:sqlite.
 */
export function openSqliteStore(path: string, options: SqliteOptions = {}): JobStore {
  if (isBuiltin('node:sqlite')) return new SqliteStore(resolve(path), options)
  const text = `jobs in a file of SQLite need Node 22.13 or later, this is ${process.version}`
  throw new MissingDependencyException(
    `${text}: use a later Node, or a store such as redis://localhost`,
  )
}

class SqliteStore implements JobStore {
  readonly kind = 'sqlite'
  readonly blobs: BlobStore
  readonly warn: (message: string) => void
  unready: string | undefined
  readonly #data: ThreadData
  readonly #questions = new Questions()
  readonly #workers = new Map<number, SqliteWorker>()
  readonly #listeners = new Listeners()
  #thread: Worker | undefined
  #calls: Call[] = []
  #count = 0
  #orphans: NodeJS.Timeout | undefined

  constructor(path: string, { blobs, warn, times }: SqliteOptions) {
    this.#data = { path, times: times ?? jobTimes }
    this.blobs = blobs ?? new FolderBlobs(`${path}.blobs`)
    this.warn = warn ?? ((message) => process.emitWarning(message))
  }

  async open(): Promise<void> {
    const entry = new URL(
      import.meta.url.endsWith('.ts') ? './store-thread.ts' : './store-thread.js',
      import.meta.url,
    )
    const thread = new Worker(entry, {
      workerData: this.#data,
      execArgv: ['--disable-warning=ExperimentalWarning'],
    })
    const [{ fault }] = (await once(thread, 'message')) as [
      Extract<News, { readonly kind: 'opened' }>,
    ]
    if (fault !== undefined) {
      throw new InvalidArgument(
        `the job store ${this.#data.path} cannot be opened: ${fault.message}`,
      )
    }
    this.#thread = thread
    thread.on('message', (news: News) => this.#receive(news))
    thread.once('error', (cause) =>
      this.#end(new InternalError('the thread of the job store ended', { cause })),
    )
    thread.once('exit', () => this.#end(new InternalError('the job store is closed')))
    const sweep = () =>
      sweepOrphans(this.blobs, (names) => this.call('unnamed', names)).catch(this.#failed)
    this.#orphans = setInterval(sweep, orphansMs).unref()
    void sweep()
  }

  readonly #failed = (error: Error): void =>
    this.warn(`job store: ${error.message}${causesOf(error)}`)

  async add(job: NewJob, maxQueued: number, maxPerCaller?: number): Promise<Added> {
    // 202 would promise what the end of the process breaks.
    if (this.unready !== undefined) throw new InsufficientStorage(this.unready)
    const request = await keepBody(this.blobs, requestBlob(job.id), job.request)
    const added = await this.call('add', { ...job, request }, maxQueued, maxPerCaller)
    if (added.kind !== 'added' && typeof request.body === 'string')
      await this.blobs.delete(request.body)
    return added
  }

  async again(...of: Parameters<JobStore['again']>): Promise<Added | undefined> {
    if (this.unready !== undefined) throw new InsufficientStorage(this.unready)
    return this.call('again', ...of)
  }

  readonly get = this.#calling('get')
  readonly events = this.#calling('events')
  readonly cancel = this.#calling('cancel')
  readonly list = this.#calling('list')
  readonly pause = this.#calling('pause')
  readonly states = this.#calling('states')
  readonly kept = this.#calling('kept')

  #calling<K extends keyof Operations>(name: K) {
    return (...of: Parameters<Operations[K]>) => this.call(name, ...of)
  }

  async expire(id: string): ReturnType<JobStore['expire']> {
    const { job, blobs } = await this.call('expire', id)
    this.#drop(blobs)
    return job
  }

  /** What a failure leaves is an orphan. */
  #drop(blobs: readonly string[]): void {
    for (const name of blobs) this.blobs.delete(name).catch(this.#failed)
  }

  async result(id: string): Promise<StoredAnswer | undefined> {
    const kept = await this.call('result', id)
    if (kept === undefined) return undefined
    const { status, headers, length, blob } = kept
    const body =
      blob === null
        ? new StoredBody(length, () => this.#resultBody(id))
        : await blobBody(this.blobs, blob)
    return { status, headers, body }
  }

  async input(id: string): Promise<UnreadRequest | undefined> {
    const kept = await this.call('input', id)
    return kept && unread(this.blobs, kept)
  }

  async *#resultBody(id: string): AsyncIterable<Uint8Array> {
    const bytes = await this.call('resultBody', id)
    if (bytes === undefined) throw gone()
    yield bytes
  }

  watch(id: string, listener: () => void): () => void {
    const tell = (isWatched: boolean) => this.call('watch', id, isWatched).catch(() => {})
    return this.#listeners.add(
      id,
      listener,
      () => tell(true),
      () => tell(false),
    )
  }

  work(queues: readonly WorkQueue[], run: (attempt: Attempt) => Promise<Outcome>): JobWorker {
    const number = ++this.#count
    const worker = new SqliteWorker(this, number, run)
    this.#workers.set(number, worker)
    this.call('work', number, queues).catch(() => {})
    return worker
  }

  async close(): Promise<void> {
    if (this.#thread === undefined) return
    clearInterval(this.#orphans)
    const exit = once(this.#thread, 'exit')
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop(0)))
    await this.call('close')
    await exit
  }

  /** Calls an operation of the thread; those of one turn travel together. */
  readonly call: CallThread = <K extends keyof Operations>(
    name: K,
    ...args: Parameters<Operations[K]>
  ) =>
    this.#questions.ask<ReturnType<Operations[K]>>((id) => {
      if (this.#calls.push({ id, name, args }) === 1)
        queueMicrotask(() => this.#thread?.postMessage(this.#calls.splice(0)))
    })

  #receive(news: News): void {
    switch (news.kind) {
      case 'answers':
        for (const answer of news.answers) {
          if ('fault' in answer) this.#questions.refuse(answer.id, errorOf(answer.fault))
          else this.#questions.answer(answer.id, answer.value)
        }
        break
      case 'taken':
        this.#workers.get(news.worker)?.start(news.taken)
        break
      case 'end':
        for (const worker of this.#workers.values()) worker.end(news.lease, news.why)
        break
      case 'changed':
        this.#listeners.call(news.id)
        break
      case 'blobs':
        this.#drop(news.names)
        break
      case 'state':
        this.unready = news.unready && `the job store: ${news.unready}`
        this.warn(this.unready ?? `the job store takes changes again`)
        break
      case 'warning':
        this.warn(`job store: ${news.message}`)
    }
  }

  #end(error: Error): void {
    this.#questions.end(error)
    for (const worker of this.#workers.values()) worker.loseAll()
    // Watchers learn of the failure from their next call.
    this.#listeners.callAll()
  }
}

/** @see sqlite.org/rescode.html. Extended codes have the primary one in their low byte. */
function errorOf({ message, errcode = 0 }: Fault): Error {
  const text = `the job store: ${message}`
  const isOwn = {
    5: Overloaded,
    6: Overloaded,
    8: InsufficientStorage,
    10: InsufficientStorage,
    13: InsufficientStorage,
  }[errcode & 0xff]
  return isOwn === undefined ? new InternalError(text) : new isOwn(text)
}
