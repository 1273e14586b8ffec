import type { Api } from '../api/api.ts'
import type { RequestHook } from '../api/hooks.ts'
import { deadlinePassed } from '../api/stages.ts'
import type { Entered, Visit } from '../api/visit.ts'
import {
  BadInput,
  Conflict,
  expected,
  KeyReused,
  NotFound,
  Overloaded,
  TooManyRequests,
  Unauthorized,
} from '../core/errors.ts'
import type { HeldMemory } from '../core/memory/held-memory.ts'
import { fromContent } from '../descriptors/proto-content.ts'
import type { Context } from '../http/context.ts'
import {
  type HeaderLine,
  HeaderList,
  type HttpRequest,
  type RequestHeaders,
} from '../http/message.ts'
import { decodeRequest } from '../messages/envelope.ts'
import { traceHeaders } from '../telemetry/tracing/active-trace.ts'
import { Changes } from './changes.ts'
import { isFinal, type Job, type JobEvent, type NewJob, type WebhookTarget } from './job.ts'
import { gone } from './job-answers.ts'
import type { JobLog } from './job-metrics.ts'
import { parametersOf } from './job-query.ts'
import type { Added, JobFilter, JobPage, JobStore } from './job-store.ts'
import {
  type AsyncApi,
  type BegunJob,
  callHeaders,
  fingerprintOf,
  idempotencyKeyOf,
  isEnteredAsync,
  isKindName,
  jobOf,
  keptHeaders,
  readInput,
  requireOwner,
  type Submitted,
} from './new-job.ts'
import { actOn, holdJobs, requireAdmin } from './operators.ts'
import type { StoredAnswer, UnreadRequest } from './stored-body.ts'
import type { Webhooks } from './webhooks.ts'

/** The part of a service that has jobs. */
export interface JobSource {
  readonly apis: ReadonlyMap<string, Api>
  readonly auth: RequestHook | undefined
}

/** Clients should come again after this time when a queue is full, or their part of it. **Units**: seconds. */
const fullSeconds = 10

/** Most bytes of events that are read at once. **Units**: bytes. */
const eventBytes = 64 * 1024

/** How a submission asks to run. */
type Asked = Readonly<Record<string, unknown>>

/** The jobs of one server: how they are submitted, found and waited for. */
export class Jobs {
  readonly #store: JobStore
  /** Whether this process runs no jobs: other ones answer even synchronous calls. */
  readonly runElsewhere: boolean
  readonly source: JobSource
  readonly #webhooks: Webhooks | undefined
  readonly #log: JobLog
  readonly #watched = new Set<Changes>()
  readonly #reads = new Map<string, Promise<readonly JobEvent[]>>()
  #isLeaving = false

  constructor(
    store: JobStore,
    source: JobSource,
    webhooks: Webhooks | undefined,
    runElsewhere: boolean,
    log: JobLog,
  ) {
    this.#store = store
    this.source = source
    this.#webhooks = webhooks
    this.runElsewhere = runElsewhere
    this.#log = log
  }

  /**
   * Keeps the job of a request.
   *
   * @throws those of decoding; BadInput for a wrong header, KeyReused, Overloaded.
   */
  async submit(api: AsyncApi, request: HttpRequest, visit: Visit): Promise<Job> {
    const entered = await visit.enter(api)
    return this.#keepRead(entered, request, parametersOf(request.headers))
  }

  async #keepRead(
    entered: Entered<AsyncApi>,
    request: HttpRequest,
    { rows, ...given }: Asked,
  ): Promise<Job> {
    const { api, visit } = entered
    const { body, total } = await readInput(api, request, visit, rows)
    const { headers } = request
    const { query } = visit.target
    return this.#keep(entered, { headers, query, body, rows: total }, given)
  }

  /** As {@link submit}, for a Request of RPC: auth and hooks have not run yet. `given`: how it asks to run. */
  async submitCall(name: string, bytes: Uint8Array, visit: Visit, given: Asked): Promise<Job> {
    const { ctx } = visit
    const api = visit.find(this.source.apis, name, 'api_name')
    const entered = await visit.enter(api)
    if (!isEnteredAsync(entered))
      throw new BadInput(expected('the name of an asynchronous API', 'api_name', name))
    // The message that is decoded takes its bytes.
    visit.hold(bytes.length)
    const { content } = decodeRequest(Uint8Array.from(bytes))
    const { rows, ...asked } = given
    if (rows === true) {
      const { fileRequest } = await import('./row-input.ts')
      return this.#keepRead(entered, fileRequest(content, ctx.headers), given)
    }
    await fromContent(api.input, content, ctx)
    const headers = HeaderList.of([...ctx.headers].filter(([name]) => name !== 'content-type'))
    return this.#keep(entered, { headers, body: bytes }, asked, callHeaders)
  }

  /** Keeps a job of a protocol. Throws as {@link submit}. */
  async begin(kind: Submitted, begun: BegunJob, visit: Visit): Promise<Job> {
    return this.#keep(await visit.enter(kind), begun, {})
  }

  /** The one place where a job begins: for a caller whom its API has let in. `first`: of the headers of its request. */
  async #keep(
    entered: Entered<Submitted>,
    begun: BegunJob,
    given: Asked,
    first: readonly HeaderLine[] = [],
  ): Promise<Job> {
    const { api, ctx, visit } = entered
    const { headers = ctx.headers, query = '', body, asked = body, id, rows } = begun
    const lines = keptHeaders(headers, [api.auth, this.source.auth], ctx.id)
    const request = { headers: [...first, ...lines], query, body }
    const key = idempotencyKeyOf(headers)
    const webhook = this.#webhookOf(headers)
    const trace = traceHeaders(ctx).traceparent
    const job = {
      ...jobOf(entered, given, id, rows),
      owner: requireOwner(visit),
      request,
      fingerprint: fingerprintOf({ ...request, body: asked }),
      ...(key !== undefined && { idempotencyKey: key }),
      ...(webhook !== undefined && { webhook }),
      ...(trace !== undefined && { trace }),
    }
    const { maxQueued, maxPerCaller } = api.async
    return this.#accepted(api, job, await this.#store.add(job, maxQueued, maxPerCaller))
  }

  /**
   * Submits the input of an ended job as a new job of who asks now, whom its API lets in.
   *
   * @throws why it does not; Conflict if the job has not ended; 410 if its input is gone.
   */
  async retry(job: Job, visit: Visit): Promise<Job> {
    if (visit.isAdmin) return actOn(this.#store, 'retry', job)
    const api = this.source.apis.get(job.api)
    if (api === undefined) throw new Conflict(`the service no longer has the API ${job.api}`)
    const entered = await visit.enter(api)
    if (!isEnteredAsync(entered)) throw new Conflict(`the API ${job.api} no longer has jobs`)
    requireEnded(job)
    const again = jobOf(entered, parametersOf(visit.ctx.headers), undefined, job.rows?.total)
    const { maxQueued, maxPerCaller } = entered.api.async
    const added = await this.#store.again(job.id, again, maxQueued, maxPerCaller)
    if (added === undefined) throw gone()
    const { owner, webhook, trace } = job
    return this.#accepted(entered.api, { ...again, owner, webhook, trace, retryOf: job.id }, added)
  }

  /**
   * Ends a queued job, and asks a running one to end.
   *
   * @throws Conflict if it has ended otherwise.
   */
  async cancel(job: Job): Promise<Job> {
    const now = isFinal(job.status) ? job : ((await this.#store.cancel(job.id)) ?? job)
    if (!isFinal(now.status) || now.status === 'canceled') return now
    throw new Conflict(`expected a job that has not ended, this one is ${now.status}`)
  }

  /**
   * Deletes what an ended job holds: it has expired now.
   *
   * @throws Conflict if it has not ended.
   */
  async delete(job: Job): Promise<Job> {
    requireEnded(job)
    return (await this.#store.expire(job.id)) ?? job
  }

  /**
   * @returns jobs of the caller: of one API, whose auth tells who asks, or all that the auth of the service decides.
   * @throws Unauthorized without a caller, Overloaded without memory; those of the auth.
   */
  async list(filter: JobFilter, visit: Visit): Promise<JobPage> {
    const { limit, owner: asked } = filter
    if (visit.isAdmin || asked !== undefined) return this.storeFor(visit, limit).list(filter)
    const { apis } = this.source
    const { api } = filter
    const isWhole = api === undefined || isKindName(api)
    const only = isWhole ? undefined : visit.find(apis, api, 'api')
    await visit.identify(only)
    const { owner } = visit
    if (owner === undefined)
      throw new Unauthorized(
        'expected a caller whom auth names, since lists have jobs of one alone',
      )
    holdJobs(visit, limit)
    const page = await this.#store.list({ ...filter, owner })
    // Another auth may give somebody else the same name.
    const isOfCaller = (job: Job) => this.#hasAuth(job) && apis.get(job.api)?.auth === only?.auth
    return { ...page, jobs: page.jobs.filter(isOfCaller) }
  }

  /** @returns the jobs of all callers, for an admin who looks at so many. */
  storeFor(visit: Visit, jobs = 1): JobStore {
    requireAdmin(visit, jobs)
    return this.#store
  }

  /** An API that is gone has taken its own auth along: then nobody may look. */
  #hasAuth({ api, isOfService }: Job): boolean {
    return this.source.apis.has(api) || isOfService === true
  }

  /** @returns the present state of a job that {@link find} has returned before. */
  async look(job: Job): Promise<Job | undefined> {
    return this.#store.get(job.id)
  }

  /** @returns the answer of a job that has one. */
  async answerOf({ id, status, rows }: Job): Promise<StoredAnswer | undefined> {
    // A canceled job of a protocol may have rows, too.
    if (status !== 'canceled' && (rows === undefined || status !== 'completed'))
      return isFinal(status) ? this.#store.result(id) : undefined
    const { rowsAnswer } = await import('./row-log.ts')
    return rowsAnswer(await this.#store.kept(id), this.#store.blobs)
  }

  /** @returns the input of a job that {@link find} has returned; undefined once it has expired. */
  async inputOf({ id }: Job): Promise<UnreadRequest | undefined> {
    return this.#store.input(id)
  }

  #webhookOf(headers: RequestHeaders): WebhookTarget | undefined {
    const url = headers.get('webhook-url')
    if (url === undefined) return undefined
    if (this.#webhooks === undefined)
      throw new BadInput('this service sends no webhooks: it has no jobs.webhooks')
    this.#webhooks.check(url)
    return { url }
  }

  async #accepted(api: Submitted, job: Accepted, added: Added): Promise<Job> {
    if (added.kind === 'full') {
      const details = { limit: 'queue', retryAfterSeconds: fullSeconds }
      throw new Overloaded(
        `expected at most ${api.async.maxQueued} jobs of ${api.name} that wait`,
        details,
      )
    }
    if (added.kind === 'quota') {
      const text = `expected at most ${api.async.maxPerCaller} jobs of a caller of ${api.name} that wait or run`
      throw new TooManyRequests(text, { retryAfterSeconds: fullSeconds })
    }
    if (added.kind === 'added') {
      const { id, retryOf } = job
      this.#log.debug(
        { event: 'job_submitted', job: id, api: api.name, retryOf },
        `job ${id} submitted`,
      )
      const { request: _, state: __, ...rest } = { request: undefined, ...job }
      return { ...rest, status: 'queued', attempt: 0, isCancelRequested: false }
    }
    if (!added.isSame) throw new KeyReused('expected another Idempotency-Key for another request')
    const there = await this.#store.get(added.id)
    if (there === undefined) throw gone()
    return there
  }

  /**
   * @returns a job that the caller may look at.
   * @throws NotFound; those of the API's own auth.
   */
  async find(id: string, visit: Visit): Promise<Job> {
    const job = /^[\w-]{22}$/.test(id) ? await this.#store.get(id) : undefined
    if (visit.isAdmin && job !== undefined) return job
    const api = job && this.source.apis.get(job.api)
    await visit.identify(api)
    const isTheirs =
      job !== undefined && this.#hasAuth(job) && (job.owner === undefined || visit.owns(job.owner))
    if (!isTheirs) throw new NotFound('there is no job with this id')
    return job
  }

  /**
   * It is canceled if the client or the deadline is faster.
   *
   * @returns the job of a synchronous call at its end.
   */
  async call(api: AsyncApi, request: HttpRequest, visit: Visit): Promise<Job> {
    const { ctx } = visit
    const queued = await this.submit(api, request, visit)
    // Not of those that end with the server: this client cannot come back.
    const changes = new Changes(this.#store, queued.id)
    const job = await this.ended(queued, Number.POSITIVE_INFINITY, ctx, changes)
    if (isFinal(job.status)) return job
    await this.#store.cancel(job.id)
    throw ctx.abortReason ?? deadlinePassed()
  }

  /**
   * Who asks for the same while it reads gets the same.
   *
   * @param memory - Holds the events from now on, and their texts: until who asks has sent them.
   * @returns events, as the store does; undefined if there is too little memory.
   */
  async events(
    id: string,
    after: number,
    memory: HeldMemory,
  ): Promise<readonly JobEvent[] | undefined> {
    if (!memory.hold(2 * eventBytes)) return undefined
    const key = `${id} ${after}`
    const read =
      this.#reads.get(key) ??
      this.#store.events(id, after, eventBytes).finally(() => this.#reads.delete(key))
    this.#reads.set(key, read)
    return await read
  }

  /** @returns the changes of a job until the server ends. */
  changes(id: string): Changes {
    const changes = new Changes(this.#store, id, this.#watched)
    if (this.#isLeaving) changes.stop()
    return changes
  }

  /** Ends all that wait for changes, as the server ends: their clients continue at another one. */
  leave(): void {
    this.#isLeaving = true
    for (const changes of this.#watched) changes.stop()
  }

  /**
   * **Units**: milliseconds.
   *
   * @returns the job once it has ended, or at the latest after a time.
   */
  async ended(
    job: Job,
    waitMs: number,
    ctx: Context,
    changes = this.changes(job.id),
  ): Promise<Job> {
    // The rest of the request's time is for the answer.
    const until = performance.now() + Math.min(waitMs, ctx.remainingMs - 500)
    ctx.onAbort(() => changes.stop())
    try {
      for (;;) {
        const now = (await this.#store.get(job.id)) ?? job
        const leftMs = ctx.abortReason === undefined ? until - performance.now() : 0
        if (isFinal(now.status) || !(leftMs > 0) || changes.isStopped) return now
        await changes.next(leftMs)
      }
    } finally {
      changes.stop()
    }
  }
}

/** @throws Conflict. */
function requireEnded({ status }: Job): void {
  if (!isFinal(status)) throw new Conflict(`expected a job that has ended, this one is ${status}`)
}

/** A job that was sent to the store; one that names the input of another has no request. */
type Accepted = Omit<NewJob, 'request' | 'fingerprint'>
