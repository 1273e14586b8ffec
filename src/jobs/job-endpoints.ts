import { failure } from '../api/call.ts'
import { type Endpoint, getPage } from '../api/endpoint.ts'
import { withDeadline } from '../api/stages.ts'
import type { Visit } from '../api/visit.ts'
import { eventHeaders } from '../http/event-stream.ts'
import { allHeaders, type HttpResponse } from '../http/message.ts'
import { isFinal, type Job } from './job.ts'
import { acceptedAnswer, jobDocument, jsonAnswer, resultAnswer, unkept } from './job-answers.ts'
import { jobEvents } from './job-events.ts'
import { filterOf, preferenceOf } from './job-query.ts'
import type { Jobs } from './jobs.ts'
import type { AsyncApi } from './new-job.ts'
import { actOnPage, drained, jobActions, jobLine, jobReport } from './operators.ts'

/** @returns the endpoint of an API so that `prefer: respond-async` makes a job of a request. */
export function submittable(jobs: Jobs, plain: Endpoint, api: AsyncApi, prefix: string): Endpoint {
  return {
    ...plain,
    // Requests that run have the slots. Jobs wait in the queue.
    slots: (headers) => (preferenceOf(headers).isAsync ? undefined : plain.slots?.(headers)),
    answer(request, visit) {
      const { ctx } = visit
      const { isAsync, waitMs, applied } = preferenceOf(ctx.headers)
      if (!isAsync && !jobs.runElsewhere) return plain.answer(request, visit)
      return answered(visit, async () => {
        if (!isAsync) return resultOf(jobs, await jobs.call(api, request, visit), visit)
        let job = await jobs.submit(api, request, visit)
        if (waitMs > 0) job = await jobs.ended(job, waitMs, ctx)
        const done = [['preference-applied', applied]] as const
        if (waitMs === 0 || !isFinal(job.status)) return acceptedAnswer(job, prefix, done)
        const result = await resultOf(jobs, job, visit)
        return { ...result, headers: [...result.headers, ...done] }
      })
    },
    receive: (declared, visit) =>
      jobs.runElsewhere || preferenceOf(visit.ctx.headers).isAsync
        ? undefined
        : plain.receive?.(declared, visit),
  }
}

/** @returns the endpoints of all jobs. */
export function jobEndpoints(jobs: Jobs, prefix: string): Endpoint[] {
  const of = (name: string, path: string, answer: (visit: Visit) => Promise<HttpResponse>) => ({
    // Only looking takes no slot of those that run.
    ...getPage(prefix + path, { kind: 'message' }, [], (_, visit) => answered(visit, answer)),
    name,
    readsHeaders: allHeaders,
  })
  const endpoint = (
    method: string,
    below: string,
    answer: AnswerJob,
    name = `jobs${below}`,
  ): Endpoint => ({
    ...of(name, `/jobs/{id}${below}`, async (visit) =>
      answer(await jobs.find(visit.target.params.id, visit), visit),
    ),
    methods: [method],
  })
  const limited = (...of: Parameters<typeof endpoint>): Endpoint => ({
    ...endpoint(...of),
    isLimited: true,
  })
  return [
    {
      ...of('jobs/list', '/jobs', async (visit) => {
        const page = await jobs.list(queryOf(visit), visit)
        return jsonAnswer({ ...page, jobs: page.jobs.map(visit.isAdmin ? jobLine : jobDocument) })
      }),
      isLimited: true,
    },
    ...jobActions.map(
      (action): Endpoint => ({
        ...of(`jobs/${action}`, `/jobs/${action}`, async (visit) => {
          const filter = queryOf(visit)
          const page = await actOnPage(jobs.storeFor(visit, filter.limit), action, filter)
          return jsonAnswer({ ...page, jobs: page.jobs.map(jobLine) })
        }),
        methods: ['POST'],
      }),
    ),
    of('jobs/queues', '/jobs/queues', async (visit) => {
      const { headers, query, signal, remainingMs } = visit.ctx
      const waitMs = Math.min(preferenceOf(headers).waitMs, remainingMs - 500)
      const api = query.get('api') ?? undefined
      const { queues } = await drained(jobs.storeFor(visit), api, waitMs, signal)
      return jsonAnswer({ queues })
    }),
    endpoint(
      'DELETE',
      '',
      async (job) => jsonAnswer(jobDocument(await jobs.delete(job))),
      'jobs/delete',
    ),
    endpoint('GET', '', async (job, visit) =>
      jsonAnswer(visit.isAdmin ? await jobReport(jobs.storeFor(visit), job) : jobDocument(job)),
    ),
    limited('GET', '/result', async (job, visit) => {
      const { ctx } = visit
      const { waitMs } = preferenceOf(ctx.headers)
      const waits = waitMs > 0 && !isFinal(job.status)
      return unkept(await resultOf(jobs, waits ? await jobs.ended(job, waitMs, ctx) : job, visit))
    }),
    endpoint('GET', '/events', async (job, visit) => {
      const { id, status } = job
      const { headers } = visit.ctx
      const after = Number(/^\d{1,15}$/.exec(headers.get('last-event-id') ?? '')?.[0] ?? 0)
      const memory = visit.account()
      const rest = isFinal(status) ? await jobs.events(id, after, memory) : undefined
      // A browser's EventSource connects again after each end, unless there is no content.
      if (rest?.length === 0) return { status: 204, headers: [], body: '' }
      memory.hold(0)
      return { headers: eventHeaders, body: jobEvents(jobs, job, after, visit) }
    }),
    endpoint('POST', '/cancel', async (job) => {
      const now = await jobs.cancel(job)
      return jsonAnswer(jobDocument(now), isFinal(now.status) ? 200 : 202)
    }),
    limited('POST', '/retry', async (job, visit) =>
      acceptedAnswer(await jobs.retry(job, visit), prefix),
    ),
  ]
}

const queryOf = ({ ctx }: Visit) => filterOf(Object.fromEntries(ctx.query))

type AnswerJob = (job: Job, visit: Visit) => HttpResponse | Promise<HttpResponse>

async function resultOf(jobs: Jobs, job: Job, visit: Visit): Promise<HttpResponse> {
  return resultAnswer(job, await jobs.answerOf(job), visit)
}

/** Answers by a function whose errors are problem documents. */
export function answered(
  visit: Visit,
  answer: (visit: Visit) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  return withDeadline(visit.ctx, answer(visit), { fail: failure })
}
