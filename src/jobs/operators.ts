/** What those who run a service see of its jobs and do with them: by a command, and as admins over HTTP. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { callerOf } from '../api/caller-identity.ts'
import type { Visit } from '../api/visit.ts'
import { BadInput, Conflict, Forbidden } from '../core/errors.ts'
import { deliveryApi, deliveryId } from './delivery.ts'
import { isFinal, type Job, type JobStatus, maxProgress } from './job.ts'
import { gone, jobDocument } from './job-answers.ts'
import type { JobFilter, JobPage, JobStore } from './job-store.ts'
import { newId } from './new-job.ts'
import { failureOf, problemOf } from './problem-answer.ts'
import { unlimited } from './stored-body.ts'

/** How often a store is asked whether it has ended its jobs. **Units**: milliseconds. */
const drainLookMs = 1_000

/** Longer answers are no problems. **Units**: bytes. */
const maxProblem = 64 * 1024

interface Action {
  readonly isFor: (status: JobStatus) => boolean
  /** Why not, of another job. */
  readonly refusal: string
  /** Undefined if what it needs has expired. */
  run(store: JobStore, job: Job): Promise<Job | undefined>
}

const actions = {
  cancel: {
    isFor: (status) => !isFinal(status),
    refusal: 'has ended already',
    run: (store, { id }) => store.cancel(id),
  },
  retry: {
    isFor: isFinal,
    refusal: 'has not ended',
    async run(store, { id }) {
      const next = { id: newId(), createdAt: Date.now() }
      const added = await store.again(id, next, Number.MAX_SAFE_INTEGER)
      return added && store.get(next.id)
    },
  },
  purge: {
    isFor: isFinal,
    refusal: 'has not ended',
    run: (store, { id }) => store.expire(id),
  },
} as const satisfies Readonly<Record<string, Action>>

/**
 * Lets an admin look at so many jobs.
 *
 * @throws Forbidden for others, Overloaded without memory.
 */
export function requireAdmin(visit: Visit, jobs: number): void {
  if (!visit.isAdmin)
    throw visit.denial ?? new Forbidden('expected a caller whom a hook of the service calls admin')
  holdJobs(visit, jobs)
}

/** Holds the memory of a list: each job may have so much, as text and in JSON. */
export function holdJobs(visit: Visit, jobs: number): void {
  visit.hold(2 * maxProgress * jobs)
}

/** What can be done with jobs. */
export type JobAction = keyof typeof actions
/** All of them. */
export const jobActions = Object.keys(actions) as readonly JobAction[]

/**
 * Does something with one job.
 *
 * @throws Conflict if its state is another one; 410 if its input has expired.
 */
export async function actOn(store: JobStore, action: JobAction, job: Job): Promise<Job> {
  const { isFor, refusal, run }: Action = actions[action]
  if (!isFor(job.status)) throw new Conflict(`the job ${job.id} ${refusal}: it is ${job.status}`)
  const now = await run(store, job)
  if (now === undefined) throw gone()
  return now
}

/**
 * Does something with those of the jobs of a page that are in the state for it: with failed ones, if it is a retry and
 * no status is given.
 *
 * @returns the present state of these jobs, or the new ones.
 * @throws BadInput for a filter that names all jobs.
 */
export async function actOnPage(
  store: JobStore,
  action: JobAction,
  { status = action === 'retry' ? 'failed' : undefined, ...filter }: JobFilter,
): Promise<JobPage> {
  const { api, owner, since, until } = filter
  if ([status, api, owner, since, until].every((each) => each === undefined))
    throw new BadInput('expected which jobs: by API, status, caller or age')
  const { jobs, ...rest } = await store.list({ ...filter, status })
  const { isFor, run }: Action = actions[action]
  const acted: Job[] = []
  for (const job of jobs) {
    // It holds nothing any more.
    if (!isFor(job.status) || job.status === 'expired') continue
    const now = await run(store, job)
    if (now !== undefined) acted.push(now)
  }
  return { ...rest, jobs: acted }
}

/**
 * Waits until no job of an API is queued or running, at most for a time. **Units**: milliseconds.
 *
 * @param api - Undefined: of all, without the deliveries of webhooks.
 * @returns all queues, and how many such jobs are left.
 * @throws AbortError if the signal is aborted.
 */
export async function drained(
  store: JobStore,
  api: string | undefined,
  waitMs: number,
  signal?: AbortSignal,
) {
  for (const until = performance.now() + waitMs; ; await wait(drainLookMs, undefined, { signal })) {
    const queues = await store.states()
    const rest = queues
      .filter((each) => (api === undefined ? each.api !== deliveryApi : each.api === api))
      .reduce((sum, { counts }) => sum + counts.queued + counts.running, 0)
    if (rest === 0 || performance.now() >= until) return { queues, rest }
  }
}

/** @returns a job in a list of operators. */
export function jobLine(job: Job) {
  const { owner, worker, webhook } = job
  return { ...jobDocument(job), ...callerOf(owner), worker, webhook: webhook?.url }
}

/** @returns a job as operators see it: also why it failed, and what became of its webhook. */
export async function jobReport(store: JobStore, job: Job): Promise<object> {
  const { id, api, webhook } = job
  const isTold = webhook !== undefined && api !== deliveryApi
  const delivery = isTold ? await store.get(deliveryId(id)) : undefined
  return {
    ...jobLine(job),
    ...(await failureOfJob(store, job)),
    delivery: delivery && (await jobReport(store, delivery)),
  }
}

async function failureOfJob(store: JobStore, { id, status }: Job) {
  const stored = status === 'failed' ? await store.result(id) : undefined
  if (stored === undefined || stored.body.length > maxProblem) return {}
  const answer = { ...stored, body: await stored.body.bytes(unlimited) }
  const { code, reason } = failureOf(answer)
  return { errorCode: code, errorDetail: problemOf(answer).detail, reason }
}
