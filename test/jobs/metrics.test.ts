import { isBuiltin } from 'node:module'
import { trace } from '@opentelemetry/api'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { deferred } from '../../src/core/promise.ts'
import { BadInput, ClientClosed, io, Overloaded, type Service } from '../../src/index.ts'
import { JobCounts } from '../../src/jobs/job-metrics.ts'
import { StoredBody } from '../../src/jobs/stored-body.ts'
import { engines } from '../engines.ts'
import { jsonOf, type Served, start } from './harness.ts'
import { completed, newJob, noRows, until } from './stores.ts'

// The real SDK of Node; only where its spans go is memory.
const spans = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
provider.register()

beforeEach(() => spans.reset())
afterAll(() => provider.shutdown())

const json = { input: new io.JSON(), output: new io.JSON() }

/** The value of one line of the metrics; undefined without it. */
async function metric({ get }: Served, line: string): Promise<number | undefined> {
  const text = await (await get('/metrics')).text()
  const found = text.split('\n').find((each) => each.startsWith(`${line} `))
  return found === undefined ? undefined : Number(found.split(' ').at(-1))
}

/** The lines of the log about jobs. */
const linesOf = ({ log }: Served): Record<string, unknown>[] =>
  log()
    .split('\n')
    .filter((line) => line.includes('"event":"job_'))
    .map((line) => JSON.parse(line))

const define = (svc: Service) => {
  svc.api({ ...json, name: 'twice', async: { retries: 1 } }, (_: unknown, ctx) => {
    if (ctx.job?.attempt === 1) throw new Error('not yet')
    return 'the answer'
  })
  svc.api({ ...json, name: 'refused', async: true }, () => {
    throw new BadInput('expected another value')
  })
}

describe('JobCounts', () => {
  it('tells lost leases from jobs that are handed back and canceled ones', async () => {
    const warned: object[] = []
    const counts = new JobCounts({ debug() {}, warn: (fields) => warned.push(fields) })
    const end = (reason: Error | undefined) => {
      const { request: _, state: __, ...job } = newJob()
      return counts.run(
        {
          job: { ...job, status: 'running', attempt: 1, isCancelRequested: false },
          request: { headers: [], query: '', body: StoredBody.of(new Uint8Array(0)) },
          state: undefined,
          number: 1,
          starts: 1,
          deaths: 0,
          signal: reason === undefined ? new AbortController().signal : AbortSignal.abort(reason),
          over: Promise.resolve(),
          report: () => Promise.resolve(),
          rows: noRows,
        },
        () =>
          Promise.resolve(reason instanceof ClientClosed ? { kind: 'canceled' } : completed('x')),
      )
    }
    await end(undefined)
    await end(new ClientClosed('canceled'))
    await end(new Overloaded('lost'))
    expect(warned).toEqual([expect.objectContaining({ event: 'job_lost', api: 'a' })])
    counts.isStopping = true
    await end(new Overloaded('stops'))
    const attempts = counts
      .families([], [])
      .find(({ name }) => name === 'serving_job_attempts_total')
    const ends = attempts?.values.map(({ labels, value }) => [labels.outcome, value])
    expect(ends).toEqual([
      ['completed', 1],
      ['canceled', 1],
      ['lost', 1],
      ['handed_back', 1],
    ])
  })

  it('leaves out what only the store knows when it is away', () => {
    const counts = new JobCounts({ debug() {}, warn() {} })
    expect(counts.families(undefined, ['a']).map(({ name }) => name)).not.toContain('serving_jobs')
  })
})

describe.skipIf(!isBuiltin('node:sqlite')).each(engines)(
  'jobs as operators see them on %s',
  (engine) => {
    it('counts jobs by status, and tells the age of the oldest', async () => {
      const gate = deferred<number>()
      const served = await start(engine, (svc) =>
        svc.api({ ...json, name: 'held', async: { concurrency: 1 } }, () => gate.promise),
      )
      expect(await metric(served, 'serving_jobs{api="held",status="queued"}')).toBe(0)
      const first = await served.submit('/held', 0)
      await until(async () => (await served.status(first)).status === 'running')
      const second = await served.submit('/held', 0)
      expect(await metric(served, 'serving_jobs{api="held",status="running"}')).toBe(1)
      expect(await metric(served, 'serving_jobs{api="held",status="queued"}')).toBe(1)
      await until(
        async () => ((await metric(served, 'serving_jobs_oldest_seconds{api="held"}')) ?? 0) > 0,
      )
      gate.resolve(1)
      await served.result(second)
      expect(await metric(served, 'serving_jobs{api="held",status="completed"}')).toBe(2)
      expect(await metric(served, 'serving_jobs_oldest_seconds{api="held"}')).toBe(0)
    })

    it('counts attempts by how they ended, retries, waits and runs', async () => {
      const served = await start(engine, define)
      await served.result(await served.submit('/twice', 0))
      await served.result(await served.submit('/refused', 0))
      const attempts = (api: string, outcome: string) =>
        metric(served, `serving_job_attempts_total{api="${api}",outcome="${outcome}"}`)
      expect(await attempts('twice', 'failed')).toBe(1)
      expect(await attempts('twice', 'completed')).toBe(1)
      expect(await attempts('refused', 'failed')).toBe(1)
      expect(await metric(served, 'serving_job_retries_total{api="twice"}')).toBe(1)
      expect(await metric(served, 'serving_job_retries_total{api="refused"}')).toBe(0)
      expect(await metric(served, 'serving_job_wait_seconds_count{api="twice"}')).toBe(1)
      expect(await metric(served, 'serving_job_run_seconds_count{api="twice"}')).toBe(2)
    })

    it('counts and logs jobs that have waited for too long', async () => {
      const define = (svc: Service) =>
        svc.api({ ...json, name: 'late', async: { queueTtl: 1 } }, () => 1)
      const served = await start(engine, define, { jobRole: 'submit' })
      const answer = await served.result(await served.submit('/late', 0))
      expect([answer.status, (await jsonOf(answer)).code]).toEqual([504, 'waited_too_long'])
      expect(await metric(served, 'serving_jobs{api="late",status="failed"}')).toBe(1)
      const msg =
        'job store: jobs of late that failed, since they waited for longer than queueTtl: 1'
      await until(() => linesOf(served).some((line) => line.level === 40 && line.msg === msg))
    })

    it('has no metrics of jobs without asynchronous APIs', async () => {
      const { get } = await start(engine, (svc) => svc.api({ ...json, name: 'plain' }, () => 1))
      expect(await (await get('/metrics')).text()).not.toMatch(/serving_job/)
    })

    it('logs what is submitted and what fails, without input and answer', async () => {
      const served = await start(engine, define)
      const job = await served.submit('/twice', ['my secret input'])
      await served.result(job)
      const lines = linesOf(served)
      const events = lines.map(({ level, event, api, attempt }) => [level, event, api, attempt])
      // A job may end before its submission is answered.
      expect(events.sort((a, b) => Number(a[3] ?? 0) - Number(b[3] ?? 0))).toEqual([
        [20, 'job_submitted', 'twice', undefined],
        [40, 'job_failed', 'twice', 1],
        [20, 'job_completed', 'twice', 2],
      ])
      const requestId = expect.stringMatching(/^[\w-]{16,}$/)
      const failure = {
        event: 'job_failed',
        status: 500,
        code: 'function_error',
        mayRetry: true,
        requestId,
      }
      expect(lines).toContainEqual(expect.objectContaining(failure))
      const error =
        served
          .log()
          .split('\n')
          .find((line) => line.includes('"msg":"request failed"')) ?? '{}'
      expect(JSON.parse(error)).toMatchObject({
        code: 'function_error',
        job: job.split('/').pop(),
        requestId,
      })
      expect(
        lines.filter((line) => line.requestId !== undefined).map((line) => line.requestId),
      ).toHaveLength(2)
      expect(served.log()).not.toMatch(/my secret input|the answer/)
    })

    it('continues the trace of whoever submitted in each attempt', async () => {
      const traceId = '0af7651916cd43dd8448eb211c80319c'
      const served = await start(engine, (svc) => {
        svc.api({ ...json, name: 'traced', async: { retries: 1 } }, (_: unknown, ctx) => {
          if (ctx.job?.attempt === 1) throw new Error('not yet')
          return trace.getActiveSpan()?.spanContext().traceId
        })
      })
      const job = await served.submit('/traced', 0, {
        traceparent: `00-${traceId}-b7ad6b7169203331-01`,
      })
      expect(await (await served.result(job)).json()).toBe(traceId)
      const roots = await until(() => {
        const found = spans.getFinishedSpans().filter(({ name }) => name === 'POST /traced')
        return found.length === 3 && found
      })
      // An attempt may end before the submission is answered.
      const isRun = ({ attributes }: ReadableSpan) => attributes['serving.job.id'] !== undefined
      const [submission] = roots.filter((span) => !isRun(span))
      const runs = roots.filter(isRun)
      expect(runs).toHaveLength(2)
      expect(submission.spanContext().traceId).toBe(traceId)
      const id = job.split('/').at(-1)
      for (const [i, run] of runs.entries()) {
        expect(run.parentSpanContext?.spanId).toBe(submission.spanContext().spanId)
        expect(run.attributes).toMatchObject({ 'serving.job.id': id, 'serving.job.attempt': i + 1 })
      }
    })
  },
)
