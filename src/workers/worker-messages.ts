/**
 * Messages between a worker process and its supervisor.
 * @module
 */
import type { EngineName, ServeSettings } from '../server/options.ts'

/** Settings of a worker, as JSON in its first argument. */
export interface WorkerConfig {
  /** Absolute path of the service file. */
  readonly file: string
  /** Ports are never 0: the supervisor picks free ones, since all workers listen on the same. */
  readonly serve: ServeSettings
}

/** Sent when a worker accepts requests. */
export interface WorkerReady {
  readonly type: 'ready'
  readonly service: string
  /** Paths of the APIs with the base URL in front, in the order of registration. */
  readonly paths: readonly string[]
  readonly engine: EngineName
  readonly nativeCodec: boolean
  /** Name of the library that reads and writes JPEG: pixels differ slightly between libraries. */
  readonly jpegLibrary: string
}

/** Sent when a worker could not start and is about to exit. */
export interface WorkerFailed {
  readonly type: 'failed'
  /** For a human; one line for mistakes in the set-up, with the stack of the user's code otherwise. */
  readonly message: string
}

/** Messages from a worker. */
export type WorkerMessage = WorkerReady | WorkerFailed

/** Asks a worker to finish running requests, accept no new ones, and exit. */
export interface DrainRequest {
  readonly type: 'drain'
  /** Whether another worker has taken its place: it refuses no request then. */
  readonly isReplaced?: boolean
}

/** Whether a message is of this type: user code can send anything through `process.send`, too. */
export function isMessageOf<T extends WorkerMessage | DrainRequest>(type: T['type'], message: unknown): message is T {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === type
}
