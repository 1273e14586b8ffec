import type { HttpResponse } from 'serving'
import { HeaderList, HttpRequest, io } from 'serving'
import { describe, expect, it } from 'vitest'

// A Polars frame is a Proxy: a column called `width` hides `frame.width`.
const hiding = [
  'width',
  'height',
  'columns',
  'dtypes',
  'clone',
  'rows',
  'row',
  'nullCount',
  'getColumn',
  'getColumns',
]
const writing = [
  'writeCSV',
  'writeIPC',
  'writeParquet',
  'rechunk',
  'replaceAtIdx',
  'inner',
  '_df',
  'then',
  'constructor',
]

const request = (type: string, body: string | Uint8Array) =>
  new HttpRequest(HeaderList.from({ 'content-type': type }), Buffer.from(body))

describe.each([...hiding, ...writing])('a frame with a column %s', (name) => {
  it('comes as CSV and goes as CSV', async () => {
    const descriptor = new io.PandasDataFrame({ defaultFormat: 'csv' })
    const text = `${name},b\n1,\n2,\n`
    const frame = await descriptor.fromHttpRequest(request('text/csv', text))
    expect(String((descriptor.toHttpResponse(frame) as HttpResponse).body)).toBe(text)
    expect(Reflect.ownKeys(frame)).toEqual([name, 'b'])
  })

  it('comes as JSON and goes as JSON, small and large', async () => {
    const descriptor = new io.PandasDataFrame({ dtype: { b: 'float32' } })
    for (const rows of [1, 100]) {
      const json = JSON.stringify(
        Array.from({ length: rows }, (_, i) => ({ [name]: i, b: i + 0.5 })),
      )
      const frame = await descriptor.fromHttpRequest(request('application/json', json))
      expect(
        Buffer.from(
          (descriptor.toHttpResponse(frame) as HttpResponse).body as Uint8Array,
        ).toString(),
      ).toBe(json)
    }
  })

  it('goes as Parquet, under other names and in orient table', async () => {
    const json = JSON.stringify([{ [name]: 1, b: 2 }])
    const plain = new io.PandasDataFrame()
    const frame = await plain.fromHttpRequest(request('application/json', json))
    const parquet = new io.PandasDataFrame({ defaultFormat: 'parquet' }).toHttpResponse(
      frame,
    ) as HttpResponse
    expect(
      Buffer.from(parquet.body as Uint8Array)
        .subarray(0, 4)
        .toString(),
    ).toBe('PAR1')
    const renaming = new io.PandasDataFrame({ columns: ['x', 'y'], applyColumnNames: true })
    expect(
      Buffer.from((renaming.toHttpResponse(frame) as HttpResponse).body as Uint8Array).toString(),
    ).toBe('[{"x":1,"y":2}]')
    const table = Buffer.from(
      (new io.PandasDataFrame({ orient: 'table' }).toHttpResponse(frame) as HttpResponse)
        .body as Uint8Array,
    )
    expect(JSON.parse(table.toString()).data).toEqual([{ index: 0, [name]: 1, b: 2 }])
    expect(io.labels(frame)).toEqual([0])
    expect(io.PandasDataFrame.fromSample(frame).shape).toEqual([1, 2])
  })
})
