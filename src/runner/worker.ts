/**
 * The contract of what runs a model: a thread, a child process, or the caller's own thread. A Runner does not know
 * which it has.
 * @module
 */

/** Memory beside a message: buffers to move to a thread; views that a process in Python gets. */
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
  /** Its place among the workers of its pool, from 0 on: the one of the worker that it replaces. */
  readonly index: number
  /**
   * Sends a message and resolves to its reply. **Errors**: {@link WorkerEnded} when the worker ends before; a
   * DataCloneError when the message cannot be cloned, and then nothing has been transferred.
   */
  run(message: unknown, transfer: readonly Transfer[]): Promise<unknown>
  /** Like `run`, with a channel whose far end the message's handler gets. `done` resolves when that handler returns. */
  open(message: unknown, transfer: readonly Transfer[]): { readonly channel: Channel; readonly done: Promise<unknown> }
  /** Ends the worker at once, whatever it does. The caller's own thread does nothing. */
  kill(): void
}

/** Callbacks of a {@link WorkerPool}. */
export interface WorkerEvents {
  /** Called when a worker takes messages: one of the first, or one that replaces another. */
  up(worker: ModelWorker): void
  /** Called when a worker has ended, never after the pool's `stop`. Its replacement comes by itself. */
  down(worker: ModelWorker, cause: WorkerEnded): void
  /** Called when a promise in a worker was rejected and nothing handled it. The worker goes on. */
  stray(worker: ModelWorker, error: Error): void
  /** Called with each line that a process printed which does not share our standard output. */
  printed(worker: ModelWorker, line: string): void
}

/** What to start. */
export interface WorkerPoolOptions extends WorkerEvents {
  readonly entry: URL
  readonly count: number
  /** Heap limit of each worker; undefined for the default of its kind. **Units**: MiB. */
  readonly memoryLimitMb: number | undefined
  /** The device of each process by its index, in turn, of which it sees no other; undefined for all. */
  readonly deviceIds: readonly number[] | undefined
}

/** A fixed number of workers, each replaced when it ends. */
export interface WorkerPool {
  stop(): Promise<void>
}

/** Starts the workers of a kind. */
export type StartWorkers = (options: WorkerPoolOptions) => WorkerPool

/** Returns the device of a worker: those that are given, in turn. */
export const deviceOf = (deviceIds: readonly number[] | undefined, index: number): number | undefined =>
  deviceIds?.[index % deviceIds.length]

/** Returns the variables of the environment that tell a process its device. */
export function deviceEnv(deviceIds: readonly number[] | undefined, index: number): NodeJS.ProcessEnv {
  return deviceIds === undefined ? {} : { CUDA_VISIBLE_DEVICES: String(deviceOf(deviceIds, index)) }
}

/** A worker ended while it was needed. */
export class WorkerEnded extends Error {
  override readonly name = 'WorkerEnded'
}
