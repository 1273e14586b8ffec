/**
 * Arrays in Fastify: JSON in, a typed array for the function, JSON out. `BENCH_PLAIN=1` leaves the typed array out and
 * returns the parsed body.
 * @module
 */
import type { FastifyInstance } from 'fastify'

interface Matrix {
  readonly data: Float64Array
  readonly shape: readonly [number, number]
}

function toMatrix(rows: number[][]): Matrix {
  const width = rows[0]?.length ?? 0
  const data = new Float64Array(rows.length * width)
  rows.forEach((row, i) => {
    if (!Array.isArray(row) || row.length !== width)
      throw Object.assign(new Error('ragged'), { statusCode: 400 })
    row.forEach((value, j) => {
      if (typeof value !== 'number')
        throw Object.assign(new Error('not a number'), { statusCode: 400 })
      data[i * width + j] = value
    })
  })
  return { data, shape: [rows.length, width] }
}

function toRows({ data, shape: [height, width] }: Matrix): number[][] {
  return Array.from({ length: height }, (_, i) =>
    Array.from(data.subarray(i * width, (i + 1) * width)),
  )
}

/** Returns the float32 elements of a file of numpy.save, version 1. */
function readNpy(file: Buffer): Float32Array {
  return new Float32Array(Uint8Array.from(file.subarray(10 + file.readUInt16LE(8))).buffer)
}

function writeNpy(data: Float32Array): Buffer {
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${data.length},), }`
  const head = Buffer.from(`\x93NUMPY\x01\x00\x76\x00${header.padEnd(117)}\n`, 'latin1')
  return Buffer.concat([head, Buffer.from(data.buffer, data.byteOffset, data.byteLength)])
}

/** Adds the jobs of arrays. */
export function addNdarrayRoutes(app: FastifyInstance): void {
  const plain = process.env.BENCH_PLAIN === '1'
  app.post<{ Body: number[][] }>('/ndarray', async (request) =>
    plain ? request.body : toRows(toMatrix(request.body)),
  )
  app.post<{ Body: Buffer }>('/first', async (request, reply) =>
    reply.type('application/x-npy').send(writeNpy(readNpy(request.body).slice(0, 1000))),
  )
}
