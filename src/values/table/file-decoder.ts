/**
 * Decodes Parquet and Arrow files of clients in a thread of its own, which a hostile file may trap, hang or fill
 * without harm to the server: the thread ends, and the next file gets a new one. @module
 */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import {
  BadInput,
  InternalError,
  MissingDependencyException,
  Overloaded,
} from '../../core/errors.ts'
import { Limiter } from '../../core/memory/limiter.ts'
import { isArrowStream } from './arrow/arrow-reader.ts'
import { columnNamed } from './arrow/file-refusal.ts'
import { type AnyColumn, buffersOf, type ColumnTable } from './columns.ts'
import { withKnownZones } from './known-zones.ts'
import { parquetLimits } from './parquet/parquet-footer.ts'
import type { FileNotes } from './parquet/parquet-wasm-package.ts'

/** The default bounds of one decoding. */
const fileLimits = {
  ...parquetLimits,
  /** **Units**: milliseconds, from when the thread takes the file. */
  timeoutMs: 10_000,
  /** The columns, which the server then holds. **Units**: bytes. */
  maxDecodedBytes: 2 ** 28,
}

/** Bounds of one decoding. */
export type FileLimits = Readonly<typeof fileLimits>

/** What the thread gets. */
export interface FileRequest {
  readonly file: Uint8Array
  readonly isArrow: boolean
  readonly limits: FileLimits
}

/** What the thread gets for a file of Parquet that it makes. */
export interface EncodeRequest {
  readonly table: ColumnTable<AnyColumn>
  readonly notes: FileNotes
}

/**
 * What the thread answers. `heldBytes`: the memory of its instance, which never shrinks; infinite if it is of no use
 * any more.
 */
export type FileAnswer<R> = { readonly heldBytes: number } & (
  | { readonly kind: 'done'; readonly result: R }
  | { readonly kind: 'missing'; readonly message: string }
  | ({ readonly kind: 'refused' } & Refused)
)

interface Refused {
  readonly received: string
  readonly isTooLarge?: boolean
  /** Why the thread ended. */
  readonly cause?: string
}

const maxWaiting = 128
/** Above this, what the thread holds of one file would count against the next one. **Units**: bytes. */
const maxHeldBytes = 2 ** 27
const heapMb = 512
/** **Units**: milliseconds. */
const encodeTimeoutMs = 60_000

/** The thread, which starts with the first file, and the files that wait for it. */
class FileThread {
  readonly #turn = new Limiter(1)
  #waiting = 0
  #worker: Worker | undefined

  /**
   * @returns what the thread makes, or why it refuses.
   * @throws Overloaded, MissingDependencyException, InternalError if no thread starts.
   */
  async ask<R>(request: FileRequest | EncodeRequest): Promise<R | Refused> {
    if (this.#waiting >= maxWaiting)
      throw new Overloaded('too many Parquet and Arrow files are waiting to be decoded')
    this.#waiting++
    try {
      const answer = await this.#turn.run(() => this.#ask<R>(request))
      if (answer.kind === 'missing') throw new MissingDependencyException(answer.message)
      return answer.kind === 'done' ? answer.result : answer
    } finally {
      this.#waiting--
    }
  }

  async #ask<R>(request: FileRequest | EncodeRequest): Promise<FileAnswer<R>> {
    const worker = await this.#started()
    const { timeoutMs } = 'limits' in request ? request.limits : { timeoutMs: encodeTimeoutMs }
    const answering = answerOf<R>(worker, timeoutMs)
    if ('table' in request) worker.postMessage(request, [...buffersOf(request.table.columns)])
    else {
      // A copy, since the body's memory is the server's.
      const file = new Uint8Array(request.file)
      worker.postMessage({ ...request, file }, [file.buffer])
    }
    const answer = await answering
    if (answer.heldBytes > maxHeldBytes) await worker.terminate()
    else worker.unref()
    return answer
  }

  async #started(): Promise<Worker> {
    if (this.#worker !== undefined) {
      this.#worker.ref()
      return this.#worker
    }
    // It gets no variables: a hostile file must not reach the server's secrets.
    const worker = new Worker(threadEntry(), {
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    })
    // Without a listener, an error of a thread ends the process.
    worker.on('error', () => {})
    try {
      await new Promise<void>((resolve, reject) => {
        worker.once('message', () => resolve())
        worker.once('error', reject)
        worker.once('exit', (code) => reject(new Error(`it ended with ${code}`)))
      })
    } catch (cause) {
      await worker.terminate()
      throw new InternalError('the thread that decodes files did not start', { cause })
    }
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
    })
    this.#worker = worker
    return worker
  }
}

/**
 * @returns the module of the thread: the .js file when built, the .ts file through tsx in
 * development.
 */
function threadEntry(): URL {
  if (!import.meta.url.endsWith('.ts')) return new URL('./file-thread.js', import.meta.url)
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx'))
  const loader = new URL('./esm/api/index.mjs', tsx).href
  const source = new URL('./file-thread.ts', import.meta.url).href
  const [from, own] = [loader, source].map((url) => JSON.stringify(url))
  return new URL(
    `data:text/javascript,import { register } from ${from}; register(); await import(${own})`,
  )
}

function answerOf<R>(worker: Worker, timeoutMs: number): Promise<FileAnswer<R>> {
  return new Promise((resolve) => {
    const ended = (cause: string, received = 'one that cannot be decoded') =>
      settle({ kind: 'refused', received, cause, heldBytes: Number.POSITIVE_INFINITY })
    const failed = (error: Error) => ended(error.message)
    const exited = (code: number) => ended(`the thread ended with ${code}`)
    const timer = setTimeout(
      () => ended('timeout', `one that took more than ${timeoutMs} ms`),
      timeoutMs,
    )
    const settle = (answer: FileAnswer<R>) => {
      clearTimeout(timer)
      worker.off('message', settle).off('error', failed).off('exit', exited)
      resolve(answer)
    }
    worker.on('message', settle).on('error', failed).on('exit', exited)
  })
}

const thread = new FileThread()
/** Beside that of requests, which wait for no file of the server's. */
const encoding = new FileThread()

/**
 * Makes a Parquet file of columns that may be nested, packed by Zstandard. Their memory goes to the thread.
 *
 * @throws MissingDependencyException; InternalError.
 */
export async function encodeFile(
  table: ColumnTable<AnyColumn>,
  notes: FileNotes,
): Promise<Uint8Array> {
  const made = await encoding.ask<Uint8Array>({ table, notes })
  if (!('received' in made)) return made
  throw new InternalError('columns could not be written as Parquet', { cause: made.cause ?? made })
}

/**
 * Decodes a Parquet file, or Arrow IPC. `file` must not change until then. `name` is the
 * descriptor's.
 *
 * @throws BadInput with the reason, and the column if known; Overloaded,
 * MissingDependencyException.
 */
export async function decodeFile(
  file: Uint8Array,
  name: string,
  kind: 'Parquet' | 'Arrow',
  limits: Partial<FileLimits> = {},
): Promise<ColumnTable<AnyColumn>> {
  const table = await thread.ask<ColumnTable<AnyColumn>>({
    file,
    isArrow: kind === 'Arrow',
    limits: { ...fileLimits, ...limits },
  })
  const refuse = ({ received, isTooLarge, cause }: Refused) =>
    new BadInput(
      `expected ${whatOf(file, kind)} ${isTooLarge ? 'within the limits ' : ''}for ${name}, received ${received}`,
      { reason: isTooLarge ? 'size' : 'syntax', cause: cause && new Error(cause) },
    )
  if ('received' in table) throw refuse(table)
  const columns = withKnownZones(table.columns, (column, zone) =>
    refuse({
      received: `one with ${columnNamed(column)} in a time zone that is not known, ${shown(zone)}`,
    }),
  )
  return { ...table, columns }
}

const shown = (text: string) => JSON.stringify(text.slice(0, 80))

function whatOf(file: Uint8Array, kind: 'Parquet' | 'Arrow'): string {
  if (kind === 'Parquet') return 'a Parquet file'
  if (isArrowStream(file)) return 'an Arrow IPC stream'
  return 'an Arrow IPC file'
}
