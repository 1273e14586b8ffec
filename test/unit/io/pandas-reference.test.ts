import { BadInput, BadOutput, InvalidArgument, io } from 'serving'
import { describe, expect, it } from 'vitest'
import type { DataFrame } from '../../../src/bindings/polars.ts'
import { fixture, frameOf, type PlainFrame, plain, plainSeries, polars } from './frames.ts'
import { decode, refusal, requestOf, textOf } from './requests.ts'

// Cases of the reference implementation by their number in its conformance table; where ours differ, the name says why.

type Options = ConstructorParameters<typeof io.PandasDataFrame>[0]
type Columns = readonly (readonly [name: string, kind: string, values: readonly unknown[]])[]

const json = 'application/json'
const csv = 'text/csv'
const casts = { dtype: { a: 'int64', b: 'float32' }, enforceDtype: true }

function shown({ columns }: PlainFrame): Columns {
  const value = (v: unknown) => (typeof v === 'bigint' ? Number(v) : v)
  return columns.map(({ name, kind, values }) => [name, kind, values.map(value)])
}

const frames: readonly [
  name: string,
  options: Options,
  type: string | undefined,
  body: string,
  columns: Columns,
  labels?: readonly unknown[],
][] = [
  [
    'D1',
    {},
    json,
    '[{"a":1,"b":2.5},{"a":3,"b":4.5}]',
    [
      ['a', 'int64', [1, 3]],
      ['b', 'float64', [2.5, 4.5]],
    ],
  ],
  ['D2', {}, json, '[]', []],
  ['D4 (a frame without columns has no rows in Polars)', {}, json, '[{}]', []],
  [
    'D5 (integers may be missing)',
    {},
    json,
    '[{"a":1},{"b":2}]',
    [
      ['a', 'int64', [1, null]],
      ['b', 'int64', [null, 2]],
    ],
  ],
  ['D7 (integers may be missing)', {}, json, '[{"a":null},{"a":1}]', [['a', 'int64', [null, 1]]]],
  ['D8 (booleans may be missing)', {}, json, '[{"a":true},{"a":null}]', [['a', 'bool', [true, null]]]],
  ['D10 (text stays text)', {}, json, '[{"a":"01"}]', [['a', 'str', ['01']]]],
  ['D11', {}, json, '[{"a":"1.5"},{"a":"x"}]', [['a', 'str', ['1.5', 'x']]]],
  ['D13', {}, json, '[{"a":"True"}]', [['a', 'str', ['True']]]],
  [
    'D14',
    {},
    json,
    '[{"b":1,"a":2},{"a":3,"b":4}]',
    [
      ['b', 'int64', [1, 4]],
      ['a', 'int64', [2, 3]],
    ],
  ],
  ['D17', {}, json, '[{"a":"2020-01-01"}]', [['a', 'str', ['2020-01-01']]]],
  ['D19 (no dates are guessed)', {}, json, '[{"date":1577836800000}]', [['date', 'int64', [1577836800000]]]],
  [
    'D20 (no dates are guessed)',
    {},
    json,
    '[{"created_at":"2020-01-01T00:00:00Z"}]',
    [['created_at', 'str', ['2020-01-01T00:00:00Z']]],
  ],
  [
    'D25',
    {},
    json,
    '[[1,2],[3,4]]',
    [
      ['0', 'int64', [1, 3]],
      ['1', 'int64', [2, 4]],
    ],
  ],
  ['D26', {}, json, '{"a":[1,2]}', [['a', 'int64', [1, 2]]]],
  ['D35', {}, 'application/json; charset=utf-8', '[{"a":1}]', [['a', 'int64', [1]]]],
  [
    'D41',
    { orient: 'split' },
    json,
    '{"columns":["a","b"],"index":[0,1],"data":[[1,2],[3,4]]}',
    [
      ['a', 'int64', [1, 3]],
      ['b', 'int64', [2, 4]],
    ],
  ],
  ['D43', { orient: 'split' }, json, '{"columns":["a"],"index":["x"],"data":[[1]]}', [['a', 'int64', [1]]], ['x']],
  [
    'D44',
    { orient: 'split' },
    json,
    '{"columns":["a","a"],"index":[0],"data":[[1,2]]}',
    [
      ['a', 'int64', [1]],
      ['a.1', 'int64', [2]],
    ],
  ],
  ['D49', { orient: 'index' }, json, '{"x":{"a":1}}', [['a', 'int64', [1]]], ['x']],
  ['D50', { orient: 'index' }, json, '{"10":{"a":1},"9":{"a":2}}', [['a', 'int64', [1, 2]]], [10, 9]],
  [
    'D53',
    { orient: 'columns' },
    json,
    '{"a":{"0":1,"1":2},"b":{"0":3,"1":4}}',
    [
      ['a', 'int64', [1, 2]],
      ['b', 'int64', [3, 4]],
    ],
  ],
  ['D55', { orient: 'columns' }, json, '{"a":[1,2]}', [['a', 'int64', [1, 2]]]],
  ['D56', { orient: 'columns' }, json, '[{"a":1}]', [['a', 'int64', [1]]]],
  ['D59', { orient: 'values' }, json, '[1,2]', [['0', 'int64', [1, 2]]]],
  ['D61', { orient: 'values' }, json, '[{"a":1}]', [['a', 'int64', [1]]]],
  [
    'D64',
    {},
    csv,
    'a,b\n1,2\n3,4\n',
    [
      ['a', 'int64', [1, 3]],
      ['b', 'int64', [2, 4]],
    ],
  ],
  [
    'D65',
    {},
    csv,
    ',a,b\n0,1,2\n',
    [
      ['Unnamed: 0', 'int64', [0]],
      ['a', 'int64', [1]],
      ['b', 'int64', [2]],
    ],
  ],
  [
    'D67',
    {},
    csv,
    'a,b\n1\n',
    [
      ['a', 'int64', [1]],
      ['b', 'float64', [null]],
    ],
  ],
  ['D68', {}, csv, 'a\n\n1\n', [['a', 'int64', [1]]]],
  ['D70', {}, csv, 'a\nTrue\nFalse\n', [['a', 'bool', [true, false]]]],
  ['D71 (integers may be missing)', {}, csv, 'a\nNA\n1\n', [['a', 'int64', [null, 1]]]],
  ['D73', {}, csv, 'a;b\n1;2\n', [['a;b', 'str', ['1;2']]]],
  ['D74', {}, csv, 'a\r\n1\r\n', [['a', 'int64', [1]]]],
  ['D79', { defaultFormat: 'csv' }, undefined, 'a\n1\n', [['a', 'int64', [1]]]],
  ['D80', { defaultFormat: 'csv' }, 'text/csv; charset=utf-8', 'a\n1\n', [['a', 'int64', [1]]]],
  [
    'D82',
    { columns: ['a', 'b'], applyColumnNames: true },
    json,
    '[{"x":1,"y":2}]',
    [
      ['a', 'int64', [1]],
      ['b', 'int64', [2]],
    ],
  ],
  ['D86', { columns: ['a', 'b'] }, json, '[{"x":1}]', [['x', 'int64', [1]]]],
  [
    'D88',
    casts,
    json,
    '[{"a":"1","b":2}]',
    [
      ['a', 'int64', [1]],
      ['b', 'float32', [2]],
    ],
  ],
  [
    'D89',
    casts,
    json,
    '[{"a":1.5,"b":2}]',
    [
      ['a', 'int64', [1]],
      ['b', 'float32', [2]],
    ],
  ],
  ['D91', casts, json, '[{"b":2}]', [['b', 'float32', [2]]]],
  ['D97', { dtype: { a: 'str' }, enforceDtype: true }, json, '[{"a":"01"}]', [['a', 'str', ['01']]]],
  [
    'D97 in CSV',
    { dtype: { a: 'str' } },
    csv,
    'a,b\n01,02\n',
    [
      ['a', 'str', ['01']],
      ['b', 'int64', [2]],
    ],
  ],
  ['D98', { dtype: false, enforceDtype: true }, json, '[{"a":"1"}]', [['a', 'str', ['1']]]],
  ['D100 (text stays text)', { dtype: false }, json, '[{"a":"1"}]', [['a', 'str', ['1']]]],
  ['D100 in CSV', { dtype: false }, csv, 'a\n01\n', [['a', 'str', ['01']]]],
  ['D101 (the reference fails)', { dtype: true, enforceDtype: true }, csv, 'a\n1\n', [['a', 'int64', [1]]]],
  [
    'D103 (rows are not looked at)',
    { shape: [2, 2], enforceShape: true },
    json,
    '[{"a":1,"b":2}]',
    [
      ['a', 'int64', [1]],
      ['b', 'int64', [2]],
    ],
  ],
  [
    'D107',
    { shape: [2, 2] },
    json,
    '[{"a":1,"b":2,"c":3}]',
    [
      ['a', 'int64', [1]],
      ['b', 'int64', [2]],
      ['c', 'int64', [3]],
    ],
  ],
  [
    'names that are numbers keep their order',
    {},
    json,
    '[{"10":1,"9":2,"__proto__":3}]',
    [
      ['10', 'int64', [1]],
      ['9', 'int64', [2]],
      ['__proto__', 'int64', [3]],
    ],
  ],
  [
    'types by the applied names',
    { columns: ['a'], applyColumnNames: true, dtype: { a: 'str' } },
    json,
    '[[1]]',
    [['a', 'str', ['1']]],
  ],
  ['CSV in another charset', {}, 'text/csv; charset=latin1', 'a\nx\n', [['a', 'str', ['x']]]],
]

describe('PandasDataFrame reads what the reference reads', () => {
  for (const [name, options, type, body, columns, labels] of frames) {
    it(name, () => {
      const received = new io.PandasDataFrame(options).fromHttpRequest(requestOf(body, type)) as DataFrame
      expect(shown(plain(received))).toEqual(columns)
      expect(io.labels(received)).toEqual(labels ?? Array.from({ length: received.height }, (_, row) => row))
    })
  }

  it('D38: Parquet by default', async () => {
    const descriptor = new io.PandasDataFrame({ defaultFormat: 'parquet' })
    const received = await descriptor.fromHttpRequest(requestOf(fixture('small.parquet')))
    expect(received.columns).toEqual(['int', 'float', 'bool', 'text'])
  })

  it('D95: types hold for Parquet, too', async () => {
    const descriptor = new io.PandasDataFrame({ dtype: { int: 'int8', text: 'int64' } })
    const request = requestOf(fixture('small.parquet'), 'application/octet-stream')
    await expect(descriptor.fromHttpRequest(request)).rejects.toMatchObject({ reason: 'dtype', path: '[0].text' })
  })
})

const refused: readonly [name: string, options: Options, type: string | undefined, body: string, error: object][] = [
  ['D16: a list in a cell', {}, json, '[{"a":[1,2]}]', { reason: 'dtype', path: '[0].a', offset: 6 }],
  ['D22, D23: beyond int64', {}, json, '[{"a":9223372036854775808}]', { reason: 'dtype', path: '[0].a' }],
  ['D28: an object of scalars', {}, json, '{"a":1}', { reason: 'columns', offset: 5 }],
  ['D29: a scalar', {}, json, '1', { reason: 'columns', offset: 0 }],
  ['D31: no JSON', {}, json, 'bad', { reason: 'syntax', offset: 0 }],
  ['D32: half of it', {}, json, '[{"a":1}', { reason: 'syntax', offset: 8 }],
  ['D34: a type that is not ours', {}, 'text/plain', '[]', { status: 415 }],
  ['D37: Parquet as JSON', {}, undefined, 'PAR1', { reason: 'syntax' }],
  [
    'D46: an unknown key',
    { orient: 'split' },
    json,
    '{"columns":["a"],"index":[0],"data":[[1]],"zz":1}',
    { reason: 'columns', offset: 42 },
  ],
  ['D47: a list for split', { orient: 'split' }, json, '[{"a":1}]', { reason: 'columns' }],
  ['D52: a list for index', { orient: 'index' }, json, '[{"a":1}]', { reason: 'columns' }],
  ['D58: rows of unequal length', { orient: 'values' }, json, '[[1],[2,3]]', { reason: 'ragged', offset: 5 }],
  ['D76: a line too long', {}, csv, 'a\n1\n2,3\n', { reason: 'ragged', path: '[1]', offset: 4 }],
  ['D77: no text', {}, csv, '', { reason: 'syntax' }],
  [
    'D83: too few columns to name',
    { columns: ['a', 'b'], applyColumnNames: true },
    json,
    '[{"x":1}]',
    { reason: 'columns' },
  ],
  ['D92: a null among enforced integers', casts, json, '[{"a":null,"b":1}]', { reason: 'dtype', path: '[0].a' }],
  ['D94: a word for an integer', casts, csv, 'a,b\nx,2\n', { reason: 'dtype', path: '[0].a' }],
  [
    'D104: a column too many',
    { shape: [2, 2], enforceShape: true },
    json,
    '[{"a":1,"b":2,"c":3}]',
    { reason: 'shape' },
  ],
  ['mixed kinds', {}, json, '[{"a":1},{"a":"x"}]', { reason: 'dtype', path: '[1].a', offset: 14 }],
  ['a name twice', {}, json, '[{"a":1,"a":2}]', { reason: 'columns' }],
  ['half a surrogate pair', {}, json, '[{"a":"\\ud800"}]', { reason: 'encoding' }],
  ['beyond int8', { dtype: { a: 'int8' } }, json, '[{"a":128}]', { reason: 'dtype', path: '[0].a' }],
  ['beyond float32', { dtype: { a: 'float32' } }, json, '[{"a":1e300}]', { reason: 'dtype', path: '[0].a' }],
  ['a charset that nobody knows', {}, 'text/csv; charset=klingon', 'a\n', { status: 415 }],
]

describe('PandasDataFrame refuses with a place', () => {
  for (const [name, options, type, body, error] of refused) {
    it(name, () => {
      const thrown = refusal(new io.PandasDataFrame(options) as never, body, type)
      expect(thrown).toMatchObject({ status: 400, ...error })
    })
  }

  it('frames with far more cells than values', () => {
    const wide = `{${Array.from({ length: 2000 }, (_, i) => `"c${i}":1`).join()}}`
    expect(refusal(new io.PandasDataFrame() as never, `[${wide}${',{}'.repeat(2000)}]`, json)).toMatchObject({
      reason: 'size',
    })
    const many = `[[${'0,'.repeat(20_000)}0]]`
    expect(refusal(new io.PandasDataFrame() as never, many, json)).toMatchObject({ reason: 'size' })
    const header = `${'a,'.repeat(20_000)}a\n`
    expect(refusal(new io.PandasDataFrame() as never, header, csv)).toMatchObject({ reason: 'size' })
  })

  it('D40: octets that are no Parquet', async () => {
    const pending = new io.PandasDataFrame().fromHttpRequest(requestOf('notparquet', 'application/octet-stream'))
    await expect(pending).rejects.toMatchObject({ status: 400, reason: 'syntax' })
  })
})

const seriesCases: readonly [
  string,
  ConstructorParameters<typeof io.PandasSeries>[0],
  string,
  string,
  readonly unknown[],
  (readonly unknown[])?,
  string?,
][] = [
  ['S1', {}, '[1,2,3]', 'int64', [1n, 2n, 3n]],
  ['S2', {}, '{"a":1,"b":2}', 'int64', [1n, 2n], ['a', 'b']],
  ['S4', {}, '[1,2.5]', 'float64', [1, 2.5]],
  ['S5 (as written)', {}, '[1.0,2.0]', 'float64', [1, 2]],
  ['S8 (integers may be missing)', {}, '[null,1]', 'int64', [null, 1n]],
  ['S10', {}, '[]', 'float64', []],
  ['S11', {}, '1', 'int64', [1n]],
  ['S13', {}, 'null', 'float64', []],
  ['S16 (no dates are guessed)', {}, '["2020-01-01"]', 'str', ['2020-01-01']],
  ['S17 (no dates are guessed)', {}, '[1577836800000]', 'int64', [1577836800000n]],
  ['S22', { orient: 'split' }, '{"name":"s","index":[0,1],"data":[5,6]}', 'int64', [5n, 6n], [0, 1], 's'],
  ['S23', { orient: 'split' }, '{"data":[5]}', 'int64', [5n]],
  ['S25', { orient: 'index' }, '{"x":1,"y":2}', 'int64', [1n, 2n], ['x', 'y']],
  ['S26', { orient: 'index' }, '[1,2]', 'int64', [1n, 2n]],
  ['S29', { dtype: 'float32' }, '[1,2]', 'float32', [1, 2]],
  ['S31', { dtype: 'float32', enforceDtype: true }, '[1,2]', 'float32', [1, 2]],
  ['S34', { dtype: 'int64', enforceDtype: true }, '[1.5]', 'int64', [1n]],
  ['S38', { shape: [-1], enforceShape: true }, '[1,2]', 'int64', [1n, 2n]],
  ['S40 (the reference fails)', { dtype: true }, '[1,2]', 'int64', [1n, 2n]],
]

describe('PandasSeries reads what the reference reads', () => {
  for (const [title, options, body, kind, values, labels, name = ''] of seriesCases) {
    it(title, () => {
      const received = plainSeries(decode(new io.PandasSeries(options), body))
      expect(received).toEqual({ name, kind, values, labels: labels ?? values.map((_, row) => row) })
    })
  }

  it.each([
    ['S7: mixed kinds', {}, '["a",1]', 'dtype'],
    ['S14: objects', {}, '[{"a":1},{"a":2}]', 'dtype'],
    ['S19: no JSON', {}, 'bad', 'syntax'],
    ['S28: an empty schema', { orient: 'table' as const }, '{"schema":{},"data":[]}', 'schema'],
    ['S32: a word for a number', { dtype: 'float32', enforceDtype: true }, '["a"]', 'dtype'],
    ['S35: a null among enforced integers', { dtype: 'int64', enforceDtype: true }, '[null]', 'dtype'],
    ['S37: too short', { shape: [3], enforceShape: true }, '[1,2]', 'shape'],
    ['a label twice', {}, '{"a":1,"a":2}', 'columns'],
  ])('refuses %s', (_, options, body, reason) => {
    expect(refusal(new io.PandasSeries(options) as never, body, json)).toMatchObject({ status: 400, reason })
  })

  it('S41, S43: writes numbers of a column alike', () => {
    expect(textOf(new io.PandasSeries().toHttpResponse(decode(new io.PandasSeries(), '[1,null,2.5]')))).toBe(
      '[1.0,null,2.5]',
    )
    const index = new io.PandasSeries({ orient: 'index' })
    expect(textOf(index.toHttpResponse(decode(index, '{"x":1,"y":2.5}')))).toBe('{"x":1.0,"y":2.5}')
  })

  it('S44: refuses to write a list', () => {
    expect(() => new io.PandasSeries().toHttpResponse([1] as never)).toThrow(BadOutput)
  })
})

describe('PandasDataFrame writes', () => {
  const frame = () => decode(new io.PandasDataFrame(), 'a,b,c,d\n1.0,2.5,x,True\n,4.0,é/,False\n', csv)

  it.each([
    ['P1', 'records', '[{"a":1.0,"b":2.5,"c":"x","d":true},{"a":null,"b":4.0,"c":"é/","d":false}]'],
    ['P2', 'split', '{"columns":["a","b","c","d"],"index":[0,1],"data":[[1.0,2.5,"x",true],[null,4.0,"é/",false]]}'],
    ['P4', 'columns', '{"a":{"0":1.0,"1":null},"b":{"0":2.5,"1":4.0},"c":{"0":"x","1":"é/"},"d":{"0":true,"1":false}}'],
    ['P5', 'values', '[[1.0,2.5,"x",true],[null,4.0,"é/",false]]'],
  ] as const)('%s: %s', (_, orient, text) => {
    expect(textOf(new io.PandasDataFrame({ orient }).toHttpResponse(frame()))).toBe(text)
  })

  it('P7: CSV without an index column', () => {
    const response = new io.PandasDataFrame({ defaultFormat: 'csv' }).toHttpResponse(frame())
    expect(textOf(response)).toBe('a,b,c,d\n1.0,2.5,x,true\n,4.0,é/,false\n')
    expect(response.headers).toEqual([['content-type', 'text/csv; charset=utf-8']])
  })

  it('P8: Parquet', () => {
    const response = new io.PandasDataFrame({ defaultFormat: 'parquet' }).toHttpResponse(frame())
    expect((response.body as Buffer).subarray(0, 4).toString()).toBe('PAR1')
    expect(response.headers).toEqual([['content-type', 'application/octet-stream']])
  })

  it('P10: floats shortest, and exact', () => {
    const body = '[{"a":0.1,"b":1e22,"c":1e-7,"d":123456789.123456789,"e":3.0,"f":"1.50"}]'
    expect(textOf(new io.PandasDataFrame().toHttpResponse(decode(new io.PandasDataFrame(), body)))).toBe(
      '[{"a":0.1,"b":1e+22,"c":1e-7,"d":123456789.12345679,"e":3.0,"f":"1.50"}]',
    )
  })

  it('P11, P14: an empty frame, and names applied on the way out without touching the frame', () => {
    const descriptor = new io.PandasDataFrame({ columns: ['p'], applyColumnNames: true })
    const own = frameOf([['x', 'int64', [1n]]])
    expect(textOf(descriptor.toHttpResponse(own))).toBe('[{"p":1}]')
    expect(own.columns).toEqual(['x'])
    expect(textOf(new io.PandasDataFrame().toHttpResponse(decode(new io.PandasDataFrame(), '[]')))).toBe('[]')
  })

  it('P16: refuses what is no frame, too many columns, and columns of lists', () => {
    expect(() => new io.PandasDataFrame().toHttpResponse(null as never)).toThrow(BadOutput)
    expect(() => new io.PandasDataFrame({ shape: [-1, 1], enforceShape: true }).toHttpResponse(frame())).toThrow(
      BadOutput,
    )
    const lists = polars.readParquet(polars.writeParquet(frame()))
    expect(textOf(new io.PandasDataFrame().toHttpResponse(lists))).toContain('"a":1.0')
  })
})

describe('descriptors of frames are checked at construction', () => {
  it.each([
    ['an unknown orient', { orient: 'rows' }],
    ['an unknown format (C11)', { defaultFormat: 'xml' }],
    ['an unknown option', { colums: ['a'] }],
    ['applyColumnNames without columns (D85)', { applyColumnNames: true }],
    ['enforceDtype without dtype', { enforceDtype: true }],
    ['enforceShape without shape', { enforceShape: true }],
    ['a shape of one dimension (D109)', { shape: [2] }],
    ['an unknown type', { dtype: { a: 'int7' } }],
    ['names that repeat', { columns: ['a', 'a'] }],
    ['types for orient table', { orient: 'table', dtype: { a: 'int64' } }],
  ])('PandasDataFrame refuses %s', (_, options) => {
    expect(() => new io.PandasDataFrame(options as never)).toThrow(InvalidArgument)
  })

  it.each([
    ['columns', { columns: ['a'] }],
    ['applyColumnNames', { applyColumnNames: true }],
    ['a type by column', { dtype: { a: 'int64' } }],
    ['a shape of two dimensions', { shape: [1, 2] }],
  ])('PandasSeries refuses %s', (_, options) => {
    expect(() => new io.PandasSeries(options as never)).toThrow(InvalidArgument)
  })

  it('C9: fromSample takes columns, types and shape', () => {
    const sample = frameOf([
      ['a', 'int64', [1n, 2n]],
      ['b', 'float64', [1.5, 2.5]],
    ])
    const made = io.PandasDataFrame.fromSample(sample)
    expect(made).toMatchObject({ columns: ['a', 'b'], dtype: { a: 'int64', b: 'float64' }, shape: [2, 2] })
    expect(made.sample).toBe(sample)
    expect(made.enforceShape || made.enforceDtype || made.applyColumnNames).toBe(false)
    expect(io.PandasDataFrame.fromSample(sample, { shape: [-1, 2], enforceShape: true }).shape).toEqual([-1, 2])
  })

  it('C10: fromSample refuses what is no frame', () => {
    for (const sample of ['[{"a":1}]', [[1]], null]) {
      expect(() => io.PandasDataFrame.fromSample(sample as never)).toThrow(BadInput)
    }
  })

  it('C14: a series from a list or a typed array', () => {
    expect(io.PandasSeries.fromSample([1, 2, 3])).toMatchObject({ dtype: 'int64', shape: [3] })
    expect(io.PandasSeries.fromSample([1, 2.5, null])).toMatchObject({ dtype: 'float64', shape: [3] })
    expect(io.PandasSeries.fromSample(['a'])).toMatchObject({ dtype: 'str' })
    expect(io.PandasSeries.fromSample(Uint8Array.of(1, 2))).toMatchObject({ dtype: 'uint8', shape: [2] })
    for (const sample of [['a', 1], 5, [{}]])
      expect(() => io.PandasSeries.fromSample(sample as never)).toThrow(BadInput)
  })
})

describe('row labels', () => {
  it('are refused when they do not fit', () => {
    const frame = frameOf([['a', 'int64', [1n, 2n]]])
    expect(() => io.withLabels(frame, ['x'])).toThrow(InvalidArgument)
    expect(() => io.withLabels(frame, ['x', 1])).toThrow(InvalidArgument)
    expect(() => io.withLabels(frame, [1.5, 1])).toThrow(InvalidArgument)
    expect(() => io.labels({} as never)).toThrow(InvalidArgument)
  })

  it('keep what is written as text as text', () => {
    const descriptor = new io.PandasDataFrame({ orient: 'index' })
    for (const labels of [['01', '2'], ['1.5'], ['-0'], ['9223372036854775808'], ['']]) {
      const body = JSON.stringify(Object.fromEntries(labels.map((label) => [label, { a: 1 }])))
      expect([...io.labels(decode(descriptor, body))].sort()).toEqual([...labels].sort())
    }
  })
})
