/**
 * Where models live: one contract for threads and child processes, so that a Runner does not know which it has.
 * @module
 */

/** Messages in both directions while one stream lasts. */
export interface Channel {
  post(message: unknown, transfer?: readonly ArrayBuffer[]): void
  listen(listener: (message: unknown) => void): void
  close(): void
}

/** One thread or process. */
export interface ModelWorker {
  /** For messages: `thread 3`, `process 812`. */
  readonly name: string
  /**
   * A message becomes its reply. **Errors**: {@link WorkerEnded} when the worker ends before; a DataCloneError when the
   * message cannot be cloned, and then nothing has been transferred.
   */
  run(message: unknown, transfer: readonly ArrayBuffer[]): Promise<unknown>
  /** As `run`, with a channel of its own, whose far end the message's handler gets. Resolves when that handler is done. */
  open(
    message: unknown,
    transfer: readonly ArrayBuffer[],
  ): { readonly channel: Channel; readonly done: Promise<unknown> }
  /** Ends the worker at once, whatever it does. */
  kill(): void
}

/** What the owner of places hears. */
export interface WorkerEvents {
  /** A new worker takes messages: one of the first, or one that replaces another. */
  up(worker: ModelWorker): void
  /** A worker has ended; its replacement comes by itself. */
  down(worker: ModelWorker, cause: WorkerEnded): void
}

/** What to start. */
export interface WorkerPoolOptions extends WorkerEvents {
  /** Program of each worker. */
  readonly entry: URL
  readonly count: number
  /** Heap limit of each worker. **Units**: MiB. */
  readonly memoryLimitMb: number | undefined
}

/** A fixed number of places, each replaced when it ends. */
export interface WorkerPool {
  /** Whether buffers can be moved there; else they are copied. */
  readonly moves: boolean
  /** Ends all places. What still runs there fails with {@link WorkerEnded}. */
  stop(): Promise<void>
}

/** A thread or process ended while it was needed. */
export class WorkerEnded extends Error {
  override readonly name = 'WorkerEnded'
}
