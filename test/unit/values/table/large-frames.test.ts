import pl from 'nodejs-polars'
import { HeaderList, HttpRequest, io } from 'serving'
import { expect, it } from 'vitest'
import { columnOf } from '../../../../src/values/table/columns.ts'
import { buildFrame } from '../../../../src/values/table/polars/build-frame.ts'
import { describeNative } from '../../../native-only.ts'
import { polars } from '../../descriptors/frames.ts'

const rows = 30_000
const record = (i: number) => ({
  a: i,
  b: i / 4,
  c: `text ${i}`,
  d: i % 3 === 0 ? null : i % 2 === 0,
})
const records = Array.from({ length: rows }, (_, i) => record(i))
const requestOf = (body: Uint8Array, type = 'application/json') =>
  new HttpRequest(HeaderList.from({ 'content-type': type }), body)
const json = (value: unknown) => Buffer.from(JSON.stringify(value))
// Without the add-on it throws at once.
const readBy = async (descriptor: io.PandasDataFrame, body: Buffer) =>
  descriptor.fromHttpRequest(requestOf(body))

// Without the add-on they are above the limits.
describeNative('large frames', () => {
  it.each(['records', 'columns', 'values', 'index', 'split', 'table'] as const)(
    'of orient %s are what small ones are',
    async (orient) => {
      const whole = new io.PandasDataFrame({ orient })
      const frame = await new io.PandasDataFrame().fromHttpRequest(requestOf(json(records)))
      const { body } = await whole.toHttpResponse(frame)
      const text = Buffer.from(body as Uint8Array).toString()
      // As a frame of few rows would be written: its own numbers, and 0, 1, 2, … for labels.
      const back = await whole.fromHttpRequest(requestOf(Buffer.from(text)))
      const named =
        orient === 'values' ? back.rename({ 0: 'a', 1: 'b', 2: 'c', 3: 'd' } as never) : back
      const small = await new io.PandasDataFrame().toHttpResponse(named.slice(rows - 3, 3))
      expect(JSON.parse(Buffer.from(small.body as Uint8Array).toString())).toEqual(
        records.slice(-3),
      )
      expect(named.height).toBe(rows)
      const again = await whole.toHttpResponse(back)
      expect(Buffer.from(again.body as Uint8Array).toString() === text).toBe(true)
    },
    60_000,
  )

  it.each(['records', 'columns', 'values', 'index', 'split', 'table'] as const)(
    'of 4,000 columns are written in orient %s',
    async (orient) => {
      const names = Array.from({ length: 4000 }, (_, j) => `c${j}`)
      const wide = Array.from({ length: 20 }, (_, i) =>
        Object.fromEntries(names.map((name, j) => [name, i * j])),
      )
      const lazy = await new io.PandasDataFrame().fromHttpRequest(requestOf(json(wide)))
      // As a function makes it.
      const frame = pl.readIPC(lazy.writeIPC())
      const { body } = await new io.PandasDataFrame({ orient }).toHttpResponse(frame)
      const read = JSON.parse(Buffer.from(body as Uint8Array).toString())
      const labels = wide.map((_, i) => i)
      const rowsOf = {
        records: () => read,
        columns: () =>
          labels.map((i) => Object.fromEntries(names.map((name) => [name, read[name][i]]))),
        values: () =>
          read.map((row: number[]) => Object.fromEntries(row.map((value, j) => [`c${j}`, value]))),
        index: () => labels.map((i) => read[i]),
        split: () =>
          read.data.map((row: number[]) =>
            Object.fromEntries(row.map((value, j) => [read.columns[j], value])),
          ),
        table: () => read.data.map(({ index, ...row }: Record<string, number>) => row),
      }
      expect(rowsOf[orient]()).toEqual(wide)
    },
    60_000,
  )

  it.each([0, 1, 20])('of many columns and %d rows are built', async (count) => {
    const names = Array.from({ length: 8000 }, (_, j) => `c${j}`)
    const columns = names.map((name, j) =>
      columnOf(name, 'float64', new Array<number>(count).fill(j)),
    )
    const casting = { polars, types: [], enforce: false, name: 'the tests' }
    const frame = await buildFrame({ rows: count, columns }, casting)
    expect(frame.columns).toEqual(names)
    expect(frame.height).toBe(count)
    if (count > 0) expect(frame.row(count - 1)).toEqual(names.map((_, j) => j))
  })

  it('of a table of many columns are read', async () => {
    const names = Array.from({ length: 8000 }, (_, j) => `c${j}`)
    const fields = names.map((name, j) => ({ name, type: j % 2 === 0 ? 'integer' : 'number' }))
    const row = Object.fromEntries(names.map((name, j) => [name, j]))
    const body = json({ schema: { fields }, data: [row] })
    const descriptor = new io.PandasDataFrame({ orient: 'table' })
    const frame = await descriptor.fromHttpRequest(requestOf(body))
    expect(frame.columns).toEqual(names)
    expect(frame.getColumn('c7').dtype).toEqual(pl.Float64)
    expect(frame.getColumn('c8').dtype).toEqual(pl.Int64)
    expect(frame.row(0)).toEqual(Object.values(row))
  })

  it('of many columns are written as Parquet', async () => {
    const row = Object.fromEntries(Array.from({ length: 1500 }, (_, j) => [`c${j}`, j]))
    const frame = pl.DataFrame(Array.from({ length: 20 }, () => row))
    const { body } = await new io.PandasDataFrame({ defaultFormat: 'parquet' }).toHttpResponse(
      frame,
    )
    expect(pl.readParquet(Buffer.from(body as Uint8Array)).row(19)).toEqual(Object.values(row))
  })

  it('keep labels, series too', async () => {
    const labelled = Object.fromEntries(records.map(({ a }) => [`r${a}`, a]))
    const descriptor = new io.PandasSeries({ orient: 'index', dtype: 'float32' })
    const series = await descriptor.fromHttpRequest(requestOf(json(labelled)))
    const { body } = await descriptor.toHttpResponse(series)
    expect(JSON.parse(Buffer.from(body as Uint8Array).toString())).toEqual(labelled)
  })

  it('are refused with the row and the place of an element that does not fit', async () => {
    const descriptor = new io.PandasDataFrame({ dtype: { c: 'int64' } })
    const bad = records.map(({ a }) => ({ c: a === rows - 5 ? 'x' : String(a) }))
    await expect(readBy(descriptor, json(bad))).rejects.toMatchObject({ path: `[${rows - 5}].c` })
    const text = `${JSON.stringify(records).slice(0, -1)},{"a":"x"}]`
    const place = { path: `[${rows}].a`, offset: text.length - 5 }
    await expect(readBy(new io.PandasDataFrame(), Buffer.from(text))).rejects.toMatchObject(place)
  })
})
