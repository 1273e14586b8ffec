/** Streams of the Connect protocol over HTTP/1.1, by its own clients. */
import { once } from 'node:events'
import { request } from 'node:http'
import { create, createFileRegistry, type DescService, fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect'
import { createConnectTransport as nodeTransport } from '@connectrpc/connect-node'
import { createConnectTransport as webTransport } from '@connectrpc/connect-web'
import { BadInput, io, type ServeOptions, Service } from 'serving'
import { describe, expect, it, onTestFinished } from 'vitest'
import { frameOf } from '../../src/messages/encoded-message.ts'
import { encodeRequest } from '../../src/messages/envelope.ts'
import { fileDescriptors } from '../../src/messages/gen/descriptors.ts'
import { bothEngines } from '../engines.ts'
import { start } from './harness.ts'

const MiB = 2 ** 20
const registry = createFileRegistry(
  create(FileDescriptorSetSchema, {
    file: fileDescriptors.map(({ base64 }) =>
      fromBinary(FileDescriptorProtoSchema, Buffer.from(base64, 'base64')),
    ),
  }),
)
const described = registry.getService('serving.v1.ServingService') as DescService

interface Client {
  callStream(request: object, options?: object): AsyncIterable<{ readonly content: object }>
}

const text = { input: new io.Text(), output: new io.Text() }
const asked = (apiName: string, value = '') => ({
  apiName,
  content: { case: 'text', value: { value } },
})

function service() {
  const svc = new Service('streams')
  const ended: string[] = []
  svc.api({ ...text, name: 'words' }, async function* (value) {
    yield* value.split(' ')
  })
  svc.api({ input: new io.Text(), output: new io.JSON(), name: 'numbers' }, function* (value) {
    for (let n = 0; n < Number(value); n++) yield { n }
  })
  svc.api({ ...text, name: 'once' }, (value) => value.toUpperCase())
  svc.api({ ...text, name: 'early' }, async function* (value) {
    if (value === '') throw new BadInput('expected tea', { reason: 'schema', path: 'cup' })
    yield value
  })
  svc.api({ ...text, name: 'late' }, async function* () {
    yield 'one'
    throw new BadInput('expected milk')
  })
  svc.api({ ...text, name: 'bug' }, async function* () {
    yield 'one'
    throw new TypeError('secret')
  })
  svc.api({ ...text, name: 'endless' }, async function* (_, ctx) {
    ctx.response.setHeader('x-kettle', 'on')
    try {
      for (;;) {
        yield 'tick'
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    } finally {
      ended.push(`${(ctx.signal.reason as Error | undefined)?.name}`)
    }
  })
  svc.api({ ...text, name: 'stuck' }, async function* () {
    yield 'one'
    await new Promise(() => {})
  })
  svc.api({ ...text, name: 'large' }, async function* (size) {
    yield 'x'.repeat(Number(size))
    yield 'end'
  })
  return { svc, ended }
}

async function listen(engine: 'uws' | 'node', options: ServeOptions = {}) {
  const { svc, ended } = service()
  const listener = await start(svc, { engine, ...options })
  onTestFinished(() => listener.close())
  return { ended, baseUrl: `http://127.0.0.1:${listener.port}` }
}

async function textsOf(messages: AsyncIterable<{ readonly content: object }>): Promise<unknown[]> {
  const texts: unknown[] = []
  for await (const { content } of messages)
    texts.push((content as { value: { value: string } }).value.value)
  return texts
}

const transports: readonly (readonly [string, (baseUrl: string) => Transport])[] = [
  ['connect-web, JSON', (baseUrl) => webTransport({ baseUrl })],
  ['connect-web, protobuf', (baseUrl) => webTransport({ baseUrl, useBinaryFormat: true })],
  [
    'connect-node, protobuf',
    (baseUrl) => nodeTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: true }),
  ],
]

describe.each(bothEngines)('Connect on %s', (engine) => {
  describe.each(transports)('streams to %s', (_, transportTo) => {
    async function open(options: ServeOptions = {}) {
      const { baseUrl, ended } = await listen(engine, options)
      const client = createClient(described, transportTo(baseUrl)) as unknown as Client
      const failure = async (apiName: string, settings?: object) => {
        const seen: unknown[] = []
        try {
          for await (const message of client.callStream(asked(apiName), settings))
            seen.push(message)
        } catch (error) {
          return { seen: seen.length, error: ConnectError.from(error) }
        }
        return expect.unreachable()
      }
      return { client, ended, failure }
    }

    it('each piece of a generator, and the one answer of another function', async () => {
      const { client } = await open()
      expect(await textsOf(client.callStream(asked('words', 'a b c')))).toEqual(['a', 'b', 'c'])
      expect(await textsOf(client.callStream(asked('once', 'a')))).toEqual(['A'])
      let count = 0
      for await (const { content } of client.callStream(asked('numbers', '3'))) {
        expect(content).toMatchObject({ case: 'json' })
        count++
      }
      expect(count).toBe(3)
    })

    it('errors in the last message, before and behind others', async () => {
      const { failure } = await open()
      const early = await failure('early')
      expect(early).toMatchObject({
        seen: 0,
        error: { code: Code.InvalidArgument, rawMessage: 'expected tea' },
      })
      expect(early.error.details).toMatchObject([{ type: 'google.rpc.ErrorInfo' }])
      expect(await failure('late')).toMatchObject({
        seen: 1,
        error: { code: Code.InvalidArgument, rawMessage: 'expected milk' },
      })
      expect(await failure('bug')).toMatchObject({
        seen: 1,
        error: { code: Code.Internal, rawMessage: 'the function failed' },
      })
      expect((await failure('nothing')).error.code).toBe(Code.NotFound)
    })

    it('until the client leaves, which ends the function', async () => {
      const { client, ended } = await open()
      let headers: Headers | undefined
      const onHeader = (got: Headers) => {
        headers = got
      }
      const abort = new AbortController()
      const left = (async () => {
        const settings = { onHeader, signal: abort.signal }
        for await (const message of client.callStream(asked('endless'), settings)) {
          expect(message).toMatchObject({ content: { case: 'text' } })
          abort.abort()
        }
      })()
      await expect(left).rejects.toMatchObject({ code: Code.Canceled })
      expect(headers?.get('x-kettle')).toBe('on')
      await expect.poll(() => ended).toEqual(['ClientClosed'])
    })
  })

  it('ends a stream at the deadline of its client, also one that does not look at its signal', async () => {
    const { baseUrl, ended } = await listen(engine)
    const last = async (api: string) => {
      const frame = frameOf({ bytes: encodeRequest(api, { field: 'text', message: '' }) })
      const answer = await fetch(`${baseUrl}/serving.v1.ServingService/CallStream`, {
        method: 'POST',
        headers: { 'content-type': 'application/connect+proto', 'connect-timeout-ms': '100' },
        body: frame as Uint8Array<ArrayBuffer>,
      })
      const bytes = Buffer.from(await answer.arrayBuffer())
      const start = bytes.lastIndexOf('{"error"')
      return [bytes[start - 5], JSON.parse(bytes.toString('utf8', start)).error.code]
    }
    expect(await last('stuck')).toEqual([2, 'deadline_exceeded'])
    expect(await last('endless')).toEqual([2, 'deadline_exceeded'])
    await expect.poll(() => ended).toEqual(['DeadlineExceeded'])
  })

  it('counts the messages that its clients have not read', async () => {
    const { baseUrl } = await listen(engine, { maxMemoryBytes: 32 * MiB })
    const post = async () => {
      const asking = request(`${baseUrl}/serving.v1.ServingService/CallStream`, {
        method: 'POST',
        headers: { 'content-type': 'application/connect+json' },
      })
      const json = JSON.stringify({ apiName: 'large', text: String(24 * MiB) })
      asking.end(frameOf({ bytes: Buffer.from(json) }))
      const [answer] = await once(asking, 'response')
      return { asking, answer }
    }
    const first = await post()
    await once(first.answer, 'readable')
    const whole = async () => {
      const { answer } = await post()
      const pieces: Buffer[] = []
      for await (const piece of answer) pieces.push(piece)
      return Buffer.concat(pieces)
    }
    expect((await whole()).toString()).toContain('"unavailable"')
    first.asking.destroy()
    await expect
      .poll(async () => (await whole()).length, { timeout: 10_000 })
      .toBeGreaterThan(24 * MiB)
  })

  it('refuses what is no message of a stream', async () => {
    const { baseUrl } = await listen(engine)
    const post = async (body: Uint8Array, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${baseUrl}/serving.v1.ServingService/CallStream`, {
        method: 'POST',
        headers: { 'content-type': 'application/connect+json', ...headers },
        body: body as Uint8Array<ArrayBuffer>,
      })
      const bytes = Buffer.from(await answer.arrayBuffer())
      if (answer.status !== 200) return answer.status
      expect(bytes.readUInt32BE(1)).toBe(bytes.length - 5)
      return [bytes[0], JSON.parse(bytes.toString('utf8', 5)).error.code]
    }
    const message = frameOf({ bytes: Buffer.from('{"apiName":"once","text":"a"}') })
    const packed = Buffer.from(message)
    packed[0] = 1
    const invalid = [2, 'invalid_argument']
    for (const body of [
      Buffer.alloc(0),
      message.subarray(0, -1),
      Buffer.concat([message, message]),
      packed,
    ])
      expect(await post(body)).toEqual(invalid)
    expect(await post(message, { 'connect-content-encoding': 'gzip' })).toEqual([
      2,
      'unimplemented',
    ])
    expect(await post(message, { 'connect-timeout-ms': 'soon' })).toEqual(invalid)
    expect(await post(message, { 'content-type': 'application/json' })).toBe(415)
  })
})
