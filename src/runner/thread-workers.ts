/**
 * Threads by Piscina. The only file that imports piscina.
 *
 * Piscina starts threads, wakes them (by Atomics, which is faster than an event), and replaces those that end. Which thread
 * takes what, and when, is ours: a runner has deadlines, batches and cancellation, so that Piscina's own queue stays empty.
 * @module
 */

import { fileURLToPath } from 'node:url'
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import { move, Piscina, queueOptionsSymbol, transferableSymbol, valueSymbol } from 'piscina'
import { type Channel, type ModelWorker, WorkerEnded, type WorkerPool, type WorkerPoolOptions } from './worker.ts'

/** A task for a certain thread. The symbol's value stays on this side, since a structured clone drops symbols. */
interface Task {
  readonly message: unknown
  readonly port?: MessagePort
  readonly [queueOptionsSymbol]: { readonly thread: number }
}

/** Handles one message in a thread; `port` for those that came by {@link ModelWorker.open}. */
export type ThreadHandler = (message: unknown, channel: Channel | undefined) => Promise<unknown>

// Ours is the limit on what a thread has to do; a cancellation must reach one that is busy.
const tasksPerThread = 1 << 20

/** Starts threads. */
export function startThreads(options: WorkerPoolOptions): WorkerPool {
  const { entry, count, memoryLimitMb } = options
  const pool = new Piscina({
    filename: fileURLToPath(entry),
    name: 'handle',
    minThreads: count,
    maxThreads: count,
    idleTimeout: Number.POSITIVE_INFINITY,
    concurrentTasksPerWorker: tasksPerThread,
    recordTiming: false,
    ...(memoryLimitMb === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb } }),
    loadBalancer: (task, workers) => {
      const { thread } = task[queueOptionsSymbol] as Task[typeof queueOptionsSymbol]
      return workers.find((worker) => worker.id === thread) ?? null
    },
  })
  // Without a listener, a thread that dies idle would take the process with it. Each thread's own events tell us of it.
  pool.on('error', () => {})
  let stopping = false
  pool.on('workerCreate', ({ id }: { id: number }) => {
    const worker = pool.threads.find((thread) => thread.threadId === id)
    if (worker === undefined || stopping) return
    const thread = new Thread(pool, worker)
    worker.once('exit', () => {
      if (!stopping) options.down(thread, thread.ended)
    })
    options.up(thread)
  })
  return {
    moves: true,
    async stop() {
      stopping = true
      await pool.destroy()
    },
  }
}

class Thread implements ModelWorker {
  readonly name: string
  readonly #pool: Piscina
  readonly #worker: Worker
  readonly #thread: number
  #ended: WorkerEnded | undefined

  constructor(pool: Piscina, worker: Worker) {
    this.#pool = pool
    this.#worker = worker
    this.#thread = worker.threadId
    this.name = `thread ${worker.threadId}`
    worker.once('error', (error) => {
      this.#ended = new WorkerEnded(`${this.name} ended: ${error.message}`, { cause: error })
    })
    worker.once('exit', (code) => {
      this.#ended ??= new WorkerEnded(`${this.name} ended with code ${code}`)
    })
  }

  get ended(): WorkerEnded {
    return this.#ended ?? new WorkerEnded(`${this.name} ended`)
  }

  run(message: unknown, transfer: readonly ArrayBuffer[]): Promise<unknown> {
    return this.#run(message, transfer as ArrayBuffer[], undefined)
  }

  open(message: unknown, transfer: readonly ArrayBuffer[]) {
    const { port1, port2 } = new MessageChannel()
    const done = this.#run(message, [...transfer, port2], port2)
    return { channel: channelOf(port1), done }
  }

  kill(): void {
    void this.#worker.terminate()
  }

  async #run(message: unknown, transferList: (ArrayBuffer | MessagePort)[], port: MessagePort | undefined) {
    // Piscina would keep a task for a thread that is gone until another one of that number comes, that is, forever.
    if (this.#ended !== undefined || this.#worker.threadId !== this.#thread) throw this.ended
    const task: Task = { message, port, [queueOptionsSymbol]: { thread: this.#thread } } as Task
    try {
      return await this.#pool.run(task, { transferList })
    } catch (error) {
      if (error instanceof Error && error.name === 'DataCloneError') throw error
      // A handler of ours does not throw, so that any other failure is the thread's end.
      throw this.#ended ?? new WorkerEnded(`${this.name} ended: ${String((error as Error).message)}`, { cause: error })
    }
  }
}

/** The handler of messages becomes the function that Piscina calls in a thread. */
export function threadEntry(
  handler: ThreadHandler,
): (task: { message: unknown; port?: MessagePort }) => Promise<unknown> {
  return ({ message, port }) => handler(message, port === undefined ? undefined : channelOf(port))
}

/** A reply becomes one whose buffers are moved instead of copied. */
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

function channelOf(port: MessagePort): Channel {
  return {
    post: (message, transfer = []) => port.postMessage(message, transfer as ArrayBuffer[]),
    listen: (listener) => void port.on('message', listener),
    close: () => port.close(),
  }
}
