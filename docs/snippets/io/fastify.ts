import Fastify from 'fastify'
import { nodeHandler } from 'serving/io'
import { double, rows } from './scale.ts'

const app = Fastify()
const scale = nodeHandler({ input: rows, output: rows }, double)

app.register(async (typed) => {
  // In this scope the handler reads the bodies, not Fastify.
  typed.removeAllContentTypeParsers()
  typed.addContentTypeParser('*', (_request, _body, done) => done(null))
  typed.post('/scale', (request, reply) => {
    reply.hijack()
    scale(request.raw, reply.raw)
  })
})
await app.listen({ port: Number(process.env.PORT) })
