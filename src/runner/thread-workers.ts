/** Workers that are threads. The only file that imports piscina; our dispatcher keeps Piscina's queue empty. @module */

import { fileURLToPath } from 'node:url'
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import { move, Piscina, queueOptionsSymbol, transferableSymbol, valueSymbol } from 'piscina'
import { heapLimitMb } from './heap-limit.ts'
import { type ErrorFields, errorFromFields } from './remote-error.ts'
import {
  type Channel,
  type ModelWorker,
  WorkerEnded,
  type WorkerPool,
  type WorkerPoolOptions,
} from './worker.ts'

/** A message for a thread; those of {@link ModelWorker.open} have a port. */
export interface Task {
  readonly message: unknown
  readonly port: MessagePort | undefined
}

/** A task for a certain thread. A structured clone drops the symbol. */
interface AddressedTask extends Task {
  readonly [queueOptionsSymbol]: { readonly thread: number }
}

// A cancellation has to reach a busy thread.
const tasksPerThread = 1 << 20

/** A message beside the replies: an unhandled rejection in a thread. */
export interface StrayMessage {
  readonly kind: 'stray'
  readonly error: ErrorFields
}

/** Starts threads. */
export function startThreads(options: WorkerPoolOptions): WorkerPool {
  const { entry, count, memoryLimitMb = heapLimitMb(options.count) } = options
  const pool = new Piscina({
    filename: fileURLToPath(entry),
    name: 'handle',
    minThreads: count,
    maxThreads: count,
    idleTimeout: Number.POSITIVE_INFINITY,
    concurrentTasksPerWorker: tasksPerThread,
    recordTiming: false,
    resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb },
    loadBalancer: (task, workers) => {
      const { thread } = task[queueOptionsSymbol] as AddressedTask[typeof queueOptionsSymbol]
      return workers.find((worker) => worker.id === thread) ?? null
    },
  })
  // Without a listener, a thread that dies idle would end the process. Its own events, below, report it.
  pool.on('error', () => {})
  let stopping = false
  const indexes = new Map<Worker, number>()
  const freeIndex = () => {
    for (const worker of indexes.keys()) if (!pool.threads.includes(worker)) indexes.delete(worker)
    const taken = new Set(indexes.values())
    for (let index = 0; ; index++) if (!taken.has(index)) return index
  }
  pool.on('workerCreate', ({ id }: { id: number }) => {
    const worker = pool.threads.find((thread) => thread.threadId === id)
    if (worker === undefined || stopping) return
    const { thread, ending } = threadOf(pool, worker, freeIndex())
    indexes.set(worker, thread.index)
    worker.once('exit', () => {
      if (!stopping) options.down(thread, ending())
    })
    worker.on('message', (message: StrayMessage | undefined) => {
      if (message?.kind === 'stray' && !stopping)
        options.stray(thread, errorFromFields(message.error))
    })
    options.up(thread)
  })
  return {
    async stop() {
      stopping = true
      await pool.destroy()
    },
  }
}

function threadOf(pool: Piscina, worker: Worker, index: number) {
  const { threadId } = worker
  const name = `thread ${threadId}`
  let ended: WorkerEnded | undefined
  worker.once('error', (error) => {
    ended = new WorkerEnded(`${name} ended: ${error.message}`, { cause: error })
  })
  worker.once('exit', (code) => {
    ended ??= new WorkerEnded(`${name} ended with code ${code}`)
  })
  const ending = () => ended ?? new WorkerEnded(`${name} ended`)

  const run = async (
    message: unknown,
    transferList: (ArrayBuffer | MessagePort)[],
    port: MessagePort | undefined,
  ) => {
    // Piscina would keep a task for an ended thread until another one with its number starts, that is, forever.
    if (ended !== undefined || worker.threadId !== threadId) throw ending()
    const task: AddressedTask = { message, port, [queueOptionsSymbol]: { thread: threadId } }
    try {
      return await pool.run(task, { transferList })
    } catch (error) {
      if (error instanceof Error && error.name === 'DataCloneError') throw error
      // The handler never throws: any other failure is the end of the thread.
      throw (
        ended ??
        new WorkerEnded(`${name} ended: ${String((error as Error).message)}`, { cause: error })
      )
    }
  }

  const thread: ModelWorker = {
    name,
    index,
    run: (message, transfer) => run(message, transfer as ArrayBuffer[], undefined),
    open(message, transfer) {
      const { port1, port2 } = new MessageChannel()
      const done = run(message, [...(transfer as ArrayBuffer[]), port2], port2)
      return { channel: channelOf(port1), done }
    },
    kill: () => void worker.terminate(),
  }
  return { thread, ending }
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
