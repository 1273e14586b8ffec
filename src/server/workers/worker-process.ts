/** One worker process, from its start to its end. @module */
import cluster, { type Worker } from 'node:cluster'
import { errorText } from '../../core/errors.ts'
import { deferred } from '../../core/promise.ts'
import type { ServeOptions } from '../../engine/options.ts'
import {
  type DrainRequest,
  isMessageOf,
  type Opens,
  type ProcessMessage,
  type WorkerConfig,
  type WorkerReady,
} from './worker-messages.ts'

/** How a process ended; code -1 if the system could not start one. */
export interface Exit {
  readonly code: number
  readonly signal: string | null
}

/** A process of the program that `setWorkerFile` was given. */
export class WorkerProcess {
  readonly #started = deferred<WorkerReady | undefined>()
  readonly #ended = deferred<Exit>()
  /** Resolves to what it said when it became ready, or to undefined when it ended before. */
  readonly started = this.#started.promise
  readonly ended = this.#ended.promise
  /** When it became ready; 0 before. **Units**: milliseconds of the monotonic clock. */
  readyAt = 0
  /** What it, or the system, said when it could not start. */
  failure: string | undefined
  readonly #number: number
  readonly #logger: NonNullable<ServeOptions['logger']>
  readonly #config: WorkerConfig
  readonly #worker: Worker | undefined
  #opens: Opens
  /** Whether it is known to read messages. */
  #isLoaded = false

  /** `first`: a process that runs already. */
  constructor(
    number: number,
    config: WorkerConfig,
    logger: NonNullable<ServeOptions['logger']>,
    opens: Opens,
    first?: Worker,
  ) {
    this.#opens = opens
    this.#number = number
    this.#config = config
    this.#logger = logger
    try {
      this.#worker = first ?? cluster.fork()
      this.#listen(this.#worker)
      // It may have asked before anybody listened. One that loads still reads nothing, and asks.
      if (first !== undefined) this.#sendStart()
    } catch (error) {
      this.#onNoProcess(error)
    }
  }

  get pid(): number | undefined {
    return this.#worker?.process.pid
  }

  open(): void {
    this.#opens = 'when_loaded'
    if (this.#isLoaded) this.#send({ kind: 'open' })
  }

  drain(how: Omit<DrainRequest, 'kind'>): void {
    if (this.#isLoaded) this.#send({ kind: 'drain', ...how })
    else this.#worker?.process.kill()
  }

  kill(why: string): void {
    const message = `worker ${this.#number} ${why}; killing it`
    this.#logger.error({ event: 'worker_killed', worker: this.#number }, message)
    this.#worker?.process.kill('SIGKILL')
  }

  #listen(worker: Worker): void {
    worker.on('message', (message: unknown) => {
      if (isMessageOf('loaded', message)) {
        this.#isLoaded = true
        this.#sendStart()
      } else if (isMessageOf('ready', message)) {
        this.#isLoaded = true
        this.readyAt = performance.now()
        this.#started.resolve(message)
      } else if (isMessageOf('failed', message)) this.failure = message.message
    })
    worker.on('error', (error) => {
      if (worker.process.pid === undefined) this.#onNoProcess(error)
      else this.#logger.debug({ event: 'worker_channel', worker: this.#number, err: error })
    })
    // Not 'exit', which can come before the last message: 'close' comes after the channel was read to its end.
    worker.process.on('close', (code, signal) => {
      if (worker.process.pid !== undefined) this.#end({ code: code ?? 0, signal })
    })
  }

  #sendStart(): void {
    this.#send({ kind: 'start', config: this.#config, opens: this.#opens })
  }

  #send(message: ProcessMessage): void {
    this.#worker?.send(message, () => {})
  }

  /** Called when no process could be started: out of memory, or at the limit of processes. No exit event follows. */
  #onNoProcess(error: unknown): void {
    this.failure = `worker ${this.#number} could not be started: ${errorText(error)}`
    this.#end({ code: -1, signal: null })
  }

  #end(exit: Exit): void {
    this.#started.resolve(undefined)
    this.#ended.resolve(exit)
  }
}
