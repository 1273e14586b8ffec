/**
 * RPC: an array as a message and as serialized bytes, over Connect (on the HTTP port) and over gRPC.
 * @module
 */

import { decodeResponse, encodeRequest } from '../../src/messages/envelope.ts'
import type { NDArrayMessage } from '../../src/messages/messages.ts'
import { NDArray } from '../../src/values/array/ndarray.ts'
import {
  encodeNdarrayFlatbuffer,
  parseNdarrayFlatbuffer,
} from '../../src/values/array/ndarray-flatbuffer.ts'
import { type BenchCase, type CasePlan, echo, seeded } from './case.ts'

const path = '/serving.v1.ServingService/Call'
const floats = (size: number) => Float32Array.from({ length: size }, seeded())
const bytesOf = (array: Float32Array) =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength)

function small(): Omit<BenchCase, 'name'> {
  const right = floats(8)
  const message = { dtype: 1, shape: [2, 4], floatValues: right }
  return echo(path, 'application/proto', encodeRequest('floats', { field: 'ndarray', message }), {
    isRight(answer) {
      const content = decodeResponse(answer)
      const array = content?.message as NDArrayMessage
      return (
        content?.field === 'ndarray' &&
        bytesOf(array.floatValues as Float32Array).equals(bytesOf(right))
      )
    },
  })
}

function large(): Omit<BenchCase, 'name'> {
  const right = floats(1_000_000)
  const message = encodeNdarrayFlatbuffer(new NDArray(right, [1_000_000], 'float32'))
  return echo(
    path,
    'application/proto',
    encodeRequest('floats', { field: 'serialized_bytes', message }),
    {
      headers: { accept: 'application/x-flatbuffers' },
      connections: 2,
      isRight(answer) {
        const content = decodeResponse(answer)
        if (content?.field !== 'serialized_bytes') return false
        return bytesOf(
          parseNdarrayFlatbuffer(content.message as Uint8Array, 'the answer').data as Float32Array,
        ).equals(bytesOf(right))
      },
    },
  )
}

/** RPC. */
export const rpcCases: readonly CasePlan[] = [
  {
    name: 'Connect: ndarray 2×4',
    isQuick: true,
    contenders: ['bare', 'serving', 'serving, gRPC'],
    targets: { 'serving, gRPC': 3 },
    make: small,
  },
  {
    name: 'Connect: 1M float32 as bytes',
    isQuick: true,
    contenders: ['bare', 'serving', 'serving, gRPC'],
    targets: { bare: 0.6 },
    make: large,
  },
  {
    name: 'gRPC: ndarray 2×4',
    isQuick: true,
    ours: 'serving, gRPC',
    contenders: ['bare, gRPC', 'serving, gRPC'],
    targets: { 'bare, gRPC': 0.7 },
    make: small,
  },
  {
    name: 'gRPC: 1M float32 as bytes',
    isQuick: false,
    ours: 'serving, gRPC',
    contenders: ['bare, gRPC', 'serving, gRPC'],
    targets: {},
    make: large,
  },
]
