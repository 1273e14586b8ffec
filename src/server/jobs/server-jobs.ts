/** The jobs of one server process: their store, their paths, and those that it runs. @module */
import { SetupError } from '../../core/errors.ts'
import type { ServerState } from '../../engine/engine.ts'
import type { Logger } from '../../engine/log.ts'
import type { JobRole, ServeOptions } from '../../engine/options.ts'
import { hookObserver, joinObservers } from '../../engine/service-hooks.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { taskEndpoints } from '../../jobs/bentoml-endpoints.ts'
import { schemaEndpoint } from '../../jobs/bentoml-schema.ts'
import { deliveryApi } from '../../jobs/delivery.ts'
import { type JobPaths, jobEndpoints, submittable } from '../../jobs/job-endpoints.ts'
import { JobCounts } from '../../jobs/job-metrics.ts'
import { callEndpoint, type JobRpcs, jobRpcs } from '../../jobs/job-rpcs.ts'
import type { Attempt, JobStore, JobWorker } from '../../jobs/job-store.ts'
import { type AsyncApi, Jobs } from '../../jobs/jobs.ts'
import { openStore } from '../../jobs/open-store.ts'
import { isCall } from '../../jobs/stored-request.ts'
import { Webhooks } from '../../jobs/webhooks.ts'
import type { Service } from '../../service.ts'
import type { MetricFamily } from '../../telemetry/metrics/metric-family.ts'
import { tracer } from '../../telemetry/tracing/tracer.ts'
import { runJob } from './run-job.ts'

/** Webhooks that a process sends at the same time: each waits for its receiver. */
const deliveriesAtOnce = 16

/** Opens the store of a service. **Errors**: SetupError. */
export async function openJobs(service: Service, options: ServeOptions, log: Logger): Promise<ServerJobs> {
  const warn = (message: string) => log.warn({ event: 'job_store' }, message)
  const { jobs } = service
  // Secrets are checked before the store is made.
  const webhooks = jobs.webhooks && new Webhooks(jobs.webhooks)
  const store = await openStore({ ...jobs, store: options.jobStore ?? jobs.store }, warn)
  return new ServerJobs(service, store, webhooks, log, options.jobRole)
}

/** See the module. */
export class ServerJobs implements JobPaths {
  readonly store: JobStore
  readonly role: JobRole
  readonly rpcs: JobRpcs
  readonly #service: Service
  readonly #webhooks: Webhooks | undefined
  readonly #jobs: Jobs
  readonly #counts: JobCounts
  /** The endpoints of the functions alone, by API. */
  readonly #plain = new Map<string, Endpoint>()
  /** The same for Requests of RPC. */
  readonly #calls = new Map<string, Endpoint>()
  /** By path. */
  readonly #asyncApis = new Map<string, AsyncApi>()
  #worker: JobWorker | undefined

  constructor(service: Service, store: JobStore, webhooks: Webhooks | undefined, log: Logger, role: JobRole = 'both') {
    this.#service = service
    this.store = store
    this.role = role
    this.#webhooks = webhooks
    this.#counts = new JobCounts(log)
    this.#jobs = new Jobs(store, service, webhooks, role === 'submit', log)
    this.rpcs = jobRpcs(this.#jobs)
  }

  endpointsOf(plain: Endpoint, api: AsyncApi, prefix: string): Endpoint[] {
    this.#asyncApis.set(plain.path, api)
    const unlimited = { ...plain, isLimited: false, slots: undefined }
    this.#plain.set(api.name, unlimited)
    this.#calls.set(api.name, callEndpoint(unlimited, api))
    return [submittable(this.#jobs, plain, api, prefix), ...taskEndpoints(this.#jobs, plain, api)]
  }

  endpoints(prefix: string, docs: boolean): Endpoint[] {
    const { name } = this.#service
    return [...jobEndpoints(this.#jobs, prefix), ...(docs ? [schemaEndpoint(name, this.#asyncApis)] : [])]
  }

  /** Takes jobs from now on. Called when the server is ready. */
  start(server: ServerState): void {
    if (this.role === 'submit') return
    const service = this.#service
    // Who may call was decided when the job was submitted; what HTTP promises its clients is no matter of jobs.
    const state: ServerState = {
      ...server,
      before: undefined,
      cors: undefined,
      observer: joinObservers([tracer, hookObserver(service, server.log)].filter((each) => each !== undefined)),
      limits: { ...server.limits, sendTimeoutMs: 0 },
    }
    const queues = [...service.apis.values()].flatMap(({ name, async: settings }) =>
      settings === undefined ? [] : [{ api: name, concurrency: settings.concurrency }],
    )
    const webhooks = this.#webhooks
    if (webhooks !== undefined) queues.push({ api: deliveryApi, concurrency: deliveriesAtOnce })
    const isReady = () => service.unready === undefined
    const run = async (attempt: Attempt) => {
      if (webhooks !== undefined && attempt.job.api === deliveryApi) return webhooks.deliver(attempt)
      const endpoint = (isCall(attempt.request) ? this.#calls : this.#plain).get(attempt.job.api)
      if (endpoint === undefined) throw new SetupError('not_found', `there is no API ${attempt.job.api}`)
      return await runJob(state, endpoint, attempt, isReady)
    }
    this.#worker = this.store.work(queues, (attempt) => this.#counts.run(attempt, run))
  }

  /** Takes no more jobs, and hands those back that run longer. */
  async stop(graceMs: number): Promise<void> {
    this.#counts.isStopping = true
    this.#jobs.leave()
    await this.#worker?.stop(graceMs)
  }

  /** Asks the store once. Without it, there are those of this process. */
  async metrics(): Promise<readonly MetricFamily[]> {
    const apis = [...this.#plain.keys()]
    const states = await this.store.states().catch(() => undefined)
    return this.#counts.families(states, apis)
  }

  close(): Promise<void> {
    return this.store.close()
  }
}
