/** A worker that is a thread. The only file that imports piscina. @module */

import { fileURLToPath } from 'node:url'
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import { move, Piscina, transferableSymbol, valueSymbol } from 'piscina'
import { heapLimitMb } from './heap-limit.ts'
import { type ErrorFields, errorFromFields } from './remote-error.ts'
import {
  type Channel,
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

/** Starts a thread. */
export const startThread: StartWorker = (options, index) => new ThreadWorker(options, index)

/** A pool of one thread: our dispatcher, the queue of all kinds of workers, chooses among the pools. */
class ThreadWorker implements ModelWorker {
  readonly name: string
  readonly index: number
  readonly ended: Promise<WorkerEnded>
  readonly #pool: Piscina
  readonly #thread: Worker
  #cause: WorkerEnded | undefined

  constructor(options: WorkerOptions, index: number) {
    const { entry, count, concurrency, memoryLimitMb = heapLimitMb(count) } = options
    this.index = index
    this.#pool = new Piscina({
      filename: fileURLToPath(entry),
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
    this.#pool.on('error', () => {})
    this.#pool.run({ message: undefined, port: undefined } satisfies Task).catch(() => {})
    const [thread] = this.#pool.threads
    this.#thread = thread
    this.name = `thread ${thread.threadId}`
    thread.on('message', (message: StrayMessage | undefined) => {
      if (message?.kind === 'stray') options.stray(this, errorFromFields(message.error))
    })
    this.ended = new Promise((resolve) => {
      thread.once('error', (error) => this.#end(`ended: ${error.message}`, error))
      thread.once('exit', (code) => resolve(this.#end(`ended with code ${code}`)))
    })
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
    await this.#pool.destroy()
    await this.ended
  }

  async #run(task: Task, transferList: (ArrayBuffer | MessagePort)[]): Promise<unknown> {
    // Piscina would start a thread without the model.
    if (this.#cause !== undefined || this.#thread.threadId < 0) throw this.#end('ended')
    try {
      return await this.#pool.run(task, { transferList })
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

/** Marks the buffers of a reply to be moved instead of copied. */
export function moved(reply: unknown, transfer: readonly ArrayBuffer[]): unknown {
  if (transfer.length === 0) return reply
  return move({
    get [transferableSymbol]() {
      return transfer as unknown as object
    },
    get [valueSymbol]() {
      return reply as object
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
