/**
 * Fastify doing the same jobs as its documentation shows, with the usual libraries: Polars for frames,
 * @fastify/multipart for forms, @napi-rs/image or sharp (BENCH_IMAGE) for pictures.
 * @module
 */
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import Fastify, { type preParsingAsyncHookHandler, type RequestPayload } from 'fastify'
import { listening } from '../listening.ts'
import { addFormRoute } from './form.ts'
import { addFrameRoutes } from './frame.ts'
import { addImageRoute } from './image.ts'
import { addNdarrayRoutes } from './ndarray.ts'

const app = Fastify({ bodyLimit: 64 * 1024 * 1024 })
app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) =>
  done(null, body),
)
const binary = [
  'application/octet-stream',
  'application/x-npy',
  'text/csv',
  'image/jpeg',
  'image/png',
]
app.addContentTypeParser(binary, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

addNdarrayRoutes(app)
addFrameRoutes(app)
addImageRoute(app)
await addFormRoute(app)

app.post('/json', async (request) => request.body)
// Fastify has no content-encoding of its own; its documentation shows this hook.
const preParsing: preParsingAsyncHookHandler = async (_request, _reply, payload) => {
  const unzipped: RequestPayload = payload.pipe(createGunzip())
  payload.on('data', (piece: Buffer) => {
    unzipped.receivedEncodedLength = (unzipped.receivedEncodedLength ?? 0) + piece.length
  })
  return unzipped
}
app.post('/gzip', { preParsing }, async (request) => request.body)
app.post('/text', async (request, reply) =>
  reply.type('text/plain; charset=utf-8').send(request.body),
)
app.post('/file', async (request, reply) =>
  reply.type('application/octet-stream').send(request.body),
)
app.post<{ Body: string }>('/stream', async (request, reply) => {
  async function* pieces() {
    for (let i = 0; i < 100; i++) yield request.body
  }
  return reply
    .type('text/plain; charset=utf-8')
    .send(Readable.from(pieces(), { objectMode: false }))
})

await app.listen({ port: 0, host: '127.0.0.1' })
const address = app.server.address()
if (address === null || typeof address === 'string') throw new Error('could not listen')
listening(address.port)
