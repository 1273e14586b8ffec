import { readFileSync } from 'node:fs'
import { type BadInput, io } from 'serving'
import { describe, expect, it } from 'vitest'
import { bytesAt } from '../../../src/values/table/columns.ts'
import {
  nativeFrameCodec,
  typescriptFrameCodec,
} from '../../../src/values/table/json/native-codec.ts'
import { requestOf } from './requests.ts'

const { PandasDataFrame, PandasSeries } = io

interface Case {
  orient: 'records' | 'columns' | 'split'
  body: string
  dtype: Record<string, string>
  columns: Record<string, unknown[]>
}

// What pandas reads: see mixed.py.
const cases: Case[] = JSON.parse(
  readFileSync(new URL('../../fixtures/frames/mixed.json', import.meta.url), 'utf8'),
)

const read = async (body: string, options: ConstructorParameters<typeof PandasDataFrame>[0]) =>
  new PandasDataFrame(options).fromHttpRequest(requestOf(Buffer.from(body), 'application/json'))

const columnsOf = async (frame: ReturnType<typeof read>) =>
  Object.fromEntries(
    (await frame).getColumns().map((column) => [column.name, column.toArray().map(plain)]),
  )
const plain = (value: unknown) => (typeof value === 'bigint' ? Number(value) : value)

const refusal = (
  body: string,
  options: ConstructorParameters<typeof PandasDataFrame>[0],
): Promise<BadInput> =>
  read(body, options).then(
    () => expect.unreachable('it was accepted'),
    (error) => error,
  )

describe('decimals', () => {
  const parquet = readFileSync(new URL('../../fixtures/frames/decimals.parquet', import.meta.url))
  const echo = async (options: ConstructorParameters<typeof PandasDataFrame>[0]) => {
    const frames = new PandasDataFrame(options)
    const frame = await frames.fromHttpRequest(requestOf(parquet, 'application/octet-stream'))
    return { frame, text: String((await frames.toHttpResponse(frame)).body) }
  }

  it('stay decimals, with all digits in CSV, and are floats in JSON, as in pandas', async () => {
    const { frame, text } = await echo({ defaultFormat: 'csv' })
    expect(frame.dtypes[0].variant).toBe('Decimal')
    expect(text.trim()).toBe('d\n1.10\n12345678901234567.89\n""')
    expect((await echo({})).text).toBe('[{"d":1.1},{"d":12345678901234568.0},{"d":null}]')
  })

  it('become texts with all digits, and floats', async () => {
    expect((await echo({ dtype: { d: 'str' } })).text).toBe(
      '[{"d":"1.10"},{"d":"12345678901234567.89"},{"d":null}]',
    )
    expect((await echo({ dtype: { d: 'float64' } })).text).toBe(
      '[{"d":1.1},{"d":12345678901234568.0},{"d":null}]',
    )
  })
})

describe('columns of mixed kinds', () => {
  it.each(cases)(
    'are read as pandas does where the dtype settles them: $orient $dtype',
    async (one) => {
      expect(await columnsOf(read(one.body, { orient: one.orient, dtype: one.dtype }))).toEqual(
        one.columns,
      )
    },
  )

  it('keep integers, nulls, lists and texts of other columns as they are', async () => {
    const body =
      '[{"a":1,"b":9007199254740993,"c":[1],"d":"\\u00e9"},{"a":"x","b":null,"c":[2,3],"d":"y"}]'
    const frame = await read(body, { dtype: { a: 'str' }, enforceDtype: true })
    expect(frame.dtypes.map(String)).toHaveLength(4)
    expect(frame.getColumn('a').toArray()).toEqual(['1', 'x'])
    const { body: echoed } = await new PandasDataFrame({ orient: 'values' }).toHttpResponse(frame)
    expect(String(echoed)).toContain('9007199254740993')
    expect(frame.getColumn('d').toArray()).toEqual(['é', 'y'])
    expect(frame.getColumn('c').dtype.variant).toBe('List')
  })

  it('become categories, dates and integers', async () => {
    expect(await columnsOf(read('[{"a":1},{"a":"2"}]', { dtype: { a: 'int32' } }))).toEqual({
      a: [1, 2],
    })
    expect(await columnsOf(read('[{"a":1},{"a":"x"}]', { dtype: { a: 'category' } }))).toEqual({
      a: ['1', 'x'],
    })
    expect(
      await columnsOf(read('[{"a":-1},{"a":18446744073709551615}]', { dtype: { a: 'float64' } })),
    ).toEqual({
      a: [-1, 2 ** 64],
    })
  })

  it('are refused with the place where no dtype settles them, or an element does not fit it', async () => {
    const body = '[{"a":1,"b":1},{"a":"x","b":"y"}]'
    const place = { reason: 'dtype', path: '[1].a', ...(nativeFrameCodec && { offset: 20 }) }
    expect(await refusal(body, {})).toMatchObject(place)
    expect(await refusal(body, { dtype: { b: 'str' } })).toMatchObject(place)
    expect(await refusal(body, { dtype: { a: 'str', b: 'list' } })).toMatchObject({
      reason: 'dtype',
    })
    const misfit = await refusal(body, { dtype: { a: 'float64', b: 'str' } })
    expect(misfit).toMatchObject({ reason: 'dtype', path: '[1].a' })
    expect(misfit.message).toContain('fit Float64')
  })

  it('are read in a series, in bodies of every size', async () => {
    const series = new PandasSeries({ dtype: 'float64' })
    const rows = 200_000
    const body = JSON.stringify(Array.from({ length: rows }, (_, i) => (i % 2 ? i : String(i))))
    const value = await series.fromHttpRequest(requestOf(Buffer.from(body), 'application/json'))
    expect(value.length).toBe(rows)
    expect(value.sum()).toBe((rows * (rows - 1)) / 2)
    const refused = Buffer.from('[true,"x"]')
    const read = async () => series.fromHttpRequest(requestOf(refused, 'application/json'))
    await expect(read()).rejects.toMatchObject({ reason: 'dtype', path: '[1].' })
  })

  it.runIf(nativeFrameCodec !== undefined).each([
    [
      'frame',
      '[{"a": 1.50 ,"b":[1, {"x":2}]},{"a":"\\u00e9\\n","b":null},{"b":true},{"a":NaN,"b":-Infinity}]',
    ],
    ['frame', '{"a":{"x":1,"y":"2"},"b":{"y":null,"x":1e2}}'],
    ['split', '{"columns":["a"],"index":[1],"data":[[-0]]}'],
    ['series', '[1,"x"]'],
    ['frame', '[{"a":1e999}]'],
    ['frame', '[{"a":tru}]'],
  ] as const)('are left as they are written: %s %s', (layout, body) => {
    const bytes = Buffer.from(body)
    const cells = (parsed: ReturnType<typeof typescriptFrameCodec.parseFrame>) =>
      'failure' in parsed
        ? parsed.failure
        : parsed.table.columns.map((column) => ({
            ...{
              name: column.name,
              isJson: column.isJson,
              validity: column.validity && [...column.validity],
            },
            // Without the add-on lists and objects have no blanks, and characters no escapes.
            texts: Array.from({ length: parsed.table.rows }, (_, row) => {
              const text = Buffer.from(bytesAt(column, row)).toString()
              return /^[["{]/.test(text) ? JSON.parse(text) : text
            }),
          }))
    const native = nativeFrameCodec?.parseFrame(bytes, layout, true)
    expect(cells(native as ReturnType<typeof typescriptFrameCodec.parseFrame>)).toEqual(
      cells(typescriptFrameCodec.parseFrame(bytes, layout, true)),
    )
  })
})
