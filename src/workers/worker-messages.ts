/**
 * Messages between a worker process and its supervisor.
 * @module
 */
import type { MetricFamily } from '../metrics/metric-family.ts'
import type { GroupAnswer, GroupRequest } from '../oip/model-group.ts'
import type { RepositoryOptions } from '../oip/repository.ts'
import type { EngineName, ServeSettings } from '../server/options.ts'

/** Settings of a worker, as JSON in its first argument. */
export interface WorkerConfig {
  /** Absolute path of the service file, or of a folder of models. */
  readonly file: string
  /** How the folder of models is served. */
  readonly models?: RepositoryOptions
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

/** Sent when a worker was asked for metrics, and before it exits in order. */
export interface MetricsReport {
  readonly type: 'metrics'
  /** Of the request; 0 for the last report of a worker. */
  readonly id: number
  readonly families: readonly MetricFamily[]
}

/** Asks the supervisor for the metrics of all workers. */
export interface MetricsWanted {
  readonly type: 'metrics_wanted'
  readonly id: number
}

/** Asks the supervisor for what all other workers answer. */
export interface GroupWanted {
  readonly type: 'group_wanted'
  readonly id: number
  readonly request: GroupRequest
}

/** Answers {@link GroupAsked}. */
export interface GroupTold {
  readonly type: 'group_told'
  readonly id: number
  readonly answer: GroupAnswer
}

/** Messages from a worker. */
export type WorkerMessage = WorkerReady | WorkerFailed | MetricsReport | MetricsWanted | GroupWanted | GroupTold

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
  readonly type: 'collect'
  readonly id: number
}

/** Answers {@link MetricsWanted}. */
export interface MetricsOfAll {
  readonly type: 'metrics_of_all'
  readonly id: number
  readonly processes: readonly (readonly MetricFamily[])[]
}

/** Asks a worker for what another one wants of all. */
export interface GroupAsked {
  readonly type: 'group_asked'
  readonly id: number
  readonly request: GroupRequest
}

/** Answers {@link GroupWanted}. */
export interface GroupAnswers {
  readonly type: 'group_answers'
  readonly id: number
  readonly answers: readonly GroupAnswer[]
}

/** Messages to a worker. */
export type SupervisorMessage = DrainRequest | MetricsRequest | MetricsOfAll | GroupAsked | GroupAnswers

/** Whether a message is of this type: user code can send anything through `process.send`, too. */
export function isMessageOf<T extends WorkerMessage | SupervisorMessage>(
  type: T['type'],
  message: unknown,
): message is T {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === type
}
