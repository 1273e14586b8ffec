import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { fromContent } from '../../../src/descriptors/proto-content.ts'
import { encodeMessage } from '../../../src/messages/envelope.ts'
import type { ProtoContent } from '../../../src/messages/messages.ts'
import { many } from '../descriptors/event-loop-turns.ts'

const read = async (descriptor: io.IODescriptor<unknown, never>, field: ProtoContent['field'], message: unknown) =>
  fromContent(descriptor, { field, bytes: encodeMessage({ field, message } as ProtoContent), room: 0 })

describe('a message whose values would take more than 12 times its bytes in memory', () => {
  // Four bytes each; the 64 MiB that are always allowed hold 838,860 containers and 932,067 texts.
  it.each<[string, io.IODescriptor<unknown, never>, ProtoContent['field'], unknown]>([
    ['empty objects', new io.JSON(), 'json', many(1_000_000, () => ({}))],
    ['empty lists', new io.JSON(), 'json', many(1_000_000, () => [])],
    ['short texts of an array', new io.NumpyNdarray(), 'ndarray', { stringValues: many(1_000_000, () => 'ab') }],
    ['short texts of a series', new io.PandasSeries(), 'series', { stringValues: many(1_000_000, () => 'ab') }],
  ])('is refused: %s', async (_, descriptor, field, message) => {
    await expect(read(descriptor, field, message)).rejects.toMatchObject({
      code: 'payload_too_large',
      message: expect.stringMatching(/at most 12 times the \d+ bytes of the message in memory, received more/),
    })
  })

  it('is read where they are few, or long enough', async () => {
    const few = many(800_000, () => ({}))
    expect(await read(new io.JSON(), 'json', few)).toEqual(few)
    const long = many(1_000_000, (i) => `text ${i}`)
    expect(await read(new io.PandasSeries(), 'series', { stringValues: long })).toHaveLength(long.length)
  })
})

it('lists in lists keep their elements, also where a message repeats its list', async () => {
  const nested = [[1, [2, [], [3]], 'x'], [[[4]]], { a: [5, [6]] }]
  expect(await read(new io.JSON(), 'json', nested)).toEqual(nested)
  const [once, twice] = [
    [[1], 2],
    [3, [4]],
  ].map((message) => encodeMessage({ field: 'json', message }))
  const bytes = Buffer.concat([once, twice])
  expect(await fromContent(new io.JSON(), { field: 'json', bytes, room: 0 })).toEqual([[1], 2, 3, [4]])
})

it('a list that is no message leaves nothing to the next one', async () => {
  const bytes = encodeMessage({ field: 'json', message: [1, ['x', 'y']] })
  for (let i = 2; i < bytes.length; i++) {
    const cut = bytes.subarray(0, i)
    await Promise.resolve()
      .then(() => fromContent(new io.JSON(), { field: 'json', bytes: cut, room: 0 }))
      .catch(() => {})
  }
  expect(await fromContent(new io.JSON(), { field: 'json', bytes, room: 0 })).toEqual([1, ['x', 'y']])
})
