import { Ajv2020 } from 'ajv/dist/2020.js'
import { type } from 'arktype'
import pl from 'nodejs-polars'
import { io, NDArray } from 'serving'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

type Described = { describe(): io.Description }
const inputOf = (descriptor: Described) => descriptor.describe().input
const schemaOf = (descriptor: Described) => inputOf(descriptor)[0].schema
const exampleOf = (descriptor: Described) => inputOf(descriptor)[0].example

describe('the description of a descriptor', () => {
  it('is made once', () => {
    const descriptor = new io.Text()
    expect(descriptor.describe()).toBe(descriptor.describe())
  })

  it('of a custom one has its media type and every reason', () => {
    class Custom extends io.IODescriptor<string> {
      readonly mimeType = 'text/x-custom'
      fromHttpRequest = () => ''
      toHttpResponse = () => ({ headers: [], body: '' })
    }
    const { input, output, errors } = new Custom().describe()
    expect([input, output]).toEqual([
      [{ mimeType: 'text/x-custom' }],
      [{ mimeType: 'text/x-custom' }],
    ])
    expect(errors[0]).toMatchObject({
      code: 'bad_input',
      reasons: expect.arrayContaining(['syntax', 'shape']),
    })
    expect(errors.map(({ code }) => code)).toEqual([
      'bad_input',
      'unsupported_media_type',
      'payload_too_large',
    ])
  })
})

describe('examples', () => {
  const dtypes = ['bool', 'str', 'int8', 'uint64', 'float16', 'float64'] as const
  const columns = {
    a: 'int64',
    b: 'str',
    c: 'list[float32]',
    d: 'struct',
    e: 'date',
    f: 'timedelta64[ns]',
    g: 'bytes',
  }
  const item = z.object({
    n: z.int().min(3),
    tags: z.array(z.enum(['x', 'y'])).nonempty(),
    at: z.iso.datetime(),
  })
  const orients = ['records', 'values', 'index', 'columns', 'split', 'table'] as const
  const frame = pl.DataFrame({
    a: [1, null],
    l: [[1, 2], [3]],
    s: [{ x: 1 }, { x: 2 }],
    t: ['x', null],
  })
  const described: [string, Described][] = [
    ...dtypes.flatMap((dtype): [string, Described][] => [
      [`an array of ${dtype}`, new io.NumpyNdarray({ dtype })],
      [
        `a matrix of ${dtype}`,
        new io.NumpyNdarray({ dtype, shape: [-1, 3], enforceShape: true, enforceDtype: true }),
      ],
    ]),
    ['any array', new io.NumpyNdarray()],
    ...orients.flatMap((orient): [string, Described][] => [
      [
        `a frame in ${orient}`,
        new io.PandasDataFrame({ orient, shape: [-1, 3], enforceShape: true }),
      ],
      [
        `a sample of lists and objects in ${orient}`,
        io.PandasDataFrame.fromSample(frame, { orient }),
      ],
      [`a series in ${orient}`, new io.PandasSeries({ orient, shape: [3], enforceShape: true })],
    ]),
    ['a frame of many types', new io.PandasDataFrame({ dtype: columns })],
    ...Object.values(columns).map((dtype): [string, Described] => [
      `a series of ${dtype}`,
      new io.PandasSeries({ dtype }),
    ]),
    ['a schema of zod', new io.JSON({ schema: z.array(item) })],
  ]

  it.each(described)('fit their schema, and exist: %s', (_, descriptor) => {
    const ajv = new Ajv2020({
      strict: false,
      formats: { float: true, double: true, 'date-time': true },
    })
    for (const format of [
      'int8',
      'int16',
      'int32',
      'int64',
      'uint8',
      'uint16',
      'uint32',
      'uint64',
    ]) {
      ajv.addFormat(format, true)
    }
    const { input, output } = descriptor.describe()
    for (const { mimeType, schema, example } of [...input, ...output]) {
      if (mimeType !== 'application/json') continue
      expect(example).toBeDefined()
      expect([ajv.validate(schema as object, example), ajv.errors]).toEqual([true, null])
    }
  })

  it('of a schema run none of its functions, which may wait, fail or have effects', () => {
    const ran: unknown[] = []
    const schema = z.string().refine(async (text) => ran.push(text) > 0)
    expect([exampleOf(new io.JSON({ schema })), ran]).toEqual(['text', []])
  })

  it.each([
    ['a pattern', z.string().regex(/^\d+$/)],
    ['a range', z.number().gt(5).lt(6)],
  ])('keep the rules of %s', (_, schema) => {
    const example = exampleOf(new io.JSON({ schema }))
    expect(schema.parse(example)).toBe(example)
  })

  it.each([
    ['elements that differ', z.array(z.string()).min(2).meta({ uniqueItems: true })],
    ['many elements', z.array(z.string()).min(100)],
  ])('are left out where none is found: %s', (_, schema) => {
    expect(exampleOf(new io.JSON({ schema }))).toBeUndefined()
  })
})

describe('arrays', () => {
  it('have nested lists as deep as their shape, with its lengths where it is enforced', () => {
    const given = { dtype: 'uint8', shape: [-1, 2], enforceShape: true } as const
    const element = { type: 'integer', format: 'uint8', minimum: 0, maximum: 255 }
    const row = { type: 'array', items: element, minItems: 2, maxItems: 2 }
    expect(schemaOf(new io.NumpyNdarray(given))).toEqual({ type: 'array', items: row })
    expect(exampleOf(new io.NumpyNdarray(given))).toEqual([[0, 1]])
  })

  it('may hold null for NaN in floats, and in responses only if it is written so', () => {
    const nullable = { type: ['number', 'null'], format: 'float' }
    const float = new io.NumpyNdarray({ dtype: 'float32', shape: [], nonFinite: 'error' })
    expect(schemaOf(float)).toEqual(nullable)
    expect(float.describe().output[0].schema).toEqual({ type: 'number', format: 'float' })
  })

  it('of any shape are lists of elements or of lists', () => {
    const items = { anyOf: [{ type: 'string' }, { type: 'array', items: {} }] }
    expect(schemaOf(new io.NumpyNdarray({ dtype: 'str' }))).toEqual({ type: 'array', items })
  })

  it('are read and written in the serialized forms, too', () => {
    const types = ['application/json', 'application/x-flatbuffers', 'application/x-npy']
    const { input, output } = new io.NumpyNdarray().describe()
    expect(input.map(({ mimeType }) => mimeType)).toEqual(types)
    expect(output.map(({ mimeType }) => mimeType)).toEqual(types)
  })

  it('show the sample, if it is short and JSON holds its numbers', () => {
    expect(exampleOf(io.NumpyNdarray.fromSample([[1.5, 2]]))).toEqual([[1.5, 2]])
    const wide = (value: bigint) => io.NumpyNdarray.fromSample(new NDArray(BigInt64Array.of(value)))
    expect([exampleOf(wide(7n)), exampleOf(wide(2n ** 60n))]).toEqual([[7], undefined])
    expect(exampleOf(io.NumpyNdarray.fromSample(new Float32Array(1e6)))).toBeUndefined()
  })
})

describe('frames', () => {
  const dtype = { age: 'int64', name: 'str', day: 'date' }
  const options = { dtype, enforceDtype: true, shape: [-1, 3], enforceShape: true }
  const age = { type: 'integer', format: 'int64' }

  it.each([
    [
      'records',
      { type: 'array', items: { properties: { age, name: { type: ['string', 'null'] } } } },
    ],
    ['index', { type: 'object', additionalProperties: { properties: { age } } }],
    [
      'columns',
      { type: 'object', properties: { age: { type: 'object', additionalProperties: age } } },
    ],
    ['values', { type: 'array', items: { type: 'array', minItems: 3, maxItems: 3 } }],
    ['split', { properties: { data: { items: { minItems: 3 } } }, required: ['columns', 'data'] }],
  ] as const)(
    'in orient %s have its layout, and an example that they read',
    async (orient, schema) => {
      const descriptor = new io.PandasDataFrame({ ...options, orient })
      expect(schemaOf(descriptor)).toMatchObject(schema)
      const body = Buffer.from(JSON.stringify(exampleOf(descriptor)))
      const request = { headers: { 'content-type': 'application/json' }, body }
      const { svc } = await echo(descriptor)
      expect((await svc.inject({ path: '/echo', ...request })).status).toBe(200)
    },
  )

  it('name their default format first', () => {
    const types = inputOf(new io.PandasDataFrame({ defaultFormat: 'csv' })).map(
      ({ mimeType }) => mimeType,
    )
    expect(types).toEqual([
      'text/csv',
      'application/json',
      'application/octet-stream',
      'application/vnd.apache.parquet',
      'application/vnd.apache.arrow.file',
      'application/vnd.apache.arrow.stream',
    ])
  })

  it('show the first rows of a sample', () => {
    const frame = pl.DataFrame({ a: [1, 2, 3], b: ['x', 'y', 'z'] })
    const { input } = io.PandasDataFrame.fromSample(frame).describe()
    expect(input[0].example).toEqual([
      { a: 1, b: 'x' },
      { a: 2, b: 'y' },
    ])
    expect(input.find(({ mimeType }) => mimeType === 'text/csv')?.example).toBe(
      'a,b\n1.0,x\n2.0,y\n',
    )
  })

  it('of a series are lists or objects', () => {
    const list = new io.PandasSeries({
      dtype: 'bool',
      enforceDtype: true,
      shape: [2],
      enforceShape: true,
    })
    expect(schemaOf(list)).toEqual({
      type: 'array',
      items: { type: 'boolean' },
      minItems: 2,
      maxItems: 2,
    })
    expect(exampleOf(list)).toEqual([false, true])
    expect(exampleOf(new io.PandasSeries({ orient: 'index' }))).toEqual({ 0: 0.5, 1: 1.5 })
  })
})

describe('JSON', () => {
  it('without a schema takes anything, and shows the sample', () => {
    expect(inputOf(io.JSON.fromSample({ a: [1] }))).toEqual([
      { mimeType: 'application/json', schema: {}, example: { a: [1] } },
    ])
    expect(inputOf(new io.JSON())).toEqual([{ mimeType: 'application/json', schema: {} }])
  })

  it('has the schema of what zod takes and of what it gives', () => {
    const schema = z.object({
      top: z.int().min(1).default(3),
      at: z.coerce.date().optional(),
      id: z.bigint().optional(),
    })
    const { input, output } = new io.JSON({ schema }).describe()
    const properties = { at: { type: 'string', format: 'date-time' }, id: { type: 'integer' } }
    expect(input[0].schema).toMatchObject({ type: 'object', properties })
    expect(input[0].schema?.required).toBeUndefined()
    expect(output[0].schema).toMatchObject({ required: ['top'], additionalProperties: false })
  })

  it('shows a value that the schema accepts', () => {
    const schema = z.object({
      email: z.email(),
      n: z.number().min(5),
      tags: z.array(z.string()).min(2),
    })
    expect(exampleOf(new io.JSON({ schema }))).toEqual({
      email: 'someone@example.com',
      n: 5,
      tags: ['text', 'text'],
    })
  })

  it('keeps references to the root of the schema', () => {
    const tree = z.object({
      value: z.number(),
      get children() {
        return z.array(tree)
      },
    })
    expect(schemaOf(new io.JSON({ schema: tree }))).toMatchObject({
      properties: { children: { items: { $ref: '#' } } },
    })
    const item = z.object({ a: z.string() }).meta({ id: 'Item' })
    expect(schemaOf(new io.JSON({ schema: z.array(item) }))).toMatchObject({
      items: { $ref: '#/$defs/Item' },
      $defs: { Item: { type: 'object' } },
    })
  })

  it('has the schemas of valibot and arktype, dates included', () => {
    const properties = { name: { type: 'string' } }
    const ofValibot = v.object({ name: v.string(), at: v.optional(v.date()) })
    expect(schemaOf(new io.JSON({ schema: ofValibot }))).toMatchObject({
      type: 'object',
      properties,
    })
    const ofArktype = type({ name: 'string', 'at?': 'Date' })
    expect(schemaOf(new io.JSON({ schema: ofArktype }))).toMatchObject({
      type: 'object',
      properties: { ...properties, at: { type: 'string', format: 'date-time' } },
    })
  })

  it('asks zod itself where its schemas lack the interface, as before 4.2', () => {
    const schema = z.object({ at: z.date() })
    const { jsonSchema: _, ...standard } = schema['~standard'] as unknown as Record<string, unknown>
    const old = Object.create(schema, { '~standard': { value: standard } }) as io.Schema
    expect(schemaOf(new io.JSON({ schema: old }))).toMatchObject({
      properties: { at: { type: 'string', format: 'date-time' } },
    })
  })

  it('names the vendor of a schema that has no JSON Schema', () => {
    const schema: io.Schema = {
      '~standard': { version: 1, vendor: 'acme', validate: (value) => ({ value }) },
    }
    expect(schemaOf(new io.JSON({ schema }))).toEqual({ $comment: 'what a schema of acme accepts' })
  })
})

describe('text, pictures and files', () => {
  it('of text are strings, and events in responses if it is so', () => {
    const { input, output } = new io.Text({ contentType: 'text/event-stream' }).describe()
    expect([input[0].mimeType, output[0].mimeType]).toEqual(['text/plain', 'text/event-stream'])
    expect(exampleOf(io.Text.fromSample('a question'))).toBe('a question')
  })

  it('of pictures are the allowed types, alone or as the file of a form', () => {
    const { input, output } = new io.Image({
      allowedMimeTypes: ['image/png'],
      mimeType: 'image/webp',
    }).describe()
    const png = { mimeType: 'image/png' }
    const fields = [{ name: 'fileobj', occurrence: 'one', formats: [png] }]
    expect(input).toEqual([png, { mimeType: 'multipart/form-data', fields }])
    expect(output).toEqual([{ mimeType: 'image/webp' }])
  })

  it('of a file are its type', () => {
    expect(inputOf(new io.File({ mimeType: 'application/pdf' }))[0]).toEqual({
      mimeType: 'application/pdf',
    })
    expect(inputOf(new io.File()).map(({ mimeType }) => mimeType)).toEqual([
      'application/octet-stream',
      'multipart/form-data',
    ])
  })
})

describe('forms', () => {
  it('have the formats of their parts, how often each comes, and the reasons of all', () => {
    const form = new io.Multipart({
      images: io.many(new io.Image()),
      note: io.optional(new io.Text()),
      x: new io.NumpyNdarray(),
    })
    const { input, errors } = form.describe()
    expect(input[0].fields?.map(({ name, occurrence }) => [name, occurrence])).toEqual([
      ['images', 'many'],
      ['note', 'optional'],
      ['x', 'one'],
    ])
    expect(input[0].fields?.[2].formats).toEqual(form.parts.get('x')?.describe().input)
    expect(input[0].fields?.[0].formats.map(({ mimeType }) => mimeType)).not.toContain(
      'multipart/form-data',
    )
    expect(errors[0].reasons).toEqual(expect.arrayContaining(['part', 'ragged', 'encoding']))
    expect(new Set(errors[0].reasons).size).toBe(errors[0].reasons.length)
  })
})

async function echo(descriptor: io.PandasDataFrame) {
  const { Service } = await import('serving')
  const svc = new Service('echo')
  svc.api({ input: descriptor, output: descriptor }, function echo(frame) {
    return frame
  })
  return { svc }
}
