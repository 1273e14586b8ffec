import pl from 'nodejs-polars'
import { type HttpResponse, io } from 'serving'
import { describe, expect, it } from 'vitest'
import type { DataFrameMessage } from '../../../../src/messages/messages.ts'
import type { FrameFormat } from '../../../../src/values/table/frame-formats.ts'
import { itNative } from '../../../native-only.ts'
import { many as list } from '../../descriptors/many.ts'

/** Returns the body of a frame. */
async function written(frame: pl.DataFrame, defaultFormat: FrameFormat): Promise<Buffer> {
  const descriptor = new io.PandasDataFrame({ defaultFormat })
  const { body } = (await descriptor.toHttpResponse(frame)) as HttpResponse
  return Buffer.from(body as Uint8Array)
}

const texts = [
  '',
  'a,b',
  'a"b',
  '"',
  'a\nb',
  '"\n"',
  'a\rb',
  ' a',
  'é',
  null,
  'text that is longer than a view',
]
const columnsOf = (rows: number, turn = 0) => ({
  number: list(rows, (row) => (row % 7 === 3 ? null : row / 7)),
  text: list(rows, (row) => texts[(row + turn) % texts.length]),
  bool: list(rows, (row) => (row % 5 === 1 ? null : row % 3 === 0)),
})
const frameOf = (rows: number) =>
  pl
    .DataFrame(columnsOf(rows))
    .withColumns(
      pl.lit(1e21).alias('large'),
      pl.col('number').cast(pl.Int64).alias('whole'),
      pl.col('number').cast(pl.Int64).cast(pl.Date).alias('date'),
      pl.col('number').cast(pl.Int64).cast(pl.Datetime('ms')).alias('time'),
      pl.col('number').cast(pl.Float32).alias('"quoted",\nname'),
    )
const long = () => frameOf(9001)
const wide = () =>
  pl.DataFrame(
    Object.fromEntries(
      list(100, (i) => {
        const { number, text, bool } = columnsOf(300, i)
        return [
          [`n${i}`, number],
          [`t"${i}\n`, text],
          [`b${i}`, bool],
        ]
      }).flat(),
    ),
  )

describe('files in pieces', () => {
  it.each([
    ['long', long],
    ['wide', wide],
  ])('are the CSV that Polars writes of the whole: %s', async (_, make) => {
    const frame = make()
    const body = await written(frame, 'csv')
    expect(body.equals(frame.writeCSV())).toBe(true)
  })

  it('hold lists as CSV does', async () => {
    const frame = pl.DataFrame({
      a: list(9000, (row) => row),
      l: list(9000, (row) => [row, row + 1]),
    })
    const body = await written(frame, 'csv')
    expect(body.toString()).toBe(
      `a,l\n${list(9000, (row) => `${row}.0,"[${row}.0,${row + 1}.0]"\n`).join('')}`,
    )
  })

  itNative.each([
    ['long', long],
    ['wide', wide],
  ])(
    'are read as the Parquet that Polars writes of the whole, by the add-on: %s',
    async (_, make) => {
      const frame = make()
      const body = await written(frame, 'parquet')
      const read = pl.readParquet(body)
      expect(read.columns).toEqual(frame.columns)
      expect(read.dtypes.map(String)).toEqual(frame.dtypes.map(String))
      expect(read.frameEqual(frame, true)).toBe(true)
    },
  )

  it.each([
    ['categories', (frame: pl.DataFrame) => frame.withColumn(pl.col('text').cast(pl.Categorical))],
    [
      'lists',
      (frame: pl.DataFrame) => frame.withColumn(pl.concatList(['number', 'large']).alias('text')),
    ],
    ['nulls alone', (frame: pl.DataFrame) => frame.withColumn(pl.lit(null).alias('text'))],
    [
      'decimals',
      (frame: pl.DataFrame) => frame.withColumn(pl.lit(1).cast(pl.Decimal(9, 2)).alias('text')),
    ],
  ])('are left to Polars for columns of %s', async (_, change) => {
    const frame = change(long())
    const body = await written(frame, 'parquet')
    const read = pl.readParquet(body)
    expect(read.dtypes.map(String)).toEqual(pl.readParquet(frame.writeParquet()).dtypes.map(String))
    expect(read.tail(3).toString()).toBe(frame.tail(3).toString())
  })

  it.each([
    ['long', long, 8000],
    ['wide', wide, 100],
  ])('and messages hold what messages of few rows do: %s', async (_, make, rows) => {
    const frame = make()
    const descriptor = new io.PandasDataFrame()
    const whole = (await descriptor.toProto(frame)) as DataFrameMessage
    expect(whole.columnNames).toEqual(frame.columns)
    // Few enough cells for one piece.
    const last = frame.slice(frame.height - rows, rows).select(...frame.columns.slice(0, 2))
    const part = (await descriptor.toProto(last)) as DataFrameMessage
    const tail = (list: ArrayLike<unknown> | undefined) => Array.from(list ?? []).slice(-rows)
    expect(tail(whole.columns?.[0].doubleValues)).toEqual(tail(part.columns?.[0].doubleValues))
    expect(tail(whole.columns?.[1].stringValues)).toEqual(tail(part.columns?.[1].stringValues))
    const start = frame.height - rows
    const nulls = Array.from(whole.columns?.[1].nullPositions ?? []).flatMap((at) =>
      at < start ? [] : [at - start],
    )
    expect(nulls).toEqual(Array.from(part.columns?.[1].nullPositions ?? []))
    const back = (await descriptor.fromProto(whole)) as pl.DataFrame
    expect(back.getColumn(frame.columns[2]).toArray()).toEqual(
      frame.getColumn(frame.columns[2]).toArray(),
    )
  })

  it('are of the frame as it was when it was returned', async () => {
    const frame = long()
    const expected = frame.writeCSV()
    const descriptor = new io.PandasDataFrame({ defaultFormat: 'csv' })
    const answer = descriptor.toHttpResponse(frame)
    frame.columns = frame.columns.map((name) => `other ${name}`)
    expect(Buffer.from(((await answer) as HttpResponse).body as Uint8Array).equals(expected)).toBe(
      true,
    )
  })
})
