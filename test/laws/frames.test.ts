import { io } from 'serving'
import { describe, it } from 'vitest'
import type { Orient } from '../../src/values/table/json/frame-plan.ts'
import type { DataFrame, Series } from '../../src/values/table/polars/polars-package.ts'
import { fixture, frameOf, polars, sameFrame, sameSeries } from '../unit/descriptors/frames.ts'
import { describeDescriptor } from './describe.ts'

const runner = { describe, it }
const json = { 'content-type': 'application/json' }
const orients: readonly Orient[] = ['records', 'columns', 'values', 'index', 'split', 'table']

const kinds = () =>
  frameOf([
    ['i', 'int64', [1n, -(2n ** 63n), null]],
    ['f', 'float64', [0.1, null, -1e-7]],
    ['b', 'bool', [true, null, false]],
    ['s', 'str', ['é😀', null, '"\\\n']],
  ])
const labelled = (columns: DataFrame) => io.withLabels(columns, ['x', '01', ''])
const byPlace = (frame: DataFrame) => polars.rename(frame, ['0', '1', '2', '3'])
const names = () =>
  frameOf(['10', '9', '__proto__', '', 'a.b'].map((name) => [name, 'int64', [1n]] as const))

for (const orient of orients) {
  const isLabelled = orient !== 'records' && orient !== 'values'
  describeDescriptor<DataFrame, DataFrame>(
    `PandasDataFrame in ${orient}`,
    {
      create: () => new io.PandasDataFrame({ orient }),
      samples: [
        orient === 'values'
          ? { value: kinds(), received: byPlace(kinds()), receivedOverRpc: kinds() }
          : { value: kinds() },
        ...(isLabelled
          ? [{ value: labelled(kinds()) }, { value: io.withLabels(kinds(), [10, 9, -1]) }]
          : []),
        ...(orient === 'values' ? [] : [{ value: names() }]),
        { value: polars.fromColumns({ rows: 0, columns: [] }) },
      ],
      // In values the names get lost, so a sample is not received as it was; table has no types to cast to.
      ...(orient !== 'values' && {
        fromSample: (value: DataFrame) => io.PandasDataFrame.fromSample(value, { orient }),
      }),
      refusals: [
        { title: 'half a body', headers: json, body: '[{"a":1}' },
        {
          title: 'bytes that are not UTF-8',
          headers: json,
          body: Uint8Array.of(0x5b, 0xff, 0x5d),
          reason: 'encoding',
        },
        { title: 'a bare number', headers: json, body: '1', reason: 'columns' },
        { title: 'a form', headers: { 'content-type': 'text/plain' }, body: '[]', status: 415 },
        { title: 'an empty body', headers: json, body: '', reason: 'syntax' },
      ],
      equal: sameFrame,
    },
    runner,
  )
}

describeDescriptor<DataFrame, DataFrame>(
  'PandasDataFrame in CSV',
  {
    create: () => new io.PandasDataFrame({ defaultFormat: 'csv' }),
    samples: [
      { value: kinds() },
      {
        value: names(),
        received: polars.rename(names(), ['10', '9', '__proto__', 'Unnamed: 3', 'a.b']),
        receivedOverRpc: names(),
      },
      { value: frameOf([['a', 'str', ['x,y', 'q"', 'two\nlines', 'é']]]) },
    ],
    refusals: [
      { title: 'an empty body', body: '', reason: 'syntax' },
      { title: 'a line too long', body: 'a\n1\n2,3\n', reason: 'ragged' },
      { title: 'a quote that does not end', body: 'a\n"x\n', reason: 'syntax' },
      {
        title: 'bytes that are not UTF-8',
        body: Uint8Array.of(0x61, 0x0a, 0xff),
        reason: 'encoding',
      },
    ],
    equal: sameFrame,
  },
  runner,
)

describeDescriptor<DataFrame, DataFrame>(
  'PandasDataFrame in Parquet',
  {
    create: () => new io.PandasDataFrame({ defaultFormat: 'parquet' }),
    samples: [{ value: kinds() }, { value: names() }],
    fromSample: (value) => io.PandasDataFrame.fromSample(value, { defaultFormat: 'parquet' }),
    refusals: [
      { title: 'text', body: 'notparquet', reason: 'syntax' },
      { title: 'half a file', body: fixture('small.parquet').subarray(0, 1000), reason: 'syntax' },
    ],
    equal: sameFrame,
  },
  runner,
)

describeDescriptor<DataFrame, DataFrame>(
  'PandasDataFrame with everything enforced',
  {
    create: () =>
      new io.PandasDataFrame({
        columns: ['a', 'b'],
        applyColumnNames: true,
        dtype: { a: 'int8', b: 'float32' },
        enforceDtype: true,
        shape: [-1, 2],
        enforceShape: true,
      }),
    samples: [
      {
        value: frameOf([
          ['a', 'int8', [1, 127]],
          ['b', 'float32', [0.5, 2]],
        ]),
        request: { headers: json, body: '[{"x":1,"y":0.5},{"x":127,"y":2}]' },
      },
    ],
    refusals: [
      { title: 'a column too many', body: '[{"a":1,"b":2,"c":3}]', reason: 'columns' },
      { title: 'a number beyond its type', body: '[{"a":128,"b":1}]', reason: 'dtype' },
      { title: 'a null among integers', body: '[{"a":null,"b":1}]', reason: 'dtype' },
      { title: 'a word among numbers', body: '[{"a":1,"b":"x"}]', reason: 'dtype' },
    ],
    equal: sameFrame,
  },
  runner,
)

const one = (name = '') => polars.seriesOf(frameOf([[name, 'float64', [0.5, null, 1e22]]]))
const words = (name = '') => polars.seriesOf(frameOf([[name, 'str', ['a', 'é', '']]]))

for (const orient of orients) {
  const isNamed = orient === 'split' || orient === 'table'
  const isLabelled = orient !== 'records' && orient !== 'values'
  describeDescriptor<Series, Series>(
    `PandasSeries in ${orient}`,
    {
      create: () => new io.PandasSeries({ orient }),
      samples: [
        { value: one(isNamed ? 'n' : '') },
        { value: words() },
        { value: polars.seriesOf(frameOf([['', 'int64', [2n ** 63n - 1n, -1n]]])) },
        ...(isLabelled ? [{ value: io.withLabels(one(), ['x', 'y', 'z']) }] : []),
      ],
      fromSample: (value) => io.PandasSeries.fromSample(value, { orient }),
      refusals: [
        { title: 'words among numbers', body: '[1,"a"]' },
        { title: 'half a body', body: '[1', ...(isNamed ? {} : { reason: 'syntax' as const }) },
        { title: 'lists among numbers', body: '[1,[1]]' },
        { title: 'CSV', headers: { 'content-type': 'text/csv' }, body: 'a\n1', status: 415 },
      ],
      equal: sameSeries,
    },
    runner,
  )
}
