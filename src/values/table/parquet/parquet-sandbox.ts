/**
 * Decodes a client's Parquet in a child process, which a hostile file may abort, hang or fill without harm to the
 * server. Bytes go through two unnamed files, in `/dev/shm` if it exists: read, not mapped, since checked bytes must
 * not change. The child answers in 5 bytes, which cannot make the server allocate what a hostile file chose. @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { BadInput, InternalError, Overloaded } from '../../../core/errors.ts'
import { TempFile } from '../../../core/file/temp-file.ts'
import { loadPolars } from '../polars/polars.ts'
import { type DataFrame, maxScratchBytes, scratchBytes } from '../polars/polars-package.ts'
import {
  answers,
  isArrowStream,
  maxMessageBytes,
  type ParquetAnswer,
  type ParquetRequest,
  requestNumbers,
} from './parquet-answer.ts'
import { diagnoseParquet } from './parquet-diagnosis.ts'
import { parquetLimits } from './parquet-footer.ts'
import { footerLength } from './parquet-metadata.ts'

/** The default bounds of one decoding. */
const sandboxLimits = {
  ...parquetLimits,
  /** **Units**: milliseconds, from when a child takes the file. */
  timeoutMs: 10_000,
  /** Resident memory of the child, looked at every 20 ms; Linux only. **Units**: bytes. */
  maxMemoryBytes: 2 ** 30,
  /** The decoded frame, which the server then holds. **Units**: bytes. */
  maxDecodedBytes: 2 ** 28,
}

/** Bounds of one decoding. */
export type SandboxLimits = Readonly<typeof sandboxLimits>

/** Maximum number of children: a second one, so that a file that hangs until its timeout does not delay all others. */
const maxChildren = 2
const maxWaiting = 128
const watchMs = 20
const maxStarts = 3
const tooLarge = 'one that unpacks to too much'
const damaged = 'one that cannot be decoded'
const parquetFile = 'a Parquet file'

interface Job {
  readonly file: Uint8Array
  readonly limits: SandboxLimits
  readonly name: string
  readonly what: string
  readonly resolve: (frame: DataFrame) => void
  readonly reject: (error: Error) => void
  failedStarts: number
}

const waiting: Job[] = []
const children = new Set<Child>()

/** Decodes a file, which must not change until then. **Errors**: BadInput, Overloaded, InternalError (no child). */
export async function decodeParquet(
  file: Uint8Array,
  name: string,
  limits: Partial<SandboxLimits> = {},
): Promise<DataFrame> {
  return decodeInChild({ file, limits: { ...sandboxLimits, ...limits }, name, what: parquetFile })
}

/** Decodes Arrow IPC in the same sandbox, since a client wrote its offsets. **Errors**: as {@link decodeParquet}. */
export async function decodeArrowFile(file: Uint8Array, name: string): Promise<DataFrame> {
  const what = isArrowStream(file) ? 'an Arrow IPC stream' : 'an Arrow IPC file'
  return decodeInChild({ file, limits: sandboxLimits, name, what })
}

async function decodeInChild(task: Omit<Job, 'resolve' | 'reject' | 'failedStarts'>): Promise<DataFrame> {
  if (waiting.length >= maxWaiting) throw new Overloaded('too many Parquet files are waiting to be decoded')
  return new Promise<DataFrame>((resolve, reject) => {
    waiting.push({ ...task, resolve, reject, failedStarts: 0 })
    dispatch()
  })
}

function dispatch(): void {
  for (const child of children) if (child.isIdle && waiting.length > 0) child.run(waiting.shift() as Job)
  while (waiting.length > 0 && children.size < maxChildren) {
    const job = waiting.shift() as Job
    try {
      const child = new Child()
      children.add(child)
      child.run(job)
    } catch (cause) {
      job.reject(new InternalError('the Parquet decoder has no place for its files', { cause }))
    }
  }
}

let directory = process.platform === 'linux' ? '/dev/shm' : tmpdir()

function openFile(): TempFile {
  try {
    return new TempFile(directory)
  } catch {
    directory = tmpdir()
    return new TempFile()
  }
}

/** Opens the two files of a child, or neither. **Errors**: those of `open`. */
export function openPair(open: () => TempFile = openFile): readonly [file: TempFile, frame: TempFile] {
  const file = open()
  try {
    return [file, open()]
  } catch (error) {
    file.release()
    throw error
  }
}

process.on('exit', () => {
  for (const child of children) child.kill()
})

/** Returns Node's arguments for parquet-child: the .js file when built, the .ts file through tsx in development. */
function childCommand(): string[] {
  const isSource = import.meta.url.endsWith('.ts')
  const entry = fileURLToPath(new URL(isSource ? './parquet-child.ts' : './parquet-child.js', import.meta.url))
  const loader = isSource ? ['--import', createRequire(import.meta.url).resolve('tsx')] : []
  return ['--expose-gc', ...loader, entry]
}

/** Makes malloc reuse the memory of the last frame, since fresh pages cost as much as decoding. **Units**: bytes. */
const reuseMemory = { MALLOC_MMAP_THRESHOLD_: String(2 ** 25), MALLOC_TRIM_THRESHOLD_: String(2 ** 27) }

class Child {
  readonly #process: ChildProcess
  readonly #requests: Socket
  readonly #replies: Socket
  readonly #file: TempFile
  readonly #frame: TempFile
  #job: Job | undefined
  #isReady = false
  #received = Buffer.alloc(0)
  #timer: NodeJS.Timeout | undefined
  #watch: NodeJS.Timeout | undefined
  #startError = ''

  constructor() {
    ;[this.#file, this.#frame] = openPair()
    // Only the variables that Node and Polars need to start: a hostile file must not reach the server's secrets.
    const { PATH, HOME, NODE_PATH, LD_LIBRARY_PATH, POLARS_MAX_THREADS } = process.env
    const env = { PATH, HOME, NODE_PATH, LD_LIBRARY_PATH, POLARS_MAX_THREADS, ...reuseMemory }
    try {
      this.#process = spawn(process.execPath, childCommand(), {
        stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', this.#file.fd, this.#frame.fd],
        env: Object.fromEntries(Object.entries(env).filter(([, value]) => value)),
      })
    } catch (error) {
      this.#file.release()
      this.#frame.release()
      throw error
    }
    this.#requests = this.#process.stdio[3] as Socket
    this.#replies = this.#process.stdio[4] as Socket
    this.#process.on('error', (error) => this.#gone(error.message))
    this.#process.on('exit', (code, signal) => this.#gone(`exit ${signal ?? code}`))
    this.#requests.on('error', () => undefined)
    this.#replies.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      if (!this.#isReady) this.#startError = (this.#startError + chunk.toString()).slice(-2000)
    })
    this.#hold(false)
  }

  get isIdle(): boolean {
    return this.#job === undefined && children.has(this)
  }

  run(job: Job): void {
    this.#job = job
    this.#hold(true)
    try {
      this.#file.writeSync(job.file, 0)
    } catch (error) {
      this.#noSpace(error)
      return
    }
    const { file, limits, what } = job
    const maxDecodedBytes = Math.min(limits.maxDecodedBytes, 2 ** 32 - 1)
    const isArrow = what === parquetFile ? 0 : 1
    const request: ParquetRequest = { ...limits, fileBytes: file.length, isArrow, maxDecodedBytes }
    this.#requests.write(new Uint8Array(Float64Array.from(requestNumbers, (number) => request[number]).buffer))
    if (this.#isReady) this.#startClock()
  }

  kill(): void {
    this.#process.kill('SIGKILL')
  }

  #startClock(): void {
    const { limits } = this.#job as Job
    this.#timer = setTimeout(() => this.#fail(`one that took more than ${limits.timeoutMs} ms`), limits.timeoutMs)
    this.#watch = setInterval(() => {
      if (residentBytes(this.#process.pid) > limits.maxMemoryBytes) this.#fail('one that takes too much memory')
    }, watchMs)
  }

  #hold(isBusy: boolean): void {
    const method = isBusy ? 'ref' : 'unref'
    this.#process[method]()
    for (const pipe of [this.#requests, this.#replies, this.#process.stderr as Socket]) pipe?.[method]()
  }

  #read(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk])
    while (this.#received.length >= 5) {
      const [answer, size] = [answers[this.#received[0]], this.#received.readUInt32LE(1)]
      this.#received = this.#received.subarray(5)
      this.#answered(answer, size)
    }
  }

  #answered(answer: ParquetAnswer | undefined, size: number): void {
    if (answer === 'ready') {
      this.#isReady = true
      if (this.#job !== undefined) this.#startClock()
      return
    }
    const limit = this.#job?.limits.maxDecodedBytes
    if (limit === undefined) return
    if (answer === 'no space') this.#noSpace()
    // A child under a file's control must not choose how much is allocated here.
    else if (answer === undefined || size > Math.max(limit, maxMessageBytes)) this.#fail(tooLarge)
    else this.#settle(answer, size)
  }

  #settle(answer: ParquetAnswer, size: number): void {
    const { file, limits, name } = this.#job as Job
    let frame: DataFrame | string
    try {
      const bytes = scratchBytes(size)
      this.#frame.readIntoSync(bytes)
      frame = answer === 'frame' ? loadPolars(name).readIpc(bytes) : bytes.toString()
    } catch (cause) {
      this.#fail(damaged, String(cause))
      return
    }
    const job = this.#finish() as Job
    // Docker gives 64 MB to all files in memory.
    if (file.length > maxScratchBytes) this.#file.clear()
    if (size > maxScratchBytes) this.#frame.clear()
    // What it still holds of this file would count against the next one.
    if (residentBytes(this.#process.pid) > limits.maxMemoryBytes / 2) this.#end()
    if (typeof frame !== 'string') job.resolve(frame)
    else job.reject(refusal(job, answer, frame))
    dispatch()
  }

  #finish(): Job | undefined {
    clearTimeout(this.#timer)
    clearInterval(this.#watch)
    const job = this.#job
    this.#job = undefined
    this.#hold(false)
    return job
  }

  #end(): Job | undefined {
    if (!children.delete(this)) return undefined
    this.kill()
    this.#file.release()
    this.#frame.release()
    return this.#finish()
  }

  #fail(what: string, cause = what): void {
    const job = this.#end()
    job?.reject(undecodable(job, what === damaged ? diagnosed(job, cause) : what, cause))
    dispatch()
  }

  /** Called when the file system in memory is full: the next child has its files on disk. */
  #noSpace(cause?: unknown): void {
    directory = tmpdir()
    this.#again(new InternalError('the Parquet decoder has no space for its files', { cause }))
  }

  #gone(how: string): void {
    if (!children.has(this)) return
    if (this.#isReady) this.#fail(damaged, `the decoder ended: ${how}`)
    else this.#again(new InternalError(`the Parquet decoder did not start: ${how} ${this.#startError}`))
  }

  #again(error: InternalError): void {
    const job = this.#end()
    if (job !== undefined && ++job.failedStarts < maxStarts) waiting.unshift(job)
    else job?.reject(error)
    dispatch()
  }
}

function refusal(job: Job, answer: ParquetAnswer, text: string): BadInput {
  const { limits, name, what } = job
  if (answer === 'too large') return undecodable(job, tooLarge, `above ${limits.maxDecodedBytes} bytes`)
  if (answer === 'above') {
    return new BadInput(`expected ${what} within the limits for ${name}, received ${text}`, { reason: 'size' })
  }
  if (answer === 'refused') return new BadInput(`expected ${what} for ${name}, received ${text}`, { reason: 'syntax' })
  const [received] = text.split('\n', 1)
  return undecodable(job, received, text.slice(received.length + 1))
}

function undecodable({ name, what }: Job, received: string, cause: string): BadInput {
  return new BadInput(`expected ${what} for ${name}, received ${received}`, {
    reason: received === tooLarge ? 'size' : 'syntax',
    cause: new Error(cause),
  })
}

const maxFooterBytes = 2 ** 16

function diagnosed({ file, what }: Job, cause: string): string {
  const isRead = what === parquetFile && footerLength(file) <= Math.min(maxFooterBytes, file.length - 12)
  return isRead ? diagnoseParquet(file, cause) : damaged
}

/** Returns the resident memory of a process. **Units**: bytes; 0 where the system does not say. */
function residentBytes(pid: number | undefined): number {
  try {
    // Not statm, which counts pages: their size is 4 KiB on x86 and up to 64 KiB on ARM.
    return Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
