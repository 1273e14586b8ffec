/** A worker that is a thread. The only file that imports piscina. @module */

import { fileURLToPath } from 'node:url'
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import { move, Piscina, transferableSymbol, valueSymbol } from 'piscina'
import { deferred, within } from '../core/promise.ts'
import { heapLimitMb } from './heap-limit.ts'
import { type ErrorFields, errorFromFields } from './remote-error.ts'
import {
  type Channel,
  compiled,
  type ModelWorker,
  type StartWorker,
  type Transfer,
  WorkerEnded,
  type WorkerOptions,
} from './worker.ts'

/** A message for a thread, undefined for the first one; those of {@link ModelWorker.open} have a port. */
export interface Task {
  readonly message: unknown
  readonly port: MessagePort | undefined
}

/** A message beside the replies: an unhandled rejection in a thread. */
export interface StrayMessage {
  readonly kind: 'stray'
  readonly error: ErrorFields
}

/** Starts a thread, or takes one whose model was released. */
export const startThread: StartWorker = (options) => new ThreadWorker(options)

/** A pool of one thread: our dispatcher, the queue of all kinds of workers, chooses among the pools. */
function startPool(concurrency: number, memoryLimitMb: number): Piscina {
  const pool = new Piscina({
    filename: fileURLToPath(compiled('model-thread')),
    name: 'handle',
    // The first task starts the thread. With a minimum, Piscina would start another when it ends.
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    // Calls, and as many cancellations, which have to reach a busy thread.
    concurrentTasksPerWorker: 2 * concurrency,
    recordTiming: false,
    resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb },
  })
  // Without a listener, a thread that dies idle would end the process. Its own events, below, report it.
  pool.on('error', () => {})
  pool.run({ message: undefined, port: undefined } satisfies Task).catch(() => {})
  return pool
}

/** How long a thread whose model was released waits for another one. **Units**: milliseconds. */
const spareMs = 10_000
/** Time for releasing a model. A thread that hangs is ended after it. **Units**: milliseconds. */
const releaseMs = 400

/**
 * Threads whose model was released, one for each kind: to start a thread and to load its code takes a tenth of a second
 * of CPU, beside which the calls of other models wait.
 */
const spares = new Map<string, { readonly pool: Piscina; readonly timer: NodeJS.Timeout }>()

function keepSpare(kind: string, pool: Piscina): boolean {
  if (spares.has(kind) || pool.threads.length === 0) return false
  const end = () => void takeSpare(kind)?.destroy()
  spares.set(kind, { pool, timer: setTimeout(end, spareMs).unref() })
  return true
}

function takeSpare(kind: string): Piscina | undefined {
  const spare = spares.get(kind)
  spares.delete(kind)
  clearTimeout(spare?.timer)
  return spare?.pool
}

class ThreadWorker implements ModelWorker {
  readonly name: string
  readonly #kind: string
  readonly #pool: Piscina
  readonly #thread: Worker
  readonly #stray: (error: Error) => void
  readonly #ending = deferred<WorkerEnded>()
  readonly ended = this.#ending.promise
  #cause: WorkerEnded | undefined
  readonly #onMessage = (message: StrayMessage | undefined) => {
    if (message?.kind === 'stray') this.#stray(errorFromFields(message.error))
  }
  readonly #onError = (error: Error) => void this.#end(`ended: ${error.message}`, error)
  readonly #onExit = (code: number) => this.#ending.resolve(this.#end(`ended with code ${code}`))

  constructor(options: WorkerOptions) {
    const { module, count, concurrency, memoryLimitMb = heapLimitMb(count) } = options
    this.#kind = JSON.stringify([module, concurrency, memoryLimitMb])
    const spare = takeSpare(this.#kind)
    // It is gone if it has ended meanwhile.
    this.#pool = spare?.threads.length === 1 ? spare : startPool(concurrency, memoryLimitMb)
    const [thread] = this.#pool.threads
    this.#thread = thread
    this.name = `thread ${thread.threadId}`
    this.#stray = (error) => options.stray(this, error)
    this.#listen('on')
  }

  #listen(change: 'on' | 'off'): void {
    this.#thread[change]('message', this.#onMessage)
    this.#thread[change]('error', this.#onError)
    this.#thread[change]('exit', this.#onExit)
  }

  run(message: unknown, transfer: readonly Transfer[]): Promise<unknown> {
    return this.#run({ message, port: undefined }, transfer as ArrayBuffer[])
  }

  open(message: unknown, transfer: readonly Transfer[]) {
    const { port1, port2 } = new MessageChannel()
    const done = this.#run({ message, port: port2 }, [...(transfer as ArrayBuffer[]), port2])
    return { channel: channelOf(port1), done }
  }

  kill(): void {
    void this.#thread.terminate()
  }

  async end(): Promise<void> {
    const release = this.run({ kind: 'release' }, []).catch(() => false)
    const isReleased = (await within(release, releaseMs, false)) === true
    if (isReleased && keepSpare(this.#kind, this.#pool)) {
      this.#listen('off')
      this.#ending.resolve(new WorkerEnded(`${this.name} has released its model`))
      return
    }
    await this.#pool.destroy()
    await this.ended
  }

  async #run(task: Task, transferList: (ArrayBuffer | MessagePort)[]): Promise<unknown> {
    // Piscina would start a thread without the model.
    if (this.#cause !== undefined || this.#thread.threadId < 0) throw this.#end('ended')
    try {
      const box = (await this.#pool.run(task, { transferList })) as unknown[]
      return box.pop()
    } catch (error) {
      if (error instanceof Error && error.name === 'DataCloneError') throw error
      // The handler never throws: any other failure is the end of the thread.
      throw this.#end(`ended: ${(error as Error).message}`, error)
    }
  }

  /** Ends what still waits for the thread. @returns how it ended, as it was told first. */
  #end(how: string, cause?: unknown): WorkerEnded {
    if (this.#cause === undefined) {
      this.#cause = new WorkerEnded(`${this.name} ${how}`, { cause })
      // Its queue has messages if the thread ended while it started.
      void this.#pool.destroy()
    }
    return this.#cause
  }
}

/**
 * Marks the buffers of a reply to be moved instead of copied. The reply is in a box, from which it is taken: each task
 * of Piscina leads to the next one and holds on to what it was answered, so that one that has grown old would keep all
 * later replies until the whole heap is collected.
 */
export function moved(reply: unknown, transfer: readonly ArrayBuffer[]): unknown {
  const box = [reply]
  if (transfer.length === 0) return box
  return move({
    get [transferableSymbol]() {
      return transfer as unknown as object
    },
    get [valueSymbol]() {
      return box
    },
  })
}

/** @returns the channel of a stream over one of its ports. */
export function channelOf(port: MessagePort): Channel {
  return {
    post: (message, transfer = []) => port.postMessage(message, transfer as ArrayBuffer[]),
    listen: (listener) => void port.on('message', listener),
    close: () => port.close(),
  }
}
