import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { fromContent } from '../../../src/descriptors/proto-content.ts'
import { decodeMessage } from '../../../src/messages/content-types.ts'
import { encodeMessage } from '../../../src/messages/envelope.ts'
import type { ProtoContent, ProtoField } from '../../../src/messages/messages.ts'

const encoded = (field: ProtoField, message: unknown) =>
  encodeMessage({ field, message } as ProtoContent)
const many = <T>(count: number, make: (i: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i))
const read = async (
  descriptor: io.IODescriptor<unknown, never>,
  field: ProtoField,
  message: unknown,
) => fromContent(descriptor, { field, bytes: encoded(field, message), room: 0 })

describe('a message', () => {
  // The list itself is a value, too.
  it.each<[string, ProtoField, (count: number) => unknown]>([
    ['JSON values', 'json', (count) => many(count - 1, () => ({}))],
    ['texts of an array', 'ndarray', (count) => ({ stringValues: many(count, () => 'ab') })],
    ['texts of a series', 'series', (count) => ({ stringValues: many(count, () => '') })],
    ['texts of several columns', 'dataframe', (count) => ({ columns: columnsOf(count) })],
    ['JSON values of several parts', 'multipart', (count) => ({ fields: partsOf(count) })],
  ])('of more than 250,000 %s is refused', async (_, field, make) => {
    expect(() => decodeMessage(field, encoded(field, make(250_000)))).not.toThrow()
    expect(() => decodeMessage(field, encoded(field, make(250_001)))).toThrow(
      expect.objectContaining({
        code: 'payload_too_large',
        grpc: 'RESOURCE_EXHAUSTED',
        message:
          'expected at most 250000 texts of lists and JSON values in the protobuf message, received more',
      }),
    )
  })

  const long = 'x'.repeat(4 * 1024 * 1024 + 1)
  it.each<[string, io.IODescriptor<unknown, never>, ProtoField, unknown]>([
    ['a JSON value', new io.JSON(), 'json', { a: long }],
    ['texts', new io.PandasSeries(), 'series', { stringValues: [long] }],
    ['a text', new io.Text(), 'text', long],
  ])('with more than 4 MiB of %s is refused', async (_, descriptor, field, message) => {
    await expect(read(descriptor, field, message)).rejects.toMatchObject({
      code: 'payload_too_large',
      message: expect.stringMatching(
        /^expected at most 4194304 bytes \(maxBytes\) of texts and JSON values/,
      ),
    })
  })

  it('may be longer for a descriptor that allows it', async () => {
    const descriptor = new io.NumpyNdarray({ maxBytes: 5 * 1024 * 1024 })
    expect(await read(descriptor as never, 'ndarray', { stringValues: [long] })).toMatchObject({
      data: [long],
    })
  })

  it('with an object of too many keys is refused', async () => {
    const keys = (count: number) => Object.fromEntries(many(count, (i) => [`k${i}`, 0]))
    expect(Object.keys((await read(new io.JSON(), 'json', keys(50_000))) as object)).toHaveLength(
      50_000,
    )
    await expect(read(new io.JSON(), 'json', keys(50_001))).rejects.toMatchObject({
      code: 'payload_too_large',
      message: expect.stringMatching(/at most 50000 keys/),
    })
  })

  it('of more than two million fields is refused, also where nobody knows them', () => {
    const fields = (count: number) => Buffer.alloc(count * 2).fill(Buffer.from([0x78, 0]))
    expect(() => decodeMessage('ndarray', fields(2_000_000))).not.toThrow()
    expect(() => decodeMessage('ndarray', fields(2_000_001))).toThrow(
      /at most 2000000 fields \(numbers packed\)/,
    )
  })

  it('of numbers alone may be larger', async () => {
    const floatValues = new Float32Array(2_000_000)
    const array = (await read(new io.NumpyNdarray() as never, 'ndarray', { floatValues })) as {
      size: number
    }
    expect(array.size).toBe(2_000_000)
  })
})

function columnsOf(count: number) {
  const half = count >> 1
  return [half, count - half].map((rows) => ({ stringValues: many(rows, () => 'a') }))
}

function partsOf(count: number) {
  const half = count >> 1
  const part = (values: number) => ({ field: 'json', message: many(values - 1, () => null) })
  return new Map(Object.entries({ a: part(half), b: part(count - half) }))
}

it('lists in lists keep their elements, also where a message repeats its list', async () => {
  const nested = [[1, [2, [], [3]], 'x'], [[[4]]], { a: [5, [6]] }]
  expect(await read(new io.JSON(), 'json', nested)).toEqual(nested)
  const bytes = Buffer.concat(
    [
      [[1], 2],
      [3, [4]],
    ].map((message) => encoded('json', message)),
  )
  expect(await fromContent(new io.JSON(), { field: 'json', bytes, room: 0 })).toEqual([
    [1],
    2,
    3,
    [4],
  ])
})
