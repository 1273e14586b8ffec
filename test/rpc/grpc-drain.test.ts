import { once } from 'node:events'
import http2 from 'node:http2'
import { io, type Listener, Service } from 'serving'
import { afterEach, expect, it } from 'vitest'
import { encodeRequest } from '../../src/messages/envelope.ts'
import { start } from './harness.ts'

let listener: Listener
let session: http2.ClientHttp2Session

afterEach(async () => {
  session.close()
  await listener.close()
})

it('a call whose message is coming is answered while the server stops', async () => {
  const svc = new Service('slow')
  svc.api({ input: new io.Text(), output: new io.Text(), name: 'echo' }, (text) => text)
  listener = await start(svc)
  session = http2.connect(`http://127.0.0.1:${listener.grpcPort}`)
  await once(session, 'connect')
  const message = encodeRequest('echo', { field: 'text', message: 'ok' })
  const frame = Buffer.alloc(5 + message.length)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, 5)
  const call = session.request({
    ':method': 'POST',
    ':path': '/serving.v1.ServingService/Call',
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  const status = new Promise((resolve) => {
    call.on('trailers', (trailers) => resolve(trailers['grpc-status']))
    call.on('response', (headers) => {
      if (headers['grpc-status'] !== undefined) resolve(headers['grpc-status'])
    })
    call.on('error', resolve)
  })
  call.resume()
  call.write(frame.subarray(0, 8))
  // Its acknowledgement tells that the server has the frames before it.
  await new Promise((resolve) => session.ping(resolve))
  const closed = listener.close()
  await new Promise((resolve) => session.ping(resolve))
  call.end(frame.subarray(8))
  expect(await status).toBe('0')
  await closed
})
