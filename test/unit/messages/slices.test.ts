import type { NDArray } from 'serving'
import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { runAtOnce } from '../../../src/core/memory/slices.ts'
import { fromContent } from '../../../src/descriptors/proto-content.ts'
import { decodeMessage, decodeMessageInSlices } from '../../../src/messages/content-types.ts'
import { encodeMessage } from '../../../src/messages/envelope.ts'
import type { ProtoContent } from '../../../src/messages/messages.ts'
import { many, turnsOf } from '../descriptors/event-loop-turns.ts'

const bytesOf = (field: ProtoContent['field'], message: unknown) => encodeMessage({ field, message } as ProtoContent)
const texts = many(400_000, (i) => `é${i}`)

describe('a large message', () => {
  it.each<[string, io.IODescriptor<unknown, never>, ProtoContent['field'], unknown]>([
    ['numbers', new io.JSON(), 'json', many(400_000, (i) => i)],
    ['records', new io.JSON(), 'json', many(60_000, (i) => ({ a: i, b: [`x${i}`, null, true] }))],
    ['an object', new io.JSON(), 'json', { list: { inner: Object.fromEntries(many(90_000, (i) => [`k${i}`, i])) } }],
    ['a string', new io.JSON(), 'json', { a: ['é😀'.repeat(2_000_000)] }],
  ])('of %s is read in slices, as a small one is', async (_, descriptor, field, value) => {
    const bytes = bytesOf(field, value)
    const work = Promise.resolve(fromContent(descriptor, { field, bytes, room: 0 }))
    expect(await turnsOf(work)).toBeGreaterThan(3)
    expect(await work).toEqual(value)
  })

  it('of texts is read in slices', async () => {
    const text = 'é😀'.repeat(2_000_000)
    const read = (descriptor: io.IODescriptor<unknown, never>, field: ProtoContent['field'], message: unknown) =>
      Promise.resolve(fromContent(descriptor, { field, bytes: bytesOf(field, message), room: 0 }))
    const words = read(new io.Text(), 'text', text)
    expect(await turnsOf(words)).toBeGreaterThan(3)
    expect(await words).toBe(text)
    const array = read(new io.NumpyNdarray(), 'ndarray', { stringValues: texts })
    expect(await turnsOf(array)).toBeGreaterThan(3)
    expect([...((await array) as NDArray).data]).toEqual(texts)
    const series = read(new io.PandasSeries(), 'series', { stringValues: texts, nullPositions: Uint32Array.of(1) })
    expect(await turnsOf(series)).toBeGreaterThan(3)
    expect((await series) as { toArray(): unknown[] }).toSatisfy(
      (made: { toArray(): unknown[] }) => `${made.toArray()}` === `${['é0', null, ...texts.slice(2)]}`,
    )
    const columns = many(40, () => ({ stringValues: texts.slice(0, 10_000) }))
    const frame = read(new io.PandasDataFrame(), 'dataframe', { columnNames: many(40, (i) => `c${i}`), columns })
    expect(await turnsOf(frame)).toBeGreaterThan(3)
    expect(((await frame) as { height: number }).height).toBe(10_000)
  })

  it('of an object of too many keys is refused', async () => {
    const bytes = bytesOf('json', Object.fromEntries(many(100_001, (i) => [`k${i}`, 0])))
    await expect(async () => fromContent(new io.JSON(), { field: 'json', bytes, room: 0 })).rejects.toMatchObject({
      status: 413,
    })
  })

  it('is read in slices as at once, or refused for the same reason, however it is damaged', () => {
    const long = many(3000, (i) => i)
    const message = { a: [long, { b: long, ['k'.repeat(9000)]: 'é'.repeat(9000), c: [[long]] }], d: null, e: 'x' }
    const seeds: [ProtoContent['field'], Uint8Array][] = [
      ['json', bytesOf('json', message)],
      ['json', Buffer.concat([bytesOf('json', { a: 1, b: long }), bytesOf('json', { a: long, c: 2 })])],
      ['text', bytesOf('text', 'é😀'.repeat(3000))],
      ['multipart', bytesOf('multipart', { fields: new Map([['a', { field: 'json', message }]]) })],
      ['dataframe', bytesOf('dataframe', { columnNames: ['a'], columns: [{ stringValues: texts.slice(0, 3000) }] })],
    ]
    const outcome = (read: () => unknown) => {
      try {
        return { value: read() }
      } catch (error) {
        return { reason: (error as { reason?: unknown }).reason, name: (error as Error).name }
      }
    }
    let refused = 0
    let seed = 1
    const below = (bound: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % bound
    }
    for (let round = 0; round < 400; round++) {
      const [field, whole] = seeds[round % seeds.length]
      const bytes = Buffer.from(whole)
      if (round >= seeds.length) bytes[below(bytes.length)] = [0, 0xff, 0x80, below(256)][below(4)]
      const atOnce = outcome(() => decodeMessage(field, bytes))
      expect(outcome(() => runAtOnce(decodeMessageInSlices(field, bytes)))).toEqual(atOnce)
      if ('reason' in atOnce) refused++
    }
    expect(refused).toBeGreaterThan(10)
    expect(refused).toBeLessThan(390)
  })
})
