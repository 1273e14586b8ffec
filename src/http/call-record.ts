/** What `serving dev` keeps of a call: times and sizes, but no header, query, body or message of an error. @module */

/** A part of a call. **Units**: milliseconds since its start. */
export interface CallSpan {
  readonly name: string
  readonly from: number
  /** Undefined if the call was over before. */
  readonly to: number | undefined
}

/** What one message gave a thread: a batch, or calls that came in one turn. */
export interface RunnerJobRecord {
  /** The same for all calls that shared it, in all processes. */
  readonly id: string
  readonly isBatch: boolean
  readonly calls: number
  readonly rows: number | undefined
  readonly model: CallSpan
}

/** A call of a Runner. **Units**: milliseconds since the start of the call that made it. */
export interface RunnerCallRecord {
  /** The Runner and its method. */
  readonly name: string
  readonly queuedAt: number
  readonly dispatchedAt: number | undefined
  readonly endedAt: number | undefined
  readonly isFailed: boolean
  readonly job: RunnerJobRecord | undefined
  /** The job of the same Runner that ended while the call waited, last before it went. */
  readonly waitedFor: string | undefined
}

/** A call that is over. */
export interface CallRecord {
  /** Counts up in each process. */
  readonly sequence: number
  readonly process: number
  /** The id of the request, as in the log. */
  readonly id: string
  /** When it began. **Units**: milliseconds since the epoch. */
  readonly at: number
  readonly method: string
  /** The pattern of its path, or a path without an endpoint. */
  readonly path: string
  readonly api: string | undefined
  readonly protocol: string
  readonly status: number
  readonly code: string | undefined
  /** **Units**: bytes. */
  readonly bytesIn: number
  readonly bytesOut: number
  /** **Units**: milliseconds. */
  readonly totalMs: number
  readonly stages: readonly CallSpan[]
  readonly runs: readonly RunnerCallRecord[]
  /** How many of both were not kept. */
  readonly dropped: number
}
