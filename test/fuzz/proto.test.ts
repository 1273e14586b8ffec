import type { Service, ServingError } from 'serving'
import { beforeAll, describe, expect, it } from 'vitest'
import { encodeRequest } from '../../src/messages/envelope.ts'
import type { ProtoContent } from '../../src/messages/messages.ts'
import { ProtoWriter } from '../../src/messages/protobuf.ts'
import { callBytes } from '../../src/rpc/service-methods.ts'
import { mutations, randomBytes } from '../../src/testing/mutate.ts'
import { NDArray } from '../../src/values/array/ndarray.ts'
import { encodeNdarrayFlatbuffer } from '../../src/values/array/ndarray-flatbuffer.ts'
import { encodeNpy } from '../../src/values/array/npy.ts'
import { fixtureBytes } from '../fixtures/images/pictures.ts'
import { echoService } from '../rpc/echo-service.ts'
import { visitOf } from '../visit.ts'

let service: Service
beforeAll(() => {
  service = echoService()
})

async function codeOf(bytes: Uint8Array): Promise<string> {
  const answer = await callBytes(service.apis, bytes, visitOf('/'), false)
  if (!('error' in answer)) return 'OK'
  const error: ServingError = answer.error
  if (error.grpc === 'INTERNAL') throw error
  return error.grpc
}

const array = new NDArray(Float32Array.of(1, 2, 3, 4), [2, 2], 'float32')
const texts = new NDArray(['a', '', 'é'], [3], 'str')
const samples: [string, ProtoContent][] = [
  [
    'ndarray',
    { field: 'ndarray', message: { dtype: 4, shape: [2, -1], int32Values: [1, -2, 3, 400] } },
  ],
  ['ndarray', { field: 'ndarray', message: { dtype: 8, stringValues: ['é', ''] } }],
  ['ndarray', { field: 'ndarray', message: { dtype: 7, uint64Values: [1n, 2n ** 63n] } }],
  ['ndarray', { field: 'serialized_bytes', message: encodeNdarrayFlatbuffer(array) }],
  ['ndarray', { field: 'serialized_bytes', message: encodeNdarrayFlatbuffer(texts) }],
  ['ndarray', { field: 'serialized_bytes', message: encodeNpy(array) }],
  ['ndarray', { field: 'serialized_bytes', message: encodeNpy(texts) }],
  ['floats', { field: 'serialized_bytes', message: new Uint8Array(16) }],
  ['json', { field: 'json', message: { a: [1, { b: null, c: true }], d: 'é' } }],
  ['json', { field: 'serialized_bytes', message: Buffer.from('{"a":[1]}') }],
  ['text', { field: 'text', message: 'héllo' }],
  ['file', { field: 'file', message: { kind: 'a/b', content: Buffer.from('x'), name: 'y' } }],
  ['image', { field: 'file', message: { kind: 'image/png', content: fixtureBytes('grey.png') } }],
  ['series', { field: 'series', message: { doubleValues: [1, 2], nullPositions: [0], name: 's' } }],
  [
    'frame',
    {
      field: 'dataframe',
      message: {
        columnNames: ['a', 'b'],
        columns: [{ int64Values: [1n, 2n] }, { boolValues: [true, false] }],
        index: { stringValues: ['x', 'y'] },
      },
    },
  ],
  [
    'form',
    {
      field: 'multipart',
      message: {
        fields: new Map<string, ProtoContent>([
          ['a', { field: 'text', message: 't' }],
          ['j', { field: 'json', message: [1] }],
          ['n', { field: 'ndarray', message: { floatValues: [1] } }],
        ]),
      },
    },
  ],
]

describe('a hostile message', () => {
  it.each(
    samples.map(([api, content], i) => [`${api} ${content.field} (${i})`, api, content] as const),
  )('made of a good one blames the client or is read: %s', async (_, api, content) => {
    const seen = new Set<string>()
    for (const bytes of mutations(encodeRequest(api, content), 400)) seen.add(await codeOf(bytes))
    expect(seen).toContain('OK')
    for (const code of seen)
      expect(['OK', 'INVALID_ARGUMENT', 'NOT_FOUND', 'RESOURCE_EXHAUSTED']).toContain(code)
    for (const bytes of randomBytes(50)) {
      await codeOf(bytes)
      await codeOf(encodeRequest(api, { field: 'serialized_bytes', message: bytes }))
    }
  })

  const raw = (api: string, field: number, payload: Uint8Array) => {
    const writer = new ProtoWriter(payload.length + 32)
    writer.text(1, api)
    writer.tag(field, 2).bytes(payload)
    return writer.finish()
  }
  const varint = (value: number) => {
    const writer = new ProtoWriter(8)
    writer.uint32(value)
    return writer.finish()
  }
  const nested = (levels: number, wrap: (inner: Uint8Array) => Uint8Array) => {
    let inner: Uint8Array = new Uint8Array(0)
    for (let i = 0; i < levels; i++) inner = wrap(inner)
    return inner
  }
  const field = (number: number, payload: Uint8Array) => {
    const writer = new ProtoWriter(payload.length + 8)
    writer.tag(number, 2).bytes(payload)
    return writer.finish()
  }
  // A list of one Value, as a Value.
  const list = (inner: Uint8Array) => field(6, field(1, inner))

  it.each<[string, () => Uint8Array]>([
    ['lists 129 levels deep', () => raw('json', 9, nested(129, list))],
    ['lists 5,000 levels deep', () => raw('json', 9, nested(5000, list))],
    [
      'structs 5,000 levels deep',
      () =>
        raw(
          'json',
          9,
          nested(5000, (inner) => field(5, field(1, field(2, inner)))),
        ),
    ],
    [
      'labels of labels of labels',
      () =>
        raw(
          'series',
          6,
          nested(5000, (inner) => field(10, inner)),
        ),
    ],
    [
      'a packed list that says it has 4 GB',
      () => raw('ndarray', 3, Buffer.concat([Buffer.from([0x1a]), varint(2 ** 32 - 1)])),
    ],
    ['a packed list of floats of 3 bytes', () => raw('ndarray', 3, field(3, new Uint8Array(3)))],
    ['a packed list with half a number', () => raw('ndarray', 3, field(7, Uint8Array.of(1, 0x80)))],
    ['a number of 11 bytes', () => raw('ndarray', 3, field(7, new Uint8Array(11).fill(0xff)))],
    [
      'a shape of 2^31 by 2^31',
      () => raw('ndarray', 3, field(2, Buffer.concat([varint(2 ** 31 - 1), varint(2 ** 31 - 1)]))),
    ],
    [
      'a shape of a million dimensions',
      () => raw('ndarray', 3, field(2, new Uint8Array(1_000_000).fill(1))),
    ],
    [
      'a million empty columns',
      () => raw('frame', 5, Buffer.alloc(2_000_000, Buffer.from([0x12, 0]))),
    ],
    [
      'a million empty parts',
      () => raw('form', 10, Buffer.alloc(2_000_000, Buffer.from([0x0a, 0]))),
    ],
    ['text that is not UTF-8', () => raw('text', 8, field(1, Uint8Array.of(0xff)))],
    ['a group', () => Uint8Array.of(0x0b, 0x0c)],
    ['field number 0', () => Uint8Array.of(0, 0)],
    [
      'a FlatBuffers table that points outside',
      () => {
        const bytes = Buffer.from(encodeNdarrayFlatbuffer(array))
        bytes.writeUInt32LE(2 ** 31, 0)
        return raw('ndarray', 2, bytes)
      },
    ],
    [
      'a FlatBuffers shape of 2^62',
      () => {
        const bytes = Buffer.from(encodeNdarrayFlatbuffer(array))
        // The first of its two dimensions.
        bytes.writeBigInt64LE(
          2n ** 62n,
          bytes.indexOf(Buffer.from([2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0])) + 4,
        )
        return raw('ndarray', 2, bytes)
      },
    ],
    [
      'an .npy header with another shape',
      () => {
        const bytes = Buffer.from(encodeNpy(array))
        return raw(
          'ndarray',
          2,
          Buffer.from(bytes.toString('latin1').replace('(2, 2)', '(9, 9)'), 'latin1'),
        )
      },
    ],
  ])('is refused without harm: %s', async (_, make) => {
    expect(await codeOf(make())).toBe('INVALID_ARGUMENT')
  })

  it('of a million empty Values is refused', async () => {
    const values = Buffer.alloc(2_000_000, Buffer.from([0x0a, 0]))
    expect(await codeOf(raw('json', 9, field(6, values)))).toBe('RESOURCE_EXHAUSTED')
  })

  it('at the depth that is allowed is read', async () => {
    expect(await codeOf(raw('json', 9, nested(128, list)))).toBe('OK')
  })
})
