/** Messages between a worker process and its supervisor. @module */

import type { RepositoryOptions } from '../../api/model-options.ts'
import type { AskOptions } from '../../api/protocol.ts'
import type { EngineName, ServeSettings } from '../../engine/options.ts'
import type { MetricFamily } from '../../telemetry/metrics/metric-family.ts'

/** How long a supervisor waits for the metrics of a busy worker. **Units**: milliseconds. */
export const collectMs = 2_000

/** Settings of a worker. */
export interface WorkerConfig {
  /** Absolute path of the service file, or of a folder of models. */
  readonly file: string
  /** How the folder of models is served. */
  readonly models?: RepositoryOptions
  /** Ports are never 0: the supervisor picks free ones, since all workers listen on the same. */
  readonly serve: ServeSettings
  /** Whether the page shows the last calls. Default false. */
  readonly isDevelopment?: boolean
  /** Packages for all of its models in Python. */
  readonly pythonPackages?: readonly string[]
}

/** Sent when a worker accepts requests. */
export interface WorkerReady {
  readonly kind: 'ready'
  readonly service: string
  /** Methods and paths of the APIs with the base URL in front, in the order of registration. */
  readonly paths: readonly string[]
  readonly engine: EngineName
  readonly nativeCodec: boolean
  /** Name of the library that reads and writes JPEG: pixels differ slightly between libraries. */
  readonly jpegLibrary: string
}

/**
 * When a worker listens: `at_once`, so that `/readyz` says what it waits for, `when_loaded`, or after that on a message
 * `open`.
 */
export type Opens = 'at_once' | 'when_loaded' | 'when_told'

/** The first message to a worker. */
export interface WorkerStart {
  readonly kind: 'start'
  readonly config: WorkerConfig
  readonly opens: Opens
}

/** Asks a worker to finish running requests, accept no new ones, and exit. */
export interface DrainRequest {
  readonly kind: 'drain'
  /** Whether another worker has taken its place: it refuses no request then. */
  readonly isReplaced?: boolean
  /** Whether somebody waits for its end: `drainDelayMs` is not waited for. */
  readonly atOnce?: boolean
}

/** What processes ask each other. A supervisor answers with the answers of all its workers in a list. */
export type Question =
  | { readonly about: 'metrics' }
  | {
      readonly about: 'protocol'
      readonly topic: string
      readonly question: unknown
      readonly how: AskOptions
    }

/** Messages to a worker, and from it. */
export type ProcessMessage =
  | WorkerStart
  | DrainRequest
  /** Lets a worker listen that opens `when_told`. */
  | { readonly kind: 'open' }
  /** Sent when a worker has loaded its code: it asks for {@link WorkerStart}. */
  | { readonly kind: 'loaded' }
  | WorkerReady
  /** Sent when a worker could not start: for a human, with a stack unless the set-up is wrong. */
  | { readonly kind: 'failed'; readonly message: string }
  /** Sent before a worker exits in order. */
  | { readonly kind: 'last_metrics'; readonly families: readonly MetricFamily[] }
  | { readonly kind: 'question'; readonly id: number; readonly question: Question }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }

/** Whether a message is of this kind: user code can send anything through `process.send`, too. */
export function isMessageOf<K extends ProcessMessage['kind']>(
  kind: K,
  message: unknown,
): message is Extract<ProcessMessage, { readonly kind: K }> {
  return (message as { readonly kind?: unknown } | null | undefined)?.kind === kind
}

/** Sends the supervisor a message. Resolves when it has left, or when no supervisor is connected. */
export function sendToSupervisor(message: ProcessMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve()
    else process.send(message, undefined, undefined, () => resolve())
  })
}
