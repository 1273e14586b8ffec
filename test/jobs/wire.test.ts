import { isBuiltin } from 'node:module'
import { describe, expect, it } from 'vitest'
import { deferred } from '../../src/core/promise.ts'
import {
  BadInput,
  io,
  type NDArray,
  type Service,
  SetupError,
  Service as Svc,
  serve,
} from '../../src/index.ts'
import { engines } from '../engines.ts'
import { jsonOf, start } from './harness.ts'
import { until } from './stores.ts'

const hasSqlite = isBuiltin('node:sqlite')
const json = { input: new io.JSON(), output: new io.JSON() }
const text = { input: new io.Text(), output: new io.Text() }

/** Answers what it gets, and counts its calls. */
function echo(calls: unknown[] = []) {
  return (svc: Service) => {
    svc.api({ ...json, name: 'echo', async: true }, (value: unknown, ctx) => {
      calls.push(value)
      return { value, attempt: ctx.job?.attempt ?? null }
    })
  }
}

describe.skipIf(hasSqlite)('jobs on a Node without node:sqlite', () => {
  it('refuses to start, and says which Node it needs', async () => {
    const svc = new Svc('tested')
    echo()(svc)
    const started = serve(svc, { port: 0, host: '127.0.0.1', logLevel: 'fatal' })
    await expect(started).rejects.toThrow(SetupError)
    await expect(started).rejects.toThrow(/Node 22\.13 or later/)
  })

  it('starts a service without asynchronous APIs', async () => {
    const svc = new Svc('tested', { jobs: { store: 'sqlite:./jobs.db' } })
    svc.api({ ...json, name: 'echo' }, (value: unknown) => ({ value }))
    const listener = await serve(svc, { port: 0, host: '127.0.0.1', logLevel: 'fatal' })
    await listener.close()
  })
})

describe.skipIf(!hasSqlite).each(engines)('jobs over HTTP on %s', (engine) => {
  it('answers 202 with the place and the state of a job', async () => {
    const { post, get, result } = await start(engine, echo())
    const answer = await post('/echo', { a: 1 }, { prefer: 'respond-async' })
    expect(answer.status).toBe(202)
    const job = await jsonOf(answer)
    expect(job).toEqual({
      id: expect.stringMatching(/^[\w-]{22}$/),
      api: 'echo',
      status: 'queued',
      attempt: 0,
      priority: 0,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(answer.headers.get('location')).toBe(`/jobs/${job.id}`)
    expect(answer.headers.get('preference-applied')).toBe('respond-async')
    const ended = await result(`/jobs/${job.id}`)
    expect([ended.status, await ended.json()]).toEqual([200, { value: { a: 1 }, attempt: 1 }])
    expect(await (await get(`/jobs/${job.id}`)).json()).toMatchObject({
      status: 'completed',
      attempt: 1,
      responseStatus: 200,
      startedAt: expect.any(String),
      finishedAt: expect.any(String),
    })
  })

  it('places jobs below the base URL', async () => {
    const { submit, result } = await start(engine, echo(), { baseUrl: '/v1' })
    const job = await submit('/v1/echo', 7)
    expect(job).toMatch(/^\/v1\/jobs\/[\w-]+$/)
    expect((await result(job)).status).toBe(200)
  })

  it('stores the bytes and the content type of the synchronous answer', async () => {
    const define = (svc: Service) => {
      const array = { input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }
      svc.api({ ...array, name: 'array', async: true }, (value: NDArray) => value)
      svc.api({ ...text, name: 'text', async: true }, (value: string, ctx) => {
        ctx.response.setHeader('x-own', 'yes')
        return value.repeat(2)
      })
      svc.api({ ...json, name: 'none', async: true }, () => {
        throw new BadInput('expected another thing')
      })
    }
    const { post, submit, result } = await start(engine, define)
    for (const [path, body, headers] of [
      [
        '/array',
        [
          [1, 2],
          [3, 4],
        ],
        {},
      ],
      ['/text', 'grün', {}],
      ['/text', 'x'.repeat(700_000), {}],
      ['/none', { a: 1 }, { 'x-request-id': 'same' }],
    ] as const) {
      const now = await post(path, body, headers)
      const later = await result(await submit(path, body, headers))
      expect(later.status).toBe(now.status)
      for (const name of ['content-type', 'content-length', 'x-own'])
        expect(later.headers.get(name)).toBe(now.headers.get(name))
      const bodies = await Promise.all([later.arrayBuffer(), now.arrayBuffer()])
      // A matcher compares large bodies for seconds.
      expect(Buffer.from(bodies[0]).equals(Buffer.from(bodies[1]))).toBe(true)
    }
  })

  it('answers at once if the job ends within the time that the client waits', async () => {
    const { post } = await start(engine, echo())
    const answer = await post('/echo', [1], { prefer: 'wait=20, respond-async' })
    expect([answer.status, await answer.json()]).toEqual([200, { value: [1], attempt: 1 }])
    expect(answer.headers.get('preference-applied')).toBe('respond-async, wait=20')
  })

  it('answers 202 if the job takes longer than the client waits', async () => {
    const gate = deferred<void>()
    const define = (svc: Service) =>
      svc.api({ ...json, name: 'held', async: true }, () => gate.promise.then(() => 1))
    const { post, result } = await start(engine, define)
    const answer = await post('/held', 0, { prefer: 'respond-async, wait=1' })
    expect([answer.status, (await jsonOf(answer)).status]).toEqual([202, 'running'])
    const place = answer.headers.get('location') as string
    const early = await (await start(engine, echo())).get('/jobs/AAAAAAAAAAAAAAAAAAAAAA/result')
    expect(early.status).toBe(404)
    gate.resolve()
    expect(await (await result(place)).json()).toBe(1)
  })

  it('answers the result with 202 and the state while the job runs', async () => {
    const gate = deferred<void>()
    const define = (svc: Service) =>
      svc.api({ ...json, name: 'held', async: true }, () => gate.promise.then(() => 1))
    const { submit, get } = await start(engine, define)
    const job = await submit('/held', 0)
    const answer = await get(`${job}/result`)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([202, '1'])
    expect(['queued', 'running']).toContain((await jsonOf(answer)).status)
    gate.resolve()
  })

  it('calls synchronously without the preference, and then has no job', async () => {
    const { post, get } = await start(engine, echo())
    for (const prefer of ['', 'return=minimal', 'wait=1']) {
      expect(await (await post('/echo', 1, { prefer })).json()).toEqual({ value: 1, attempt: null })
    }
    expect((await get('/jobs/x')).status).toBe(404)
  })

  it('refuses bad input before it is queued', async () => {
    const calls: unknown[] = []
    const { post } = await start(engine, echo(calls))
    const answer = await post('/echo', '{', {
      prefer: 'respond-async',
      'content-type': 'application/json',
    })
    expect([answer.status, (await jsonOf(answer)).code]).toEqual([400, 'bad_input'])
    const large = await post('/echo', '1'.repeat(9_000_000), { prefer: 'respond-async' })
    expect(large.status).toBeGreaterThanOrEqual(400)
    expect(large.status).toBeLessThan(500)
    // Jobs of one API run in order: had there been one before, it would have run.
    expect((await post('/echo', 2, { prefer: 'respond-async, wait=20' })).status).toBe(200)
    expect(calls).toEqual([2])
  })

  it('takes compressed and chunked bodies', async () => {
    const { base, result } = await start(engine, echo())
    const { gzipSync } = await import('node:zlib')
    const body = gzipSync(JSON.stringify({ z: 'z'.repeat(1000) }))
    const pieces = new ReadableStream({
      start(controller) {
        for (let i = 0; i < body.length; i += 10) controller.enqueue(body.subarray(i, i + 10))
        controller.close()
      },
    })
    const headers = {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      prefer: 'respond-async',
    }
    const init = { method: 'POST', headers, body: pieces, duplex: 'half' }
    const answer = await fetch(`${base}/echo`, init as RequestInit)
    expect(answer.status).toBe(202)
    const ended = await result(answer.headers.get('location') as string)
    expect((await jsonOf(ended)).value).toEqual({ z: 'z'.repeat(1000) })
  })

  it('returns the job of an idempotency key, and refuses the key with another request', async () => {
    const calls: unknown[] = []
    const { post } = await start(engine, echo(calls))
    const headers = { prefer: 'respond-async', 'idempotency-key': '"k1"' }
    const first = await jsonOf(await post('/echo', 1, headers))
    const again = await post('/echo', 1, { ...headers, 'idempotency-key': 'k1' })
    expect([again.status, (await jsonOf(again)).id]).toEqual([202, first.id])
    const other = await post('/echo', 2, headers)
    expect([other.status, (await jsonOf(other)).code]).toEqual([422, 'key_reused'])
    const empty = await post('/echo', 2, { ...headers, 'idempotency-key': '""' })
    expect(empty.status).toBe(400)
    const ended = await post('/echo', 1, { ...headers, prefer: 'respond-async, wait=20' })
    expect([ended.status, calls]).toEqual([200, [1]])
  })

  it('refuses a job with 503 and retry-after when as many wait as may', async () => {
    const gate = deferred<void>()
    const define = (svc: Service) =>
      svc.api({ ...json, name: 'held', async: { maxQueued: 2 } }, () => gate.promise.then(() => 1))
    const { submit, post, status } = await start(engine, define)
    const first = await submit('/held', 0)
    await until(async () => (await status(first)).status === 'running')
    await submit('/held', 0)
    const third = await submit('/held', 0)
    expect(await status(third)).toMatchObject({ queuePosition: 1 })
    const answer = await post('/held', 0, { prefer: 'respond-async' })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10'])
    gate.resolve()
  })

  it('waits at most as long as a request may take', async () => {
    const gate = deferred<void>()
    const define = (svc: Service) =>
      svc.api({ ...json, name: 'held', async: true }, () => gate.promise.then(() => 1))
    const { post } = await start(engine, define, { requestTimeoutMs: 1_500 })
    expect((await post('/held', 0, { prefer: 'respond-async, wait=600' })).status).toBe(202)
    gate.resolve()
  })

  it('does not cancel what has ended', async () => {
    const { submit, result, post, status } = await start(engine, echo())
    const job = await submit('/echo', 1)
    await result(job)
    const answer = await post(`${job}/cancel`)
    expect([answer.status, (await jsonOf(answer)).code]).toEqual([409, 'conflict'])
    expect((await status(job)).status).toBe('completed')
  })

  it('retries an ended job as a new one with the same input', async () => {
    const calls: unknown[] = []
    const { submit, result, post, status } = await start(engine, echo(calls))
    const job = await submit('/echo?q=1', { n: 1 }, { 'idempotency-key': 'k' })
    await result(job)
    const answer = await post(`${job}/retry`)
    expect(answer.status).toBe(202)
    const next = answer.headers.get('location') as string
    expect(await jsonOf(answer)).toMatchObject({ retryOf: job.split('/').pop(), status: 'queued' })
    expect(await (await result(next)).json()).toEqual({ value: { n: 1 }, attempt: 1 })
    expect(calls).toEqual([{ n: 1 }, { n: 1 }])
    expect((await status(job)).status).toBe('completed')
  })

  it('does not retry a job that has not ended', async () => {
    const gate = deferred<void>()
    const define = (svc: Service) =>
      svc.api({ ...json, name: 'held', async: true }, () => gate.promise.then(() => 1))
    const { submit, post } = await start(engine, define)
    expect((await post(`${await submit('/held', 0)}/retry`)).status).toBe(409)
    gate.resolve()
  })

  it('keeps results for their time, then answers 410', async () => {
    const define = (svc: Service) =>
      svc.api({ ...json, name: 'brief', async: { resultTtl: '1s' } }, (value: unknown) => value)
    const { submit, post, get, status } = await start(engine, define)
    const job = await submit('/brief', 1)
    await until(async () => (await status(job)).status === 'expired')
    const answer = await get(`${job}/result`)
    expect([answer.status, (await jsonOf(answer)).code]).toEqual([410, 'gone'])
    expect((await post(`${job}/retry`)).status).toBe(410)
  })
})
