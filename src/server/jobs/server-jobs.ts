/** The jobs of one server process: their store, their paths, and those that it runs. @module */

import type { Endpoint } from '../../api/endpoint.ts'
import type { Host } from '../../api/protocol.ts'
import { functionFailureOf } from '../../api/stages.ts'
import { SetupError } from '../../core/errors.ts'
import { Limiter } from '../../core/memory/limiter.ts'
import type { ServerState } from '../../engine/engine.ts'
import type { Logger } from '../../engine/log.ts'
import type { ServeOptions } from '../../engine/options.ts'
import { hookObserver, joinObservers } from '../../engine/service-hooks.ts'
import { allHeaders, type HttpResponse } from '../../http/message.ts'
import type { RequestObserver } from '../../http/outcome.ts'
import { problemResponse } from '../../http/problem.ts'
import { taskEndpoints } from '../../jobs/bentoml-endpoints.ts'
import { schemaEndpoint } from '../../jobs/bentoml-schema.ts'
import { deliveryApi } from '../../jobs/delivery.ts'
import { jobEndpoints, submittable } from '../../jobs/job-endpoints.ts'
import { isJobProtocol, type JobKind } from '../../jobs/job-kind.ts'
import { JobCounts } from '../../jobs/job-metrics.ts'
import { callEndpoint, jobMethods } from '../../jobs/job-rpcs.ts'
import type { Attempt, JobStore, JobWorker, Outcome, WorkQueue } from '../../jobs/job-store.ts'
import { Jobs } from '../../jobs/jobs.ts'
import { type AsyncApi, hasJobs, isCall } from '../../jobs/new-job.ts'
import { openStore } from '../../jobs/open-store.ts'
import type { JobVisit } from '../../jobs/rows.ts'
import { Webhooks } from '../../jobs/webhooks.ts'
import { rpcServices } from '../../messages/service-names.ts'
import type { MetricFamily } from '../../telemetry/metrics/metric-family.ts'
import type { ServedService } from '../served-service.ts'
import { runJob } from './run-job.ts'

/** Webhooks that a process sends at the same time: each waits for its receiver. */
const deliveriesAtOnce = 16

/** The jobs of a server. */
export type ServerJobs = Awaited<ReturnType<typeof openJobs>>

/**
 * Opens the store of a service.
 *
 * @throws SetupError.
 */
export async function openJobs(
  service: ServedService,
  { jobStore, jobRole: role = 'both' }: ServeOptions,
  log: Logger,
) {
  const warn = (message: string) => log.warn({ event: 'job_store' }, message)
  // Secrets are checked before the store is made.
  const webhooks = service.jobs.webhooks && new Webhooks(service.jobs.webhooks)
  const store = await openStore(
    { ...service.jobs, store: jobStore ?? service.jobs.store },
    warn,
    service.name,
  )
  const counts = new JobCounts(log)
  const jobs = new Jobs(store, service, webhooks, role === 'submit', log)
  // What runs the jobs of an API or kind: by its function alone, for Requests of RPC, and for rows.
  const runners = new Map<string, Partial<Record<'plain' | 'call' | 'rows', Endpoint>>>()
  const byPath = new Map<string, AsyncApi>()
  const kinds = jobKindsOf(service)
  for (const kind of kinds) runners.set(kind.name, { plain: endpointOf(kind, jobs) })
  let worker: JobWorker | undefined
  const schedules = new AbortController()
  return {
    /** For other protocols, too. */
    jobs,
    /** `work`: there are only paths of health and metrics. */
    role,
    /** Why the store cannot keep jobs now; undefined if it can. */
    get unready() {
      return store.unready
    },
    /** @returns the endpoints of an asynchronous API: its own, and those below it. */
    endpointsOf(plain: Endpoint, api: AsyncApi, prefix: string): Endpoint[] {
      byPath.set(plain.path, api)
      const unlimited = { ...plain, isLimited: false, slots: () => undefined }
      runners.set(api.name, {
        plain: unlimited,
        call: callEndpoint(unlimited, api),
        rows: rowsEndpoint(unlimited, api),
      })
      return [submittable(jobs, plain, api, prefix), ...taskEndpoints(jobs, plain, api)]
    },
    /** Adds the paths and the methods of all jobs. `docs`: also what describes them. */
    attach(host: Host, docs: boolean): void {
      for (const endpoint of jobEndpoints(jobs, host.prefix)) host.http(endpoint)
      if (docs) host.http(schemaEndpoint(service.name, byPath))
      for (const method of jobMethods(jobs, rpcServices)) host.rpc(method)
    },
    /** Takes jobs from now on. Called when the server is ready. `tracer`: its own. */
    start(server: ServerState, tracer: RequestObserver | undefined): void {
      const queues = [...service.apis.values(), ...kinds]
        .filter(hasJobs)
        .map(({ name: api, async: { concurrency } }) => ({ api, concurrency }))
      if (webhooks !== undefined) queues.push({ api: deliveryApi, concurrency: deliveriesAtOnce })
      tellOfStrangers(store, queues, log).catch((error: Error) => warn(error.message))
      // Who may call was decided when the job was submitted; what HTTP promises its clients is no matter of jobs.
      const state: ServerState = {
        ...server,
        before: undefined,
        cors: undefined,
        observer: joinObservers(
          [tracer, hookObserver(service, server.log)].filter((each) => each !== undefined),
        ),
        limits: { ...server.limits, sendTimeoutMs: 0 },
      }
      // Those that only submit deliver, too: there may be no worker until the next job.
      const taken = queues.filter(({ api }) => role !== 'submit' || api === deliveryApi)
      const run = async (attempt: Attempt): Promise<Outcome> => {
        if (webhooks !== undefined && attempt.job.api === deliveryApi)
          return webhooks.deliver(attempt)
        const { api, rows } = attempt.job
        const ofInput = isCall(attempt.request) ? 'call' : 'plain'
        const endpoint = runners.get(api)?.[rows === undefined ? ofInput : 'rows']
        if (endpoint === undefined) throw new SetupError('not_found', `there is no API ${api}`)
        return await runJob(state, endpoint, attempt, service, run)
      }
      if (service.schedules.length > 0)
        void import('./schedules.ts').then(({ runSchedules }) =>
          runSchedules(service, store, log, schedules.signal),
        )
      if (taken.length > 0) worker = store.work(taken, (attempt) => counts.run(attempt, run))
    },
    /** Takes no more jobs, and hands those back that run longer. */
    async stop(graceMs: number): Promise<void> {
      counts.isStopping = true
      schedules.abort()
      jobs.leave()
      await worker?.stop(graceMs)
    },
    /** Asks the store once. Without it, there are those of this process. */
    async metrics(): Promise<readonly MetricFamily[]> {
      const states = await store.states().catch(() => undefined)
      return counts.families(states, [...runners.keys()])
    },
    close: () => store.close(),
  }
}

/** @returns the jobs of the service's own protocols. */
export function jobKindsOf({ protocols }: ServedService): readonly JobKind[] {
  return protocols.flatMap((protocol) => (isJobProtocol(protocol) ? protocol.jobKinds : []))
}

/** @returns what runs the jobs of a kind: no client reaches it. */
function endpointOf(kind: JobKind, jobs: Jobs): Endpoint {
  const { name } = kind
  return {
    name,
    path: name,
    methods: ['POST'],
    access: { kind: 'service' },
    origins: 'any',
    readsHeaders: allHeaders,
    isLimited: false,
    decompresses: false,
    problem: problemResponse,
    answer: (request, visit) =>
      kind
        .answer(request, visit as JobVisit, jobs)
        .catch((error) => problemResponse(functionFailureOf(error), visit.ctx.id)),
  }
}

/** @returns what runs jobs of rows of an API, each of which `plain` answers. */
function rowsEndpoint(plain: Endpoint, api: AsyncApi): Endpoint {
  const slots = new Limiter(api.async.rowsAtOnce)
  const answer = async (visit: JobVisit): Promise<HttpResponse> => {
    const { rowAnswer } = await import('../../jobs/rows.ts')
    const { requestsOf } = await import('../../jobs/row-input.ts')
    const { job, request } = visit.attempt
    const { total = 0, timeoutMs = job.timeoutMs } = job.rows ?? {}
    const rows = requestsOf(api, request)
    await visit.rows({ api: api.name, total, timeoutMs, slots, rows, answer: rowAnswer })
    return { headers: [], body: '' }
  }
  return {
    ...plain,
    answer: (_, visit) =>
      answer(visit as JobVisit).catch((error) =>
        problemResponse(functionFailureOf(error), visit.ctx.id),
      ),
  }
}

/** Warns of jobs that wait for an API which the service does not have: nobody here runs them. */
async function tellOfStrangers(
  store: JobStore,
  queues: readonly WorkQueue[],
  log: Logger,
): Promise<void> {
  const known = new Set(queues.map(({ api }) => api))
  for (const { api, counts } of await store.states()) {
    const waiting = counts.queued + counts.running
    if (known.has(api) || waiting === 0) continue
    const what =
      api === deliveryApi
        ? 'webhooks, which it does not send'
        : `an API that it does not have: ${api}`
    log.warn(
      { event: 'jobs_unknown_api', api, jobs: waiting },
      `the job store of the service has ${waiting} jobs of ${what}`,
    )
  }
}
