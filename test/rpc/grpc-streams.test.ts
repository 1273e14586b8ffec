import { createHash } from 'node:crypto'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import { gzipSync } from 'node:zlib'
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { io, type Listener, type ServeOptions, Service, type ServiceOptions } from 'serving'
import { apiKey } from 'serving/auth'
import { afterEach, describe, expect, it } from 'vitest'
import { frameOf } from '../../src/messages/encoded-message.ts'
import { encodeRequest } from '../../src/messages/envelope.ts'
import { ProtoWriter, wireType } from '../../src/messages/protobuf.ts'
import { start } from './harness.ts'

const MiB = 2 ** 20
const callStream = '/serving.v1.ServingService/CallStream'
const modelStream = '/inference.GRPCInferenceService/ModelStreamInfer'
const paths = [callStream, modelStream]

let called = 0
let listener: Listener
let session: ClientHttp2Session

async function open(options: ServeOptions = {}, svc = service()): Promise<void> {
  called = 0
  listener = await start(svc, options)
  session = connect(`http://127.0.0.1:${listener.grpcPort}`)
}

afterEach(async () => {
  session.destroy()
  await listener.close()
})

function service(options: ServiceOptions = {}): Service {
  const svc = new Service('streams', options)
  const text = { input: new io.Text(), output: new io.Text() }
  svc.api({ ...text, name: 'echo' }, (value: string) => {
    called++
    return value
  })
  return svc
}

function request(path: string, headers: Record<string, string> = {}): ClientHttp2Stream {
  const own = { 'content-type': 'application/grpc', te: 'trailers', ...headers }
  const stream = session.request({ ':method': 'POST', ':path': path, ...own })
  stream.on('error', () => {})
  return stream
}

/** The status of a call, and how many messages answered it. */
async function answerTo(
  stream: ClientHttp2Stream,
): Promise<readonly [status: number, messages: number]> {
  let status = Number.NaN
  const read = (headers: Readonly<Record<string, unknown>>) => {
    if (headers['grpc-status'] !== undefined) status = Number(headers['grpc-status'])
  }
  stream.on('response', read)
  stream.on('trailers', read)
  const pieces: Buffer[] = []
  stream.on('data', (piece: Buffer) => pieces.push(piece))
  const known = new Promise((resolve) => {
    stream.on('close', resolve)
    // A client that is refused need not end its side.
    stream.on('end', resolve)
  })
  await known
  const bytes = Buffer.concat(pieces)
  let messages = 0
  for (let at = 0; at < bytes.length; at += 5 + bytes.readUInt32BE(at + 1)) messages++
  return [status, messages]
}

/** A ModelInferRequest of one text to the API. */
function inferRequest(text: string): Uint8Array {
  const writer = new ProtoWriter(256)
  writer.text(1, 'echo')
  writer.message(5, () => {
    writer.text(1, 'text_input')
    writer.text(2, 'BYTES')
    writer.tag(3, wireType.varint).int64(1)
    writer.message(5, () => writer.text(8, text))
  })
  return writer.finish()
}

const messageFor = (path: string, text: string) =>
  path === callStream ? encodeRequest('echo', { field: 'text', message: text }) : inferRequest(text)
const frame = (path: string, text: string) => frameOf({ bytes: messageFor(path, text) })

describe.each(paths)('messages to %s that do not come as a whole', (path) => {
  const options = { maxBodyBytes: 8 * MiB, maxMemoryBytes: 10 * MiB }
  const prefix = Buffer.of(0, 0, 0x60, 0, 0)

  it('are given up when their client is late', async () => {
    await open({ ...options, bodyTimeoutMs: 300 })
    const half = request(path)
    half.write(frame(path, 'tea').subarray(0, -1))
    expect(await answerTo(half)).toEqual([4, 0])
  })

  it('share the memory of the worker, which has it back when they end', async () => {
    await open({ ...options, bodyTimeoutMs: 60_000 })
    for (let round = 0; round < 3; round++) {
      const first = request(path)
      first.write(prefix)
      await new Promise((written) => first.write(Buffer.alloc(4 * MiB), written))
      const next = request(path)
      next.write(prefix)
      next.write(Buffer.alloc(6 * MiB))
      expect(await answerTo(next)).toEqual([14, 0])
      const closed = new Promise((resolve) => first.once('close', resolve))
      first.close(8)
      await closed
    }
  })

  it('are refused without a key as soon as they begin', async () => {
    await open(
      options,
      service({ auth: apiKey({ keys: [createHash('sha256').update('key').digest('hex')] }) }),
    )
    const half = request(path)
    half.write(prefix)
    expect(await answerTo(half)).toEqual([16, 0])
    expect(called).toBe(0)
    const whole = request(path, { 'x-api-key': 'key' })
    whole.end(frame(path, 'tea'))
    expect(await answerTo(whole)).toEqual([0, 1])
  })

  it('are refused when their length is above the limit', async () => {
    await open(options)
    const long = request(path)
    long.write(Buffer.of(0, 0xff, 0, 0, 0))
    expect(await answerTo(long)).toEqual([8, 0])
  })
})

describe('the messages of a duplex call', () => {
  it('are answered in their order, however they are cut into frames', async () => {
    await open()
    for (const step of [1, 7, 4096, MiB]) {
      called = 0
      const count = step === 1 ? 3 : 300
      const bytes = Buffer.concat(
        Array.from({ length: count }, (_, i) => frame(modelStream, `tea ${i}`)),
      )
      const stream = request(modelStream)
      const answer = answerTo(stream)
      for (let at = 0; at < bytes.length; at += step) stream.write(bytes.subarray(at, at + step))
      stream.end()
      expect(await answer).toEqual([0, count])
      expect(called).toBe(count)
    }
  })

  it('may be compressed, each for itself', async () => {
    await open()
    const packed = frameOf({ bytes: gzipSync(messageFor(modelStream, 'packed')) })
    packed[0] = 1
    const stream = request(modelStream, { 'grpc-encoding': 'gzip' })
    stream.end(Buffer.concat([packed, frame(modelStream, 'plain'), packed]))
    expect(await answerTo(stream)).toEqual([0, 3])
    const bomb = frameOf({ bytes: gzipSync(Buffer.alloc(8 * MiB)) })
    bomb[0] = 1
    const next = request(modelStream, { 'grpc-encoding': 'gzip' })
    next.end(Buffer.concat([packed, bomb, packed]))
    expect(await answerTo(next)).toEqual([8, 1])
  })

  it('end with what is not a whole one', async () => {
    await open()
    const stream = request(modelStream)
    stream.end(
      Buffer.concat([frame(modelStream, 'tea'), frame(modelStream, 'tea').subarray(0, -1)]),
    )
    expect(await answerTo(stream)).toEqual([13, 1])
  })

  it('may come late, and none is needed', async () => {
    await open({ bodyTimeoutMs: 100 })
    const stream = request(modelStream)
    const answer = answerTo(stream)
    for (let i = 0; i < 3; i++) {
      stream.write(frame(modelStream, 'tea'))
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
    stream.end()
    expect(await answer).toEqual([0, 3])
    const none = request(modelStream)
    none.end()
    expect(await answerTo(none)).toEqual([0, 0])
  })

  it('end at the deadline of the call', async () => {
    await open()
    const stream = request(modelStream, { 'grpc-timeout': '200m' })
    const answer = answerTo(stream)
    stream.write(frame(modelStream, 'tea'))
    expect(await answer).toEqual([4, 1])
  })
})

describe('the health of the server', () => {
  const asIs = (bytes: Buffer) => bytes
  const named = (name: string) => {
    const writer = new ProtoWriter(64)
    writer.text(1, name)
    return Buffer.from(writer.finish())
  }

  async function withClient<T>(use: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client(`127.0.0.1:${listener.grpcPort}`, credentials.createInsecure())
    try {
      return await use(client)
    } finally {
      client.close()
    }
  }

  it('is watched until it drains', async () => {
    await open({ drainDelayMs: 300 })
    await withClient(async (client) => {
      const watch = (name: string) => {
        const seen: string[] = []
        const call = client.makeServerStreamRequest(
          '/grpc.health.v1.Health/Watch',
          asIs,
          asIs,
          named(name),
        )
        call.on('data', (bytes: Buffer) => seen.push(bytes.toString('hex')))
        call.on('error', () => {})
        return seen
      }
      const [all, one, unknown] = [watch(''), watch('serving.v1.ServingService'), watch('nobody')]
      // status: SERVING, then NOT_SERVING; SERVICE_UNKNOWN.
      await expect.poll(() => [all, one, unknown]).toEqual([['0801'], ['0801'], ['0803']])
      const closed = listener.close()
      await expect
        .poll(() => [all, one, unknown])
        .toEqual([['0801', '0802'], ['0801', '0802'], ['0803']])
      await closed
    })
  })

  it('is unknown of other services, and asked for by small messages only', async () => {
    await open()
    await withClient(async (client) => {
      const check = (message: Buffer) =>
        new Promise<number | string | undefined>((resolve) => {
          client.makeUnaryRequest(
            '/grpc.health.v1.Health/Check',
            asIs,
            asIs,
            message,
            new Metadata(),
            (error: ServiceError | null, answer?: Buffer) =>
              resolve(error?.code ?? answer?.toString('hex')),
          )
        })
      expect(await check(Buffer.alloc(0))).toBe('0801')
      expect(await check(named('nobody'))).toBe(status.NOT_FOUND)
      expect(await check(named('x'.repeat(5000)))).toBe(status.RESOURCE_EXHAUSTED)
      expect(await check(Buffer.of(0xff))).toBe(status.INVALID_ARGUMENT)
    })
  })
})
