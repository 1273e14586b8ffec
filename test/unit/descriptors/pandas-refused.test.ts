import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { nativeStatus } from '../../../src/core/native/add-on.ts'
import { refusal, requestOf } from './requests.ts'

// Cases of the reference implementation by their number in its conformance table; where ours differ, the name says why.

type Options = ConstructorParameters<typeof io.PandasDataFrame>[0]

const json = 'application/json'
const csv = 'text/csv'
const casts = { dtype: { a: 'int64', b: 'float32' }, enforceDtype: true }

const refused: readonly [
  name: string,
  options: Options,
  type: string | undefined,
  body: string,
  error: object,
][] = [
  [
    'D16: a list for a number',
    { dtype: { a: 'int64' } },
    json,
    '[{"a":[1,2]}]',
    { reason: 'dtype', path: '[0].a' },
  ],
  [
    'D22, D23: beyond uint64',
    {},
    json,
    '[{"a":18446744073709551616}]',
    { reason: 'dtype', path: '[0].a' },
  ],
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
  [
    'D58: rows of unequal length',
    { orient: 'values' },
    json,
    '[[1],[2,3]]',
    { reason: 'ragged', offset: 5 },
  ],
  ['D76: a line too long', {}, csv, 'a\n1\n2,3\n', { reason: 'ragged', path: '[1]', offset: 4 }],
  ['D77: no text', {}, csv, '', { reason: 'syntax' }],
  [
    'D83: too few columns to name',
    { columns: ['a', 'b'], applyColumnNames: true },
    json,
    '[{"x":1}]',
    { reason: 'columns' },
  ],
  [
    'D91: without a column whose type is enforced (the reference reads it)',
    casts,
    json,
    '[{"b":2}]',
    { reason: 'columns' },
  ],
  [
    'D92: a null among enforced integers',
    casts,
    json,
    '[{"a":null,"b":1}]',
    { reason: 'dtype', path: '[0].a' },
  ],
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
  [
    'beyond int8',
    { dtype: { a: 'int8' } },
    json,
    '[{"a":128}]',
    { reason: 'dtype', path: '[0].a' },
  ],
  [
    'beyond float32',
    { dtype: { a: 'float32' } },
    json,
    '[{"a":1e300}]',
    { reason: 'dtype', path: '[0].a' },
  ],
  ['a charset that nobody knows', {}, 'text/csv; charset=klingon', 'a\n', { status: 415 }],
]

describe('PandasDataFrame refuses with a place', () => {
  for (const [name, options, type, body, error] of refused) {
    it(name, () => {
      const thrown = refusal(new io.PandasDataFrame(options) as never, body, type)
      const { offset, ...rest } = error as { readonly offset?: number; readonly reason?: string }
      // Without the add-on a frame of another form has no place in the body.
      const isPlaced =
        offset !== undefined && (nativeStatus.loaded || type === csv || rest.reason === 'syntax')
      expect(thrown).toMatchObject({ status: 400, ...rest, ...(isPlaced && { offset }) })
    })
  }

  it('frames with far more cells than values', () => {
    const wide = `{${Array.from({ length: 2000 }, (_, i) => `"c${i}":1`).join()}}`
    expect(
      refusal(new io.PandasDataFrame() as never, `[${wide}${',{}'.repeat(2000)}]`, json),
    ).toMatchObject({
      reason: 'size',
    })
    const many = `[[${'0,'.repeat(20_000)}0]]`
    expect(refusal(new io.PandasDataFrame() as never, many, json)).toMatchObject({ reason: 'size' })
    const header = `${'a,'.repeat(20_000)}a\n`
    expect(refusal(new io.PandasDataFrame() as never, header, csv)).toMatchObject({
      reason: 'size',
    })
  })

  it('D40: octets that are no Parquet', async () => {
    const pending = new io.PandasDataFrame().fromHttpRequest(
      requestOf('notparquet', 'application/octet-stream'),
    )
    await expect(pending).rejects.toMatchObject({ status: 400, reason: 'syntax' })
  })
})
