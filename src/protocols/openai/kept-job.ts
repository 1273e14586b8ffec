/** What callers keep on the job store: inputs of jobs. @module */

import type { Visit } from '../../api/visit.ts'
import { Conflict, NotFound } from '../../core/errors.ts'
import type { Job } from '../../jobs/job.ts'
import type { JobKind } from '../../jobs/job-kind.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { BegunJob } from '../../jobs/new-job.ts'
import type { UnreadRequest } from '../../jobs/stored-body.ts'
import { checkMembers } from './body.ts'
import type { Route } from './route.ts'

/** A job that keeps something, and its input. */
export interface KeptJob {
  readonly job: Job
  readonly input: UnreadRequest
}

/** How long who cancels or deletes waits for the end. **Units**: milliseconds. */
const endMs = 5_000

/** Most jobs of a list, and pages of the store that are read for them. */
const maxListed = 100
const maxPages = 20

/** The jobs of one kind, whose callers alone see them. */
export class Shelf {
  readonly jobs: Jobs
  readonly #kind: JobKind
  /** Of jobs that run beside the kind, and are in no list. */
  readonly other: JobKind
  readonly #prefix: string

  /** `prefix`: of ids, in front of those of jobs. */
  constructor(jobs: Jobs, kind: JobKind, prefix: string, other = kind) {
    this.jobs = jobs
    this.#kind = kind
    this.other = other
    this.#prefix = prefix
  }

  begin(begun: BegunJob, visit: Visit, kind = this.#kind): Promise<Job> {
    return this.jobs.begin(kind, begun, visit)
  }

  /** @returns the route of a path with an `{id}`. */
  at(answer: (found: KeptJob, visit: Visit) => ReturnType<Route>): Route {
    return async (_, visit) => answer(await this.find(visit.target.params.id, visit), visit)
  }

  /** `path`: the member of the request that has the id. Throws NotFound, and those of auth. */
  async find(id: string, visit: Visit, path?: string): Promise<KeptJob> {
    const missing = new NotFound(`there is no ${id.slice(0, 80)}`, { path })
    const key = id.startsWith(this.#prefix) ? id.slice(this.#prefix.length) : ''
    const job = await this.jobs.find(key, visit).catch((error: unknown) => {
      throw error instanceof NotFound ? missing : error
    })
    const isOurs = job.api === this.#kind.name || job.api === this.other.name
    const input = isOurs ? await this.jobs.inputOf(job) : undefined
    if (input === undefined) throw missing
    return { job, input }
  }

  /** @returns a job at its end, which it is told to come to. */
  async end(job: Job, { ctx }: Visit): Promise<Job> {
    await this.jobs.cancel(job).catch((error: unknown) => {
      // It has ended already.
      if (!(error instanceof Conflict)) throw error
    })
    return this.jobs.ended(job, endMs, ctx)
  }

  /** Ends a job, and drops what it keeps. Returns what its client is told. */
  async delete({ job }: KeptJob, object: string, visit: Visit): Promise<string> {
    await this.jobs.delete(await this.end(job, visit))
    return JSON.stringify({ id: this.#prefix + job.id, object, deleted: true })
  }

  /** @returns a page of the caller's latest jobs, as the query of the request says. */
  async list<T extends { readonly id: string }>(
    visit: Visit,
    show: (kept: KeptJob) => T | Promise<T>,
  ): Promise<string> {
    const all: T[] = []
    let after: string | undefined
    for (let pages = 0; pages < maxPages && all.length < maxListed; pages++) {
      const page = await this.jobs.list({ api: this.#kind.name, limit: 20, after }, visit)
      for (const job of page.jobs) {
        const input = await this.jobs.inputOf(job)
        if (input !== undefined) all.push(await show({ job, input }))
      }
      if (page.next === undefined) break
      after = page.next
    }
    return pageOf(all, visit)
  }
}

/** What a server keeps. */
export type Kept = Readonly<Record<'responses' | 'files' | 'batches', Shelf>>

/** @returns the page of a list that `after` and `limit` of the query name, in JSON. */
export function pageOf(all: readonly { readonly id: string }[], { ctx: { query } }: Visit): string {
  const limit = Number(query.get('limit') ?? 20)
  checkMembers({ limit }, 'limit: page')
  const rest = all.slice(all.findIndex(({ id }) => id === query.get('after')) + 1)
  const data = rest.slice(0, limit)
  const [first_id = null, last_id = null] = [data[0]?.id, data.at(-1)?.id]
  const has_more = rest.length > limit
  return JSON.stringify({ object: 'list', data, first_id, last_id, has_more })
}
