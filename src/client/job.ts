import type { JobStatus } from '../jobs/job.ts'
import { Call, TextCall } from './call.ts'
import { encodeQuery } from './encode.ts'
import { ServingError } from './serving-error.ts'
import {
  type CallOptions,
  type ClientOptions,
  joined,
  type Limit,
  limitOf,
  send,
  unlessAborted,
} from './transport.ts'

/** A job as the server shows it. Times are in ISO 8601. */
export interface JobInfo {
  readonly id: string
  readonly api: string
  readonly status: JobStatus
  readonly attempt: number
  readonly priority: number
  /** How many jobs of the API run before this one, while it is queued. */
  readonly queuePosition?: number
  /** The last value of `ctx.job.progress`. */
  readonly progress?: unknown
  readonly responseStatus?: number
  readonly cancelRequested?: boolean
  readonly retryOf?: string
  readonly createdAt: string
  readonly notBefore?: string
  readonly startedAt?: string
  readonly finishedAt?: string
}

/** What happened to a job: it has `at` and one of the others. */
export interface JobChange {
  readonly at: string
  readonly status?: JobStatus
  readonly progress?: unknown
  /** A piece of a generator's answer, as text. */
  readonly partial?: string
}

/** How a job runs, within the bounds of its API. Times are milliseconds, or texts such as `30s`, `30m` and `24h`. */
export interface JobOptions {
  /** 0 to 100. */
  readonly priority?: number
  /** It does not start before. A text is in ISO 8601. */
  readonly notBefore?: Date | string
  /** Time for one attempt. */
  readonly timeout?: number | string
  /** How long it may wait for its start. */
  readonly queueTtl?: number | string
  /** How long its result stays. */
  readonly resultTtl?: number | string
}

/** Options of `submit`. */
export interface SubmitOptions extends CallOptions {
  /** Submitting again with the same key and value gives the same job; failed connections are tried again, then. */
  readonly idempotencyKey?: string
  /** URL that is told the end of the job. */
  readonly webhook?: string
  /** @default what the API says */
  readonly job?: JobOptions
}

/** Which of your jobs `jobs` gives. */
export interface JobListOptions extends CallOptions {
  readonly status?: JobStatus
  /** Submitted then or later. Texts are in ISO 8601. */
  readonly since?: Date | string
  /** Submitted before. */
  readonly until?: Date | string
}

/** Options of {@link Job.result}. */
export interface ResultOptions extends CallOptions {
  /**
   * How long to wait for the end of the job. **Units**: seconds.
   *
   * @default until it ends
   */
  readonly wait?: number
}

/** Proxies break off a stream that is silent for longer. **Units**: seconds. */
const waitAtOnce = 20

const pauseMs = 200

/**
 * A job; `T` is what the call would return.
 *
 * @throws ServingError; `not_found` for a job of somebody else, too.
 */
export class Job<T> {
  readonly id: string
  readonly #base: string
  readonly #options: ClientOptions
  readonly #decode: (response: Response) => Promise<T>

  /** @internal */
  constructor(
    id: string,
    base: string,
    options: ClientOptions,
    decode: (response: Response) => Promise<T>,
  ) {
    this.id = id
    this.#base = base
    this.#options = options
    this.#decode = decode
  }

  /** Asks for the state. */
  status(options?: CallOptions): Call<JobInfo> {
    return this.#call('', options, infoOf)
  }

  /**
   * @returns what the call would have returned, or is rejected as it would be.
   * @throws also `not_ended` if `wait` is over, `conflict` for a canceled job, `gone` for an
   * expired one.
   */
  result({ wait = Number.POSITIVE_INFINITY, ...given }: ResultOptions = {}): Call<T> {
    const all = joined(this.#options, given)
    const limit = limitOf(all)
    return new Call(this.#answer(Date.now() + wait * 1000, all, limit), this.#decode, limit)
  }

  /**
   * Broken connections are made again.
   *
   * @returns all that has happened and happens until the end of the job.
   */
  async *events(options: CallOptions = {}): AsyncGenerator<JobChange, void, undefined> {
    for (let last = '0'; ; ) {
      const headers = { ...options.headers, 'last-event-id': last }
      const all = joined(this.#options, { ...options, headers })
      const limit = limitOf(all)
      const call = new TextCall(
        send(this.#url('/events'), undefined, all, limit),
        (response) => response.text(),
        limit,
      )
      const { status } = await call.response()
      try {
        for await (const { id = last, data } of call.events()) {
          const change: JobChange = JSON.parse(data)
          last = id
          yield change
          if (!['queued', 'running', undefined].includes(change.status)) return
        }
      } catch (error) {
        options.signal?.throwIfAborted()
        if ((error as ServingError).code !== 'network') throw error
      }
      if (status === 204) return
      await pause(limit.signal)
    }
  }

  /**
   * Ends a queued job at once, and asks a running one to end.
   *
   * @throws also `conflict` if it has ended already.
   */
  cancel(options?: CallOptions): Call<JobInfo> {
    return this.#call('/cancel', { isIdempotent: true, ...options }, infoOf, 'POST')
  }

  /**
   * Submits the input of an ended job again, as a job of its own.
   *
   * @throws also `conflict`, `gone`.
   */
  retry(options?: CallOptions): Call<Job<T>> {
    const decode = async (response: Response) => {
      const { id } = await infoOf(response)
      return new Job(id, this.#base, this.#options, this.#decode)
    }
    return this.#call('/retry', options, decode, 'POST')
  }

  /**
   * Deletes the input, the answer and the events of a job that has ended.
   *
   * @throws also `conflict` if it has not ended.
   */
  delete(options?: CallOptions): Call<JobInfo> {
    return this.#call('', options, infoOf, 'DELETE')
  }

  #url(below: string): string {
    return `${this.#base}/jobs/${encodeURIComponent(this.id)}${below}`
  }

  #call<R>(
    below: string,
    given: CallOptions | undefined,
    decode: (response: Response) => Promise<R>,
    method: 'GET' | 'POST' | 'DELETE' = 'GET',
  ): Call<R> {
    const all = joined(this.#options, given)
    const limit = limitOf(all)
    const body = method === 'POST' ? { type: undefined, body: '' } : undefined
    return new Call(send(this.#url(below), body, all, limit, method), decode, limit)
  }

  async #answer(until: number, all: ClientOptions & CallOptions, limit: Limit): Promise<Response> {
    for (;;) {
      const seconds = Math.ceil(Math.max(0, Math.min(waitAtOnce, (until - Date.now()) / 1000)))
      const headers = { ...all.headers, prefer: `wait=${seconds}` }
      const response = await send(this.#url('/result'), undefined, { ...all, headers }, limit)
      // A function may answer 202 itself.
      if (response.status !== 202 || !response.headers.has('retry-after')) return response
      await response.body?.cancel()
      if (Date.now() >= until)
        throw new ServingError('the job has not ended yet', { status: 202, code: 'not_ended' })
      await pause(limit.signal)
    }
  }
}

/** Asks for one page after the other. */
export async function* jobsOf(
  api: string,
  base: string,
  options: ClientOptions,
  { status, since, until, ...given }: JobListOptions = {},
): AsyncGenerator<JobInfo, void, undefined> {
  const all = joined(options, given)
  const decode = (response: Response) =>
    response.json() as Promise<{ readonly jobs: readonly JobInfo[]; readonly next?: string }>
  let after: string | undefined
  do {
    const query = encodeQuery({ api, status, since, until, limit: 100, after }, 'jobs')
    const limit = limitOf(all)
    const page = await new Call(send(`${base}/jobs${query}`, undefined, all, limit), decode, limit)
    yield* page.jobs
    after = page.next
  } while (after !== undefined)
}

/** @returns the preference that makes a job of a call. */
export function preferenceOf(job: JobOptions = {}): string {
  const parameters = Object.entries(job).flatMap(([name, value]) => {
    if (value === undefined) return []
    const isMs = typeof value === 'number' && name !== 'priority'
    const text = value instanceof Date ? value.toISOString() : String(value)
    const token = name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)
    return [`; ${token}="${text}${isMs ? 'ms' : ''}"`]
  })
  return `respond-async${parameters.join('')}`
}

/** Reads the state of a job. */
export function infoOf(response: Response): Promise<JobInfo> {
  return response.json() as Promise<JobInfo>
}

function pause(signal: AbortSignal): Promise<void> {
  return unlessAborted(new Promise((resolve) => setTimeout(resolve, pauseMs)), signal)
}
