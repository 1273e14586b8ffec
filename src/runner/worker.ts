/** The contract of what runs a model: a thread, a child process, or the caller's own thread. @module */

/** Memory beside a message: buffers to move to a thread; views for Python, and large ones for other processes. */
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
  /** Resolves when it has ended, to how. */
  readonly ended: Promise<WorkerEnded>
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
  /** Ends the worker at once. The caller's own thread forgets its calls. */
  kill(): void
  /** Ends the worker in order. Resolves when it has ended. */
  end(): Promise<void>
}

/** What to start, and what to call then. */
export interface WorkerOptions {
  /** What it will load. */
  readonly module: string
  /** How many workers the runner has. */
  readonly count: number
  /** How many messages a worker gets at a time. */
  readonly concurrency: number
  /**
   * Heap limit of each worker. **Units**: MiB.
   *
   * @default that of its kind
   */
  readonly memoryLimitMb: number | undefined
  /** The only device that each process sees, by its index, in turn; undefined for all devices. */
  readonly deviceIds: readonly number[] | undefined
  /** Called on an unhandled rejection in a worker, which then continues. */
  stray(worker: ModelWorker, error: Error): void
  /** Called with each line that a process without our standard output printed. */
  printed(worker: ModelWorker, line: string): void
}

/** Starts a worker of its kind, which takes messages at once. `index`: in its runner; a replacement has the same. */
export type StartWorker = (options: WorkerOptions, index: number) => ModelWorker

/** @returns the URL of a compiled program, also in tests: Node 20 starts no thread on TypeScript. */
export const compiled = (name: string): URL =>
  new URL(
    import.meta.url.endsWith('.ts') ? `../../dist/runner/${name}.js` : `./${name}.js`,
    import.meta.url,
  )

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
