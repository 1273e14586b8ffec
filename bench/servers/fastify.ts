/**
 * Fastify doing the same job, written as its documentation would have it: JSON in, a typed array for the function, JSON out.
 * `BENCH_PLAIN=1` leaves the typed array out and returns the parsed body.
 * @module
 */
import Fastify from 'fastify'
import { listening } from './listening.ts'

const app = Fastify({ bodyLimit: 64 * 1024 * 1024 })

interface Matrix {
  readonly data: Float64Array
  readonly shape: readonly [number, number]
}

function toMatrix(rows: number[][]): Matrix {
  const width = rows[0]?.length ?? 0
  const data = new Float64Array(rows.length * width)
  rows.forEach((row, i) => {
    if (!Array.isArray(row) || row.length !== width) throw Object.assign(new Error('ragged'), { statusCode: 400 })
    row.forEach((value, j) => {
      if (typeof value !== 'number') throw Object.assign(new Error('not a number'), { statusCode: 400 })
      data[i * width + j] = value
    })
  })
  return { data, shape: [rows.length, width] }
}

function toRows({ data, shape: [height, width] }: Matrix): number[][] {
  return Array.from({ length: height }, (_, i) => Array.from(data.subarray(i * width, (i + 1) * width)))
}

const plain = process.env.BENCH_PLAIN === '1'
app.post<{ Body: number[][] }>('/ndarray', async (request) => (plain ? request.body : toRows(toMatrix(request.body))))
app.post('/json', async (request) => request.body)
app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => done(null, body))
app.post('/text', async (request, reply) => reply.type('text/plain; charset=utf-8').send(request.body))

await app.listen({ port: 0, host: '127.0.0.1' })
const address = app.server.address()
if (address === null || typeof address === 'string') throw new Error('could not listen')
listening(address.port)
