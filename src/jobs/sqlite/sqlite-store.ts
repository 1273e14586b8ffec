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
import { Listeners } from '../changes.ts'
import { FolderBlobs } from '../folder-blobs.ts'
import { gone } from '../job-answers.ts'
import { type JobStore, type JobTimes, jobTimes } from '../job-store.ts'
import { bodyAt, keepBody, requestBlob, sweepOrphans, unread } from '../kept-body.ts'
import { StoredBody } from '../stored-body.ts'
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
export function openSqliteStore(
  file: string,
  { blobs: given, warn: told, times = jobTimes }: SqliteOptions = {},
): JobStore {
  if (!isBuiltin('node:sqlite')) {
    const text = `jobs in a file of SQLite need Node 22.13 or later, this is ${process.version}`
    throw new MissingDependencyException(
      `${text}: use a later Node, or a store such as redis://localhost`,
    )
  }
  const path = resolve(file)
  const blobs = given ?? new FolderBlobs(`${path}.blobs`)
  const warn = told ?? ((message: string) => process.emitWarning(message))
  const failed = (error: Error) => warn(`job store: ${error.message}${causesOf(error)}`)
  const questions = new Questions()
  const workers: SqliteWorker[] = []
  const listeners = new Listeners((id, isWatched) => {
    call('watch', id, isWatched).catch(() => {})
  })
  const calls: Call[] = []
  let unready: string | undefined
  let thread: Worker | undefined
  let orphans: NodeJS.Timeout | undefined

  /** Calls an operation of the thread; those of one turn travel together. */
  const call: CallThread = <K extends keyof Operations>(
    name: K,
    ...args: Parameters<Operations[K]>
  ) =>
    questions.ask<ReturnType<Operations[K]>>((id) => {
      if (calls.push({ id, name, args }) === 1)
        queueMicrotask(() => thread?.postMessage(calls.splice(0)))
    })

  const calling =
    <K extends keyof Operations>(name: K) =>
    (...of: Parameters<Operations[K]>) =>
      call(name, ...of)

  /** What a failure leaves is an orphan. */
  function drop(names: readonly string[]): void {
    for (const name of names) blobs.delete(name).catch(failed)
  }

  /** 202 would promise what the end of the process breaks. */
  function requireReady(): void {
    if (unready !== undefined) throw new InsufficientStorage(unready)
  }

  function receive(news: News): void {
    switch (news.kind) {
      case 'answers':
        for (const answer of news.answers) {
          if ('fault' in answer) questions.refuse(answer.id, errorOf(answer.fault))
          else questions.answer(answer.id, answer.value)
        }
        break
      case 'taken':
        workers[news.worker].start(news.taken)
        break
      case 'end':
        for (const worker of workers) worker.end(news.lease, news.why)
        break
      case 'changed':
        listeners.call(news.id)
        break
      case 'blobs':
        drop(news.names)
        break
      case 'state':
        unready = news.unready && `the job store: ${news.unready}`
        warn(unready ?? `the job store takes changes again`)
        break
      case 'warning':
        warn(`job store: ${news.message}`)
    }
  }

  function end(error: Error): void {
    questions.end(error)
    for (const worker of workers) worker.loseAll()
    // Watchers learn of the failure from their next call.
    listeners.callAll()
  }

  async function* resultBody(id: string): AsyncIterable<Uint8Array> {
    const bytes = await call('resultBody', id)
    if (bytes === undefined) throw gone()
    yield bytes
  }

  return {
    kind: 'sqlite',
    blobs,
    get unready() {
      return unready
    },
    async open() {
      const entry = new URL(
        import.meta.url.endsWith('.ts') ? './store-thread.ts' : './store-thread.js',
        import.meta.url,
      )
      const opened = new Worker(entry, {
        workerData: { path, times } satisfies ThreadData,
        execArgv: ['--disable-warning=ExperimentalWarning'],
      })
      const [{ fault }] = (await once(opened, 'message')) as [
        Extract<News, { readonly kind: 'opened' }>,
      ]
      if (fault !== undefined)
        throw new InvalidArgument(`the job store ${path} cannot be opened: ${fault.message}`)
      thread = opened
        .on('message', receive)
        .once('error', (cause) =>
          end(new InternalError('the thread of the job store ended', { cause })),
        )
        .once('exit', () => end(new InternalError('the job store is closed')))
      const sweep = () => sweepOrphans(blobs, calling('unnamed')).catch(failed)
      orphans = setInterval(sweep, orphansMs).unref()
      void sweep()
    },
    async add(job, ...bounds) {
      requireReady()
      const request = await keepBody(blobs, requestBlob(job.id), job.request)
      const added = await call('add', { ...job, request }, ...bounds)
      if (added.kind !== 'added' && typeof request.body === 'string')
        await blobs.delete(request.body)
      return added
    },
    async again(...of) {
      requireReady()
      return call('again', ...of)
    },
    get: calling('get'),
    events: calling('events'),
    cancel: calling('cancel'),
    list: calling('list'),
    pause: calling('pause'),
    states: calling('states'),
    kept: calling('kept'),
    async expire(id) {
      const expired = await call('expire', id)
      drop(expired.blobs)
      return expired.job
    },
    async result(id) {
      const kept = await call('result', id)
      if (kept === undefined) return undefined
      const { status, headers, length, body: place } = kept
      const body =
        place === null ? new StoredBody(length, () => resultBody(id)) : await bodyAt(blobs, place)
      return { status, headers, body }
    },
    async input(id) {
      const kept = await call('input', id)
      return kept && unread(blobs, kept)
    },
    watch: (id, listener) => listeners.add(id, listener),
    work(queues, run) {
      const worker = new SqliteWorker({ blobs, call, warn }, workers.length, run)
      workers.push(worker)
      call('work', workers.indexOf(worker), queues).catch(() => {})
      return worker
    },
    async close() {
      if (thread === undefined) return
      clearInterval(orphans)
      const exit = once(thread, 'exit')
      await Promise.all(workers.map((worker) => worker.stop(0)))
      await call('close')
      await exit
    },
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
