/**
 * The client against a real server, with every descriptor.
 */

import { createClient, labels } from 'serving/client'
import { describe, expect, it } from 'vitest'
import { failure, picture, served } from './served.ts'
import type * as service from './service.ts'

const { client, url } = await served()

describe('arrays', () => {
  it('go as lists and as typed arrays, and come back with dtype and shape', async () => {
    const doubled = { dtype: 'float32', shape: [2, 2], data: Float32Array.of(2, 4, 6, 8) }
    expect(
      await client.double([
        [1, 2],
        [3, 4],
      ]),
    ).toEqual(doubled)
    expect(await client.double({ shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) })).toEqual(
      doubled,
    )
    expect(await client.double(Float32Array.of(1, 2))).toMatchObject({
      shape: [2],
      data: Float32Array.of(2, 4),
    })
    expect(await client.double(3)).toEqual({
      dtype: 'float32',
      shape: [],
      data: Float32Array.of(6),
    })
  })

  it.each([
    { dtype: 'bool' as const, data: Uint8Array.of(1, 0, 1) },
    { dtype: 'int8' as const, data: Int8Array.of(-1, 2, 3) },
    { dtype: 'int16' as const, data: Int16Array.of(-1, 2, 3) },
    { dtype: 'int32' as const, data: Int32Array.of(-1, 2, 3) },
    { dtype: 'int64' as const, data: BigInt64Array.of(-(2n ** 63n), 2n ** 53n + 1n, 0n) },
    { dtype: 'uint8' as const, data: Uint8Array.of(1, 0, 255) },
    { dtype: 'uint16' as const, data: Uint16Array.of(1, 0, 65535) },
    { dtype: 'uint32' as const, data: Uint32Array.of(1, 0, 2 ** 32 - 1) },
    { dtype: 'uint64' as const, data: BigUint64Array.of(0n, 2n ** 64n - 1n, 3n) },
    { dtype: 'float16' as const, data: Uint16Array.of(0x3c00, 0, 0x7c00) },
    { dtype: 'float32' as const, data: Float32Array.of(0.1, Number.NaN, Number.NEGATIVE_INFINITY) },
    { dtype: 'float64' as const, data: Float64Array.of(0.1, Number.NaN, 1e300) },
    { dtype: 'str' as const, data: ['a', '', 'zwölf 🦉'] },
  ])('of dtype $dtype come back as they went', async ({ dtype, data }) => {
    expect(await client.echo({ dtype, shape: [3, 1], data })).toEqual({
      dtype,
      shape: [3, 1],
      data,
    })
  })

  it('of a million numbers come back', async () => {
    const data = Float32Array.from({ length: 1_000_000 }, (_, i) => i)
    const { shape, data: doubled } = await client.double({ shape: [1000, 1000], data })
    expect(shape).toEqual([1000, 1000])
    expect(doubled[999_999]).toBe(1_999_998)
  })

  it('that are none are refused before they are sent', async () => {
    const error = await failure(client.double({ shape: [3], data: Float32Array.of(1, 2) }))
    expect(error).toMatchObject({ code: 'bad_input', status: 0 })
    expect(error.message).toBe('expected 3 elements, received 2, for double')
  })
})

describe('frames', () => {
  const columns = { item: ['tea', 'milk'], price: [2.5, 1], count: [4, 2] }

  it('go as columns, rows, typed arrays and CSV, and come back as columns', async () => {
    const answer = { ...columns, total: [10, 2] }
    expect({ ...(await client.total(columns)) }).toEqual(answer)
    expect({ ...(await client.total({ ...columns, price: Float64Array.of(2.5, 1) })) }).toEqual(
      answer,
    )
    const rows = [
      { item: 'tea', price: 2.5, count: 4 },
      { item: 'milk', price: 1, count: 2 },
    ]
    expect({ ...(await client.total(rows)) }).toEqual(answer)
    const csv = new Blob(['item,price,count\ntea,2.5,4\nmilk,1,2\n'], { type: 'text/csv' })
    expect({ ...(await client.total(csv)) }).toEqual(answer)
  })

  const any = () =>
    createClient<Record<`frame_${string}` | `series_${string}`, typeof service.total>>(
      url,
      {},
    ) as never as Record<string, (value: unknown) => Promise<Record<string | symbol, unknown>>>

  it.each(['records', 'columns', 'index', 'split', 'table'])(
    'keep names, types and nulls under %s',
    async (orient) => {
      const frame = {
        n: [1, null, 3],
        big: [2n ** 60n, 1, 2],
        text: ['a', null, '"}'],
        is: [true, false, null],
      }
      expect({ ...(await any()[`frame_${orient}`](frame)) }).toEqual(frame)
    },
  )

  it('have numbers for names under values', async () => {
    expect({ ...(await any().frame_values({ a: [1, 2], b: ['x', 'y'] })) }).toEqual({
      0: [1, 2],
      1: ['x', 'y'],
    })
  })

  it.each(['columns', 'index', 'split', 'table'])(
    'keep the labels of rows under %s',
    async (orient) => {
      const answer = await any()[`frame_${orient}`]({ n: [1, 2], [labels]: ['x', 'y'] })
      expect(answer[labels]).toEqual(['x', 'y'])
      expect(answer.n).toEqual([1, 2])
    },
  )

  it.each(['records', 'columns', 'values', 'index', 'split', 'table'])(
    'as series come back under %s',
    async (orient) => {
      expect(await any()[`series_${orient}`]([1, null, 2.5])).toEqual([1, null, 2.5])
    },
  )

  it.each(['index', 'split', 'table'])('as series keep their labels under %s', async (orient) => {
    const answer = await any()[`series_${orient}`](Object.assign([1, 2], { [labels]: ['x', 'y'] }))
    expect(answer[labels]).toEqual(['x', 'y'])
  })

  it('as series may be typed arrays', async () => {
    expect(await client.center(Float64Array.of(1, 2, 6))).toEqual([-2, -1, 3])
  })

  it('of unequal columns are refused before they are sent', async () => {
    expect(await failure(client.total({ a: [1], b: [1, 2] }))).toMatchObject({
      code: 'bad_input',
      status: 0,
    })
  })
})

describe('JSON', () => {
  it('goes by its schema and comes back exactly', async () => {
    const answer = await client.greet({ name: 'Ada', born: 1990, title: 'Dr' })
    expect(answer).toEqual({
      greeting: 'Hello, Dr Ada!',
      isAdmin: false,
      at: '1970-01-01T00:00:00.000Z',
      id: 2n ** 60n,
    })
  })

  it('that the schema refuses is an error with every place', async () => {
    const error = await failure(client.greet({ name: '', born: 1 }))
    expect(error).toMatchObject({ code: 'bad_input', status: 400, reason: 'schema', path: 'name' })
    expect(error.issues.map(({ path }) => path)).toEqual(['name', 'born'])
    expect(error.requestId).toMatch(/\w/)
  })
})

describe('values of a generator', () => {
  const value = (i: number) => ({ i, big: 2n ** 60n, text: 'a\nb' })

  it('are a list when awaited', async () => {
    expect(await client.count(2)).toEqual([value(1), value(2)])
    expect(await client.count(0)).toEqual([])
  })

  it('come one by one when iterated', async () => {
    const values = []
    for await (const each of client.count(3)) values.push(each)
    expect(values).toEqual([value(1), value(2), value(3)])
    for await (const { i } of client.count(1_000_000)) if (i === 2) break
  })
})

describe('text', () => {
  it('is whole when awaited', async () => {
    expect(await client.words('one two three')).toBe('one\ntwo\nthree\n')
  })

  it('comes in pieces when iterated', async () => {
    let text = ''
    for await (const piece of client.words('one two three')) text += piece
    expect(text).toBe('one\ntwo\nthree\n')
  })

  it('comes as events', async () => {
    const events = []
    for await (const event of client.chat('one two').events()) events.push(event)
    expect(events).toEqual([
      { data: 'one', event: 'word', id: '0' },
      { data: 'two', event: 'word', id: '1' },
      { data: 'two\nlines' },
    ])
  })

  it('may be left in the middle', async () => {
    for await (const event of client.chat('one two').events()) {
      expect(event.data).toBe('one')
      break
    }
  })
})

describe('pictures and files', () => {
  it('are Blobs, both ways', async () => {
    const answer = await client.negative(picture)
    expect(answer).toBeInstanceOf(Blob)
    expect(answer.type).toBe('image/png')
    const back = await client.negative(new Uint8Array(await answer.arrayBuffer()))
    expect(back.size).toBeGreaterThan(0)
    const { shape, dtype } = await client.preview(picture)
    expect({ shape, dtype }).toEqual({ shape: [3, 4, 4], dtype: 'float32' })
  })

  it('keep their names', async () => {
    const answer = await client.reverse(new File(['abc'], 'ü "a".txt', { type: 'text/plain' }))
    expect((answer as File).name).toBe('rückwärts ü "a".txt')
    expect(answer.type).toBe('text/plain')
    expect(await answer.text()).toBe('cba')
  })
})

describe('forms', () => {
  it('have a value for each part, both ways', async () => {
    const {
      mean,
      note,
      picture: first,
    } = await client.mix({
      pictures: [picture, picture],
      weights: Float64Array.of(1, 2),
      note: 'line\nbreak',
      options: { gain: 2 },
    })
    expect(mean.dtype).toBe('float64')
    expect(Number(mean.data[1])).toBeCloseTo(Number(mean.data[0]) * 2)
    expect(note).toBe('line\nbreak')
    expect(first.type).toBe('image/png')
    expect(new Uint8Array(await first.arrayBuffer()).subarray(1, 4)).toEqual(
      Uint8Array.of(80, 78, 71),
    )
  })

  it('may lack what is optional, and nothing else', async () => {
    expect(
      (await client.mix({ pictures: [picture], weights: [1], options: { gain: 1 } })).note,
    ).toBe('none')
    const error = await failure(client.mix({ pictures: [picture], weights: [1] } as never))
    expect(error.message).toBe('expected a value for the part options for mix')
  })

  it('tell an empty text from one that is missing, and from a file that was not chosen', async () => {
    expect(
      (await client.mix({ pictures: [picture], weights: [1], options: { gain: 1 }, note: '' }))
        .note,
    ).toBe('')
    const error = await failure(
      client.mix({ pictures: [new Blob([])], weights: [1], options: { gain: 1 } }),
    )
    expect(error).toMatchObject({ status: 400, path: 'pictures[0]' })
  })

  it('say in which part an error is', async () => {
    const error = await failure(
      client.mix({ pictures: [picture], weights: [[1], [2, 3]], options: { gain: 1 } }),
    )
    expect(error).toMatchObject({ status: 400, reason: 'ragged', path: 'weights' })
  })
})
