import { isBuiltin } from 'node:module'
import { createClient } from 'serving/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { io, type Service } from '../../src/index.ts'
import { jobMessage, submission } from '../../src/jobs/job-messages.ts'
import { encodeRequest } from '../../src/messages/envelope.ts'
import { GrpcClient } from '../rpc/harness.ts'
import { jsonOf, start } from './harness.ts'
import { until } from './stores.ts'

const text = { input: new io.Text(), output: new io.Text() }

function define(svc: Service) {
  const shout = svc.api(
    {
      ...text,
      name: 'shout',
      async: {
        priority: 2,
        maxPriority: 5,
        maxDelay: '1h',
        timeout: '30s',
        queueTtl: '1h',
        resultTtl: '1h',
        retries: 0,
      },
    },
    (value: string) => `${value}!`,
  )
  const plain = svc.api({ ...text, name: 'plain', async: true }, (value: string) => value)
  const slow = svc.api({ ...text, name: 'slow', async: true }, async (value: string, ctx) => {
    await new Promise((_, reject) => ctx.signal.addEventListener('abort', reject))
    return value
  })
  return { shout, plain, slow }
}

const soon = () => new Date(Date.now() + 600_000).toISOString()

describe.skipIf(!isBuiltin('node:sqlite'))('what a submission says', () => {
  it('holds for its job, and is named as applied', async () => {
    const { post, status } = await start('node', (svc) => void define(svc), { jobRole: 'submit' })
    const notBefore = soon()
    const prefer = `respond-async; priority=5; not-before="${notBefore}"; queue-ttl=10m`
    const answer = await post('/shout', 'a', { prefer })
    expect(answer.status).toBe(202)
    expect(answer.headers.get('preference-applied')).toBe(prefer)
    const place = answer.headers.get('location') as string
    expect(await status(place)).toMatchObject({ priority: 5, notBefore, status: 'queued' })
    const low = await post('/shout', 'a', { prefer: 'Respond-Async;Priority=0 ; , wait=0' })
    expect(await jsonOf(low)).toMatchObject({ priority: 0 })
    expect(await jsonOf(await post('/shout', 'a', { prefer: 'respond-async' }))).toMatchObject({
      priority: 2,
    })
  })

  it('ends an attempt, a wait and a result sooner', async () => {
    const { post, get, submit, result } = await start('node', (svc) => void define(svc))
    const slow = await submit('/slow', 'a', { prefer: 'respond-async; timeout=200ms' })
    expect(await jsonOf(await result(slow))).toMatchObject({ code: 'deadline_exceeded' })
    const short = await submit('/plain', 'a', { prefer: 'respond-async; result-ttl=1ms' })
    await until(async () => (await get(`${short}/result`)).status === 410)
    const only = await start('node', (svc) => void define(svc), { jobRole: 'submit' })
    const wait = await only.submit('/plain', 'a', { prefer: 'respond-async; queue-ttl=1ms' })
    expect(await jsonOf(await only.result(wait))).toMatchObject({ code: 'waited_too_long' })
    const again = await only.post(`${wait}/retry`, undefined, {
      prefer: 'respond-async; priority=0; queue-ttl=1h',
    })
    expect(await jsonOf(again)).toMatchObject({ status: 'queued', retryOf: wait.split('/').at(-1) })
    expect((await post('/plain', 'a', { prefer: 'wait=1; priority=99' })).status).toBe(200)
  })

  it.each([
    ['priority=6', 'at most 5 for priority of the submission'],
    ['priority=high', 'a whole number from 0 to 100 for priority of the submission'],
    ['timeout=31s', 'at most 30000 for timeout of the submission'],
    ['timeout=5', 'a time like 30s, 30m or 24h for timeout of the submission'],
    ['queue-ttl=2h', 'at most 3600000 for queueTtl of the submission'],
    ['result-ttl=2h', 'at most 3600000 for resultTtl of the submission'],
    ['not-before=tomorrow', 'a time in ISO 8601'],
    ['not-before="2999-01-01T00:00:00Z"', 'for notBefore of the submission, received "2999-01-01'],
    ['delay=5m', 'unknown option "delay" for the submission'],
    ['urgent', 'unknown option "urgent" for the submission'],
    ['__proto__=1', 'unknown option "__proto__" for the submission'],
  ])('is refused outside the bounds of its API: %s', async (parameter, message) => {
    const { post } = await start('node', (svc) => void define(svc), { jobRole: 'submit' })
    const answer = await post('/shout', 'a', { prefer: `respond-async; ${parameter}` })
    expect([answer.status, (await jsonOf(answer)).detail]).toEqual([
      400,
      expect.stringContaining(message),
    ])
  })

  it('comes in a field of gRPC and Connect', async () => {
    const options = { grpcPort: 0, jobRole: 'submit' } as const
    const { listener, post, get } = await start('node', (svc) => void define(svc), options)
    const grpc = new GrpcClient(listener.grpcPort as number)
    onTestFinished(() => grpc.close())
    const submit = async (job: object) => {
      const call = encodeRequest('shout', { field: 'text', message: 'a' })
      const request = Buffer.concat([call, submission.encode({ job })])
      const { bytes, error } = await grpc.raw(request, {}, 'SubmitJob')
      if (error !== undefined) throw error
      return jobMessage.decode(bytes as Buffer)
    }
    const notBefore = soon()
    const { id, ...job } = await submit({ priority: 4, notBefore, timeout: '10s' })
    expect(job).toMatchObject({ apiName: 'shout', status: 'queued', notBefore })
    expect(await jsonOf(await get(`/jobs/${id}`))).toMatchObject({ priority: 4, notBefore })
    await expect(submit({ priority: 50 })).rejects.toThrow('at most 5 for priority')
    const connect = async (sent: object) => {
      const body = { apiName: 'shout', text: 'a', job: sent }
      return jsonOf(await post('/serving.v1.ServingService/SubmitJob', body))
    }
    const zero = (await connect({ priority: 0, not_before: notBefore })) as { id: string }
    expect(zero).toMatchObject({ notBefore })
    expect(await jsonOf(await get(`/jobs/${zero.id}`))).toMatchObject({ priority: 0 })
    expect(await connect({ timeout: '1h' })).toMatchObject({ code: 'invalid_argument' })
  })

  it('runs a call of gRPC that has such a field', async () => {
    const { listener, result } = await start('node', (svc) => void define(svc), { grpcPort: 0 })
    const grpc = new GrpcClient(listener.grpcPort as number)
    onTestFinished(() => grpc.close())
    const call = encodeRequest('shout', { field: 'text', message: 'a' })
    const request = Buffer.concat([submission.encode({ job: { priority: 1 } }), call])
    const { bytes } = await grpc.raw(request, {}, 'SubmitJob')
    const { id } = jobMessage.decode(bytes as Buffer)
    expect((await result(`/jobs/${id}`)).status).toBe(200)
  })

  it('is an option of the typed client', async () => {
    const { base } = await start('node', (svc) => void define(svc), { jobRole: 'submit' })
    const client = createClient<ReturnType<typeof define>>(base)
    const notBefore = new Date(Date.now() + 60_000)
    const job = await client.shout.submit('a', {
      job: { priority: 3, notBefore, timeout: 5_000, queueTtl: '5m' },
    })
    expect(await job.status()).toMatchObject({ priority: 3, notBefore: notBefore.toISOString() })
    await expect(client.shout.submit('a', { job: { timeout: '1h' } })).rejects.toMatchObject({
      code: 'bad_input',
    })
  })
})
