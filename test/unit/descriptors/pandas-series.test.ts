import { BadOutput, io } from 'serving'
import { describe, expect, it } from 'vitest'
import { plainSeries } from './frames.ts'
import { decode, refusal, textOf } from './requests.ts'

// Cases of the reference implementation by their number in its conformance table; where ours differ, the name says why.

const json = 'application/json'

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
  [
    'S22',
    { orient: 'split' },
    '{"name":"s","index":[0,1],"data":[5,6]}',
    'int64',
    [5n, 6n],
    [0, 1],
    's',
  ],
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
      expect(received).toEqual({
        name,
        kind,
        values,
        labels: labels ?? values.map((_, row) => row),
      })
    })
  }

  it.each([
    ['S7: mixed kinds', {}, '["a",1]', 'dtype'],
    ['S14: objects for numbers', { dtype: 'int64' }, '[{"a":1},{"a":2}]', 'dtype'],
    ['S19: no JSON', {}, 'bad', 'syntax'],
    ['S28: an empty schema', { orient: 'table' as const }, '{"schema":{},"data":[]}', 'schema'],
    ['S32: a word for a number', { dtype: 'float32', enforceDtype: true }, '["a"]', 'dtype'],
    [
      'S35: a null among enforced integers',
      { dtype: 'int64', enforceDtype: true },
      '[null]',
      'dtype',
    ],
    ['S37: too short', { shape: [3], enforceShape: true }, '[1,2]', 'shape'],
    ['a label twice', {}, '{"a":1,"a":2}', 'columns'],
  ])('refuses %s', (_, options, body, reason) => {
    expect(refusal(new io.PandasSeries(options) as never, body, json)).toMatchObject({
      status: 400,
      reason,
    })
  })

  it('S41, S43: writes numbers of a column alike', () => {
    expect(
      textOf(new io.PandasSeries().toHttpResponse(decode(new io.PandasSeries(), '[1,null,2.5]'))),
    ).toBe('[1.0,null,2.5]')
    const index = new io.PandasSeries({ orient: 'index' })
    expect(textOf(index.toHttpResponse(decode(index, '{"x":1,"y":2.5}')))).toBe('{"x":1.0,"y":2.5}')
  })

  it('S44: refuses to write a list', () => {
    expect(() => new io.PandasSeries().toHttpResponse([1] as never)).toThrow(BadOutput)
  })
})
