/** Calls of asynchronous APIs as tasks: each is a job, which any process finds and its caller alone sees. @module */

import type { Api } from '../../api/api.ts'
import type { Visit } from '../../api/visit.ts'
import { Conflict, NotFound } from '../../core/errors.ts'
import type { HttpRequest } from '../../http/message.ts'
import type { Job, JobStatus } from '../../jobs/job.ts'
import { timeOf } from '../../jobs/job-answers.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { AsyncApi } from '../../jobs/new-job.ts'
import type { StoredAnswer } from '../../jobs/stored-body.ts'
import { textOf } from './calls.ts'
import { errorCodes, type Request } from './messages.ts'
import { contentsOf } from './resources.ts'
import { resultOf, type ToolResult, typeIn } from './tools.ts'

/** Longer answers are read by a link. **Units**: bytes. */
const maxInline = 1024 * 1024
const pollIntervalMs = 1000

/** Errors of functions are answers of a tool: a task without any answer has failed. */
const statuses: Readonly<Record<JobStatus, string>> = {
  queued: 'working',
  running: 'working',
  completed: 'completed',
  failed: 'completed',
  canceled: 'cancelled',
  expired: 'failed',
}

/** The tasks of one server. */
export class Tasks {
  readonly #jobs: Jobs
  readonly #apis: ReadonlyMap<string, Api>
  /** In front of the id of a task whose answer is read. */
  readonly #place: string

  constructor(jobs: Jobs, apis: ReadonlyMap<string, Api>, service: string) {
    this.#jobs = jobs
    this.#apis = apis
    this.#place = `serving://${service}/jobs/`
  }

  /** @throws those of {@link Jobs.submit}. */
  async begin(api: AsyncApi, request: HttpRequest, visit: Visit): Promise<object> {
    return { resultType: 'task', ...taskOf(await this.#jobs.submit(api, request, visit)) }
  }

  /** Answers methods that name a task. Throws NotFound, or why the caller is refused. */
  get methods() {
    const method =
      (answer: (job: Job, visit: Visit) => Promise<object>) =>
      async (_: unknown, request: Request, visit: Visit) =>
        answer(await this.#jobs.find(textOf(request.params(), 'taskId'), visit), visit)
    return {
      'tasks/get': method((job, visit) => this.#shown(job, visit)),
      // A task asks its client for nothing.
      'tasks/update': method(async () => ({})),
      'tasks/cancel': method(async (job) => {
        await this.#jobs.cancel(job).catch((error) => {
          // A task that has ended does not change.
          if (!(error instanceof Conflict)) throw error
        })
        return {}
      }),
    }
  }

  async #shown(job: Job, visit: Visit): Promise<object> {
    const task = taskOf(job)
    if (task.status !== 'completed' && task.status !== 'failed') return task
    const stored = await this.#jobs.answerOf(job)
    if (stored === undefined) {
      const error = { code: errorCodes.internal, message: 'the answer has expired' }
      return { ...task, status: 'failed', error }
    }
    // It is what the call would have answered.
    const result = { resultType: 'complete', ...(await this.#resultOf(job, stored, visit)) }
    return { ...task, status: 'completed', result }
  }

  /** @returns the answer behind a link; undefined for another URI. */
  async read(uri: string, visit: Visit): Promise<object | undefined> {
    if (!uri.startsWith(this.#place)) return undefined
    const job = await this.#jobs.find(uri.slice(this.#place.length), visit)
    const stored = await this.#jobs.answerOf(job)
    if (stored === undefined) throw new NotFound('the task has no answer')
    return contentsOf(uri, await whole(stored, visit), visit.ctx)
  }

  async #resultOf(job: Job, stored: StoredAnswer, visit: Visit): Promise<ToolResult> {
    const { headers, status, body } = stored
    const api = this.#apis.get(job.api)
    const isError = status >= 400
    if (api !== undefined && (isError || body.length <= maxInline)) {
      const result = await resultOf(api, await whole(stored, visit), visit.ctx)
      if (!isError) return result
      return { content: result.content, isError }
    }
    const link = { uri: `${this.#place}${job.id}`, name: job.api, mimeType: typeIn(headers) }
    return { content: [{ type: 'resource_link', ...link, size: body.length }] }
  }
}

async function whole({ headers, body }: StoredAnswer, visit: Visit) {
  return { headers, body: await body.bytes(visit) }
}

function taskOf(job: Job) {
  const { id, status, createdAt, startedAt, finishedAt, progress, resultTtlMs } = job
  return {
    taskId: id,
    status: statuses[status],
    statusMessage: progress,
    createdAt: timeOf(createdAt),
    lastUpdatedAt: timeOf(finishedAt ?? startedAt ?? createdAt),
    ttlMs: finishedAt === undefined ? null : finishedAt - createdAt + resultTtlMs,
    pollIntervalMs,
  }
}
