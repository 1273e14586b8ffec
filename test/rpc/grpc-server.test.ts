import { status } from '@grpc/grpc-js'
import {
  BadInput,
  io,
  type Listener,
  NotFound,
  Overloaded,
  Service,
  ServingError,
  Unauthorized,
} from 'serving'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ProtoWriter } from '../../src/messages/protobuf.ts'
import { stock } from '../stock-proto.ts'
import { echoService } from './echo-service.ts'
import { GrpcClient, start } from './harness.ts'

const text = (message: string) => ({ field: 'text' as const, message })

class Teapot extends ServingError {
  constructor() {
    super('function_error', 'short and stout', {}, { code: 'teapot', status: 418 })
  }
}

const errors: Record<string, () => Error> = {
  bad: () => new BadInput('expected tea', { reason: 'schema', path: 'cup' }),
  missing: () => new NotFound('no such tea'),
  unknown: () => new Unauthorized('who is it?'),
  full: () => new Overloaded('the pot is full'),
  teapot: () => new Teapot(),
  bug: () => new TypeError('secret of the function'),
}

let release: () => void = () => {}
let sawAbort: Promise<string> = Promise.resolve('')

function troubleService(): Service {
  const svc = new Service('trouble')
  const plain = () => ({ input: new io.Text(), output: new io.Text() })
  svc.api({ ...plain(), name: 'fail' }, (kind: string) => {
    throw errors[kind]()
  })
  svc.api({ ...plain(), name: 'context' }, (name: string, ctx) => {
    ctx.response.setHeader('x-kettle', 'boiling')
    return `${ctx.headers.get(name)} ${ctx.id}`
  })
  svc.api({ ...plain(), name: 'late' }, (_: string, ctx) => {
    ctx.response.setHeader('x-kettle', 'boiling')
    ctx.onEnd(() => ctx.response.setHeader('x-kettle', 'cold'))
    return 'said'
  })
  svc.api({ ...plain(), name: 'own_status' }, (code: string, ctx) => {
    ctx.response.status = Number(code)
    return 'said'
  })
  svc.api({ ...plain(), name: 'hang' }, (_: string, ctx) => {
    sawAbort = new Promise((resolve) =>
      ctx.signal.addEventListener('abort', () => resolve(ctx.abortReason?.name ?? '')),
    )
    return new Promise<string>((resolve) => {
      release = () => resolve('let go')
    })
  })
  svc.api({ ...plain(), name: 'broken_stream' }, async function* () {
    yield 'one'
    throw new Error('secret of the stream')
  })
  svc.api({ ...plain(), name: 'endless' }, async function* (_: string, ctx) {
    sawAbort = new Promise((resolve) =>
      ctx.signal.addEventListener('abort', () => resolve(ctx.abortReason?.name ?? '')),
    )
    for (let i = 0; ; i++) yield `${i} `
  })
  svc.api(
    { name: 'wrong_output', input: new io.Text(), output: new io.NumpyNdarray() },
    () => 'no array' as never,
  )
  return svc
}

let listener: Listener
let client: GrpcClient
beforeAll(async () => {
  listener = await start(troubleService())
  client = new GrpcClient(listener.grpcPort as number)
})
afterAll(async () => {
  client.close()
  await listener.close()
})
afterEach(() => {
  release()
  sawAbort = Promise.resolve('')
})

it('ends the context of a call when its answer has been sent', async () => {
  const { metadata } = await client.call('late', text(''))
  expect(metadata?.get('x-kettle')).toEqual(['boiling'])
})

describe('the status of a call', () => {
  it.each([
    ['bad', status.INVALID_ARGUMENT, 'expected tea'],
    ['missing', status.NOT_FOUND, 'no such tea'],
    ['unknown', status.UNAUTHENTICATED, 'who is it?'],
    ['full', status.UNAVAILABLE, 'the pot is full'],
    ['teapot', status.INTERNAL, 'short and stout'],
    ['bug', status.INTERNAL, 'the function failed'],
  ])('of a function that throws %s', async (kind, code, details) => {
    const { error } = await client.call('fail', text(kind))
    expect(error).toMatchObject({ code, details })
  })

  it('comes with a google.rpc.ErrorInfo of code, reason, path and request id', async () => {
    const { error } = await client.call('fail', text('bad'), {
      metadata: { 'x-request-id': 'r-1' },
    })
    const [bin] = error?.metadata.get('grpc-status-details-bin') ?? []
    const texts = (bin as Buffer).toString()
    for (const word of ['google.rpc.ErrorInfo', 'BAD_INPUT', 'schema', 'cup', 'r-1'])
      expect(texts).toContain(word)
    expect(error?.metadata.get('x-request-id')).toEqual(['r-1'])
  })

  it('is NOT_FOUND for an unknown API and INTERNAL for what has no encoding', async () => {
    expect((await client.call('nobody', text(''))).error?.code).toBe(status.NOT_FOUND)
    const { error } = await client.call('wrong_output', text(''))
    expect(error).toMatchObject({
      code: status.INTERNAL,
      details: expect.not.stringContaining('no array'),
    })
  })

  it('follows the status that the function sets', async () => {
    expect((await client.call('own_status', text('201'))).content).toEqual(text('said'))
    expect((await client.call('own_status', text('404'))).error?.code).toBe(status.NOT_FOUND)
    expect((await client.call('own_status', text('429'))).error?.code).toBe(
      status.RESOURCE_EXHAUSTED,
    )
  })

  it.each([
    ['401', 'UNAUTHORIZED'],
    ['404', 'NOT_FOUND'],
    ['418', 'BAD_INPUT'],
    ['500', 'FUNCTION_ERROR'],
    ['503', 'OVERLOADED'],
  ])('has a code of the error table when the function sets %s', async (own, code) => {
    const { error } = await client.call('own_status', text(own))
    const [details] = error?.metadata.get('grpc-status-details-bin') ?? []
    expect((details as Buffer).toString()).toContain(code)
    expect((details as Buffer).toString()).not.toContain('OWN_STATUS')
  })
})

describe('the context of a call', () => {
  it('has its metadata and id, and sends headers back as metadata', async () => {
    const { content, metadata } = await client.call('context', text('x-tea'), {
      metadata: { 'x-tea': 'green', 'x-request-id': 'id-7' },
    })
    expect(content).toEqual(text('green id-7'))
    expect(metadata?.get('x-kettle')).toEqual(['boiling'])
    expect(metadata?.get('x-request-id')).toEqual(['id-7'])
  })

  it('is aborted when the client cancels', async () => {
    const controller = new AbortController()
    const pending = client.raw(
      stock.Request.encode({ apiName: 'hang', text: { value: '' } }).finish(),
      {
        signal: controller.signal,
      },
    )
    await expect.poll(() => listenerHasCall()).toBe(true)
    controller.abort()
    expect((await pending).error?.code).toBe(status.CANCELLED)
    expect(await sawAbort).toBe('ClientClosed')
  })

  it('is not aborted when it has been answered', async () => {
    const pending = client.call('hang', text(''))
    await expect.poll(() => listenerHasCall()).toBe(true)
    release()
    expect((await pending).content).toEqual(text('let go'))
    // By then the stream of the first call is closed.
    for (let i = 0; i < 3; i++) await client.call('own_status', text('200'))
    expect(await Promise.race([sawAbort, Promise.resolve('never')])).toBe('never')
  })
})

async function listenerHasCall(): Promise<boolean> {
  return (await Promise.race([sawAbort, Promise.resolve('waiting')])) === 'waiting'
}

describe('a streaming call', () => {
  it('sends a message for each piece', async () => {
    const own = await start(echoService())
    const other = new GrpcClient(own.grpcPort as number)
    expect(await other.stream('words', text('a b c'))).toEqual([text('a'), text('b'), text('c')])
    const two = { field: 'json', message: 2 } as const
    const counted = [{ i: 1 }, { i: 2 }]
    expect(await other.stream('count', two)).toEqual(
      counted.map((message) => ({ field: 'json', message })),
    )
    expect((await other.call('count', two)).content).toEqual({ field: 'json', message: counted })
    expect(await other.stream('json', { field: 'json', message: { a: 1 } })).toEqual([
      { field: 'json', message: { a: 1 } },
    ])
    other.close()
    await own.close()
  })

  it('ends with a status when the generator fails, without its message', async () => {
    await expect(client.stream('broken_stream', text(''))).rejects.toMatchObject({
      code: status.INTERNAL,
      details: 'the function failed',
    })
    await expect(client.stream('nobody', text(''))).rejects.toMatchObject({
      code: status.NOT_FOUND,
    })
  })

  it('ends the generator when the client goes', async () => {
    expect(await client.stream('endless', text(''), 3)).toHaveLength(3)
    expect(await sawAbort).toBe('ClientClosed')
  })
})

describe('the gRPC server', () => {
  it('answers under the name that clients of the reference system call', async () => {
    const other = new GrpcClient(listener.grpcPort as number, 'bentoml.grpc.v1.BentoService')
    expect((await other.call('own_status', text('200'))).content).toEqual(text('said'))
    other.close()
  })

  it('tells the APIs and their descriptors', async () => {
    const own = await start(echoService())
    const other = new GrpcClient(own.grpcPort as number)
    const { bytes } = await other.raw(new Uint8Array(0), {}, 'ServiceMetadata')
    const told = stock.ServiceMetadataResponse.decode(bytes as Buffer) as {
      readonly apis: readonly { name: string }[]
    }
    expect(told).toMatchObject({ name: 'echo', docs: 'Echoes.' })
    expect(told.apis.find(({ name }) => name === 'pairs')).toMatchObject({
      input: {
        descriptorId: 'serving.io.NumpyNdarray',
        attributes: {
          fields: {
            args: {
              structValue: {
                fields: {
                  dtype: { stringValue: 'int32' },
                  enforce_shape: { boolValue: true },
                  shape: { listValue: { values: [{ numberValue: -1 }, { numberValue: 2 }] } },
                },
              },
            },
          },
        },
      },
    })
    other.close()
    await own.close()
  })

  it('counts calls and HTTP requests against one limit', async () => {
    const own = await start(troubleService(), { maxInFlight: 1 })
    const other = new GrpcClient(own.grpcPort as number)
    const first = other.call('hang', text(''))
    await expect
      .poll(async () => (await other.call('own_status', text('200'))).error?.code)
      .toBe(status.UNAVAILABLE)
    const http = await fetch(`http://127.0.0.1:${own.port}/own_status`, {
      method: 'POST',
      body: '200',
    })
    expect(http.status).toBe(503)
    release()
    expect((await first).content).toEqual(text('let go'))
    other.close()
    await own.close()
  })

  it('finishes running calls before it stops, and refuses new ones', async () => {
    const own = await start(troubleService())
    const other = new GrpcClient(own.grpcPort as number)
    const running = other.call('hang', text(''))
    await expect.poll(() => listenerHasCall()).toBe(true)
    await expect
      .poll(async () => (await fetch(`http://127.0.0.1:${own.port}/readyz`)).status)
      .toBe(200)
    const closed = own.close()
    expect((await other.call('own_status', text('200'))).error?.code).toBe(status.UNAVAILABLE)
    release()
    expect((await running).content).toEqual(text('let go'))
    await closed
    other.close()
  })

  it('tells its health', async () => {
    const health = new GrpcClient(listener.grpcPort as number, 'grpc.health.v1.Health')
    for (const name of ['', 'serving.v1.ServingService', 'bentoml.grpc.v1.BentoService']) {
      const writer = new ProtoWriter(64)
      writer.text(1, name)
      const { bytes } = await health.raw(writer.finish(), {}, 'Check')
      // status: SERVING
      expect(bytes?.toString('hex')).toBe('0801')
    }
    health.close()
  })
})
