import { BadInput, Context, DeadlineExceeded, HeaderList, HttpRequest, io, PayloadTooLarge } from 'serving'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { many, turnsOf } from './event-loop-turns.ts'

const headers = HeaderList.from({ 'content-type': 'application/json' })

/** Reads a value as a request would bring it. */
async function read(descriptor: io.IODescriptor<unknown, never>, value: unknown, ctx?: Context): Promise<unknown> {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return descriptor.fromHttpRequest(new HttpRequest(headers, Buffer.from(text)), ctx)
}

describe('a large JSON body', () => {
  it.each<[string, unknown]>([
    ['numbers', many(300_000, (i) => i / 7)],
    ['records', { rows: many(20_000, (i) => ({ id: i, name: `é${i}`, tags: ['a', null, true] })) }],
    ['nested lists', many(300, () => many(300, (i) => [i]))],
    ['a long string', ['x'.repeat(3_000_000)]],
  ])('of %s is read as JSON.parse reads it', async (_, value) => {
    expect(await read(new io.JSON(), value)).toEqual(value)
  })

  it('is parsed in slices: the event loop turns meanwhile', async () => {
    const text = `[${'[],'.repeat(600_000)}0]`
    expect(await turnsOf(read(new io.JSON(), text))).toBeGreaterThan(10)
    // One that JSON.parse reads in a millisecond is not.
    expect(new io.JSON().fromHttpRequest(new HttpRequest(headers, Buffer.from('[1,2,3]')))).toEqual([1, 2, 3])
  })

  it.each([
    ['a fault at its end', `[${'1,'.repeat(400_000)}x]`, 800_001],
    ['no end', `[${'1,'.repeat(400_000)}`, 800_001],
    ['a fault in a nested list', `{"a":[${'[1],'.repeat(200_000)}[2}]}`, 800_008],
  ])('with %s is refused with its place', async (_, text, offset) => {
    await expect(read(new io.JSON(), text)).rejects.toMatchObject({ status: 400, reason: 'syntax', offset })
  })

  it.each([
    ['letters', 'a'.repeat(4_000_000)],
    ['escapes', '\\u0041'.repeat(600_000)],
    ['escaped quotes', '\\"'.repeat(2_000_000)],
  ])('of one string of %s is read, and a fault behind it found, in slices', async (_, string) => {
    const slices = 2 * Math.floor(string.length / (1 << 18))
    expect(await turnsOf(read(new io.JSON(), `"${string}"`))).toBeGreaterThan(slices / 8)
    const text = `["${string}",x]`
    const offset = text.length - 2
    await expect(read(new io.JSON(), text)).rejects.toMatchObject({ reason: 'syntax', offset })
  })

  it('with numbers that a double does not hold is treated as a small one', async () => {
    const list = `[${'1,'.repeat(400_000)}`
    await expect(read(new io.JSON(), `${list}9007199254740993]`)).rejects.toMatchObject({
      reason: 'dtype',
      offset: 800_001,
    })
    await expect(read(new io.JSON(), `${list}9007199254740993,x]`)).rejects.toMatchObject({ reason: 'syntax' })
    const integers = (await read(
      new io.JSON({ bigNumbers: 'bigint' }),
      `${list}9007199254740993,{"é":-9007199254740993}]`,
    )) as unknown[]
    expect(integers.slice(-3)).toEqual([1, 9007199254740993n, { é: -9007199254740993n }])
    const rounded = (await read(new io.JSON({ bigNumbers: 'round' }), `${list}9007199254740993]`)) as unknown[]
    expect(rounded.at(-1)).toBe(9007199254740992)
    expect(await read(new io.JSON({ bigNumbers: 'bigint' }), '\ufeff[9007199254740993]')).toEqual([9007199254740993n])
  })

  it('that is not UTF-8 is refused with the place', async () => {
    const body = Buffer.from(`[${'"a",'.repeat(300_000)}"b"]`)
    body[1_000_002] = 0xff
    const request = new HttpRequest(headers, body)
    await expect(new io.JSON().fromHttpRequest(request)).rejects.toMatchObject({
      reason: 'encoding',
      offset: 1_000_002,
    })
  })

  it('that nests too deep is refused with the place', async () => {
    const text = `[${'1,'.repeat(600_000)}${'['.repeat(130)}${']'.repeat(130)}]`
    await expect(read(new io.JSON(), text)).rejects.toMatchObject({ reason: 'syntax', offset: 1_200_128 })
  })

  it.each<[string, string, number]>([
    ['a number', `[0,0.${'1'.repeat(3 << 20)}]`, 3],
    ['blanks between values', `{"a":1,"b":${' '.repeat(3 << 20)}2}`, 10],
    ['blanks in front', `${'\n'.repeat(3 << 20)}1`, 0],
    ['blanks behind', `[1]${'\t'.repeat(3 << 20)}`, 3],
    ['a key', `{"a":1,"${'k'.repeat(3 << 20)}":2}`, 7],
  ])('with %s of more than a MiB is refused with the place', async (_, text, offset) => {
    const refused = read(new io.JSON(), text)
    await expect(refused).rejects.toMatchObject({ status: 400, reason: 'size', offset })
  })

  it('may have a MiB of blanks', async () => {
    expect(await read(new io.JSON(), `[1,${' '.repeat(1 << 20)}"${' '.repeat(3 << 20)}"]`)).toHaveLength(2)
  })

  it('is given up between slices when its request is', async () => {
    const ctx = new Context()
    const work = read(new io.JSON(), `[${'[],'.repeat(600_000)}0]`, ctx)
    setImmediate(() => ctx.abort(new DeadlineExceeded('late')))
    await expect(work).rejects.toBeInstanceOf(DeadlineExceeded)
  })

  it('of more than maxValues values is refused with 413, whatever its length', async () => {
    const small = new io.JSON({ maxValues: 10 })
    for (const length of [12, 1000, 2_000_000]) {
      const work = read(small, `[${'1,'.repeat(length)}1]`)
      await expect(work, String(length)).rejects.toThrow(/at most 10 values for JSON \(maxValues\)/)
      await expect(work).rejects.toBeInstanceOf(PayloadTooLarge)
    }
    expect(await read(small, '[1,2,3]')).toEqual([1, 2, 3])
    expect(() => new io.JSON({ maxValues: 0 })).toThrow(/maxValues/)
  })

  it('of an object of more than maxKeys keys is refused with 413, as deep as it lies', async () => {
    const object = (keys: number) => `{${many(keys, (i) => `"k${i}":0`)}}`
    for (const wrap of [(text: string) => text, (text: string) => `{"a":[0,{"b":${text}}]}`]) {
      expect(await turnsOf(read(new io.JSON(), wrap(object(100_000))))).toBeGreaterThan(5)
      const work = read(new io.JSON(), wrap(object(100_001)))
      await expect(work).rejects.toThrow(/at most 100000 keys in an object for JSON \(maxKeys\)/)
      await expect(work).rejects.toBeInstanceOf(PayloadTooLarge)
      const small = new io.JSON({ maxKeys: 4096 })
      await expect(read(small, wrap(object(4097)))).rejects.toBeInstanceOf(PayloadTooLarge)
      const text = wrap(object(4096))
      expect(await read(small, text)).toEqual(JSON.parse(text))
    }
    const objects = `[${many(30, () => object(4000))}]`
    expect(await read(new io.JSON({ maxKeys: 4096 }), objects)).toHaveLength(30)
    expect(Object.keys((await read(new io.JSON({ maxKeys: 200_000 }), object(150_000))) as object)).toHaveLength(
      150_000,
    )
    expect(() => new io.JSON({ maxKeys: 100 })).toThrow(/maxKeys/)
  })

  it('whose values would take far more memory than its bytes is refused with 413', async () => {
    await expect(read(new io.JSON(), `[${'{},'.repeat(1_500_000)}0]`)).rejects.toThrow(
      /at most 12 times the 4500003 bytes of the body in memory/,
    )
    // As many numbers are not.
    expect(await read(new io.JSON(), `[${'0,'.repeat(1_500_000)}0]`)).toHaveLength(1_500_001)
  })

  it('is read in slices as a part of a form, too', async () => {
    const form = new FormData()
    form.set('json', new Blob([`[${'[],'.repeat(600_000)}0]`], { type: 'application/json' }))
    const { headers: own, body } = await new Response(form).blob().then(async (blob) => ({
      headers: HeaderList.from({ 'content-type': blob.type }),
      body: new Uint8Array(await blob.arrayBuffer()),
    }))
    const parts = new io.Multipart({ json: new io.JSON() })
    const work = Promise.resolve(parts.fromHttpRequest(new HttpRequest(own, body)))
    expect(await turnsOf(work)).toBeGreaterThan(10)
    expect((await work).json).toHaveLength(600_001)
  })
})

describe('a large value under a schema', () => {
  const point = z.object({ x: z.number(), y: z.string().transform((text) => text.length) })
  const good = many(5000, (i) => ({ x: i, y: 'abc' }))

  it.each<[string, z.ZodType, unknown]>([
    ['a list', z.array(point), good],
    [
      'a list in an object',
      z.object({ points: z.array(point), more: z.string() }),
      { points: good, more: 'm', else: 1 },
    ],
    ['a strict object', z.strictObject({ points: z.array(point) }), { points: good }],
    ['a loose object', z.looseObject({ points: z.array(point) }), { points: good, other: [1] }],
    ['lists in lists', z.array(z.array(z.coerce.number())), many(300, () => many(300, (i) => `${i}`))],
    ['bounds of length', z.array(z.number()).min(3).max(100_000), many(5000, (i) => i)],
    ['a long list that must be longer', z.array(z.number()).min(6000), many(6001, (i) => i)],
    ['wrappers', z.object({ a: z.array(z.number()).nullable().optional().default([]) }), { a: many(5000, (i) => i) }],
    [
      'a default',
      z.object({ a: z.array(z.number()).default([7]), b: z.array(z.number()) }),
      { b: many(5000, (i) => i) },
    ],
    ['deep objects', z.object({ a: z.object({ b: z.object({ c: z.array(point) }) }) }), { a: { b: { c: good } } }],
    ['a refined list', z.array(z.number()).refine((list) => list.length > 10), many(5000, (i) => i)],
    [
      'a refined object',
      z.object({ a: z.array(z.number()) }).refine(({ a }) => a.length > 10),
      { a: many(5000, (i) => i) },
    ],
    ['a record', z.record(z.string(), z.number()), Object.fromEntries(many(5000, (i) => [`k${i}`, i]))],
    [
      'a record of records in an object',
      z.object({ all: z.record(z.string(), z.record(z.string(), z.coerce.string())).optional() }),
      { all: Object.fromEntries(many(90, (i) => [`k${i}`, Object.fromEntries(many(90, (k) => [`${k}`, k]))])) },
    ],
    [
      'a record with a default for its elements',
      z.record(z.string(), z.object({ a: z.number().default(3) })),
      Object.fromEntries(many(2000, (i) => [`k${i}`, {}])),
    ],
    [
      'a record of checked keys',
      z.record(z.string().toUpperCase(), z.number()),
      Object.fromEntries(many(5000, (i) => [`k${i}`, i])),
    ],
    ['a record with __proto__', z.record(z.string(), z.number()), `{"__proto__":1,${many(5000, (i) => `"k${i}":1`)}}`],
    ['a union', z.array(z.union([z.string(), z.number()])), many(5000, (i) => (i % 2 ? i : `${i}`))],
    ['later answers', z.array(z.number().refine(async (n) => n >= 0)), many(1500, (i) => i)],
    ['the key __proto__', z.object({ a: z.array(z.number()) }), `{"__proto__":1,"a":[${many(5000, (i) => i)}]}`],
  ])('becomes what the schema makes of it: %s', async (_, schema, value) => {
    const input: unknown = typeof value === 'string' ? JSON.parse(value) : value
    expect(await read(new io.JSON({ schema }), value)).toEqual(await schema.parseAsync(input))
  })

  it.each<[string, z.ZodType, unknown, string]>([
    ['an element', z.array(z.string()), many(5000, (i) => (i === 4321 ? 1 : 'a')), '[4321]'],
    [
      'a member',
      z.object({ p: z.array(point) }),
      { p: many(5000, (i) => ({ x: i === 70 ? '' : i, y: 'a' })) },
      'p[70].x',
    ],
    [
      'an element of a record',
      z.object({ r: z.record(z.string(), point) }),
      { r: Object.fromEntries(many(5000, (i) => [`k${i}`, { x: i === 4321 ? '' : i, y: 'a' }])) },
      'r.k4321.x',
    ],
    ['a key of a record', z.record(z.email(), z.number()), Object.fromEntries(many(5000, (i) => [`k${i}`, i])), 'k0'],
    ['a short list', z.array(z.number()).min(6000), many(5000, (i) => i), ''],
    ['a long list', z.array(z.number()).max(10), many(5000, (i) => i), ''],
    ['an unknown key', z.strictObject({ a: z.array(z.number()) }), { a: many(5000, (i) => i), b: 1 }, ''],
    ['another kind', z.array(z.number()), { a: many(5000, (i) => i) }, ''],
    [
      'a deep element',
      z.array(z.array(z.number())),
      many(9, (i) => many(2000, (k) => (i === 8 && k === 1999 ? '' : k))),
      '[8][1999]',
    ],
  ])('is refused with the path: %s', async (_, schema, value, path) => {
    const error = (await read(new io.JSON({ schema }), value).catch((caught: unknown) => caught)) as BadInput
    expect(error).toBeInstanceOf(BadInput)
    expect([error.reason, error.path ?? '']).toEqual(['schema', path])
  })

  it('is checked in slices, and no further than 64 issues', async () => {
    let checks = 0
    const schema = z.array(z.unknown().refine(() => ++checks < 0))
    await expect(
      read(
        new io.JSON({ schema }),
        many(50_000, () => 1),
      ),
    ).rejects.toThrow(/and at least 59 more/)
    expect(checks).toBe(64)
    const slow = z.array(z.union([z.string(), z.object({ a: z.string() }), z.number()]))
    const value = many(30_000, () => ({ a: 'x' }))
    expect(await turnsOf(read(new io.JSON({ schema: slow }), value))).toBeGreaterThan(3)
  })

  it('is checked in slices where a function returns it', async () => {
    let turn = 0
    const seen = new Set<number>()
    const number = z.number().refine(() => seen.add(turn))
    for (const [schema, value] of [
      [z.array(number), many(50_000, (i) => i)],
      [z.record(z.string(), number), Object.fromEntries(many(50_000, (i) => [`k${i}`, i]))],
    ] as const) {
      seen.clear()
      const counter = setInterval(() => turn++)
      const { body } = await new io.JSON<z.ZodType>({ schema }).toHttpResponse(value)
      clearInterval(counter)
      expect(Buffer.from(body as Uint8Array).toString()).toBe(JSON.stringify(value))
      expect(seen.size).toBeGreaterThan(1)
    }
  })

  it('that a function returns is refused with the place of what its schema refuses', async () => {
    const schema = z.object({ list: z.array(z.number()) })
    const value = { list: many(5000, (i) => (i === 4999 ? '' : i)) } as unknown as z.infer<typeof schema>
    await expect(new io.JSON({ schema }).toHttpResponse(value)).rejects.toMatchObject({
      status: 500,
      path: 'list[4999]',
    })
  })

  it('is refused with 413 where the schema checks too much of it at once, unless maxValues allows it', async () => {
    const schema = z.array(z.number()).refine(() => true)
    const value = many(60_000, () => 1)
    await expect(read(new io.JSON({ schema }), value)).rejects.toThrow(/at most 50000 values that the schema for JSON/)
    expect(await read(new io.JSON({ schema, maxValues: 100_000 }), value)).toHaveLength(60_000)
    const opaque = { '~standard': { version: 1 as const, vendor: 'own', validate: (any: unknown) => ({ value: any }) } }
    await expect(read(new io.JSON({ schema: opaque }), value)).rejects.toBeInstanceOf(PayloadTooLarge)
    expect(
      await read(
        new io.JSON({ schema: opaque }),
        many(40_000, () => 1),
      ),
    ).toHaveLength(40_000)
  })
})
