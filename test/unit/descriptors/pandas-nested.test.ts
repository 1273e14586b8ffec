import { readFileSync } from 'node:fs'
import { HeaderList, HttpRequest, io, NDArray } from 'serving'
import { describe, expect, it } from 'vitest'
import { nativeStatus } from '../../../src/core/native/add-on.ts'
import { columnNumbers, columnOf } from '../../../src/values/table/columns.ts'
import { convertTimes } from '../../../src/values/table/times.ts'
import { itNative } from '../../native-only.ts'

const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/frames/${name}`, import.meta.url))
const reference = JSON.parse(fixture('nested.json').toString()) as {
  rows: Record<string, unknown>[]
  times: Record<string, Record<string, unknown>[]>
  read: Record<string, string>
  refused: string[]
  casts: { us: number[]; datetime64: number[][]; timedelta64: number[][] }
}
const json = { 'content-type': 'application/json' }
type Options = ConstructorParameters<typeof io.PandasDataFrame>[0]

const frameOf = async (
  body: string | Uint8Array,
  options: Options = {},
  headers: Record<string, string> = json,
) =>
  new io.PandasDataFrame(options).fromHttpRequest(
    new HttpRequest(HeaderList.from(headers), Buffer.from(body)),
  )
const textOf = async (frame: Awaited<ReturnType<typeof frameOf>>, options: Options = {}) =>
  Buffer.from(
    (await new io.PandasDataFrame(options).toHttpResponse(frame)).body as Uint8Array,
  ).toString()

describe('columns of lists and objects', () => {
  it('come out of Parquet as pyarrow reads them', async () => {
    const frame = await new io.PandasDataFrame().fromProto(fixture('nested.parquet'))
    expect(JSON.parse(await textOf(frame))).toEqual(reference.rows)
    // Numbers beyond 2^53 are compared by their text.
    expect(await textOf(frame)).toContain('18446744073709551615')
  })

  it.each(['records', 'columns', 'values', 'index', 'split', 'table'] as const)(
    'are read again in %s',
    async (orient) => {
      const frame = await new io.PandasDataFrame().fromProto(fixture('nested.parquet'))
      const text = await textOf(frame, { orient })
      expect(await textOf(await frameOf(text, { orient }), { orient })).toBe(text)
    },
  )

  it('go through Parquet and Arrow without a change', async () => {
    const rows = reference.rows.map(({ big: _, ...row }) => row)
    const frame = await frameOf(JSON.stringify(rows))
    const parquet = new io.PandasDataFrame({ defaultFormat: 'parquet' })
    const { body } = await parquet.toHttpResponse(frame)
    const back = await new io.PandasDataFrame().fromProto(body as Uint8Array)
    expect(JSON.parse(await textOf(back))).toEqual(rows)
  })

  it('are lists of floats where they hold nothing', async () => {
    const frame = await frameOf('[{"a":[]},{"a":null}]')
    expect(await textOf(frame)).toBe('[{"a":[]},{"a":null}]')
    expect((await frameOf('[{"a":[]}]', { dtype: { a: 'list[str]' } })).toString()).toContain(
      'list[str]',
    )
  })

  it('have the types that dtype names, from JSON and from CSV cells', async () => {
    const dtype = { a: 'list[float32]', b: 'struct', c: 'list[list[int8]]' }
    const lines = 'a,b,c\n"[1,2.5]","{""x"":1}","[[1],[]]"\n,,\n'
    for (const frame of [
      await frameOf('[{"a":[1,2.5],"b":{"x":1},"c":[[1],[]]},{"a":null,"b":null,"c":null}]', {
        dtype,
      }),
      await frameOf(lines, { dtype }, { 'content-type': 'text/csv' }),
    ]) {
      expect(frame.toString()).toMatch(/list\[f32\].*struct\[1\].*list\[list\[i8\]\]/)
      expect(await textOf(frame)).toBe(
        '[{"a":[1.0,2.5],"b":{"x":1},"c":[[1],[]]},{"a":null,"b":null,"c":null}]',
      )
    }
  })

  itNative('stay as they were written where dtype is str', async () => {
    const frame = await frameOf('[{"a":[1, {"b": 2}]}]', { dtype: { a: 'str' } })
    expect(JSON.parse(await textOf(frame))).toEqual([{ a: '[1, {"b": 2}]' }])
  })

  it.each([
    ['a list among objects', '[{"a":{"x":1}},{"a":[1]}]', '[1].a'],
    ['words among the numbers of a list', '[{"a":[1]},{"a":[2,"x"]}]', '[1].a'],
    ['brackets that do not match', '[{"a":[1}}]', '[0].a'],
    ['a missing element', '[{"a":[1,,2]}]', '[0].a'],
    ['a key twice', '[{"a":{"x":1,"x":2}}]', '[0].a'],
    ['objects without keys', '[{"a":{}}]', 'a'],
    ['too many levels', `[{"a":${'['.repeat(17)}${']'.repeat(17)}}]`, 'a'],
    ['a number that fits no dtype', '[{"b":[1]},{"b":[300]}]', '[1].b'],
    ['a list for a number', '[{"n":1},{"n":[2]}]', '[1].n'],
  ])('refuse %s', async (_, body, path) => {
    const dtype = { b: 'list[int8]', n: 'int64' }
    // Without the add-on a text that is no JSON is refused as a whole.
    const isPlaced = nativeStatus.loaded || !['[{"a":[1}}]', '[{"a":[1,,2]}]'].includes(body)
    await expect(frameOf(body, { dtype })).rejects.toMatchObject({
      status: 400,
      ...(isPlaced && { path }),
    })
  })

  it('refuse cells of CSV that hold more than one list', async () => {
    const read = frameOf('a\n"[1],[2]"\n', { dtype: { a: 'list' } }, { 'content-type': 'text/csv' })
    await expect(read).rejects.toMatchObject({ status: 400, path: '[0].a' })
  })

  it.each([
    '[{"a":[1,2.5],"b":{"x":"é,\\"\\n"},"n":1},{"a":null,"b":null,"n":2}]',
    '[{"*":[[]],"n":1}]',
  ])('are JSON text in CSV, which is read back: %s', async (body) => {
    const rows: Record<string, unknown>[] = JSON.parse(body)
    const { body: csv } = await new io.PandasDataFrame({ defaultFormat: 'csv' }).toHttpResponse(
      await frameOf(body),
    )
    const dtype = Object.fromEntries(
      Object.entries(rows[0])
        .filter(([, value]) => typeof value === 'object')
        .map(([name, value]) => [name, Array.isArray(value) ? 'list' : 'struct'] as const),
    )
    const back = await frameOf(String(csv), { dtype }, { 'content-type': 'text/csv' })
    expect(JSON.parse(await textOf(back))).toEqual(rows)
  })

  it('are base64 in CSV where they are bytes', async () => {
    const frame = await frameOf('[{"a":"/wA=","n":1}]', { dtype: { a: 'bytes' } })
    const { body } = await new io.PandasDataFrame({ defaultFormat: 'csv' }).toHttpResponse(
      frame.clone(),
    )
    expect(String(body)).toBe('a,n\n/wA=,1\n')
  })

  it('are series, too', async () => {
    const series = await new io.PandasSeries().fromHttpRequest(
      new HttpRequest(HeaderList.from(json), Buffer.from('[[1,2],[],null]')),
    )
    const { body } = await new io.PandasSeries().toHttpResponse(series)
    expect(Buffer.from(body as Uint8Array).toString()).toBe('[[1,2],[],null]')
  })

  itNative(
    'are the same in one piece and in many',
    async () => {
      const rows = Array.from({ length: 20_000 }, (_, i) => ({
        e: Array.from({ length: i % 60 }, (_, j) => i * j + 0.5),
        i,
      }))
      const frame = await frameOf(JSON.stringify(rows), { dtype: { i: 'int32' } })
      expect(frame.toString()).toContain('list[f64]')
      const back = JSON.parse(await textOf(frame)) as typeof rows
      expect(back.findIndex((row, i) => JSON.stringify(row) !== JSON.stringify(rows[i]))).toBe(-1)
      expect(back.length).toBe(rows.length)
    },
    60_000,
  )

  it('are JSON text in messages', async () => {
    const message = await new io.PandasDataFrame().toProto(
      await frameOf('[{"a":[1,2]},{"a":null}]'),
    )
    expect(message).toMatchObject({
      columns: [{ stringValues: ['[1,2]', ''], nullPositions: Uint32Array.of(1) }],
    })
    const back = await new io.PandasDataFrame({ dtype: { a: 'list' } }).fromProto(message)
    expect(await textOf(back)).toBe('[{"a":[1,2]},{"a":null}]')
  })
})

describe('bytes', () => {
  it('are base64 in JSON', async () => {
    const frame = await frameOf('[{"b":"AQID"},{"b":null}]', { dtype: { b: 'bytes' } })
    expect(frame.getColumn('b').length).toBe(2)
    expect(await textOf(frame)).toBe('[{"b":"AQID"},{"b":null}]')
    await expect(frameOf('[{"b":"*"}]', { dtype: { b: 'bytes' } })).rejects.toMatchObject({
      path: '[0].b',
    })
  })
})

describe('integers beyond int64', () => {
  it.each(['records', 'columns', 'values'] as const)('are uint64 in %s', async (orient) => {
    const frame = await frameOf('[[18446744073709551615],[1]]')
    expect(frame.toString()).toContain('u64')
    const text = await textOf(frame, { orient })
    expect(text).toContain('18446744073709551615')
    expect(await textOf(await frameOf(text, { orient }), { orient })).toBe(text)
  })

  it('are floats beside floats, and refused beside negative ones and beyond uint64', async () => {
    expect(await textOf(await frameOf('[{"a":18446744073709551615},{"a":0.5}]'))).toBe(
      '[{"a":18446744073709552000.0},{"a":0.5}]',
    )
    await expect(frameOf('[{"a":-1},{"a":18446744073709551615}]')).rejects.toMatchObject({
      path: '[1].a',
    })
    await expect(frameOf('[{"a":18446744073709551615},{"a":-1}]')).rejects.toMatchObject({
      path: '[1].a',
    })
    await expect(frameOf('[{"a":18446744073709551616}]')).rejects.toMatchObject({ path: '[0].a' })
  })
})

describe('times', () => {
  it.each([
    ['datetime', 'datetime64'],
    ['duration', 'timedelta64'],
  ] as const)(
    'of type %s are cut down to a coarser unit, below zero as well, as by pandas',
    (type, name) => {
      const { us } = reference.casts
      const column = { ...columnOf('t', 'int64', us), time: { type, unit: 'us' } as const }
      const casts = (['ms', 's'] as const).map((unit) => {
        const cast = convertTimes(column, us.length, { type, unit })
        return 'failure' in cast ? cast : Array.from(columnNumbers(cast), Number)
      })
      expect(casts).toEqual(reference.casts[name])
    },
  )

  // pandas 2.2 writes the epoch of datetime64[us] as if it were ns.
  const others = ({ naive: _, ...row }: Record<string, unknown>) => row

  it.each(Object.keys(reference.times))('are written as pandas writes them: %s', async (form) => {
    const [dateFormat, dateUnit] = form.split(' ') as ['epoch' | 'iso', 's' | 'ms' | 'us' | 'ns']
    const frame = await new io.PandasDataFrame().fromProto(fixture('times.parquet'))
    const rows = JSON.parse(await textOf(frame, { dateFormat, dateUnit })) as Record<
      string,
      unknown
    >[]
    const isRight = dateFormat === 'iso' ? (row: Record<string, unknown>) => row : others
    expect(rows.map(isRight)).toEqual(reference.times[form].map(isRight))
  })

  it('are numbers of milliseconds without an option, as in the reference', async () => {
    const frame = await frameOf('[{"t":"2020-01-01T00:00:00.5"}]', {
      dtype: { t: 'datetime64[ns]' },
    })
    expect(await textOf(frame)).toBe('[{"t":1577836800500}]')
  })

  it.each(Object.entries(reference.read))(
    'are read as pandas reads them: %s',
    async (text, nanos) => {
      const frame = await frameOf(JSON.stringify([{ t: text }]), { dtype: { t: 'datetime64[ns]' } })
      expect(await textOf(frame, { dateUnit: 'ns' })).toBe(`[{"t":${nanos}}]`)
      const csv = await frameOf(
        `t\n${text}\n`,
        { dtype: { t: 'datetime64[ns]' } },
        { 'content-type': 'text/csv' },
      )
      expect(await textOf(csv, { dateUnit: 'ns' })).toBe(`[{"t":${nanos}}]`)
    },
  )

  it.each([...reference.refused, '1', '2300-01-01', '2020-01-01T00:00:00+2'])(
    'refuse %s',
    async (text) => {
      const read = frameOf(JSON.stringify([{ t: null }, { t: text }]), {
        dtype: { t: 'datetime64[ns]' },
      })
      await expect(read).rejects.toMatchObject({ status: 400, reason: 'dtype', path: '[1].t' })
    },
  )

  it('keep their zone, their digits and their types through orient table', async () => {
    const frame = await new io.PandasDataFrame().fromProto(fixture('times.parquet'))
    const table = { orient: 'table', dateUnit: 'ms' } as const
    const text = await textOf(frame, table)
    const types = Object.fromEntries(
      JSON.parse(text).schema.fields.map(({ name, type, tz }: Record<string, unknown>) => [
        name,
        tz ?? type,
      ]),
    )
    expect(types).toMatchObject({
      naive: 'datetime',
      zoned: 'Europe/Berlin',
      delta: 'duration',
      day: 'datetime',
    })
    const back = await frameOf(text, table)
    expect(back.toString()).toMatch(/datetime\[ms,.*duration\[ms\].*Europe\/Berlin\]/s)
    expect(JSON.parse(await textOf(back, table)).data[0]).toEqual(JSON.parse(text).data[0])
  })

  it('have categories and the name of the labels in orient table', async () => {
    const text =
      '{"schema":{"fields":[{"name":"id","type":"string"},{"name":"c","type":"any","constraints":{"enum":["x","y"]},' +
      '"ordered":false}],"primaryKey":["id"],"pandas_version":"1.4.0"},"data":[{"id":"a","c":"y"},{"id":"b","c":"x"}]}'
    const frame = await frameOf(text, { orient: 'table' })
    expect(frame.dtypes.map(({ variant }) => variant)).toEqual(['Categorical'])
    expect(await textOf(frame, { orient: 'table' })).toBe(text)
  })

  it('become another unit, a day, text and numbers where dtype says so', async () => {
    const body = fixture('times.parquet')
    const cast = await new io.PandasDataFrame({
      dtype: { naive: 'datetime64[ms]', nanos: 'date', zoned: 'str', delta: 'int64' },
    }).fromProto(body)
    expect(JSON.parse(await textOf(cast, { dateFormat: 'iso', dateUnit: 'us' }))[0]).toMatchObject({
      naive: '2020-01-02T03:04:05.678000',
      nanos: '2020-01-02T00:00:00.000000',
      zoned: '2020-01-02T02:04:05.678901Z',
      delta: 93_784_500_000_000,
    })
  })
})

describe('a column as an array', () => {
  it('is rows of the lists, and comes back as lists', async () => {
    const frame = await frameOf('[{"e":[1.5,2],"n":7},{"e":[3,4],"n":8}]', {
      dtype: { e: 'list[float32]' },
    })
    const array = io.columnToNDArray(frame, 'e')
    expect(array).toMatchObject({ dtype: 'float32', shape: [2, 2] })
    expect([...(array.data as Float32Array)]).toEqual([1.5, 2, 3, 4])
    expect(io.columnToNDArray(frame, 'n')).toMatchObject({ dtype: 'int64', shape: [2] })
    const series = io.columnFromNDArray(
      'f',
      new NDArray(Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8), [2, 2, 2]),
    )
    const back = await textOf(frame.withColumn(series) as typeof frame)
    expect(back).toBe(
      '[{"e":[1.5,2.0],"n":7,"f":[[1.0,2.0],[3.0,4.0]]},{"e":[3.0,4.0],"n":8,"f":[[5.0,6.0],[7.0,8.0]]}]',
    )
    expect(io.columnToNDArray(series)).toMatchObject({ shape: [2, 2, 2] })
    expect(
      io.columnToNDArray(io.columnFromNDArray('b', new NDArray(Uint8Array.of(1, 0), [2], 'bool'))),
    ).toMatchObject({
      dtype: 'bool',
      data: Uint8Array.of(1, 0),
    })
  })

  it.each([
    ['lists of other lengths', '[{"e":[1]},{"e":[1,2]}]'],
    ['nulls', '[{"e":[1]},{"e":null}]'],
    ['nulls in a list', '[{"e":[1,null]}]'],
    ['texts', '[{"e":["a"]}]'],
  ])('refuses %s', async (_, body) => {
    const frame = await frameOf(body)
    expect(() => io.columnToNDArray(frame, 'e')).toThrow(/column "e"/)
  })
})
