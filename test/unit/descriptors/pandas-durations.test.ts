import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { columnOf } from '../../../src/values/table/columns.ts'
import { fixture, polars } from './frames.ts'
import { requestOf } from './requests.ts'

const known: { ns: string | null; text: string | null }[] = JSON.parse(
  fixture('durations.json').toString(),
)
const values = known.map(({ ns }) => (ns === null ? null : BigInt(ns)))
const column = {
  ...columnOf('d', 'int64', values),
  time: { type: 'duration', unit: 'ns' } as const,
}

async function csvOf(rows: number, made: 'by Polars' | 'as columns'): Promise<string> {
  const times = Math.ceil(rows / values.length)
  const long = {
    ...column,
    ...columnOf('d', 'int64', Array.from({ length: times }, () => values).flat()),
  }
  const table = {
    rows: times * values.length,
    columns: [columnOf('i', 'int64', new Array(long.data.length / 8).fill(7n)), long],
  }
  const frame = made === 'by Polars' ? polars.fromColumns(table) : polars.lazyFrame(table)
  const { body } = await new io.PandasDataFrame({ defaultFormat: 'csv' }).toHttpResponse(frame)
  return Buffer.from(body as Uint8Array).toString()
}

describe('durations', () => {
  it.each(['by Polars', 'as columns'] as const)(
    'leave as CSV in a text that pandas reads back: frames %s',
    async (made) => {
      expect(await csvOf(1, made)).toBe(
        `i,d\n${known.map(({ text }) => `7,${text ?? ''}\n`).join('')}`,
      )
    },
  )

  it('do so in frames that are written in pieces', async () => {
    const lines = known.map(({ text }) => `7,${text ?? ''}\n`).join('')
    expect(await csvOf(100_000, 'by Polars')).toBe(
      `i,d\n${lines.repeat(Math.ceil(100_000 / values.length))}`,
    )
  })

  it('are read from such a CSV', async () => {
    const csv = await csvOf(1, 'as columns')
    const descriptor = new io.PandasDataFrame({
      dtype: { d: 'timedelta64[ns]' },
      defaultFormat: 'csv',
    })
    const frame = await descriptor.fromHttpRequest(requestOf(csv, 'text/csv'))
    const answer = await descriptor.toHttpResponse(frame)
    expect(Buffer.from(answer.body as Uint8Array).toString()).toBe(csv)
  })
})
