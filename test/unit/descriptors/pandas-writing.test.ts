import type { HttpResponse } from 'serving'
import { BadInput, BadOutput, InvalidArgument, io } from 'serving'
import { describe, expect, it } from 'vitest'
import { frameOf, polars } from './frames.ts'
import { decode, textOf } from './requests.ts'

const csv = 'text/csv'

describe('PandasDataFrame writes', () => {
  const frame = () =>
    decode(new io.PandasDataFrame(), 'a,b,c,d\n1.0,2.5,x,True\n,4.0,é/,False\n', csv)

  const columns =
    '{"a":{"0":1.0,"1":null},"b":{"0":2.5,"1":4.0},"c":{"0":"x","1":"é/"},"d":{"0":true,"1":false}}'

  it.each([
    ['P1', 'records', '[{"a":1.0,"b":2.5,"c":"x","d":true},{"a":null,"b":4.0,"c":"é/","d":false}]'],
    [
      'P2',
      'split',
      '{"columns":["a","b","c","d"],"index":[0,1],"data":[[1.0,2.5,"x",true],[null,4.0,"é/",false]]}',
    ],
    ['P4', 'columns', columns],
    ['P5', 'values', '[[1.0,2.5,"x",true],[null,4.0,"é/",false]]'],
  ] as const)('%s: %s', (_, orient, text) => {
    expect(textOf(new io.PandasDataFrame({ orient }).toHttpResponse(frame()))).toBe(text)
  })

  it('P7: CSV without an index column', () => {
    const response = new io.PandasDataFrame({ defaultFormat: 'csv' }).toHttpResponse(
      frame(),
    ) as HttpResponse
    expect(textOf(response)).toBe('a,b,c,d\n1.0,2.5,x,true\n,4.0,é/,false\n')
    expect(response.headers).toEqual([
      ['content-type', 'text/csv; charset=utf-8'],
      ['vary', 'accept'],
    ])
  })

  it('P8: Parquet', () => {
    const response = new io.PandasDataFrame({ defaultFormat: 'parquet' }).toHttpResponse(
      frame(),
    ) as HttpResponse
    expect((response.body as Buffer).subarray(0, 4).toString()).toBe('PAR1')
    expect(response.headers).toEqual([
      ['content-type', 'application/octet-stream'],
      ['vary', 'accept'],
    ])
  })

  it('P10: floats shortest, and exact', () => {
    const body = '[{"a":0.1,"b":1e22,"c":1e-7,"d":123456789.123456789,"e":3.0,"f":"1.50"}]'
    expect(
      textOf(new io.PandasDataFrame().toHttpResponse(decode(new io.PandasDataFrame(), body))),
    ).toBe('[{"a":0.1,"b":1e+22,"c":1e-7,"d":123456789.12345679,"e":3.0,"f":"1.50"}]')
  })

  it('P11, P14: an empty frame, and names applied on the way out without touching the frame', () => {
    const descriptor = new io.PandasDataFrame({ columns: ['p'], applyColumnNames: true })
    const own = frameOf([['x', 'int64', [1n]]])
    expect(textOf(descriptor.toHttpResponse(own))).toBe('[{"p":1}]')
    expect(own.columns).toEqual(['x'])
    expect(
      textOf(new io.PandasDataFrame().toHttpResponse(decode(new io.PandasDataFrame(), '[]'))),
    ).toBe('[]')
  })

  it('P16: refuses what is no frame, too many columns, and columns of lists', () => {
    expect(() => new io.PandasDataFrame().toHttpResponse(null as never)).toThrow(BadOutput)
    expect(() =>
      new io.PandasDataFrame({ shape: [-1, 1], enforceShape: true }).toHttpResponse(frame()),
    ).toThrow(BadOutput)
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
    expect(made).toMatchObject({
      columns: ['a', 'b'],
      dtype: { a: 'int64', b: 'float64' },
      shape: [2, 2],
    })
    expect(made.sample).toBe(sample)
    expect(made.enforceShape || made.enforceDtype || made.applyColumnNames).toBe(false)
    expect(
      io.PandasDataFrame.fromSample(sample, { shape: [-1, 2], enforceShape: true }).shape,
    ).toEqual([-1, 2])
  })

  it('C10: fromSample refuses what is no frame', () => {
    for (const sample of ['[{"a":1}]', [[1]], null]) {
      expect(() => io.PandasDataFrame.fromSample(sample as never)).toThrow(BadInput)
    }
  })

  it('C14: a series from a list or a typed array', () => {
    expect(io.PandasSeries.fromSample([1, 2, 3])).toMatchObject({ dtype: 'int64', shape: [3] })
    expect(io.PandasSeries.fromSample([1, 2.5, null])).toMatchObject({
      dtype: 'float64',
      shape: [3],
    })
    expect(io.PandasSeries.fromSample(['a'])).toMatchObject({ dtype: 'str' })
    expect(io.PandasSeries.fromSample(Uint8Array.of(1, 2))).toMatchObject({
      dtype: 'uint8',
      shape: [2],
    })
    for (const sample of [['a', 1], 5, [{}]])
      expect(() => io.PandasSeries.fromSample(sample as never)).toThrow(BadInput)
  })
})

describe('row labels', () => {
  it('are refused when they do not fit', () => {
    const frame = frameOf([['a', 'int64', [1n, 2n]]])
    expect(() => io.withLabels(frame, ['x'])).toThrow(InvalidArgument)
    expect(() => io.withLabels(frame, ['x', 1])).toThrow(InvalidArgument)
    expect(() => io.withLabels(frame, [Number.NaN, 1])).toThrow(InvalidArgument)
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
