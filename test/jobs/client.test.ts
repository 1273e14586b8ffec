import { createServer } from 'node:http'
import { isBuiltin } from 'node:module'
import type { AddressInfo } from 'node:net'
import {
  createClient,
  type Job,
  type JobChange,
  type RowAnswer,
  ServingError,
} from 'serving/client'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { deferred } from '../../src/core/promise.ts'
import { BadInput, io, NDArray, type Service } from '../../src/index.ts'
import { start } from './harness.ts'
import { until } from './stores.ts'

const hasSqlite = isBuiltin('node:sqlite')
const array = { input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }
const json = { input: new io.JSON(), output: new io.JSON() }
const text = { input: new io.Text(), output: new io.Text() }

/** The APIs: `gate` holds the running job of `slow` and `words`, until it ends or is canceled. */
function apisOf(svc: Service, gate = deferred<void>()) {
  const slow = svc.api({ ...json, name: 'slow', async: true }, async (value: unknown, ctx) => {
    await ctx.job?.progress(0.5)
    await Promise.race([
      gate.promise,
      new Promise((_, reject) => ctx.signal.addEventListener('abort', reject)),
    ])
    return { n: (value as { n: number }).n * 2, attempt: ctx.job?.attempt }
  })
  const double = svc.api({ ...array, name: 'double', async: true }, (x: NDArray) => {
    return new NDArray(
      (x.data as Float32Array).map((value) => value * 2),
      x.shape,
    )
  })
  const words = svc.api({ ...text, name: 'words', async: true }, async function* (value: string) {
    for (const word of value.split(' ')) yield `${word};`
    await gate.promise
  })
  const refuse = svc.api({ ...json, name: 'refuse', async: { retries: 0 } }, () => {
    throw new BadInput('expected better')
  })
  const accepted = svc.api({ ...json, name: 'accepted', async: true }, (value: unknown, ctx) => {
    ctx.response.status = 202
    return value
  })
  const halve = svc.api({ ...json, name: 'halve', async: true }, (value: unknown) => {
    if (typeof value !== 'number') throw new BadInput('expected a number')
    return value / 2
  })
  const plain = svc.api({ ...json, name: 'plain' }, (value: unknown) => value)
  return { slow, double, words, refuse, accepted, halve, plain }
}

type Apis = ReturnType<typeof apisOf>

async function served() {
  const gate = deferred<void>()
  const { base } = await start('node', (svc) => void apisOf(svc, gate), { baseUrl: '/v1' })
  return { gate, base: `${base}/v1`, client: createClient<Apis>(`${base}/v1`) }
}

const failure = async (call: PromiseLike<unknown>): Promise<ServingError> => {
  const error = await call.then(
    () => undefined,
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(ServingError)
  return error as ServingError
}

describe.skipIf(!hasSqlite)('jobs of the typed client', () => {
  it('submits, looks, waits and gets what the call would return', async () => {
    const { client, gate } = await served()
    const job = await client.slow.submit({ n: 21 })
    expectTypeOf(await client.double.submit([1])).toEqualTypeOf<
      Job<Awaited<ReturnType<typeof client.double>>>
    >()
    expect(job.id).toMatch(/^[\w-]{22}$/)
    await until(async () => (await job.status()).progress === 0.5)
    expect(await job.status()).toMatchObject({
      id: job.id,
      api: 'slow',
      status: 'running',
      attempt: 1,
    })
    expect(await failure(job.result({ wait: 0 }))).toMatchObject({ code: 'not_ended', status: 202 })
    gate.resolve()
    expect(await job.result()).toEqual({ n: 42, attempt: 1 })
    const { status, headers } = await job.result().withResponse()
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
    // By its id, from somewhere else.
    expect(await client.slow.job(job.id).result({ wait: 0 })).toEqual({ n: 42, attempt: 1 })
  })

  it('gets arrays with their type, texts whole, and errors as the call gives them', async () => {
    const { client, gate } = await served()
    gate.resolve()
    const x = { dtype: 'float32', shape: [2], data: new Float32Array([1, 2]) } as const
    expect(await (await client.double.submit(x)).result()).toEqual(await client.double(x))
    const whole: string = await (await client.words.submit('a b')).result()
    expect(whole).toBe('a;b;')
    const failed = await client.refuse.submit(1)
    expect(await failure(failed.result())).toMatchObject({
      code: 'bad_input',
      message: 'expected better',
    })
    expect(await (await client.accepted.submit('mine')).result()).toBe('mine')
  })

  it('makes one job of many rows: of a list, of what comes one by one, and of a file', async () => {
    const { client, gate } = await served()
    gate.resolve()
    const answersOf = async <T>(job: Job<AsyncGenerator<RowAnswer<T>>>) => {
      const answers: RowAnswer<T>[] = []
      for await (const answer of await job.result()) answers.push(answer)
      return answers
    }
    const list = await client.halve.submitRows([2, 'two', 4])
    const error = { status: 400, code: 'bad_input', message: 'expected a number' }
    const answers = [{ value: 1 }, { error: expect.objectContaining(error) }, { value: 2 }]
    expect(await answersOf(list)).toEqual(answers)
    expect(await answersOf(client.halve.job(list.id, 'rows'))).toEqual(answers)
    expect((await list.status()).progress).toEqual({ done: 3, total: 3, failed: 1 })
    const arrays = await answersOf(await client.double.submitRows([[1, 2], [3]]))
    expect(arrays).toEqual([{ value: [2, 4] }, { value: [6] }])
    const texts = ['a'.repeat(60_000), 'é\n"'.repeat(20_000), 'c']
    const come = async function* () {
      yield* texts
    }
    const long = await answersOf(await client.words.submitRows(come()))
    expect(long).toEqual(texts.map((text) => ({ value: `${text};` })))
    // @ts-expect-error Typed arrays are no rows.
    const refused = client.double.submitRows([{ shape: [1], data: new Float32Array(1) }])
    expect(await failure(refused)).toMatchObject({ code: 'bad_input' })
    const csv = new Blob(['a,b\n1,x\n2,y\n'], { type: 'text/csv' })
    const objects = [{ value: { a: 1, b: 'x' } }, { value: { a: 2, b: 'y' } }]
    expect(await answersOf(await client.accepted.submitRows(csv))).toEqual(objects)
    // A right answer that looks like a row that failed.
    const alike = { index: 0, error: { code: 'bad_input', status: 400 } }
    const lookalikes = await client.accepted.submitRows([alike])
    expect(await answersOf(lookalikes)).toEqual([{ value: alike }])
    expect(await failure(client.plain.submitRows([1]))).toMatchObject({ code: 'bad_input' })
  })

  it('iterates the events to the end', async () => {
    const { client, gate } = await served()
    const job = await client.words.submit('a b')
    const all: JobChange[] = []
    for await (const change of job.events()) {
      expect(Date.parse(change.at)).toBeGreaterThan(0)
      all.push(change)
      if (change.partial === 'b;') gate.resolve()
    }
    expect(all.map(({ status, partial }) => status ?? partial)).toEqual([
      'queued',
      'running',
      'a;',
      'b;',
      'completed',
    ])
  })

  it('goes on with the events behind a connection that breaks', async () => {
    const { base, gate } = await served()
    // Between client and server: lets one event through, then breaks off.
    let connections = 0
    const proxy = createServer(async (request, response) => {
      const last = String(request.headers['last-event-id'])
      const answer = await fetch(base.replace('/v1', '') + request.url, {
        headers: { 'last-event-id': last },
      })
      response.writeHead(answer.status, {
        'content-type': answer.headers.get('content-type') ?? '',
      })
      connections++
      let sent = ''
      for await (const piece of answer.body ?? []) {
        sent += Buffer.from(piece).toString()
        const end = sent.indexOf('\n\n') + 2
        if (end < 2 || !sent.includes('data:')) continue
        response.write(sent.slice(0, end), () => response.destroy())
        return
      }
      response.end()
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void proxy.close())
    const job = await createClient<Apis>(base).words.submit('a b')
    gate.resolve()
    const broken = createClient<Apis>(
      `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/v1`,
    ).words.job(job.id)
    const all: unknown[] = []
    for await (const { status, partial } of broken.events()) all.push(status ?? partial)
    expect(all).toEqual(['queued', 'running', 'a;', 'b;', 'completed'])
    expect(connections).toBeGreaterThanOrEqual(5)
  })

  it('ends the events by the signal', async () => {
    const { client, gate } = await served()
    const job = await client.slow.submit({ n: 1 })
    const stop = new AbortController()
    const reason = new Error('enough')
    const read = async () => {
      for await (const { progress } of job.events({ signal: stop.signal }))
        if (progress === 0.5) stop.abort(reason)
    }
    await expect(read()).rejects.toBe(reason)
    const waiting = job.result({ timeoutMs: 300 })
    expect(await failure(waiting)).toMatchObject({ code: 'deadline_exceeded' })
    gate.resolve()
  })

  it('cancels, and retries as a job of its own', async () => {
    const { client, gate } = await served()
    const job = await client.slow.submit({ n: 4 })
    await until(async () => (await job.status()).status === 'running')
    await job.cancel()
    expect(await failure(job.result())).toMatchObject({ code: 'conflict', status: 409 })
    expect((await job.status()).status).toBe('canceled')
    gate.resolve()
    const again = await job.retry()
    expect(await again.result()).toEqual({ n: 8, attempt: 1 })
    expect((await again.status()).retryOf).toBe(job.id)
    expect(await failure(again.cancel())).toMatchObject({ code: 'conflict' })
  })

  it('submits once for one key', async () => {
    const { client, gate } = await served()
    gate.resolve()
    const first = await client.slow.submit({ n: 1 }, { idempotencyKey: 'one' })
    const second = await client.slow.submit({ n: 1 }, { idempotencyKey: 'one' })
    expect(second.id).toBe(first.id)
    expect(await failure(client.slow.submit({ n: 2 }, { idempotencyKey: 'one' }))).toMatchObject({
      status: 422,
    })
    expect(
      await failure(client.slow.submit({ n: 1 }, { webhook: 'https://example.org/' })),
    ).toMatchObject({
      code: 'bad_input',
      message: 'this service sends no webhooks: it has no jobs.webhooks',
    })
  })

  it('refuses an API without jobs, and an unknown id', async () => {
    const { client } = await served()
    expect(await failure(client.plain.submit(1))).toMatchObject({
      code: 'bad_input',
      message: 'expected an API with the option async for submit of plain',
    })
    expect(await failure(client.slow.job('../slow').status())).toMatchObject({ code: 'not_found' })
  })
})
