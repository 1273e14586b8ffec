import { status } from '@grpc/grpc-js'
import { type Listener, NDArray } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ProtoContent, ProtoField, ProtoMessages } from '../../src/messages/messages.ts'
import {
  encodeNdarrayFlatbuffer,
  parseNdarrayFlatbuffer,
} from '../../src/values/array/ndarray-flatbuffer.ts'
import { encodeNpy } from '../../src/values/array/npy.ts'
import { fixtureBytes } from '../fixtures/images/pictures.ts'
import { echoService } from './echo-service.ts'
import { GrpcClient, start } from './harness.ts'

let listener: Listener
let client: GrpcClient
beforeAll(async () => {
  listener = await start(echoService())
  client = new GrpcClient(listener.grpcPort as number)
})
afterAll(async () => {
  client.close()
  await listener.close()
})

const content = <F extends ProtoField>(field: F, message: ProtoMessages[F]): ProtoContent => ({
  field,
  message,
})
const bytes = (...values: number[]) => content('serialized_bytes', Uint8Array.from(values))

async function echo(api: string, sent: ProtoContent): Promise<ProtoContent | undefined> {
  const { content, error } = await client.call(api, sent)
  if (error !== undefined) throw error
  return content
}

async function refusal(api: string, sent?: ProtoContent): Promise<[number, string]> {
  const { error } = await client.call(api, sent)
  return [error?.code ?? -1, error?.details ?? 'no error']
}

describe('NumpyNdarray over gRPC', () => {
  const arrays = [
    { dtype: 1, shape: [3], floatValues: Float32Array.of(1.5, Number.NaN, -0) },
    { dtype: 2, shape: [1, 2], doubleValues: Float64Array.of(0.1, Number.POSITIVE_INFINITY) },
    { dtype: 3, shape: [2], boolValues: Uint8Array.of(1, 0) },
    { dtype: 4, shape: [2, 2], int32Values: Int32Array.of(1, -2, 2 ** 31 - 1, -(2 ** 31)) },
    { dtype: 5, shape: [3], int64Values: BigInt64Array.of(-1n, 2n ** 63n - 1n, -(2n ** 63n)) },
    { dtype: 6, shape: [2], uint32Values: Uint32Array.of(0, 2 ** 32 - 1) },
    { dtype: 7, shape: [2], uint64Values: BigUint64Array.of(0n, 2n ** 64n - 1n) },
    { dtype: 8, shape: [2, 1], stringValues: ['a', 'é😀'] },
    { dtype: 5, shape: [0, 3] },
    { dtype: 2, doubleValues: Float64Array.of(5), scalar: true },
  ]
  it.each(arrays)('echoes dtype $dtype', async (message) => {
    expect(await echo('ndarray', content('ndarray', message))).toEqual(content('ndarray', message))
  })

  it('fills in one -1 of the shape, and takes the dtype from the list', async () => {
    const sent = content('ndarray', { shape: [-1, 2], int32Values: [1, 2, 3, 4] })
    const { message } = (await echo('ndarray', sent)) as ProtoContent
    expect(message).toMatchObject({ dtype: 4, shape: [2, 2] })
  })

  it('takes one element without a shape for one dimension, as clients of bentoml.grpc.v1 send it', async () => {
    const sent = content('ndarray', { floatValues: [1] })
    expect(await echo('ndarray', sent)).toMatchObject({ message: { shape: [1] } })
  })

  it('sends types without a list of their own as a FlatBuffers table', async () => {
    const { field, message } = (await echo('zeros', content('json', null))) as ProtoContent
    expect(field).toBe('serialized_bytes')
    expect(parseNdarrayFlatbuffer(message as Uint8Array, 'x')).toEqual({
      dtype: 'int8',
      shape: [3],
      data: new Int8Array(3),
    })
  })

  it('reads serialized bytes: a FlatBuffers table, an .npy file, elements of the dtype', async () => {
    const array = new NDArray(Float32Array.of(1, 2, 3, 4), [2, 2])
    const wanted = content('ndarray', {
      dtype: 1,
      shape: [2, 2],
      floatValues: Float32Array.of(1, 2, 3, 4),
    })
    expect(
      await echo('ndarray', content('serialized_bytes', encodeNdarrayFlatbuffer(array))),
    ).toEqual(wanted)
    expect(await echo('ndarray', content('serialized_bytes', encodeNpy(array)))).toEqual(wanted)
    const raw = content('serialized_bytes', new Uint8Array(Float32Array.of(1, 2).buffer))
    expect(await echo('floats', raw)).toEqual(
      content('ndarray', { dtype: 1, shape: [2], floatValues: Float32Array.of(1, 2) }),
    )
  })

  it('answers in the form that accept names', async () => {
    const sent = content('ndarray', { floatValues: [1, 2] })
    const { content: got } = await client.call('ndarray', sent, {
      metadata: { accept: 'application/x-flatbuffers' },
    })
    expect(got?.field).toBe('serialized_bytes')
  })

  it.each<[string, string, ProtoContent | undefined]>([
    ['no content', 'ndarray', undefined],
    ['another content', 'ndarray', content('text', 'x')],
    ['an unknown dtype', 'ndarray', content('ndarray', { dtype: 123 })],
    ['two lists', 'ndarray', content('ndarray', { stringValues: ['a'], floatValues: [1] })],
    ['a list of another dtype', 'ndarray', content('ndarray', { dtype: 2, floatValues: [1] })],
    [
      'fewer elements than the shape has',
      'ndarray',
      content('ndarray', { shape: [3], int32Values: [1, 2] }),
    ],
    ['a shape without elements', 'ndarray', content('ndarray', { shape: [2] })],
    [
      'a shape of 2^62 elements',
      'ndarray',
      content('ndarray', { shape: [2 ** 31 - 1, 2 ** 31 - 1], int32Values: [1] }),
    ],
    ['two -1 in the shape', 'ndarray', content('ndarray', { shape: [-1, -1], int32Values: [1] })],
    ['a shape of -2', 'ndarray', content('ndarray', { shape: [-2], int32Values: [1, 2] })],
    [
      'a scalar of two elements',
      'ndarray',
      content('ndarray', { int32Values: [1, 2], scalar: true }),
    ],
    [
      'a scalar with a shape',
      'ndarray',
      content('ndarray', { shape: [1], int32Values: [1], scalar: true }),
    ],
    ['bytes without a dtype', 'ndarray', bytes(1, 2, 3, 4)],
    ['three bytes of float32', 'floats', bytes(1, 2, 3)],
    [
      'floats for an enforced int32',
      'pairs',
      content('ndarray', { shape: [1, 2], floatValues: [1.5, 2] }),
    ],
    [
      'strings for an enforced int32',
      'pairs',
      content('ndarray', { shape: [1, 2], stringValues: ['1', '2f'] }),
    ],
    [
      'another shape than the enforced one',
      'pairs',
      content('ndarray', { int32Values: [1, 2, 3, 4] }),
    ],
  ])('refuses %s', async (_, api, sent) => {
    expect(await refusal(api, sent)).toEqual([
      status.INVALID_ARGUMENT,
      expect.stringContaining('expected'),
    ])
  })

  it('casts within the kind where the dtype is enforced', async () => {
    const sent = content('ndarray', { shape: [1, 2], int64Values: [5n, 6n] })
    expect(await echo('pairs', sent)).toEqual(
      content('ndarray', { dtype: 4, shape: [1, 2], int32Values: Int32Array.of(5, 6) }),
    )
  })
})

describe('the other descriptors over gRPC', () => {
  it('echo JSON values and JSON text', async () => {
    const value = { a: [1, null, 'é', true, { b: -0.5 }], c: {} }
    expect(await echo('json', content('json', value))).toEqual(content('json', value))
    expect(await echo('json', content('json', null))).toEqual(content('json', null))
    expect(await echo('json', content('serialized_bytes', Buffer.from('{"a":1}')))).toEqual(
      content('json', { a: 1 }),
    )
    expect(await refusal('json', content('serialized_bytes', Buffer.from('\n?')))).toEqual([
      3,
      expect.any(String),
    ])
    expect(await refusal('json', bytes(0xff))).toEqual([3, expect.any(String)])
  })

  it('echo text, joined when it comes in pieces', async () => {
    expect(await echo('text', content('text', 'héllo'))).toEqual(content('text', 'héllo'))
    expect(await echo('text', content('text', ''))).toEqual(content('text', ''))
    expect(await echo('text', content('serialized_bytes', Buffer.from('x')))).toEqual(
      content('text', 'x'),
    )
    expect(await echo('words', content('text', 'a b c'))).toEqual(content('text', 'abc'))
    expect(await refusal('text', bytes(0xff))).toEqual([3, expect.any(String)])
  })

  it('echo files with kind and name', async () => {
    const file = { kind: 'audio/wav', content: Buffer.from([1, 2, 3]), name: 'a.wav' }
    expect(await echo('file', content('file', file))).toEqual(content('file', file))
    expect(await echo('file', bytes(9))).toEqual(
      content('file', { kind: 'application/octet-stream', content: Buffer.from([9]) }),
    )
    expect(await refusal('pdf', content('file', file))).toEqual([
      3,
      expect.stringContaining('application/pdf'),
    ])
  })

  it('read pictures of any allowed format and write them', async () => {
    const bmp = fixtureBytes('rgb.bmp')
    for (const sent of [
      content('file', { kind: 'image/bmp', content: bmp }),
      content('file', { content: bmp }),
      content('serialized_bytes', bmp),
    ]) {
      const answer = (await echo('image', sent)) as ProtoContent
      expect(answer).toMatchObject({ field: 'file', message: { kind: 'image/png' } })
    }
    expect(await refusal('image', content('file', { kind: 'text/plain', content: bmp }))).toEqual([
      3,
      expect.any(String),
    ])
    expect(await refusal('image', bytes(1, 2, 3))).toEqual([3, expect.any(String)])
  })

  it('echo frames with every kind of column, nulls and labels', async () => {
    const frame = {
      columnNames: ['b', 'f', 'i', 'd', 's', 'l', 'u', 'v'],
      columns: [
        { boolValues: Uint8Array.of(1, 0) },
        { floatValues: Float32Array.of(0.5, -1) },
        { int32Values: Int32Array.of(1, -1) },
        { doubleValues: Float64Array.of(0.1, 0), nullPositions: Uint32Array.of(1) },
        { stringValues: ['é', ''] },
        { int64Values: BigInt64Array.of(2n ** 62n, -1n) },
        { uint32Values: Uint32Array.of(1, 2) },
        { uint64Values: BigUint64Array.of(1n, 2n ** 64n - 1n) },
      ],
      index: { stringValues: ['x', 'y'] },
    }
    expect(await echo('frame', content('dataframe', frame))).toEqual(content('dataframe', frame))
    expect(await echo('frame', content('dataframe', {}))).toEqual(content('dataframe', {}))
    const json = content('serialized_bytes', Buffer.from('[{"a":1},{"a":2}]'))
    expect(await echo('frame', json)).toEqual(
      content('dataframe', {
        columnNames: ['a'],
        columns: [{ int64Values: BigInt64Array.of(1n, 2n) }],
      }),
    )
  })

  it('refuse frames whose columns do not fit together', async () => {
    for (const message of [
      { columnNames: ['a'], columns: [] },
      { columnNames: ['a', 'a'], columns: [{ int32Values: [1] }, { int32Values: [1] }] },
      { columnNames: ['a', 'b'], columns: [{ int32Values: [1, 2] }, { int32Values: [1] }] },
      { columnNames: ['a'], columns: [{ int32Values: [1], floatValues: [1] }] },
      { columnNames: ['a'], columns: [{ int32Values: [1], nullPositions: [1] }] },
      { columnNames: ['a'], columns: [{ int32Values: [1] }], index: { int64Values: [1n, 2n] } },
    ]) {
      expect(await refusal('frame', content('dataframe', message))).toEqual([3, expect.any(String)])
    }
  })

  it('echo series with a name', async () => {
    const series = {
      stringValues: ['a', 'b'],
      name: 'letters',
      index: { int64Values: BigInt64Array.of(5n, 4n) },
    }
    expect(await echo('series', content('series', series))).toEqual(content('series', series))
  })

  it('echo forms, behind plain and async functions', async () => {
    const fields = new Map([
      ['a', content('text', 'hi')],
      ['j', content('json', { x: 1 })],
      ['n', content('ndarray', { dtype: 1, shape: [1], floatValues: Float32Array.of(2) })],
    ])
    for (const api of ['form', 'form_async']) {
      expect(await echo(api, content('multipart', { fields }))).toEqual(
        content('multipart', { fields }),
      )
    }
    const missing = new Map([...fields].slice(1))
    expect(await refusal('form', content('multipart', { fields: missing }))).toEqual([
      3,
      expect.stringContaining('"a"'),
    ])
    const wrong = new Map([...fields, ['a', content('json', 1)]])
    expect(await refusal('form', content('multipart', { fields: wrong }))).toEqual([
      3,
      expect.stringContaining('"a"'),
    ])
    expect(await refusal('form', bytes(1))).toEqual([3, expect.any(String)])
  })
})
