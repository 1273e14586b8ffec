import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { many } from './many.ts'

async function write(value: unknown, descriptor = new io.JSON()): Promise<string> {
  const { body } = await descriptor.toHttpResponse(value)
  return body as string
}

describe('a large JSON output', () => {
  it.each<[string, unknown]>([
    ['numbers', many(300_000, (i) => i / 7)],
    ['records', { rows: many(40_000, (i) => ({ id: i, name: `é${i}`, tags: ['a', null, true], gone: undefined })) }],
    ['long lists in lists', many(200, () => many(1000, (i) => [i]))],
    ['many keys', Object.fromEntries(many(100_000, (i) => [`k"${i}`, i]))],
    ['members and elements that are undefined', { a: many(100_000, () => undefined), b: undefined, c: [undefined] }],
    ['nothing in a large one', { a: many(100_000, String), b: [], c: {} }],
    ['a string', `"\\\n\u2028é${'😀x'.repeat(1_000_000)}`],
    ['a string of halves of pairs', many(3_000_000, () => '').join('\ud800')],
    ['a string in a record', { text: 'y'.repeat(3_000_000), more: [1] }],
  ])('of %s is written as JSON.stringify writes it', async (_, value) => {
    expect((await write(value)) === JSON.stringify(value)).toBe(true)
  })

  it('holds what JSON.stringify does not write as it should be', async () => {
    const dates = many(100_000, () => new Date(0))
    expect(await write(dates)).toBe(JSON.stringify(dates))
    const rows = many(100_000, (i) => ({ wide: 2n ** 64n + BigInt(i), map: new Map([['a', i]]) }))
    const text = await write(rows)
    expect(text.slice(0, 48)).toBe('[{"wide":18446744073709551616,"map":{"a":0}},{"w')
    expect(JSON.parse(text)).toHaveLength(100_000)
  })

  it.each([1, 7, 64, 511, 512, 513, 5000])('holds every %i elements one that JSON.stringify refuses', async (every) => {
    const wide = (row: object) => (i: number) => ({ ...row, n: i % every === 0 ? BigInt(i) : i })
    for (const row of [{}, { a: [1, 2, 3], b: { c: many(20, (i) => i) } }]) {
      const rows = many(40_000, wide(row))
      expect(await write(rows)).toBe(
        JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? Number(value) : value)),
      )
    }
  })

  it('is written at once', () => {
    expect(new io.JSON().toHttpResponse({ a: [1, 'x'] })).toMatchObject({ body: '{"a":[1,"x"]}' })
  })

  it('that cannot be written is refused with its path', async () => {
    const rows: unknown[] = many(100_000, () => ({ a: [1] }))
    rows[70_000] = { a: [1, () => 1] }
    await expect(write(rows)).rejects.toMatchObject({ code: 'bad_output', path: '[70000].a[1]' })
    const cycle: unknown[] = many(100_000, (i) => i)
    cycle.push(cycle)
    await expect(write(cycle)).rejects.toMatchObject({ code: 'bad_output' })
  })

  it('of an encoder of the user is its own', async () => {
    class Upper extends io.JSONEncoder {
      override default(value: unknown): unknown {
        return value instanceof Date ? 'DATE' : super.default(value)
      }
    }
    const descriptor = new io.JSON({ jsonEncoder: Upper })
    expect(
      (
        await write(
          many(100_000, () => new Date(0)),
          descriptor,
        )
      ).slice(0, 14),
    ).toBe('["DATE","DATE"')
  })

  it('is a message over RPC', async () => {
    const value = many(100_000, (i) => ({ i }))
    expect(await new io.JSON().toProto(value)).toEqual(value)
  })
})
