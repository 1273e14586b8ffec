/**
 * Arrays: JSON small and large, and NPY through the example's own descriptor.
 * @module
 */
import { type CasePlan, echo, everyone, sameJson, seeded } from './case.ts'

const small = '[[5.1,3.5,1.4,0.2],[6.2,2.9,4.3,1.3]]'

/** 1000×1000 random float64 numbers with all their digits. */
function largeMatrix(): string {
  const random = seeded()
  return JSON.stringify(Array.from({ length: 1000 }, () => Array.from({ length: 1000 }, random)))
}

/** A one-dimensional or picture-shaped float32 array as a file of numpy.save. */
function npyOf(data: Float32Array, shape: string): Buffer {
  const dictionary = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape}), }`
  const padded = `${dictionary.padEnd(Math.ceil((10 + dictionary.length + 1) / 64) * 64 - 11)}\n`
  const head = Buffer.from(`\x93NUMPY\x01\x00\x00\x00${padded}`, 'latin1')
  head.writeUInt16LE(padded.length, 8)
  return Buffer.concat([head, Buffer.from(data.buffer, data.byteOffset, data.byteLength)])
}

/** Arrays. */
export const ndarrayCases: readonly CasePlan[] = [
  {
    name: 'ndarray 2×4 JSON',
    isQuick: true,
    contenders: [...everyone, 'fastify, JSON only'],
    targets: { bare: 0.75, fastify: 1.8, bentoml: 60 },
    make: () => echo('/ndarray', 'application/json', small, { isRight: sameJson(JSON.parse(small)) }),
  },
  {
    name: 'ndarray 1000×1000 float64 JSON',
    isQuick: false,
    contenders: [...everyone, 'fastify, JSON only', 'native codec in a loop'],
    targets: { fastify: 5, bentoml: 12 },
    make() {
      const matrix = largeMatrix()
      return echo('/ndarray', 'application/json', matrix, { connections: 2, isRight: sameJson(JSON.parse(matrix)) })
    },
  },
  {
    name: 'NPY 3×224×224 float32 in, 1000 out',
    isQuick: true,
    contenders: ['bare', 'serving', 'fastify', 'fastapi'],
    targets: { bare: 0.85 },
    make() {
      const random = seeded()
      const data = Float32Array.from({ length: 3 * 224 * 224 }, random)
      const right = npyOf(data.subarray(0, 1000), '1000,')
      const contentType = 'application/x-npy'
      return echo('/npy', contentType, npyOf(data, '3, 224, 224'), {
        connections: 8,
        bare: { contentType, body: right },
        // Writers differ in how they pad the header.
        isRight: (answer) => answer.subarray(-4000).equals(right.subarray(-4000)),
      })
    },
  },
]
