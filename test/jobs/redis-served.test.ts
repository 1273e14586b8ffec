import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openRedis } from '../../src/core/redis.ts'
import { io, Service, serve } from '../../src/index.ts'
import { getJobRequest, jobMessage } from '../../src/jobs/job-messages.ts'
import { decodeResponse, encodeRequest } from '../../src/messages/envelope.ts'
import { GrpcClient } from '../rpc/harness.ts'
import { start } from './harness.ts'
import { hasRedis, redisServer } from './redis-server.ts'
import { until } from './stores.ts'

const secret = `whsec_${Buffer.alloc(32, 'a').toString('base64')}`
const define = (svc: Service) => {
  svc.api({ input: new io.Text(), output: new io.Text(), name: 'shout', async: true }, (text) =>
    text.toUpperCase(),
  )
}

describe.skipIf(!hasRedis)('a service with jobs on Redis', () => {
  it('runs a job that another server has taken, and tells its webhook', async () => {
    const redis = await redisServer()
    onTestFinished(() => redis.stop())
    const received: unknown[] = []
    const receiver = createServer(async (request, response) => {
      let body = ''
      for await (const piece of request) body += piece
      received.push(new Webhook(secret).verify(body, request.headers as Record<string, string>))
      response.end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void receiver.close())
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    const jobs = { store: redis.url, webhooks: { secrets: [secret], allowPrivate: true } }
    const one = await start('uws', define, {}, { jobs })
    const two = await start('uws', define, {}, { jobs })
    const job = await one.submit('/shout', 'hello', { 'webhook-url': url })
    const answer = await two.result(job)
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      200,
      (await one.post('/shout', 'x')).headers.get('content-type'),
      'HELLO',
    ])
    await until(() => received.length > 0)
    await until(async () => {
      const pages = await Promise.all(
        [one, two].map(async (each) => (await each.get('/metrics')).text()),
      )
      return pages
        .join('')
        .includes('serving_job_attempts_total{api="$webhooks",outcome="completed"} 1')
    })
    expect(received).toMatchObject([
      { type: 'job.completed', data: { id: job.split('/').at(-1), api: 'shout' } },
    ])
  })

  it('tells webhooks from servers that only submit, since there may be no worker', async () => {
    const redis = await redisServer()
    onTestFinished(() => redis.stop())
    let received = 0
    const receiver = createServer((_, response) => {
      received++
      response.end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void receiver.close())
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    const jobs = { store: redis.url, webhooks: { secrets: [secret], allowPrivate: true } }
    const one = await start('uws', define, { jobRole: 'submit' }, { jobs })
    // It would deliver, too, but has no secret.
    await start('uws', define, { jobRole: 'work' }, { jobs: { store: redis.url } })
    await one.submit('/shout', 'hello', { 'webhook-url': url })
    await until(() => received > 0)
  })

  it('says of a job that it was handed back three times', async () => {
    const redis = await redisServer()
    onTestFinished(() => redis.stop())
    let calls = 0
    const wait = { input: new io.Text(), output: new io.Text(), name: 'wait', async: true } as const
    const slow = (svc: Service) =>
      svc.api(wait, () => (++calls < 4 ? new Promise<string>(() => {}) : 'ended'))
    const again = () => start('uws', slow, {}, { jobs: { store: redis.url } })
    let served = await again()
    const job = await served.submit('/wait', 'x')
    for (let begun = 1; begun < 4; begun++) {
      await until(() => calls === begun)
      await served.listener.close()
      expect(served.log()).not.toContain('job_begins_again')
      served = await again()
    }
    expect(await (await served.result(job)).text()).toBe('ended')
    const id = job.split('/').at(-1)
    expect(served.log()).toContain(
      `job ${id} was handed back 3 times by workers that stopped: a worker needs`,
    )
  }, 60_000)

  it('counts its jobs in the metrics of each server, which answer and close without Redis, too', async () => {
    const redis = await redisServer()
    onTestFinished(() => redis.stop())
    const one = await start('uws', define, { jobRole: 'submit' }, { jobs: { store: redis.url } })
    const two = await start('uws', define, {}, { jobs: { store: redis.url } })
    await one.result(await one.submit('/shout', 'hello'))
    const metrics = async (served: typeof one) => (await served.get('/metrics')).text()
    for (const each of [one, two])
      expect(await metrics(each)).toContain('serving_jobs{api="shout",status="completed"} 1')
    expect(await metrics(one)).not.toContain('serving_job_run_seconds_count')
    expect(await metrics(two)).toContain('serving_job_run_seconds_count{api="shout"} 1')
    await redis.stop()
    const away = await two.get('/metrics')
    expect(away.status).toBe(200)
    expect(await away.text()).not.toContain('serving_jobs{')
    // It waited for Redis for good.
    await two.listener.close()
  })

  it('says that its memory is full, to clients, operators and /readyz, and keeps what runs', async () => {
    const redis = await redisServer()
    onTestFinished(() => redis.stop())
    const client = openRedis(redis.url, 'the test')
    onTestFinished(() => client.disconnect())
    let end = () => {}
    const running = new Promise<void>((resolve) => (end = resolve))
    const wait = { input: new io.Text(), output: new io.Text(), name: 'wait', async: true } as const
    const slow = (svc: Service) => svc.api(wait, (text) => running.then(() => text))
    const { get, post, submit, status, result, log } = await start(
      'uws',
      slow,
      {},
      { jobs: { store: redis.url } },
    )
    const job = await submit('/wait', 'hello')
    await until(async () => (await status(job)).status === 'running')
    await client.config('SET', 'maxmemory', '1mb')
    const refused = await post('/wait', 'x', { prefer: 'respond-async' })
    const text = 'the memory of the job store is full'
    expect([refused.status, await refused.text()]).toEqual([507, expect.stringContaining(text)])
    const ready = async () => (await get('/readyz')).text()
    await until(async () => (await ready()) === `${text}\n`)
    const told = `${text}: OOM command not allowed when used memory > 'maxmemory'.`
    expect(log().split(JSON.stringify(told)).length - 1).toBe(1)
    end()
    await until(() => log().includes('job_completed'))
    await client.config('SET', 'maxmemory', '0')
    expect(await (await result(job)).text()).toBe('hello')
    expect(await status(job)).toMatchObject({ attempt: 1 })
    await until(async () => (await ready()) === 'ok\n')
  }, 60_000)

  it('says of a bucket that is away that it is the bucket', async () => {
    const redis = await redisServer()
    onTestFinished(() => redis.stop())
    const env = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    onTestFinished(() => void vi.unstubAllEnvs())
    const kept = new Map<string, Buffer>()
    let isAway = false
    const bucket = createServer(async (request, response) => {
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece)
      if (isAway) request.socket.destroy()
      if (request.method === 'PUT') kept.set(request.url as string, Buffer.concat(pieces))
      const body = kept.get(request.url as string) ?? Buffer.alloc(0)
      if (request.method !== 'PUT') response.setHeader('content-length', body.length)
      response.end(request.method === 'GET' ? body : '')
    })
    await new Promise<void>((resolve) => bucket.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void bucket.close())
    const blobs = `s3://bucket?endpoint=http://127.0.0.1:${(bucket.address() as AddressInfo).port}`
    const { submit, result } = await start('uws', define, {}, { jobs: { store: redis.url, blobs } })
    const job = await submit('/shout', 'x'.repeat(2_000_000))
    expect((await result(job)).status).toBe(200)
    isAway = true
    const refused = await result(job)
    expect([refused.status, await refused.text()]).toEqual([
      503,
      expect.stringContaining('the bucket of blobs cannot be reached'),
    ])
  }, 60_000)

  it('refuses to start beside another service on one Redis, unless each has a prefix', async () => {
    const redis = await redisServer()
    onTestFinished(() => redis.stop())
    const jobs = (prefix: string) => ({ store: `${redis.url}?prefix=${prefix}` })
    await start('uws', define, {}, { jobs: { store: redis.url } })
    const other = new Service('other', { jobs: { store: redis.url } })
    define(other)
    await expect(serve(other, { port: 0 })).rejects.toThrow(
      /^expected the jobs of service other at redis:.*, found those of tested: .* prefix .*serving-jobs:service/,
    )
    const told = (text: string) => (svc: Service) => {
      svc.api(
        { input: new io.Text(), output: new io.Text(), name: 'shout', async: true },
        () => text,
      )
    }
    const one = await start('uws', told('one'), {}, { jobs: jobs('one') })
    const two = await start('uws', told('two'), {}, { jobs: jobs('two') })
    const [first, second] = [await one.submit('/shout', 'a'), await two.submit('/shout', 'a')]
    expect(await (await one.result(first)).text()).toBe('one')
    expect(await (await two.result(second)).text()).toBe('two')
    expect((await one.get(second)).status).toBe(404)
    await expect(start('uws', define, {}, { jobs: jobs('a b') })).rejects.toThrow(
      'expected 1 to 64 letters',
    )
  })

  it('runs what gRPC submits', async () => {
    const redis = await redisServer()
    onTestFinished(() => redis.stop())
    const { listener } = await start('uws', define, { grpcPort: 0 }, { jobs: { store: redis.url } })
    const grpc = new GrpcClient(listener.grpcPort as number)
    onTestFinished(() => grpc.close())
    const call = async (method: string, bytes: Uint8Array) =>
      jobMessage.decode((await grpc.raw(bytes, {}, method)).bytes as Buffer)
    const { id } = await call(
      'SubmitJob',
      encodeRequest('shout', { field: 'text', message: 'hello' }),
    )
    const { status, result } = await call(
      'GetJob',
      getJobRequest.encode({ id: id as string, waitSeconds: 20 }),
    )
    expect([status, decodeResponse(result as Buffer)]).toEqual([
      'completed',
      { field: 'text', message: 'HELLO' },
    ])
  })

  it('refuses a webhook to a private host, and each one without jobs.webhooks', async () => {
    const redis = await redisServer()
    onTestFinished(() => redis.stop())
    const headers = { prefer: 'respond-async', 'webhook-url': 'http://127.0.0.1:1/' }
    const closed = await start(
      'uws',
      define,
      {},
      { jobs: { store: redis.url, webhooks: { secrets: [secret] } } },
    )
    const refused = await closed.post('/shout', 'a', headers)
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('https with a public host'),
    ])
    const without = await start('uws', define, {}, { jobs: { store: redis.url } })
    expect((await without.post('/shout', 'a', headers)).status).toBe(400)
  })
})
