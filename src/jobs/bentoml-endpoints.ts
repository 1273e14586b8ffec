/**
 * The task routes of BentoML 1.4, for its clients.
 *
 * @see _bentoml_impl/server/app.py.
 * @module
 */

import type { Endpoint } from '../api/endpoint.ts'
import type { Visit } from '../api/visit.ts'
import { ServingError } from '../core/errors.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import { isFinal, type Job, type JobStatus } from './job.ts'
import { jsonAnswer, resultAnswer, timeOf, unkept } from './job-answers.ts'
import { answered } from './job-endpoints.ts'
import type { Jobs } from './jobs.ts'
import type { AsyncApi } from './new-job.ts'

/** Those of our statuses that BentoML calls otherwise. */
const words: Partial<Record<JobStatus, string>> = { queued: 'pending', running: 'in_progress' }

/** @returns `submit`, `status`, `get`, `retry` and `cancel` below the path of an API. */
export function taskEndpoints(jobs: Jobs, plain: Endpoint, api: AsyncApi): Endpoint[] {
  const endpoint = (method: 'GET' | 'POST' | 'PUT', name: string, answer: Answer): Endpoint => ({
    ...plain,
    name: `${api.name}/${name}`,
    path: `${plain.path}/${name}`,
    methods: [method],
    answer: (request, visit) => answered(visit, () => answer(request, visit)),
    receive: () => undefined,
    // Requests that run have the slots. Jobs wait in the queue.
    slots: () => undefined,
  })
  const task = (
    method: 'GET' | 'POST' | 'PUT',
    name: string,
    answer: AnswerTask,
    isLimited = false,
  ) => ({
    ...endpoint(method, name, async (_, visit) => {
      const id = visit.ctx.query.get('task_id')
      if (id === null) return failed('task_id is required')
      const job = await jobs.find(id, visit).catch((error) => {
        if (ServingError.is(error) && error.status === 404) return undefined
        throw error
      })
      if (job?.api !== api.name || job.status === 'expired') return failed('task_id not found', 404)
      return answer(job, visit)
    }),
    // A look takes no slot. Results and retries take one of the server.
    isLimited,
  })
  return [
    endpoint('POST', 'submit', async (request, visit) =>
      submitted(await jobs.submit(api, request, visit)),
    ),
    task('GET', 'status', async ({ id, status, createdAt, startedAt }) =>
      jsonAnswer({
        task_id: id,
        status: words[status] ?? status,
        created_at: timeOf(createdAt),
        executed_at: timeOf(startedAt) ?? null,
      }),
    ),
    task(
      'GET',
      'get',
      async (job, visit) =>
        isFinal(job.status) && job.status !== 'canceled'
          ? unkept(await resultAnswer(job, await jobs.answerOf(job), visit))
          : failed(`task ${job.id} is not completed yet`),
      true,
    ),
    task(
      'POST',
      'retry',
      async (job, visit) =>
        isFinal(job.status)
          ? submitted(await jobs.retry(job, visit))
          : failed(`task ${job.id} is not completed yet`),
      true,
    ),
    task('PUT', 'cancel', async (job) => {
      if (isFinal(job.status) && job.status !== 'canceled')
        return failed(`task ${job.id} has ended already`)
      const now = await jobs.cancel(job)
      return jsonAnswer({ task_id: now.id, status: words[now.status] ?? now.status })
    }),
  ]
}

type AnswerTask = (job: Job, visit: Visit) => Promise<HttpResponse>

type Answer = (request: HttpRequest, visit: Visit) => Promise<HttpResponse>

function submitted({ id }: Job): HttpResponse {
  return jsonAnswer({ task_id: id, status: 'in_progress' })
}

function failed(error: string, status = 400): HttpResponse {
  return jsonAnswer({ error }, status)
}
