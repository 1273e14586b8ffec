/** Messages between a worker process and its supervisor. @module */

import type { EngineName, ServeSettings } from '../../engine/options.ts'
import type { GroupAnswer, GroupRequest } from '../../oip/model-group.ts'
import type { RepositoryOptions } from '../../oip/repository.ts'
import type { MetricFamily } from '../../telemetry/metrics/metric-family.ts'

/** Settings of a worker. */
export interface WorkerConfig {
  /** Absolute path of the service file, or of a folder of models. */
  readonly file: string
  /** How the folder of models is served. */
  readonly models?: RepositoryOptions
  /** Ports are never 0: the supervisor picks free ones, since all workers listen on the same. */
  readonly serve: ServeSettings
  /** Whether requests must name this machine as their host. Default: no. */
  readonly localHostOnly?: boolean
  /** Packages for all of its models in Python. */
  readonly pythonPackages?: readonly string[]
}

/** Sent when a worker has loaded its code: it asks for {@link WorkerStart}. */
export interface WorkerLoaded {
  readonly type: 'loaded'
}

/** Sent when a worker accepts requests. */
export interface WorkerReady {
  readonly type: 'ready'
  readonly service: string
  /** Methods and paths of the APIs with the base URL in front, in the order of registration. */
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

/** Answers {@link MetricsRequest}; also sent by a worker before it exits in order. */
export interface MetricsReport {
  readonly type: 'metrics_report'
  readonly id: number
  readonly families: readonly MetricFamily[]
}

/** Asks the supervisor for the metrics of all workers. */
export interface AllMetricsRequest {
  readonly type: 'all_metrics_request'
  readonly id: number
}

/** Asks the supervisor for what all other workers answer. */
export interface RelayRequest {
  readonly type: 'relay_request'
  readonly id: number
  readonly request: GroupRequest
}

/** Answers {@link ModelRequest}. */
export interface ModelReply {
  readonly type: 'model_reply'
  readonly id: number
  readonly answer: GroupAnswer
}

/** Messages from a worker. */
export type WorkerMessage =
  | WorkerLoaded
  | WorkerReady
  | WorkerFailed
  | MetricsReport
  | AllMetricsRequest
  | RelayRequest
  | ModelReply

/**
 * When a worker listens: `at_once`, so that `/readyz` says what it waits for, `when_loaded`, or after that on an
 * {@link OpenRequest}.
 */
export type Opens = 'at_once' | 'when_loaded' | 'when_told'

/** Answers {@link WorkerLoaded}: the first message to a worker. */
export interface WorkerStart {
  readonly type: 'start'
  readonly config: WorkerConfig
  readonly opens: Opens
}

/** Lets a worker listen that opens `when_told`. */
export interface OpenRequest {
  readonly type: 'open'
}

/** Asks a worker to finish running requests, accept no new ones, and exit. */
export interface DrainRequest {
  readonly type: 'drain'
  /** Whether another worker has taken its place: it refuses no request then. */
  readonly isReplaced?: boolean
  /** Whether somebody waits for its end: `drainDelayMs` is not waited for. */
  readonly atOnce?: boolean
}

/** Asks a worker for its metrics. */
export interface MetricsRequest {
  readonly type: 'metrics_request'
  readonly id: number
}

/** Answers {@link AllMetricsRequest}. */
export interface AllMetrics {
  readonly type: 'all_metrics'
  readonly id: number
  readonly processes: readonly (readonly MetricFamily[])[]
}

/** Passes a worker the request that another one made of all. */
export interface ModelRequest {
  readonly type: 'model_request'
  readonly id: number
  readonly request: GroupRequest
}

/** Answers {@link RelayRequest}. */
export interface RelayReply {
  readonly type: 'relay_reply'
  readonly id: number
  readonly answers: readonly GroupAnswer[]
}

/** Messages to a worker. */
export type SupervisorMessage =
  | WorkerStart
  | OpenRequest
  | DrainRequest
  | MetricsRequest
  | AllMetrics
  | ModelRequest
  | RelayReply

/** Whether a message is of this type: user code can send anything through `process.send`, too. */
export function isMessageOf<T extends WorkerMessage | SupervisorMessage>(
  type: T['type'],
  message: unknown,
): message is T {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === type
}

/** Asks the supervisor for the settings of this worker. */
export function requestStart(): Promise<WorkerStart> {
  return new Promise((resolve) => {
    const take = (message: unknown) => {
      if (!isMessageOf<WorkerStart>('start', message)) return
      process.off('message', take)
      resolve(message)
    }
    process.on('message', take)
    void sendToSupervisor({ type: 'loaded' })
  })
}

/** Sends the supervisor a message. Resolves when it has left, or when no supervisor is connected. */
export function sendToSupervisor(message: WorkerMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve()
    else process.send(message, undefined, undefined, () => resolve())
  })
}
