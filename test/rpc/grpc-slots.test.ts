import { type ClientHttp2Session, connect } from 'node:http2'
import { io, type Listener, Service } from 'serving'
import { afterEach, describe, expect, it } from 'vitest'
import { encodeRequest } from '../../src/messages/envelope.ts'
import { GrpcClient, start } from './harness.ts'

let listener: Listener | undefined
let session: ClientHttp2Session | undefined

afterEach(async () => {
  session?.destroy()
  await listener?.close()
})

function service(): Service {
  const svc = new Service('slots')
  svc.api({ input: new io.Text(), output: new io.Text(), name: 'large' }, (_text: string) =>
    'x'.repeat(4 * 1024 * 1024),
  )
  svc.api(
    { input: new io.Text(), output: new io.Text(), name: 'pieces' },
    async function* (_text: string) {
      for (let i = 0; i < 64; i++) yield 'x'.repeat(64 * 1024)
    },
  )
  svc.api({ input: new io.Text(), output: new io.Text(), name: 'echo' }, (text: string) => text)
  return svc
}

/** Calls over a connection whose flow-control window for answers stays 0. */
function callAndReadNothing(port: number, method: string, api: string): Promise<void> {
  session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } })
  session.on('error', () => {})
  const stream = session.request({
    ':method': 'POST',
    ':path': `/serving.v1.ServingService/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  stream.on('error', () => {})
  const message = encodeRequest(api, { field: 'text', message: 'x' })
  const frame = Buffer.alloc(5 + message.length)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, 5)
  stream.end(frame)
  // Headers are not subject to flow control: the answer waits for the window from here on.
  return new Promise((resolve) => stream.once('response', () => resolve()))
}

describe('slots of gRPC', () => {
  it.each([
    ['Call', 'large'],
    ['CallStream', 'pieces'],
  ])(
    'are held while the answer to %s is read, and come back from a client that does not read it',
    async (method, api) => {
      listener = await start(service(), { maxInFlight: 1, sendTimeoutMs: 400 })
      const port = listener.grpcPort as number
      await callAndReadNothing(port, method, api)
      const client = new GrpcClient(port)
      const text = { field: 'text' as const, message: 'honest' }
      const first = await client.call('echo', text)
      expect(first.error?.details).toBe('too many requests in flight')
      let answer = first
      while (answer.error !== undefined) answer = await client.call('echo', text)
      expect(answer.content?.message).toBe('honest')
      client.close()
    },
  )
})
