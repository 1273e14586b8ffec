import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import { BadInput, io, type Listener, Service } from 'serving'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
} from 'vitest'
import { frameOf } from '../../src/messages/encoded-message.ts'
import { decodeResponse, encodeRequest } from '../../src/messages/envelope.ts'
import { start } from './harness.ts'

let seen: Record<string, string> = {}
let aborted = 0

function service(): Service {
  const svc = new Service('unary')
  const text = { input: new io.Text(), output: new io.Text() }
  svc.api({ ...text, name: 'echo' }, (value: string, ctx) => {
    seen = Object.fromEntries(ctx.headers)
    return value
  })
  svc.api({ ...text, name: 'hang' }, (_: string, ctx) => {
    return new Promise<string>((_resolve, reject) => {
      ctx.signal.addEventListener('abort', () => {
        aborted++
        reject(ctx.signal.reason)
      })
    })
  })
  svc.api({ ...text, name: 'surrogate' }, (): string => {
    throw new BadInput('received \ud800')
  })
  return svc
}

const request = (api: string, message: string) =>
  frameOf({ bytes: encodeRequest(api, { field: 'text', message }) })

interface Answer {
  readonly http?: unknown
  readonly status?: number
  readonly text?: unknown
}

describe('a unary call over gRPC', () => {
  let listener: Listener
  let session: ClientHttp2Session
  beforeAll(async () => {
    listener = await start(service(), { maxBodyBytes: 2 ** 20, maxInFlight: 2 })
  })
  beforeEach(() => {
    session = connect(`http://127.0.0.1:${listener.grpcPort}`)
  })
  afterEach(() => session.destroy())
  afterAll(() => listener.close())

  function open(headers: Record<string, string> = {}): ClientHttp2Stream {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/serving.v1.ServingService/Call',
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    })
    stream.on('error', () => {})
    return stream
  }

  function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
    return new Promise((resolve) => {
      const found: { -readonly [K in keyof Answer]: Answer[K] } = {}
      const read = (headers: Readonly<Record<string, unknown>>) => {
        found.http ??= headers[':status']
        if (headers['grpc-status'] !== undefined) found.status = Number(headers['grpc-status'])
      }
      const pieces: Buffer[] = []
      stream.on('response', read)
      stream.on('trailers', read)
      stream.on('data', (piece: Buffer) => pieces.push(piece))
      stream.on('close', () => {
        if (pieces.length > 0)
          found.text = decodeResponse(Buffer.concat(pieces).subarray(5))?.message
        resolve(found)
      })
    })
  }

  async function send(bytes: Uint8Array, headers?: Record<string, string>): Promise<Answer> {
    const stream = open(headers)
    stream.end(bytes)
    return answerOf(stream)
  }

  const right = { http: 200, status: 0, text: 'tea' }

  it('is answered, however its bytes are cut into frames', async () => {
    const bytes = request('echo', 'tea')
    expect(await send(bytes)).toEqual(right)
    const stream = open()
    const answer = answerOf(stream)
    for (const byte of bytes) await new Promise((written) => stream.write(Buffer.of(byte), written))
    stream.end()
    expect(await answer).toEqual(right)
  })

  it('may come in frames of 1 MiB, and 4 MiB ahead of the server', async () => {
    await expect.poll(() => session.remoteSettings.maxFrameSize).toBe(2 ** 20)
    expect(session.remoteSettings.initialWindowSize).toBe(2 ** 22)
  })

  it('gives the function the metadata that are text, without those of the protocol', async () => {
    const own = { 'x-tea': 'green', 'x-tea-bin': 'AAEC', 'x-latin': 'th\u00e9' }
    const protocol = {
      'grpc-timeout': '10S',
      'grpc-accept-encoding': 'identity',
      'accept-encoding': 'identity',
    }
    expect(await send(request('echo', 'tea'), { ...own, ...protocol })).toEqual(right)
    expect(seen).toEqual({ 'x-tea': 'green' })
  })

  // The codes: gRPC core, statuscodes.md, and PROTOCOL-HTTP2.md.
  it.each([
    ['without a message', Buffer.alloc(0), 12],
    ['with half a message', request('echo', 'tea').subarray(0, -1), 12],
    ['with two messages', Buffer.concat([request('echo', 'tea'), request('echo', 'tea')]), 12],
    ['with a length above maxBodyBytes', Buffer.of(0, 0, 0x10, 0, 1), 8],
    ['that is no protobuf message', Buffer.of(0, 0, 0, 0, 1, 0xff), 3],
    ['of an unknown API', request('nobody', 'tea'), 5],
  ])('%s is refused', async (_, bytes, status) => {
    expect(await send(bytes)).toEqual({ http: 200, status })
    expect(await send(request('echo', 'tea'))).toEqual(right)
  })

  it('is refused as soon as its length is known to be too long', async () => {
    const stream = open()
    const answer = new Promise((resolve) =>
      stream.on('response', (headers) => resolve(headers['grpc-status'])),
    )
    stream.write(Buffer.of(0, 0xff, 0xff, 0xff, 0xff))
    expect(await answer).toBe('8')
    for (let i = 0; i < 20; i++) stream.write(Buffer.alloc(16_384))
    stream.end()
    expect(await send(request('echo', 'tea'))).toEqual(right)
  })

  it('is refused for an encoding and a timeout that the server cannot read, and for another type', async () => {
    const packed = request('echo', 'tea')
    packed[0] = 1
    expect(await send(packed, { 'grpc-encoding': 'snappy' })).toEqual({ http: 200, status: 12 })
    expect(await send(packed, { 'grpc-encoding': 'gzip' })).toEqual({ http: 200, status: 3 })
    expect(await send(request('echo', 'tea'), { 'grpc-timeout': 'soon' })).toEqual({
      http: 200,
      status: 13,
    })
    // gRPC-Web's clients look for the trailers in the body, where they would find a missing status.
    for (const type of [
      'text/plain',
      'application/grpc-web',
      'application/grpc-web+proto',
      'application/grpc-web-text',
    ])
      expect(await send(request('echo', 'tea'), { 'content-type': type })).toEqual({ http: 415 })
    for (const type of [
      'application/grpc',
      'application/grpc+proto',
      'application/grpc;charset=utf-8',
    ])
      expect(await send(request('echo', 'tea'), { 'content-type': type })).toEqual(right)
  })

  it('ends at its deadline, and gives its slot back', async () => {
    const before = aborted
    for (let i = 1; i <= 4; i++) {
      expect(await send(request('hang', ''), { 'grpc-timeout': '50m' })).toEqual({
        http: 200,
        status: 4,
      })
      await expect.poll(() => aborted).toBe(before + i)
    }
    expect(await send(request('echo', 'tea'), { 'grpc-timeout': '99999999H' })).toEqual(right)
  })

  it('gives its slot back when the client resets it before, while and after it is worked on', async () => {
    for (let i = 0; i < 4; i++) {
      const half = open()
      half.write(request('hang', '').subarray(0, 8))
      const before = aborted
      const whole = open()
      whole.end(request('hang', ''))
      await new Promise((resolve) => setTimeout(resolve, 20))
      half.close(8)
      whole.close(8)
      await expect.poll(() => aborted).toBe(before + 1)
    }
    expect(await Promise.all([send(request('echo', 'tea')), send(request('echo', 'tea'))])).toEqual(
      [right, right],
    )
  })

  it('is refused with a text that is not well-formed Unicode', async () => {
    const stream = open()
    const answer = answerOf(stream)
    stream.end(request('surrogate', 'x'))
    expect(await answer).toEqual({ http: 200, status: 3 })
  })
})

describe('messages that do not come as a whole', () => {
  const options = { maxBodyBytes: 8 * 2 ** 20, maxMemoryBytes: 10 * 2 ** 20 }
  const prefix = Buffer.of(0, 0, 0x60, 0, 0)

  async function opened(bodyTimeoutMs: number) {
    const listener = await start(service(), { ...options, bodyTimeoutMs })
    const session = connect(`http://127.0.0.1:${listener.grpcPort}`)
    onTestFinished(async () => {
      session.destroy()
      await listener.close()
    })
    const open = () => {
      const headers = { 'content-type': 'application/grpc', te: 'trailers' }
      const stream = session.request({
        ':method': 'POST',
        ':path': '/serving.v1.ServingService/Call',
        ...headers,
      })
      stream.on('error', () => {})
      return stream
    }
    const statusOf = (stream: ClientHttp2Stream) =>
      new Promise((resolve) =>
        stream.on('response', (headers) => resolve(Number(headers['grpc-status']))),
      )
    return { open, statusOf }
  }

  it('are given up when their client is late, also without a byte', async () => {
    const { open, statusOf } = await opened(300)
    const [none, half] = [open(), open()]
    half.write(request('echo', 'tea').subarray(0, -1))
    expect(await Promise.all([statusOf(none), statusOf(half)])).toEqual([4, 4])
  })

  it('share the memory of the worker, which has it back when they end', async () => {
    const { open, statusOf } = await opened(60_000)
    for (let round = 0; round < 3; round++) {
      const first = open()
      first.write(prefix)
      await new Promise((written) => first.write(Buffer.alloc(4 * 2 ** 20), written))
      // The first one may have more to come; the next has no place beside it.
      const next = open()
      next.write(prefix)
      next.write(Buffer.alloc(6 * 2 ** 20))
      expect(await statusOf(next)).toBe(14)
      const closed = new Promise((resolve) => first.once('close', resolve))
      first.close(8)
      await closed
    }
  })
})
