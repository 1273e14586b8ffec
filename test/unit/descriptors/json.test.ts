import pl from 'nodejs-polars'
import { BadInput, BadOutput, InvalidArgument, io, NDArray } from 'serving'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { decode, refusal, requestOf, textOf } from './requests.ts'

const encode = (value: unknown, descriptor: io.JSON = new io.JSON()) =>
  textOf(descriptor.toHttpResponse(value))

describe('JSON input', () => {
  // Reference cases J1 to J17.
  it.each<[string, unknown]>([
    ['"hi"', 'hi'],
    ['1', 1],
    ['  {"a" : 1}  ', { a: 1 }],
    ['{"b":1,"a":"é"}', { b: 1, a: 'é' }],
    ['{"a":1,"a":2}', { a: 2 }],
    ['-0.0', -0],
    ['1E5', 1e5],
    ['"\\u0000"', '\0'],
    ['\ufeff[1]', [1]],
  ])('reads %s', (text, value) => {
    expect(decode(new io.JSON(), text)).toEqual(value)
  })

  it('tells the byte where UTF-8 ends as NumpyNdarray does', () => {
    for (const bytes of [
      '22e228a122',
      '22c3',
      '5b22f09f9822',
      '22eda08022',
      'ff',
      '22f4908080',
      '5be282',
    ]) {
      const body = Buffer.from(bytes, 'hex')
      const { reason, offset } = refusal(new io.NumpyNdarray(), body)
      expect(refusal(new io.JSON(), body), bytes).toMatchObject({ reason, offset })
    }
  })

  it('reads a body without a content-type', () => {
    expect(decode(new io.JSON(), '{}', '')).toEqual({})
  })

  it.each<[string, string | Uint8Array, string, number]>([
    ['white space alone', ' ', 'syntax', 1],
    ['a bare word', 'bad', 'syntax', 0],
    ['a truncated list', '[1,2', 'syntax', 4],
    ['single quotes', "{'a':1}", 'syntax', 1],
    ['a trailing comma', '[1,]', 'syntax', 3],
    ['trailing garbage', '{"é":1} x', 'syntax', 9],
    ['NaN', '{"a":NaN}', 'syntax', 5],
    ['a key without a value', '{"a"}', 'syntax', 4],
    ['a bracket of the other kind', '[1}', 'syntax', 2],
    ['a control character in a string', '"a\nb"', 'syntax', 0],
    ['a leading zero', '[01]', 'syntax', 2],
    ['invalid UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 'encoding', 1],
    ['129 levels', '['.repeat(129) + ']'.repeat(129), 'syntax', 128],
    ['a million open brackets', '['.repeat(1_000_000), 'syntax', 128],
  ])('refuses %s and says where', (_title, body, reason, offset) => {
    expect(refusal(new io.JSON(), body)).toMatchObject({ reason, offset, status: 400 })
  })

  it('reads 128 levels', () => {
    expect(() => decode(new io.JSON(), '['.repeat(128) + ']'.repeat(128))).not.toThrow()
  })

  it('does not count brackets inside strings as levels', () => {
    expect(decode(new io.JSON(), JSON.stringify({ a: '[{"\\'.repeat(200) }))).toEqual({
      a: '[{"\\'.repeat(200),
    })
  })

  it('keeps __proto__ an ordinary name', () => {
    const value = decode(new io.JSON(), '{"__proto__":{"admin":true}}') as object
    expect(Object.keys(value)).toEqual(['__proto__'])
    expect((value as { admin?: boolean }).admin).toBeUndefined()
  })

  it('refuses another media type with 415', () => {
    expect(refusal(new io.JSON(), '{}', 'text/plain')).toMatchObject({ status: 415 })
  })
})

describe('JSON with a schema', () => {
  const schema = z.strictObject({
    name: z.string(),
    n: z.coerce.number(),
    tags: z.array(z.string()).optional(),
  })
  const descriptor = new io.JSON({ schema })

  it("gives the function the schema's output", () => {
    expect(decode(descriptor, '{"name":"a","n":"1"}')).toEqual({ name: 'a', n: 1 })
  })

  it.each([
    ['{"name":"a","n":1,"tags":["x",2]}', 'tags[1]'],
    ['{"name":1,"n":1}', 'name'],
    ['{"name":"a","n":1,"x":2}', undefined],
    ['[]', undefined],
    ['null', undefined],
  ])('refuses %s and names the path', (text, path) => {
    const error = refusal(descriptor, text)
    expect(error).toMatchObject({ reason: 'schema', status: 400 })
    expect(error.path).toBe(path)
  })

  it.each<[string, z.ZodType, string, string]>([
    ['a list in a list', z.array(z.array(z.number())), '[[1],[2,""]]', '[1][1]'],
    [
      'a record',
      z.object({ r: z.record(z.string(), z.object({ x: z.number() })) }),
      '{"r":{"k":{"x":""}}}',
      'r.k.x',
    ],
    ['the keys of a record', z.record(z.email(), z.number()), '{"k0":1}', 'k0'],
  ])('names the path in %s', (_title, schema, text, path) => {
    expect(refusal(new io.JSON({ schema }), text)).toMatchObject({ reason: 'schema', path })
  })

  it("hands a schema the key __proto__, as one of the object's own", () => {
    const record = z.record(z.string(), z.number())
    const keys = Object.keys(
      decode(new io.JSON({ schema: record }), '{"__proto__":1,"a":2}') as object,
    )
    expect(keys).toEqual(Object.keys(record.parse(JSON.parse('{"__proto__":1,"a":2}'))))
  })

  it('lists all issues, each with its path, at most 64', () => {
    expect(refusal(descriptor, '{"name":1,"n":"x","tags":[1,"a",2]}').issues).toEqual([
      { path: 'name', message: expect.stringContaining('string') },
      { path: 'n', message: expect.stringContaining('number') },
      { path: 'tags[0]', message: expect.any(String) },
      { path: 'tags[2]', message: expect.any(String) },
    ])
    const many = refusal(
      new io.JSON({ schema: z.array(z.string()) }),
      JSON.stringify(Array(1000).fill(1)),
    )
    expect(many.issues).toHaveLength(64)
    expect(many.message).toContain('995 more')
  })

  it('waits for a schema that answers later', async () => {
    const later = new io.JSON({
      schema: z.string().refine(async (text) => text === 'ok', 'not ok'),
    })
    await expect(later.fromHttpRequest(requestOf('"ok"'))).resolves.toBe('ok')
    await expect(later.fromHttpRequest(requestOf('"no"'))).rejects.toThrow(BadInput)
  })

  it('waits for a thenable of another kind than our Promise', async () => {
    const validate = (value: unknown) => ({
      // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tested
      then: (tell: (result: object) => void) => tell({ value: [value] }),
    })
    const thenable = {
      '~standard': { version: 1, vendor: 'test', validate },
    } as unknown as z.ZodType
    expect(await new io.JSON({ schema: thenable }).fromHttpRequest(requestOf('1'))).toEqual([1])
  })

  it('refuses a result that does not fit', () => {
    expect(() => descriptor.toHttpResponse({ bad: 1 } as never)).toThrow(BadOutput)
  })

  it('waits for any thenable, as a promise of another realm or of a library is', async () => {
    const answering = (result: unknown) =>
      // biome-ignore lint/suspicious/noThenProperty: that is what a thenable is
      ({ then: (resolve: (value: unknown) => void) => setImmediate(resolve, result) }) as never
    const schema = (result: unknown) => ({
      '~standard': { version: 1 as const, vendor: 'test', validate: () => answering(result) },
    })
    expect(await decode(new io.JSON({ schema: schema({ value: 'checked' }) }), '"raw"')).toBe(
      'checked',
    )
    const refusing = schema({ issues: [{ message: 'not ok' }] })
    await expect(decode(new io.JSON({ schema: refusing }), '"raw"')).rejects.toBeInstanceOf(
      BadInput,
    )
    const response = await new io.JSON({ schema: schema({ value: 'checked' }) }).toHttpResponse(
      'raw' as never,
    )
    expect(response.body).toBe('"checked"')
  })

  it('refuses what is no schema', () => {
    expect(() => new io.JSON({ schema: {} as never })).toThrow(InvalidArgument)
  })
})

describe('JSON output', () => {
  it.each<[string, unknown]>([
    ['null', null],
    ['null', undefined],
    ['{"b":1}', { a: undefined, b: 1 }],
    ['[null]', [undefined]],
    ['null', Number.NaN],
    ['"é😀"', 'é😀'],
    ['{"ids":9007199254740993}', { ids: 9007199254740993n }],
    ['[[0,1],[2,3]]', new NDArray(Int32Array.of(0, 1, 2, 3), [2, 2])],
    ['{"x":[1.1]}', { x: Float32Array.of(1.1) }],
    ['{"a":1}', new Map([['a', 1]])],
    ['[1,2]', new Set([1, 2])],
    ['"1970-01-01T00:00:00.000Z"', new Date(0)],
    ['[3,"s",false,7]', [Object(3), Object('s'), Object(false), Object(7n)]],
    ['{"own":1}', { toJSON: () => ({ own: 1 }) }],
    [
      '{"x":1}',
      new (class Point {
        x = 1
        #secret = 2
        get secret() {
          return this.#secret
        }
      })(),
    ],
  ])('writes %s', (text, value) => {
    expect(encode(value)).toBe(text)
  })

  // Reference cases J49 and J50.
  it('writes data frames by column and series by label', () => {
    const frame = pl.DataFrame({ a: [1, 2], b: ['x', 'y'] })
    expect(encode({ frame })).toBe('{"frame":{"a":{"0":1.0,"1":2.0},"b":{"0":"x","1":"y"}}}')
    expect(encode(pl.Series('s', [1.5, 2]))).toBe('{"0":1.5,"1":2.0}')
  })

  it.each<[string, unknown]>([
    ['a function', () => 1],
    ['a function inside', { f: () => 1 }],
    ['a symbol', Symbol('s')],
    ['a promise that nobody awaited', { p: Promise.resolve(1) }],
    ['an ArrayBuffer', [new ArrayBuffer(2)]],
    ['more than 128 levels', JSON.parse('['.repeat(200) + ']'.repeat(200))],
  ])('refuses %s', (_title, value) => {
    expect(() => encode(value)).toThrow(BadOutput)
  })

  it('names the path of what it refuses', () => {
    expect(() => encode([1, { a: [1, () => 1] }])).toThrow(
      expect.objectContaining({ code: 'bad_output', path: '[1].a[1]' }),
    )
  })

  it('refuses a cycle', () => {
    const value: Record<string, unknown> = {}
    value.self = value
    expect(() => encode(value)).toThrow(/cycle/)
  })

  it('uses a custom encoder for types that JSON does not have, and still writes arrays', () => {
    class Celsius {
      constructor(readonly degrees: number) {}
    }
    class Encoder extends io.JSONEncoder {
      override default(value: unknown) {
        return value instanceof Celsius ? `${value.degrees} °C` : super.default(value)
      }
    }
    const descriptor = new io.JSON({ jsonEncoder: Encoder })
    expect(encode({ t: new Celsius(20), x: new NDArray(Float64Array.of(1)) }, descriptor)).toBe(
      '{"t":"20 °C","x":[1.0]}',
    )
  })
})

describe('the default of a custom encoder', () => {
  class Encoder extends io.JSONEncoder {
    override default(value: unknown) {
      if (value instanceof Date) return value.getTime()
      if (value instanceof NDArray) return { shape: value.shape }
      if (value instanceof Float32Array) return 'floats'
      if (value instanceof Map) return [...value]
      if (pl.DataFrame.isDataFrame(value) || pl.Series.isSeries(value)) return 'frame'
      if (typeof value === 'object' && value !== null && 'toJSON' in value) return 'custom'
      return super.default(value)
    }
  }
  it.each<[string, unknown]>([
    ['5', new Date(5)],
    ['{"a":[5]}', { a: [new Date(5)] }],
    ['{"shape":[2]}', new NDArray(Float64Array.of(1, 2))],
    ['"floats"', Float32Array.of(1)],
    ['[["a",1]]', new Map([['a', 1]])],
    ['"frame"', pl.DataFrame({ a: [1] })],
    ['"frame"', pl.Series('s', [1])],
    ['"custom"', { toJSON: () => 'own' }],
    ['[1]', new Set([1])],
    ['[1.0]', Float64Array.of(1)],
    ['{"x":"y"}', { x: 'y' }],
  ])('is asked first: %s', (text, value) => {
    expect(encode(value, new io.JSON({ jsonEncoder: Encoder }))).toBe(text)
  })
})

describe('JSON.fromSample', () => {
  it.each<[unknown, unknown]>([
    [{ a: 1 }, { a: 1 }],
    [[1], [1]],
    ['{"a":1}', { a: 1 }],
    ['5', 5],
    [Buffer.from('[1]'), [1]],
  ])('takes %j', (sample, value) => {
    expect(io.JSON.fromSample(sample).sample).toEqual(value)
  })

  it.each<[unknown]>([['nope'], [5], [null], [undefined], [Buffer.from([0xff])]])(
    'refuses %j',
    (sample) => {
      expect(() => io.JSON.fromSample(sample)).toThrow(BadInput)
    },
  )

  it.each<[string, unknown]>([
    ['a function', { f: () => 1 }],
    ['a symbol', [Symbol('s')]],
    ['a Map', { m: new Map([['a', 1]]) }],
    ['a Set', [new Set([1])]],
    ['an ArrayBuffer', { b: new ArrayBuffer(2) }],
    ['a promise', { p: Promise.resolve(1) }],
  ])('refuses %s within a sample', (_title, sample) => {
    expect(() => io.JSON.fromSample(sample)).toThrow(BadInput)
  })

  it('refuses a cycle within a sample, and names the place of what it refuses', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = [cycle]
    expect(() => io.JSON.fromSample(cycle)).toThrow(BadInput)
    expect(() => io.JSON.fromSample({ a: [1, { b: () => 1 }] })).toThrow(
      expect.objectContaining({ path: 'a[1].b' }),
    )
  })

  it('takes arrays, dates and instances within a sample, and what a custom encoder writes', () => {
    class Point {
      x = 1
    }
    const sample = {
      a: new NDArray(Float64Array.of(1)),
      d: new Date(0),
      p: new Point(),
      n: null,
      t: 'x',
    }
    expect(io.JSON.fromSample(sample).sample).toBe(sample)
    class Encoder extends io.JSONEncoder {
      override default(value: unknown) {
        return value instanceof Map ? [...value] : super.default(value)
      }
    }
    expect(() => io.JSON.fromSample({ m: new Map() }, { jsonEncoder: Encoder })).not.toThrow()
  })

  it('refuses a sample that the schema refuses', () => {
    expect(() =>
      io.JSON.fromSample({ a: 1 }, { schema: z.strictObject({ b: z.string() }) }),
    ).toThrow(BadInput)
  })
})

describe('a member called toJSON', () => {
  it.each([
    ['{"toJSON":1}', { toJSON: 1 }],
    ['[{"a":{"toJSON":null}}]', [{ a: { toJSON: null } }]],
    ['{"rechunk":1}', { rechunk: 1 }],
  ])('that is no function is a member like any other: %s', (text, value) => {
    expect(decode(new io.JSON(), text)).toEqual(value)
    expect(encode(value)).toBe(text)
    expect(encode({ big: 1n, value })).toBe(`{"big":1,"value":${text}}`)
  })
})
