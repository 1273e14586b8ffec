import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { create, createFileRegistry, type DescService, fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { createClient } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import {
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import { Forbidden, io, type Listener, NDArray, type ServeOptions, Service } from 'serving'
import { apiKey } from 'serving/auth'
import { afterEach, describe, expect, it } from 'vitest'
import { deferred } from '../../src/core/promise.ts'
import { frameOf } from '../../src/messages/encoded-message.ts'
import { decodeResponse, encodeRequest } from '../../src/messages/envelope.ts'
import { fileDescriptors } from '../../src/messages/gen/descriptors.ts'
import { start } from './harness.ts'

type Stream = ClientDuplexStream<Buffer, Buffer>

const callLive = '/serving.v1.ServingService/CallLive'
const asIs = (bytes: Buffer) => bytes
const text = { input: new io.Text(), output: new io.Text() }
const textOf = (value: string) => ({ field: 'text', message: value }) as const
const named = (name: string, value?: string) =>
  encodeRequest(name, value === undefined ? undefined : textOf(value))
const more = (value: string) => encodeRequest('', textOf(value))

let listener: Listener
let client: Client
let ended: Promise<string>

function service(): Service {
  const end = deferred<string>()
  ended = end.promise
  const svc = new Service('live')
  svc.api({ ...text, name: 'echo' }, (value: string) => value)
  svc.live('upper', text, async function* (texts, ctx) {
    ctx.response.setHeader('x-kettle', 'boiling')
    for await (const each of texts) yield each.toUpperCase()
  })
  const array = new io.NumpyNdarray({ dtype: 'float32' })
  svc.live('sums', { input: array, output: array }, async function* (arrays) {
    let sum = 0
    for await (const { data } of arrays) {
      for (const each of data as Float32Array) sum += each
      yield new NDArray(Float32Array.of(sum), [1], 'float32')
    }
  })
  svc.live('watched', text, async function* (texts, ctx) {
    yield 'ready'
    try {
      for await (const _ of texts);
    } catch (error) {
      end.resolve(`inputs: ${(error as Error).name}`)
      throw error
    }
    if (!ctx.signal.aborted) await once(ctx.signal, 'abort')
    end.resolve(`signal: ${ctx.signal.reason.name}`)
  })
  svc.live('first', text, async function* (texts) {
    yield (await texts[Symbol.asyncIterator]().next()).value as string
  })
  svc.live('slow', { ...text, maxBuffered: 10_000 }, async function* (_, ctx) {
    yield 'ready'
    await once(ctx.signal, 'abort')
  })
  svc.live('fails', text, async function* (texts) {
    for await (const each of texts) {
      yield each
      throw new TypeError('secret')
    }
  })
  svc.live('small', { ...text, maxMessage: 100, maxInFlight: 1 }, async function* (texts) {
    for await (const each of texts) yield each
  })
  return svc
}

async function open(options: ServeOptions = {}, svc = service()): Promise<void> {
  listener = await start(svc, { drainTimeoutMs: 100, ...options })
  client = new Client(`127.0.0.1:${listener.grpcPort}`, credentials.createInsecure())
}

function call(headers: Record<string, string> = {}, options: object = {}): Stream {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  return client.makeBidiStreamRequest(callLive, asIs, asIs, metadata, options)
}

/** Reads the texts that are left, and the status. */
async function rest(stream: Stream): Promise<{ texts: unknown[]; code: number; details: string }> {
  const texts: unknown[] = []
  try {
    for await (const bytes of stream) texts.push(decodeResponse(bytes)?.message)
  } catch (error) {
    const { code, details } = error as ServiceError
    return { texts, code, details }
  }
  return { texts, code: status.OK, details: '' }
}

async function next(stream: Stream): Promise<unknown> {
  const [bytes] = await once(stream, 'data')
  return decodeResponse(bytes)?.message
}

afterEach(async () => {
  client.close()
  await listener.close()
})

describe('live streams over gRPC', () => {
  it('answer each message while the client sends more, and end with the client', async () => {
    await open()
    const stream = call()
    stream.write(named('upper'))
    for (const each of ['one', 'two', 'three']) {
      stream.write(more(each))
      expect(await next(stream)).toBe(each.toUpperCase())
    }
    stream.end()
    expect(await rest(stream)).toEqual({ texts: [], code: status.OK, details: '' })
  })

  it('take a value in the first message, and send the headers of the function', async () => {
    await open()
    const stream = call({ 'x-request-id': 'tea-1' })
    const headers = once(stream, 'metadata')
    stream.write(named('upper', 'tea'))
    stream.end(more('milk'))
    expect((await rest(stream)).texts).toEqual(['TEA', 'MILK'])
    const [metadata] = await headers
    expect(metadata.get('x-kettle')).toEqual(['boiling'])
    expect(metadata.get('x-request-id')).toEqual(['tea-1'])
  })

  it('carry arrays in both directions', async () => {
    await open()
    const stream = call()
    const request = (name: string, ...values: number[]) =>
      encodeRequest(name, {
        field: 'ndarray',
        message: { dtype: 1, shape: [values.length], floatValues: Float32Array.from(values) },
      })
    stream.write(request('sums', 1, 2))
    stream.end(request('', 3, 4, 5))
    const arrays = (await rest(stream)).texts as { floatValues: ArrayLike<number> }[]
    expect(arrays.map(({ floatValues }) => [...Array.from(floatValues)])).toEqual([[3], [15]])
  })

  it('serve clients of Connect that speak gRPC', async () => {
    await open()
    const file = fileDescriptors.map(({ base64 }) =>
      fromBinary(FileDescriptorProtoSchema, Buffer.from(base64, 'base64')),
    )
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file }))
    const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${listener.grpcPort}` })
    const connect = createClient(
      registry.getService('serving.v1.ServingService') as DescService,
      transport,
    ) as unknown as {
      callLive(
        requests: AsyncIterable<object>,
      ): AsyncIterable<{ content: { value: { value: string } } }>
    }
    let answered = deferred<void>()
    async function* requests() {
      yield { apiName: 'upper' }
      for (const value of ['a', 'b']) {
        answered = deferred<void>()
        yield { content: { case: 'text', value: { value } } }
        await answered.promise
      }
    }
    const texts: string[] = []
    for await (const { content } of connect.callLive(requests())) {
      texts.push(content.value.value)
      answered.resolve()
    }
    expect(texts).toEqual(['A', 'B'])
  })

  it('abort the function if the client cancels, or its deadline passes', async () => {
    await open()
    const cancelled = call()
    cancelled.on('error', () => {})
    cancelled.write(named('watched'))
    expect(await next(cancelled)).toBe('ready')
    // Clients on node:http2 end their side before they reset the stream.
    cancelled.cancel()
    expect(await ended).toBe('signal: ClientClosed')
    const late = call({}, { deadline: Date.now() + 200 })
    late.write(named('watched'))
    expect(await rest(late)).toMatchObject({ code: status.DEADLINE_EXCEEDED })
  })

  it('let the function tell a client that is gone from one that has sent everything', async () => {
    await open()
    const session = connect(`http://127.0.0.1:${listener.grpcPort}`)
    const headers = { 'content-type': 'application/grpc', te: 'trailers' }
    const stream = session.request({ ':method': 'POST', ':path': callLive, ...headers })
    stream.write(frameOf({ bytes: named('watched') }))
    await once(stream, 'data')
    session.destroy()
    expect(await ended).toBe('inputs: ClientClosed')
  })

  it('outlive the deadline of requests', async () => {
    await open({ requestTimeoutMs: 1 })
    const stream = call()
    stream.write(named('upper', 'a'))
    expect(await next(stream)).toBe('A')
    await new Promise((resolve) => setTimeout(resolve, 20))
    stream.end(more('b'))
    expect(await rest(stream)).toMatchObject({ texts: ['B'], code: status.OK })
  })

  it('end with the function, whatever the client still sends', async () => {
    await open()
    const stream = call()
    stream.write(named('first', 'a'))
    for (let i = 0; i < 100; i++) stream.write(more('b'.repeat(1000)))
    expect(await rest(stream)).toEqual({ texts: ['a'], code: status.OK, details: '' })
  })

  it('let a client wait that is ahead of the function', async () => {
    await open()
    const stream = call()
    stream.on('error', () => {})
    stream.write(named('slow'))
    expect(await next(stream)).toBe('ready')
    let sent = 0
    // The windows of HTTP/2 hold 4 MiB, the client a few messages.
    const isHeld = await Promise.race([
      (async () => {
        for (; sent < 1000; sent++)
          await new Promise((resolve) => stream.write(more('b'.repeat(64 * 1024)), resolve))
        return false
      })(),
      new Promise((resolve) => setTimeout(resolve, 1500, true)),
    ])
    expect(isHeld).toBe(true)
    expect(sent).toBeLessThan(200)
    stream.cancel()
  })

  it('tell what is wrong by a status', async () => {
    await open()
    const statusOf = async (...messages: Buffer[]) => {
      const stream = call()
      for (const each of messages) stream.write(each)
      stream.end()
      const { code, details } = await rest(stream)
      return `${status[code]} ${details}`
    }
    expect(await statusOf(named('echo', 'a'))).toMatch(
      /^NOT_FOUND expected the name of a live stream for api_name/,
    )
    expect(await statusOf(named('fails', 'a'))).toBe('INTERNAL the function failed')
    expect(await statusOf(named('upper'), named('first', 'a'))).toMatch(
      /^INVALID_ARGUMENT expected no other api_name/,
    )
    expect(await statusOf(named('upper'), Buffer.from('hello'))).toMatch(/^INVALID_ARGUMENT /)
    expect(await statusOf(named('upper'), encodeRequest('', undefined))).toMatch(
      /^INVALID_ARGUMENT /,
    )
    expect(await statusOf(named('small'), more('a'.repeat(101)))).toMatch(
      /^RESOURCE_EXHAUSTED .*maxMessage/,
    )
  })

  it('take no slot of requests, and have limits of their own', async () => {
    await open({ maxInFlight: 1, maxLive: 2 })
    const [one, two, three, four] = Array.from({ length: 4 }, () => call())
    for (const each of [one, two, three, four]) each.on('error', () => {})
    one.write(named('small', 'a'))
    expect(await next(one)).toBe('a')
    two.write(named('small', 'a'))
    expect(await rest(two)).toMatchObject({
      code: status.UNAVAILABLE,
      details: 'too many requests in flight',
    })
    three.write(named('upper', 'a'))
    expect(await next(three)).toBe('A')
    four.write(named('upper', 'a'))
    expect(await rest(four)).toMatchObject({ details: 'too many live streams' })
    three.end()
    expect(await rest(three)).toMatchObject({ code: status.OK })
    one.cancel()
  })

  it('hold memory for their longest message from the start, as over WebSockets, and give it back', async () => {
    const svc = new Service('large')
    svc.live('big', { ...text, maxMessage: '1mb' }, async function* (texts) {
      for await (const each of texts) yield each
    })
    await open({ maxMemoryBytes: 2 * 1024 * 1024 }, svc)
    const streams = [call(), call()]
    for (const each of streams) {
      each.on('error', () => {})
      each.write(named('big', 'a'))
      expect(await next(each)).toBe('a')
    }
    const refused = call()
    refused.write(named('big', 'a'))
    expect(await rest(refused)).toMatchObject({
      details: expect.stringContaining('too little memory'),
    })
    streams[0]?.cancel()
    await expect
      .poll(async () => {
        const again = call()
        again.end(named('big', 'b'))
        return (await rest(again)).texts
      })
      .toEqual(['b'])
  })

  it('ask auth and hooks for the API that the first message names', async () => {
    const guarded = new Service('guarded', {
      auth: apiKey({ keys: [createHash('sha256').update('tea').digest('hex')] }),
    })
    guarded.live('open', { ...text, auth: false }, async function* (texts) {
      yield* texts
    })
    const refuse = () => Promise.reject(new Forbidden('expected tea'))
    guarded.live('hooked', { ...text, auth: false, onRequest: refuse }, async function* (texts) {
      yield* texts
    })
    guarded.live('closed', text, async function* (texts) {
      yield* texts
    })
    await open({}, guarded)
    const codeOf = async (name: string, headers = {}) => {
      const stream = call(headers)
      stream.end(named(name, 'a'))
      return (await rest(stream)).code
    }
    expect(await codeOf('open')).toBe(status.OK)
    expect(await codeOf('hooked')).toBe(status.PERMISSION_DENIED)
    expect(await codeOf('closed')).toBe(status.UNAUTHENTICATED)
    expect(await codeOf('unknown')).toBe(status.UNAUTHENTICATED)
    expect(await codeOf('closed', { 'x-api-key': 'tea' })).toBe(status.OK)
  })

  it('go on while the server drains, then end with it', async () => {
    await open()
    const stream = call()
    stream.write(named('upper', 'a'))
    expect(await next(stream)).toBe('A')
    const closed = listener.close()
    expect(await rest(stream)).toMatchObject({
      code: status.UNAVAILABLE,
      details: 'the server stops',
    })
    await closed
  })
})
