import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import type { Orient } from '../../../src/values/table/json/frame-plan.ts'
import type { DataFrame } from '../../../src/values/table/polars/polars-package.ts'
import {
  type FixtureColumn,
  fixture,
  fixtureValues,
  frameOf,
  plain,
  plainSeries,
  polars,
} from './frames.ts'
import { decode, requestOf, textOf } from './requests.ts'

interface FrameFixture {
  readonly columns: readonly FixtureColumn[]
  readonly labels: readonly (string | number)[]
  readonly json: Readonly<Record<Orient, string>>
  readonly csv: string
}

interface SeriesFixture extends FixtureColumn {
  readonly labels: readonly (string | number)[]
  readonly json: Readonly<Record<Orient, string>>
}

const frames: Record<string, FrameFixture> = JSON.parse(fixture('frames.json').toString())
const series: Record<string, SeriesFixture> = JSON.parse(fixture('series.json').toString())
const csvs: { csv: string; columns: FixtureColumn[] }[] = JSON.parse(fixture('csv.json').toString())
const orients: readonly Orient[] = ['records', 'columns', 'values', 'index', 'split', 'table']

function build({ columns, labels }: FrameFixture): DataFrame {
  return io.withLabels(
    frameOf(columns.map((column) => [column.name, column.kind, fixtureValues(column)])),
    labels,
  )
}

describe("PandasDataFrame and pandas' own texts", () => {
  for (const [name, frame] of Object.entries(frames)) {
    for (const orient of orients) {
      const descriptor = new io.PandasDataFrame({ orient })
      it(`reads the ${orient} text of the frame ${name} as pandas means it`, () => {
        const received = plain(decode(descriptor, frame.json[orient]))
        const columns = frame.columns.map((column, i) => ({
          name: orient === 'values' ? String(i) : column.name,
          // JSON knows one kind of float; and pandas' schema calls a column of objects text, whatever it holds.
          kind:
            column.kind === 'float32'
              ? 'float64'
              : orient === 'table' && column.name === 'none'
                ? 'str'
                : column.kind,
          values: column.kind === 'float32' ? expect.anything() : fixtureValues(column),
        }))
        const isLabelled = orient !== 'records' && orient !== 'values'
        expect(received).toEqual({
          columns,
          labels: isLabelled ? frame.labels : frame.labels.map((_, row) => row),
        })
      })

      it(`writes the frame ${name} in ${orient} with pandas' values`, () => {
        const ours = textOf(descriptor.toHttpResponse(build(frame)))
        if (name === 'extremes') expect(ours).toBe(frame.json[orient])
        else if (name === 'float32') expect(ours).toContain('0.1')
        else expect(data(ours)).toEqual(data(frame.json[orient]))
      })
    }

    it(`writes the schema of the frame ${name} as pandas does`, () => {
      const ours = JSON.parse(
        textOf(new io.PandasDataFrame({ orient: 'table' }).toHttpResponse(build(frame))),
      )
      const theirs = JSON.parse(frame.json.table)
      for (const field of theirs.schema.fields) if (field.name === 'none') field.type = 'number'
      expect(ours.schema).toEqual(theirs.schema)
    })

    it(`reads the CSV of the frame ${name}`, () => {
      const received = plain(decode(new io.PandasDataFrame(), frame.csv, 'text/csv'))
      const columns = frame.columns.map((column, i) => ({
        name: column.name === '' ? `Unnamed: ${i}` : column.name,
        kind: column.kind === 'float32' ? 'float64' : column.kind,
        // An empty text and a missing one are the same in CSV.
        values:
          column.kind === 'float32'
            ? expect.anything()
            : fixtureValues(column).map((v) => (v === '' ? null : v)),
      }))
      expect(received.columns).toEqual(columns)
    })
  }

  for (const { csv, columns } of csvs) {
    it(`reads the CSV ${JSON.stringify(csv)} as pandas does`, () => {
      const received = plain(decode(new io.PandasDataFrame(), csv, 'text/csv'))
      expect(received.columns.map(({ name }) => name)).toEqual(columns.map(({ name }) => name))
      // pandas has no integers with missing values and makes floats of them; Polars has.
      const numbers = (values: readonly unknown[]) =>
        values.map((v) => (typeof v === 'bigint' ? Number(v) : v))
      for (const [i, column] of columns.entries()) {
        expect(numbers(received.columns[i].values)).toEqual(numbers(fixtureValues(column)))
        const isWidened = column.kind === 'float64' && received.columns[i].kind === 'int64'
        if (!isWidened && column.values.length > 0)
          expect(received.columns[i].kind).toBe(column.kind)
      }
    })
  }

  it('reads a Parquet file of pyarrow', async () => {
    const request = requestOf(fixture('small.parquet'), 'application/octet-stream')
    const received = plain(await new io.PandasDataFrame().fromHttpRequest(request))
    const columns = frames.kinds.columns.map((column) => ({
      ...column,
      values: fixtureValues(column),
    }))
    expect(received.columns).toEqual(columns)
  })

  it('reads a Parquet file of many row groups and writes it as JSON', async () => {
    const request = requestOf(fixture('groups.parquet'), 'application/vnd.apache.parquet')
    const received = await new io.PandasDataFrame().fromHttpRequest(request)
    expect([received.height, received.columns]).toEqual([20000, ['a', 'b']])
    const rows = JSON.parse(textOf(new io.PandasDataFrame().toHttpResponse(received)))
    expect(rows[19999]).toEqual({ a: 19999, b: 'text' })
  })
})

/** Returns a text without its schema, which is compared apart. */
function data(text: string): unknown {
  const value = JSON.parse(text)
  return value.schema === undefined ? value : value.data
}

describe("PandasSeries and pandas' own texts", () => {
  for (const [title, one] of Object.entries(series)) {
    for (const orient of ['records', 'index', 'split', 'table'] as const) {
      const descriptor = new io.PandasSeries({ orient })
      const isNamed = orient === 'split' || orient === 'table'

      it(`reads the ${orient} text of the series ${title}`, () => {
        expect(plainSeries(decode(descriptor, one.json[orient]))).toEqual({
          name: isNamed ? (one.name ?? '') : '',
          kind: one.kind,
          values: fixtureValues(one),
          labels: orient === 'records' ? one.labels.map((_, row) => row) : one.labels,
        })
      })

      it(`writes the series ${title} in ${orient} with pandas' values`, () => {
        const built = polars.seriesOf(frameOf([[one.name ?? '', one.kind, fixtureValues(one)]]))
        expect(
          JSON.parse(textOf(descriptor.toHttpResponse(io.withLabels(built, one.labels)))),
        ).toEqual(JSON.parse(one.json[orient]))
      })
    }
  }
})
