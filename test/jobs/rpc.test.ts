import { createHash } from 'node:crypto'
import { isBuiltin } from 'node:module'
import { Client, credentials } from '@grpc/grpc-js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { apiKey } from '../../src/api/auth/index.ts'
import { deferred } from '../../src/core/promise.ts'
import type { ServeOptions } from '../../src/engine/options.ts'
import { BadInput, io, type NDArray, type Service, type ServiceOptions } from '../../src/index.ts'
import {
  getJobRequest,
  jobEventMessage,
  jobMessage,
  jobRequest,
  submission,
  watchJobRequest,
} from '../../src/jobs/job-messages.ts'
import { frameOf } from '../../src/messages/encoded-message.ts'
import { decodeResponse, encodeRequest } from '../../src/messages/envelope.ts'
import type { ProtoContent } from '../../src/messages/messages.ts'
import { GrpcClient } from '../rpc/harness.ts'
import { jsonOf, start as serve } from './harness.ts'

const json = { input: new io.JSON(), output: new io.JSON() }
const text = { input: new io.Text(), output: new io.Text() }
const shout = (svc: Service) =>
  svc.api({ ...text, name: 'shout', async: true }, (value: string) => `${value}!`)
const keyOf = (name: string) => ({
  name,
  hash: createHash('sha256').update(`${name}-key`).digest('hex'),
})
const as = (name: string) => ({ 'x-api-key': `${name}-key` })
const hello: ProtoContent = { field: 'text', message: 'hello' }

/** Serves HTTP and gRPC on free ports. */
async function start(
  define: (svc: Service) => void,
  options: ServiceOptions = {},
  own: ServeOptions = {},
) {
  const served = await serve('node', define, { grpcPort: 0, ...own }, options)
  const port = served.listener.grpcPort as number
  const grpc = new GrpcClient(port)
  onTestFinished(() => grpc.close())
  const unary = async (method: string, bytes: Uint8Array, metadata = {}) => {
    const { bytes: answer, error } = await grpc.raw(bytes, { metadata }, method)
    if (error !== undefined) throw error
    return jobMessage.decode(answer as Buffer)
  }
  return {
    ...served,
    submitHttp: served.submit,
    submit: (api: string, content: ProtoContent, metadata = {}) =>
      unary('SubmitJob', encodeRequest(api, content), metadata),
    submitRows: (api: string, content: ProtoContent) => {
      const options = submission.encode({ job: { rows: true } })
      return unary('SubmitJob', Buffer.concat([encodeRequest(api, content), options]))
    },
    job: (id: string, metadata = {}) =>
      unary('GetJob', getJobRequest.encode({ id, waitSeconds: 20 }), metadata),
    cancel: (id: string) => unary('CancelJob', jobRequest.encode({ id })),
    async watch(id: string, after = 0, onEvent = () => {}) {
      const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
      onTestFinished(() => client.close())
      const asIs = (bytes: Buffer) => bytes
      const path = '/serving.v1.ServingService/WatchJob'
      const request = watchJobRequest.encode({ id, after })
      const events = []
      for await (const each of client.makeServerStreamRequest(path, asIs, asIs, request)) {
        events.push(jobEventMessage.decode(each))
        onEvent()
      }
      return events
    },
    connect: (method: string, body: unknown, headers = {}) =>
      served.post(`/serving.v1.ServingService/${method}`, body, headers),
  }
}

describe.skipIf(!isBuiltin('node:sqlite'))('jobs over RPC', () => {
  it.each(['not JSON', '{"code":5,"detail":["x"]}', 'null'])(
    'end with an answer of a function that calls itself a problem: %s',
    async (body) => {
      const output = new io.File({ mimeType: 'application/problem+json' })
      const define = (svc: Service) =>
        svc.api({ input: new io.Text(), output, name: 'own', async: { retries: 0 } }, (_, ctx) => {
          ctx.response.status = 500
          return Buffer.from(body)
        })
      const served = await start(define)
      const place = await served.submitHttp('/own', 'x')
      const result = await served.result(place)
      expect([result.status, await result.text()]).toEqual([500, body])
      const known = await served.job(place.split('/').pop() as string)
      expect(known).toMatchObject({ status: 'failed' })
      expect([known.errorCode, known.errorDetail]).toEqual([undefined, undefined])
    },
  )

  it('runs a call that gRPC submits, and answers as Call does', async () => {
    const { submit, job } = await start((svc) => {
      shout(svc)
      svc.api(
        { input: new io.NumpyNdarray(), output: new io.NumpyNdarray(), name: 'same', async: true },
        (x: NDArray) => x,
      )
    })
    const submitted = await submit('shout', hello)
    expect(submitted).toMatchObject({ apiName: 'shout', status: 'queued' })
    const done = await job(submitted.id as string)
    expect(done).toMatchObject({
      id: submitted.id,
      status: 'completed',
      attempt: 1,
      responseStatus: 200,
    })
    expect(decodeResponse(done.result as Buffer)).toEqual({ field: 'text', message: 'hello!' })
    const array: ProtoContent = {
      field: 'ndarray',
      message: { dtype: 1, shape: [2], floatValues: [1, 2.5] },
    }
    const same = await job((await submit('same', array)).id as string)
    expect(decodeResponse(same.result as Buffer)).toMatchObject({
      field: 'ndarray',
      message: { shape: [2] },
    })
  })

  it('submits and answers over Connect in JSON', async () => {
    const { connect } = await start(shout)
    const submitted = await jsonOf(await connect('SubmitJob', { apiName: 'shout', text: 'hello' }))
    expect(submitted).toMatchObject({ apiName: 'shout', status: 'queued' })
    const done = await jsonOf(await connect('GetJob', { id: submitted.id, waitSeconds: '20' }))
    expect(done).toMatchObject({ status: 'completed', attempt: '1', result: { text: 'hello!' } })
    const again = await connect('CancelJob', { id: submitted.id })
    expect([again.status, (await jsonOf(again)).code]).toEqual([409, 'aborted'])
  })

  it('makes one job of the rows of a file, over gRPC and Connect', async () => {
    const { submitRows, job, connect } = await start(shout)
    const kind = 'application/jsonl'
    const content = Buffer.from('"a"\n"b"\n')
    const { id } = await submitRows('shout', { field: 'file', message: { kind, content } })
    const { result, progress } = await job(id as string)
    const answer = { field: 'file', message: { kind, content: Buffer.from('"a!"\n"b!"\n') } }
    expect(decodeResponse(result as Buffer)).toEqual(answer)
    expect(progress).toBe('{"done":2,"total":2,"failed":0}')
    const file = { kind: 'text/csv', content: Buffer.from('a\n1\n').toString('base64') }
    const asked = { apiName: 'shout', file, job: { rows: true } }
    const over = await jsonOf(await connect('SubmitJob', asked))
    const done = await jsonOf(await connect('GetJob', { id: over.id, waitSeconds: 20 }))
    expect(done.result).toEqual({
      file: { kind, content: Buffer.from('"{\\"a\\":1}!"\n').toString('base64') },
    })
    await expect(submitRows('shout', hello)).rejects.toMatchObject({
      code: 3,
      details: expect.stringContaining('expected a File for the content of a job of rows'),
    })
  })

  it('gives the answers of jobs that HTTP submitted as files, and those of RPC over HTTP as Responses', async () => {
    const { submit, job, result, ...served } = await start(shout)
    const accepted = await jsonOf(await served.post('/shout', 'hi', { prefer: 'respond-async' }))
    const done = await job(accepted.id as string)
    const file = decodeResponse(done.result as Buffer)
    expect(file?.field).toBe('file')
    expect(String(Buffer.from((file as { message: { content: Buffer } }).message.content))).toBe(
      'hi!',
    )
    const { id } = await submit('shout', hello)
    const answer = await result(`/jobs/${id}`)
    expect(answer.headers.get('content-type')).toBe('application/proto')
    expect(decodeResponse(Buffer.from(await answer.arrayBuffer()))).toEqual({
      field: 'text',
      message: 'hello!',
    })
  })

  it('streams what happens to a job, behind the events that the client has', async () => {
    const { submit, watch } = await start((svc) =>
      svc.api({ ...json, name: 'steps', async: true }, async (_: unknown, ctx) => {
        await ctx.job?.progress({ done: 1 })
        return 1
      }),
    )
    const { id } = await submit('steps', { field: 'json', message: 0 })
    const events = await watch(id as string)
    expect(events.map(({ sequence, status, progress }) => [sequence, status ?? progress])).toEqual([
      [1, 'queued'],
      [2, 'running'],
      [3, '{"done":1}'],
      [4, 'completed'],
    ])
    expect((await watch(id as string, 3)).map(({ status }) => status)).toEqual(['completed'])
  })

  it.each(['json', 'proto'])('streams them over Connect, too: %s', async (codec) => {
    const isJson = codec === 'json'
    const { submit, job, base } = await start(shout)
    const { id } = await submit('shout', hello)
    await job(id as string)
    const ask = { id: id as string, after: 1 }
    const message = isJson ? Buffer.from(JSON.stringify(ask)) : watchJobRequest.encode(ask)
    const answer = await fetch(`${base}/serving.v1.ServingService/WatchJob`, {
      method: 'POST',
      headers: { 'content-type': `application/connect+${codec}` },
      body: new Uint8Array(frameOf({ bytes: message })),
    })
    const bytes = Buffer.from(await answer.arrayBuffer())
    const frames: [flags: number, bytes: Buffer][] = []
    for (let at = 0; at < bytes.length; ) {
      const end = at + 5 + bytes.readUInt32BE(at + 1)
      frames.push([bytes[at], bytes.subarray(at + 5, end)])
      at = end
    }
    const last = frames.pop()
    expect([last?.[0], String(last?.[1])]).toEqual([2, '{}'])
    const events = frames.map(([, frame]) =>
      isJson ? JSON.parse(String(frame)) : jobEventMessage.decode(frame),
    )
    expect(events.map(({ status }) => status)).toEqual(['running', 'completed'])
  })

  it('ends streams of events when the server drains', async () => {
    const { submit, watch, listener, base } = await start(
      shout,
      {},
      { jobRole: 'submit', drainTimeoutMs: 60_000 },
    )
    const { id } = await submit('shout', hello)
    const begun = deferred<void>()
    const watched = expect(watch(id as string, 0, () => begun.resolve()))
    const refused = watched.rejects.toMatchObject({ code: 14, details: 'the server stops' })
    await begun.promise
    const page = await fetch(`${base}/serving.v1.ServingService/WatchJob`, {
      method: 'POST',
      headers: { 'content-type': 'application/connect+json' },
      body: new Uint8Array(frameOf({ bytes: Buffer.from(JSON.stringify({ id })) })),
    })
    await listener.close()
    await refused
    expect(await page.text()).toContain('"code":"unavailable","message":"the server stops"')
  })

  it('cancels a job', async () => {
    const gate = deferred<number>()
    onTestFinished(() => gate.resolve(1))
    const { submit, job, cancel } = await start((svc) =>
      svc.api({ ...json, name: 'held', async: true }, () => gate.promise),
    )
    const [first, second] = [
      await submit('held', { field: 'json', message: 0 }),
      await submit('held', { field: 'json', message: 0 }),
    ]
    expect(await cancel(second.id as string)).toMatchObject({ status: 'canceled' })
    await cancel(first.id as string)
    expect(await job(first.id as string)).toMatchObject({ status: 'canceled' })
  })

  it('refuses wrong input and APIs without jobs before anything is kept, and tells why a job failed', async () => {
    const { submit, job } = await start((svc) => {
      svc.api({ ...json, name: 'refusing', async: true }, () => {
        throw new BadInput('expected another value')
      })
      svc.api({ ...json, name: 'plain' }, () => 1)
    })
    await expect(submit('refusing', hello)).rejects.toMatchObject({ code: 3 })
    await expect(submit('plain', { field: 'json', message: 0 })).rejects.toThrow(/asynchronous API/)
    await expect(submit('none', { field: 'json', message: 0 })).rejects.toMatchObject({ code: 5 })
    await expect(job('a'.repeat(22))).rejects.toMatchObject({ code: 5 })
    const { id } = await submit('refusing', { field: 'json', message: 0 })
    expect(await job(id as string)).toMatchObject({
      status: 'failed',
      responseStatus: 400,
      errorCode: 'bad_input',
      errorDetail: 'expected another value',
    })
  })

  it('shows a job to the caller that submitted it alone, and keeps idempotency keys', async () => {
    const { submit, job } = await start(shout, {
      auth: apiKey({ keys: [keyOf('ann'), keyOf('bob')] }),
    })
    const [ann, bob] = [as('ann'), as('bob')]
    await expect(submit('shout', hello)).rejects.toMatchObject({ code: 16 })
    const mine = await submit('shout', hello, { ...ann, 'idempotency-key': 'k' })
    expect((await submit('shout', hello, { ...ann, 'idempotency-key': 'k' })).id).toBe(mine.id)
    await expect(job(mine.id as string)).rejects.toMatchObject({ code: 16 })
    await expect(job(mine.id as string, bob)).rejects.toMatchObject({ code: 5 })
    expect(await job(mine.id as string, ann)).toMatchObject({ status: 'completed' })
  })

  it('asks the auth and the hooks of the API once, when a job is submitted', async () => {
    let asked = 0
    const seen: unknown[] = []
    const { submit, job } = await start(
      (svc) => {
        const auth = apiKey({ keys: [keyOf('eve')] })
        svc.api(
          { ...text, name: 'own', async: true, auth, onRequest: () => void asked++ },
          (_: string, { state, headers }) => {
            seen.push(state.caller?.name, headers.get('x-api-key'))
            return 'done'
          },
        )
        svc.api({ ...text, name: 'open', async: true, auth: false }, () => 'done')
      },
      { auth: apiKey({ keys: [keyOf('ann')] }) },
    )
    await expect(submit('own', hello, as('ann'))).rejects.toMatchObject({ code: 16 })
    const own = await submit('own', hello, as('eve'))
    await expect(job(own.id as string, as('ann'))).rejects.toMatchObject({ code: 16 })
    expect(await job(own.id as string, as('eve'))).toMatchObject({ status: 'completed' })
    expect([asked, seen]).toEqual([1, ['eve', undefined]])
    const open = await submit('open', hello)
    expect(await job(open.id as string)).toMatchObject({ status: 'completed' })
  })

  it('has no methods of jobs without asynchronous APIs', async () => {
    const { submit, connect } = await start((svc) => svc.api({ ...json, name: 'plain' }, () => 1))
    await expect(submit('plain', { field: 'json', message: 0 })).rejects.toMatchObject({ code: 12 })
    expect((await connect('SubmitJob', {})).status).toBe(404)
  })
})
