/**
 * Arrays: JSON small and large, and the two binary forms.
 * @module
 */
import { isDeepStrictEqual } from 'node:util'
import { NDArray } from '../../src/values/array/ndarray.ts'
import {
  encodeNdarrayFlatbuffer,
  parseNdarrayFlatbuffer,
} from '../../src/values/array/ndarray-flatbuffer.ts'
import { type BenchCase, type CasePlan, echo, everyone, sameJson, seeded } from './case.ts'

const small = '[[5.1,3.5,1.4,0.2],[6.2,2.9,4.3,1.3]]'

/** 2×4 numbers. */
export const smallMatrix = () =>
  echo('/ndarray', 'application/json', small, { isRight: sameJson(JSON.parse(small)) })

/** Rows of 1000 random float64 numbers with all their digits, as JSON: about 19 KB each. */
export function matrix(rows: number): Omit<BenchCase, 'name'> {
  const random = seeded()
  const value = Array.from({ length: rows }, () => Array.from({ length: 1000 }, random))
  return echo('/ndarray', 'application/json', JSON.stringify(value), {
    connections: 2,
    isRight: sameJson(value),
  })
}

/** A one-dimensional or picture-shaped float32 array as a file of numpy.save. */
function npyOf(data: Float32Array, shape: string): Buffer {
  const dictionary = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape}), }`
  const padded = `${dictionary.padEnd(Math.ceil((10 + dictionary.length + 1) / 64) * 64 - 11)}\n`
  const head = Buffer.from(`\x93NUMPY\x01\x00\x00\x00${padded}`, 'latin1')
  head.writeUInt16LE(padded.length, 8)
  return Buffer.concat([head, Buffer.from(data.buffer, data.byteOffset, data.byteLength)])
}

const picture = Float32Array.from({ length: 3 * 224 * 224 }, seeded())

/** A float32 picture of 600 KB as a file of numpy.save. */
export const npyPicture = () => npyOf(picture, '3, 224, 224')

/** The first 1000 elements of a large array. */
function firstOf(
  contentType: string,
  body: Uint8Array,
  right: Uint8Array,
  isRight: BenchCase['isRight'],
) {
  return echo('/first', contentType, body, {
    headers: { accept: contentType },
    bare: { contentType, body: right },
    isRight,
  })
}

/** Arrays. */
export const ndarrayCases: readonly CasePlan[] = [
  {
    name: 'ndarray 2×4 JSON',
    isQuick: true,
    contenders: [...everyone, 'rust', 'go', 'litserve', 'mlserver', 'fastify, JSON only'],
    targets: { bare: 0.75, fastify: 1.8, bentoml: 60 },
    make: smallMatrix,
  },
  {
    name: 'ndarray 1000×1000 float64 JSON',
    isQuick: false,
    contenders: [...everyone, 'rust', 'go', 'fastify, JSON only', 'native codec in a loop'],
    targets: { fastify: 5, bentoml: 12, rust: 1.1 },
    make: () => matrix(1000),
  },
  {
    name: 'NPY 3×224×224 float32 in, 1000 out',
    isQuick: true,
    contenders: ['bare', 'serving', 'fastify', 'fastapi'],
    targets: { bare: 0.85 },
    make() {
      const right = npyOf(picture.subarray(0, 1000), '1000,')
      const type = 'application/x-npy'
      // Writers differ in how they pad the header.
      const isRight = (answer: Buffer) => answer.subarray(-4000).equals(right.subarray(-4000))
      return firstOf(type, npyPicture(), right, isRight)
    },
  },
  {
    name: 'FlatBuffers 3×224×224 float32 in, 1000 out',
    isQuick: true,
    contenders: ['bare', 'serving'],
    targets: { bare: 0.85 },
    make() {
      const first = picture.slice(0, 1000)
      const right = encodeNdarrayFlatbuffer(new NDArray(first, [1000], 'float32'))
      const isRight = (answer: Buffer) =>
        isDeepStrictEqual(parseNdarrayFlatbuffer(answer, 'the answer').data, first)
      const body = encodeNdarrayFlatbuffer(new NDArray(picture, [3, 224, 224], 'float32'))
      return firstOf('application/x-flatbuffers', body, right, isRight)
    },
  },
]
