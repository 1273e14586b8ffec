import { readdirSync } from 'node:fs'
import { io, Service } from 'serving'
import { describe, expect, it } from 'vitest'
import { fixture, polars } from './frames.ts'
import { requestOf } from './requests.ts'

const files = readdirSync(new URL('../../fixtures/frames/arrow', import.meta.url)).filter((name) =>
  /\.(file|stream)$/.test(name),
)
const rows = JSON.parse(fixture('arrow/rows.json').toString())
const typeOf = (kind: string) => `application/vnd.apache.arrow.${kind}`

const svc = new Service('Arrow')
svc.api(
  { input: new io.PandasDataFrame(), output: new io.PandasDataFrame() },
  function frame(value) {
    return value
  },
)
const ask = (body: Uint8Array | string, type: string, accept = 'application/json') =>
  svc.inject({
    path: '/frame',
    headers: { 'content-type': type, accept },
    body: Buffer.from(body as string),
  })

describe('frames in Arrow IPC', () => {
  it.each(files)('are read as pyarrow wrote them: %s', async (name) => {
    const answer = await ask(fixture(`arrow/${name}`), typeOf(name.split('.')[1]))
    expect([answer.status, answer.json()]).toEqual([200, rows])
    const read = await new io.PandasDataFrame().fromProto(fixture(`arrow/${name}`))
    expect(polars.height(read)).toBe(5)
  })

  it.each(['file', 'stream'])('are answered as a %s where Accept asks for it', async (kind) => {
    const answer = await ask(JSON.stringify(rows), 'application/json', typeOf(kind))
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('vary')]).toEqual(
      [200, typeOf(kind), 'accept'],
    )
    const again = await ask(answer.body as Uint8Array, typeOf(kind))
    expect(again.json()).toEqual(rows)
  })

  it('are read as a series of one column', async () => {
    const frame = await new io.PandasDataFrame().fromHttpRequest(
      requestOf('[{"a":1},{"a":2}]', 'application/json'),
    )
    const series = await new io.PandasSeries().fromProto(polars.writeIpcStream(frame))
    expect(series.toArray()).toEqual([1, 2])
  })

  it.each(files)(
    'are refused with 400 where they are damaged, and harm nothing else: %s',
    async (name) => {
      const whole = fixture(`arrow/${name}`)
      const type = typeOf(name.split('.')[1])
      for (let at = 0; at < whole.length; at += 37) {
        const bad = Buffer.from(whole)
        bad[at] ^= 0xff
        expect([200, 400]).toContain((await ask(bad, type)).status)
        expect([200, 400]).toContain((await ask(whole.subarray(0, at), type)).status)
      }
      expect((await ask(whole, type)).json()).toEqual(rows)
    },
    120_000,
  )
})
