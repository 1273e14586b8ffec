/** The contract of what runs a model: a thread, a child process, or the caller's own thread. @module */

/** Memory beside a message: buffers to move to a thread; views for Python. */
export type Transfer = ArrayBuffer | ArrayBufferView

/** Messages in both directions while one stream lasts. */
export interface Channel {
  post(message: unknown, transfer?: readonly Transfer[]): void
  listen(listener: (message: unknown) => void): void
  close(): void
}

/** One thread or process that has, or will load, the model. */
export interface ModelWorker {
  readonly name: string
  /** Number in its pool, from 0. A replacement has that of the ended worker. */
  readonly index: number
  /**
   * Resolves to the reply.
   *
   * @throws {@link WorkerEnded}; DataCloneError, and then nothing has been transferred.
   */
  run(message: unknown, transfer: readonly Transfer[]): Promise<unknown>
  /** Like `run`, with a channel to the message's handler. `done` resolves when that handler returns. */
  open(
    message: unknown,
    transfer: readonly Transfer[],
  ): { readonly channel: Channel; readonly done: Promise<unknown> }
  /** Ends the worker at once. The caller's own thread does nothing. */
  kill(): void
}

/** What to start, and what to call then. */
export interface WorkerPoolOptions {
  readonly entry: URL
  readonly count: number
  /**
   * Heap limit of each worker. **Units**: MiB.
   *
   * @default that of its kind
   */
  readonly memoryLimitMb: number | undefined
  /** The only device that each process sees, by its index, in turn; undefined for all devices. */
  readonly deviceIds: readonly number[] | undefined
  /** Called when a worker is ready: one of the first, or a replacement. */
  up(worker: ModelWorker): void
  /** Called when a worker has ended, never after the pool's `stop`. The pool replaces it. */
  down(worker: ModelWorker, cause: WorkerEnded): void
  /** Called on an unhandled rejection in a worker, which then continues. */
  stray(worker: ModelWorker, error: Error): void
  /** Called with each line that a process without our standard output printed. */
  printed(worker: ModelWorker, line: string): void
}

/** A fixed number of workers, each replaced when it ends. */
export interface WorkerPool {
  stop(): Promise<void>
}

/** Starts the workers of a kind. */
export type StartWorkers = (options: WorkerPoolOptions) => WorkerPool

/** @returns the device of a worker: `deviceIds`, in turn. */
export const deviceOf = (
  deviceIds: readonly number[] | undefined,
  index: number,
): number | undefined => deviceIds?.[index % deviceIds.length]

/** @returns the environment variables that tell a process its device. */
export function deviceEnv(
  deviceIds: readonly number[] | undefined,
  index: number,
): NodeJS.ProcessEnv {
  return deviceIds === undefined ? {} : { CUDA_VISIBLE_DEVICES: String(deviceOf(deviceIds, index)) }
}

/** A worker ended while it was needed. */
export class WorkerEnded extends Error {
  override readonly name = 'WorkerEnded'
}
