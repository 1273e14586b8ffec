import type { Api } from '../../api/api.ts'
import type { JsonSchema } from '../../descriptors/description.ts'
import { jobStatuses } from '../../jobs/job.ts'
import type { Components } from './components.ts'
import { partAnswers, problemAnswer } from './problems.ts'
import type { DescribedEndpoint } from './protocol-paths.ts'

const string: JsonSchema = { type: 'string' }
const count: JsonSchema = { type: 'integer', minimum: 0 }
const time: JsonSchema = { type: 'string', format: 'date-time' }

/** A job, as `jobDocument` writes it. */
const jobSchema: JsonSchema = {
  type: 'object',
  properties: {
    id: string,
    api: string,
    status: { enum: jobStatuses },
    attempt: { ...count, description: 'How often it has started.' },
    priority: count,
    queuePosition: {
      ...count,
      description: 'How many jobs of the API run before it, while it is queued.',
    },
    progress: { description: 'What the function told last.' },
    responseStatus: { type: 'integer', description: 'Status of the answer.' },
    cancelRequested: { type: 'boolean' },
    retryOf: string,
    createdAt: time,
    notBefore: { ...time, description: 'It does not start before.' },
    startedAt: time,
    finishedAt: time,
  },
  required: ['id', 'api', 'status', 'attempt', 'priority', 'createdAt'],
}

const parameter = (place: string, name: string, description: string, schema = string) => ({
  name,
  in: place,
  description,
  schema,
})

/**
 * @returns the headers of an API and its answer 202; empty for one that is only called
 * synchronously.
 */
export function asyncMembers(api: Api, components: Components) {
  if (api.async === undefined) return { parameters: [], accepted: {} }
  const parameters = [
    parameter(
      'header',
      'prefer',
      '`respond-async` makes a job of the request; `, wait=N` waits up to N seconds for its end. Parameters say how' +
        ' it runs: `respond-async; priority=5; not-before="2026-11-23T18:30:00Z"; timeout=5m; queue-ttl=1h`.',
    ),
    parameter(
      'header',
      'idempotency-key',
      'The same key with the same request gives the same job.',
    ),
    parameter(
      'header',
      'webhook-url',
      'Is told the end of the job, if the service sends webhooks.',
    ),
  ]
  const headers = { location: { description: 'Where the job is.', schema: string } }
  return { parameters, accepted: { 202: { ...jobAnswer(components), headers } } }
}

/** @returns the paths of jobs, which only services with asynchronous APIs have. */
export function jobPaths(
  apis: Iterable<Api>,
  prefix: string,
  components: Components,
): readonly DescribedEndpoint[] {
  if (![...apis].some((api) => api.async !== undefined)) return []
  const problem = problemAnswer(
    'There is no such job, it has expired, or its state does not allow it.',
  )
  const problems = { 404: problem, 409: problem, 410: problem }
  const path = (
    method: string,
    below: string,
    operationId: string,
    summary: string,
    responses: object,
    parameters: readonly object[] = [],
  ): DescribedEndpoint => ({
    path: `${prefix}/jobs${below}`,
    methods: [method],
    access: { kind: 'message' },
    operation: {
      operationId,
      tags: ['jobs'],
      summary,
      parameters,
      // Only the list of jobs has no job to miss.
      responses: { ...responses, ...(below !== '' && problems) },
    },
  })
  const job = jobAnswer(components)
  const result = {
    description: 'The answer of the API, of its status and content type.',
    content: { '*/*': {} },
  }
  const text = { 'text/event-stream': { schema: string } }
  const events = { description: 'Events `status`, `progress` and `partial`.', content: text }
  const nothing = { description: 'Nothing can follow.' }
  return [
    path(
      'GET',
      '',
      'listJobs',
      'Jobs of the caller, the latest first.',
      { 200: jobList(components) },
      [
        parameter('query', 'api', 'Jobs of this API, whose auth then tells who asks.'),
        parameter('query', 'status', 'Jobs of this status.', { enum: jobStatuses }),
        parameter('query', 'since', 'Submitted then or later.', time),
        parameter('query', 'until', 'Submitted before.', time),
        parameter('query', 'limit', '20 without it.', {
          type: 'integer',
          minimum: 1,
          maximum: 100,
        }),
        parameter('query', 'after', '`next` of the page before.'),
      ],
    ),
    path(
      'DELETE',
      '/{id}',
      'deleteJob',
      'Deletes the input, the answer and the events of an ended job.',
      { 200: job },
    ),
    path('GET', '/{id}', 'getJob', 'The state of a job.', { 200: job }),
    path(
      'GET',
      '/{id}/result',
      'getJobResult',
      'The answer of a job, or its state while it waits and runs.',
      { 200: result, ...partAnswers(result.content), 202: job },
      [parameter('header', 'prefer', '`wait=N`: how many seconds to wait for the end of the job.')],
    ),
    path(
      'GET',
      '/{id}/events',
      'watchJob',
      'All events of a job to its end.',
      { 200: events, 204: nothing },
      [parameter('header', 'last-event-id', 'Only the events behind this one.')],
    ),
    path('POST', '/{id}/cancel', 'cancelJob', 'Ends a queued job, and asks a running one to end.', {
      200: job,
      202: job,
    }),
    path('POST', '/{id}/retry', 'retryJob', 'Submits the input of an ended job as a new one.', {
      202: job,
    }),
  ]
}

function jobAnswer(components: Components) {
  const schema = adopted(components)
  return { description: 'The state of the job.', content: { 'application/json': { schema } } }
}

function jobList(components: Components) {
  const properties = { jobs: { type: 'array', items: adopted(components) }, next: string }
  const schema = { type: 'object', properties, required: ['jobs'] }
  const description = 'A page. It may be short: the list ends where `next` is absent.'
  return { description, content: { 'application/json': { schema } } }
}

/** A service may have a schema of its own with this name. */
function adopted(components: Components): JsonSchema {
  return components.adopt({ $ref: '#/$defs/Job', $defs: { Job: jobSchema } }, 'serving')
}
