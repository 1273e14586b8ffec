import type { HttpResponse } from 'serving'
import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { polars } from '../unit/descriptors/frames.ts'
import { requestOf } from '../unit/descriptors/requests.ts'

// Each took minutes when a step for one column looked at all of them.
describe('a small body of very many columns', () => {
  const count = 16_000
  const names = ['*', '^.*$', ...Array.from({ length: count - 2 }, (_, i) => `c${i}`)]
  const csv = `${names.join(',')}\n${'1,'.repeat(10)}${','.repeat(count - 11)}\n`

  it('as CSV without values becomes floats in time', async () => {
    const frame = await new io.PandasDataFrame().fromHttpRequest(requestOf(csv, 'text/csv'))
    expect(frame.columns).toEqual(names)
    expect([...new Set(frame.dtypes.map(({ variant }) => variant))]).toEqual(['Int64', 'Float64'])
    expect(frame.row(0).filter((value: unknown) => value === 1)).toHaveLength(10)
    const { body } = (await new io.PandasDataFrame().toHttpResponse(frame)) as HttpResponse
    expect(String(Buffer.from(body as Uint8Array)).slice(0, 22)).toBe('[{"*":1,"^.*$":1,"c0":')
  })

  it('as CSV without rows becomes floats in time', async () => {
    const frame = await new io.PandasDataFrame().fromHttpRequest(
      requestOf(`${names.join(',')}\n`, 'text/csv'),
    )
    expect([frame.height, frame.width]).toEqual([0, count])
  })

  it('of another kind than numbers and texts is written in time', () => {
    const one = polars.fromColumns({
      rows: 1,
      columns: names.map((name) => ({ name, kind: 'int64', data: new Uint8Array(8) })),
    })
    const two = one.vstack(one)
    expect(polars.toColumns(two)).toMatchObject({ rows: 2 })
  })
})
