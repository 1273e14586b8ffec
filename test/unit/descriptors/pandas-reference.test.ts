import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { fixture, type PlainFrame, plain } from './frames.ts'
import { requestOf } from './requests.ts'

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
  [
    'D8 (booleans may be missing)',
    {},
    json,
    '[{"a":true},{"a":null}]',
    [['a', 'bool', [true, null]]],
  ],
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
  [
    'D19 (no dates are guessed)',
    {},
    json,
    '[{"date":1577836800000}]',
    [['date', 'int64', [1577836800000]]],
  ],
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
  [
    'D43',
    { orient: 'split' },
    json,
    '{"columns":["a"],"index":["x"],"data":[[1]]}',
    [['a', 'int64', [1]]],
    ['x'],
  ],
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
  [
    'D50',
    { orient: 'index' },
    json,
    '{"10":{"a":1},"9":{"a":2}}',
    [['a', 'int64', [1, 2]]],
    [10, 9],
  ],
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
  [
    'D97',
    { dtype: { a: 'str' }, enforceDtype: true },
    json,
    '[{"a":"01"}]',
    [['a', 'str', ['01']]],
  ],
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
  [
    'D101 (the reference fails)',
    { dtype: true, enforceDtype: true },
    csv,
    'a\n1\n',
    [['a', 'int64', [1]]],
  ],
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
    it(name, async () => {
      const received = await new io.PandasDataFrame(options).fromHttpRequest(requestOf(body, type))
      expect(shown(plain(received))).toEqual(columns)
      expect(io.labels(received)).toEqual(
        labels ?? Array.from({ length: received.height }, (_, row) => row),
      )
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
    const read = async () => descriptor.fromHttpRequest(request)
    await expect(read()).rejects.toMatchObject({ reason: 'dtype', path: '[0].text' })
  })
})
