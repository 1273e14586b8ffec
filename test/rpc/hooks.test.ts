import { type Context, Forbidden, io, NDArray, type Outcome, Service } from 'serving'
import { afterEach, describe, expect, it } from 'vitest'
import { encodeRequest } from '../../src/messages/envelope.ts'
import { GrpcClient, start } from './harness.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function serveHooks(): Promise<{
  readonly svc: Service
  readonly client: GrpcClient
  readonly url: string
  readonly seen: unknown[]
  ended(count: number): Promise<(readonly [ctx: Context, outcome: Outcome])[]>
}> {
  const seen: unknown[] = []
  const outcomes: (readonly [Context, Outcome])[] = []
  const svc = new Service('hooked')
  svc.onRequest((ctx) => {
    seen.push(['service', ctx.method, ctx.path, ctx.api, ctx.remoteAddress])
    ctx.response.setHeader('x-hook', 'ran')
    if (ctx.headers.get('x-refuse') === 'service') throw new Forbidden('not you')
  })
  svc.onResponse((ctx, outcome) => void outcomes.push([ctx, outcome]))
  svc.onError((ctx, error) => void seen.push(['error', ctx.api, error.message]))
  const own = async (ctx: Context) => {
    await Promise.resolve()
    seen.push(['own', ctx.api])
    if (ctx.headers.get('x-refuse') === 'own') throw new Forbidden('not here')
  }
  const array = new io.NumpyNdarray({ dtype: 'float32', shape: [-1] })
  svc.api({ input: array, output: array, onRequest: own }, function twice(x) {
    seen.push('called')
    return new NDArray(
      x.data.map((value) => value * 2),
      x.shape,
    )
  })
  svc.api({ input: new io.Text(), output: new io.Text() }, async function* words(text) {
    for (const word of text.split(' ')) yield word
  })
  const listener = await start(svc)
  const client = new GrpcClient(listener.grpcPort as number)
  closing.push(
    () => client.close(),
    () => listener.close(),
  )
  return {
    svc,
    client,
    url: `http://127.0.0.1:${listener.port}`,
    seen,
    async ended(count) {
      while (outcomes.length < count) await new Promise((resolve) => setImmediate(resolve))
      return outcomes
    },
  }
}

const request = encodeRequest('twice', {
  field: 'ndarray',
  message: { shape: [2], floatValues: Float32Array.of(1, 2) },
})

describe('hooks over gRPC', () => {
  it('run with the method and the address, then those of the API, and are told the outcome', async () => {
    const { client, seen, ended } = await serveHooks()
    const answer = await client.raw(request)
    expect(answer.error).toBeUndefined()
    expect(answer.metadata?.get('x-hook')).toEqual(['ran'])
    const path = '/serving.v1.ServingService/Call'
    expect(seen).toEqual([
      ['service', 'POST', path, undefined, '127.0.0.1'],
      ['own', 'twice'],
      'called',
    ])
    const [[ctx, outcome]] = await ended(1)
    expect([ctx.api, ctx.path]).toEqual(['twice', path])
    expect(outcome).toMatchObject({
      status: 200,
      code: undefined,
      protocol: 'grpc',
      endpoint: path.slice(1),
      bytesIn: request.length,
      bytesOut: answer.bytes?.length,
    })
  })

  it('refuse with the status, before the function', async () => {
    const { client, seen, ended } = await serveHooks()
    for (const refuse of ['service', 'own']) {
      const { error } = await client.raw(request, { metadata: { 'x-refuse': refuse } })
      expect([error?.code, error?.metadata.get('x-hook')]).toEqual([7, ['ran']])
    }
    expect(seen).not.toContain('called')
    expect(seen.at(-1)).toEqual(['error', 'twice', 'not here'])
    expect((await ended(2)).map(([, { status, code }]) => [status, code])).toEqual([
      [403, 'forbidden'],
      [403, 'forbidden'],
    ])
  })

  it('are told of streams, failures, cancelled calls and other methods', async () => {
    const { client, ended } = await serveHooks()
    expect(
      (await client.stream('words', { field: 'text', message: 'a b c' } as never)).length,
    ).toBe(3)
    await client.stream('words', { field: 'text', message: 'a b c' } as never, 1)
    await client.raw(Buffer.from([255]))
    await client.raw(Buffer.alloc(0), {}, 'ServiceMetadata')
    const outcomes = (await ended(4)).map(([, { status, endpoint }]) => [
      status,
      endpoint?.split('/')[1],
    ])
    expect(outcomes.filter(([, name]) => name === 'CallStream').length).toBe(2)
    expect(outcomes).toContainEqual([400, 'Call'])
    expect(outcomes).toContainEqual([200, 'ServiceMetadata'])
  })
})

describe('hooks over Connect and the Open Inference Protocol', () => {
  it('are those of the service before the body, and those of the API once it is known', async () => {
    const { url, seen, ended } = await serveHooks()
    const post = (path: string, body: unknown, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
    const ndarray = { dtype: 'DTYPE_FLOAT', shape: [2], floatValues: [1, 2] }
    const call = (headers = {}) =>
      post('/serving.v1.ServingService/Call', { apiName: 'twice', ndarray }, headers)
    const tensor = { name: 'input', shape: [2], datatype: 'FP32', data: [1, 2] }
    const infer = (headers = {}) => post('/v2/models/twice/infer', { inputs: [tensor] }, headers)
    for (const send of [call, infer]) {
      seen.length = 0
      const good = await send()
      expect([good.status, good.headers.get('x-hook')]).toEqual([200, 'ran'])
      expect(
        seen.filter((each) => each !== 'called').map((each) => (each as unknown[])[0]),
      ).toEqual(['service', 'own'])
      for (const refuse of ['service', 'own']) {
        seen.length = 0
        const refused = await send({ 'x-refuse': refuse })
        expect([refused.status, refused.headers.get('x-hook')]).toEqual([403, 'ran'])
        expect(seen).not.toContain('called')
      }
    }
    const outcomes = await ended(6)
    expect(outcomes.map(([ctx, { protocol, status }]) => [protocol, ctx.api, status])).toEqual([
      ['connect', 'twice', 200],
      ['connect', undefined, 403],
      ['connect', 'twice', 403],
      ['http', 'twice', 200],
      ['http', undefined, 403],
      ['http', 'twice', 403],
    ])
  })
})
