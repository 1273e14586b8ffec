import { isBuiltin } from 'node:module'
import { describe, expect, it } from 'vitest'
import { io } from '../../src/index.ts'
import { start } from './harness.ts'

describe.skipIf(!isBuiltin('node:sqlite'))('the result of a job', () => {
  // Inline in the store, and as a blob.
  it.each([1000, 3_000_000])(
    'a result of %i bytes is answered in parts, and not again',
    async (size) => {
      const content = Buffer.from(
        Uint32Array.from({ length: size / 4 }, (_, i) => i * 2_654_435_761).buffer,
      )
      const { get, result, submit } = await start('node', (svc) => {
        const options = { name: 'film', input: new io.JSON(), output: new io.File(), async: true }
        svc.api(options, () => new Uint8Array(content))
      })
      const job = await submit('/film', 1)
      const whole = await result(job)
      expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true)
      const etag = whole.headers.get('etag') as string
      expect([whole.headers.get('accept-ranges'), whole.headers.get('cache-control')]).toEqual([
        'bytes',
        'no-store',
      ])
      for (const [range, from, end] of [
        ['bytes=0-9', 0, 10],
        ['bytes=300-799', 300, 800],
        [`bytes=${size / 2}-`, size / 2, size],
        ['bytes=-5', size - 5, size],
      ] as const) {
        const part = await get(`${job}/result`, { range, 'if-range': etag })
        expect([part.status, part.headers.get('content-range')]).toEqual([
          206,
          `bytes ${from}-${end - 1}/${size}`,
        ])
        expect(
          Buffer.from(await part.arrayBuffer()).equals(content.subarray(from, end)),
          range,
        ).toBe(true)
      }
      const known = await get(`${job}/result`, { 'if-none-match': etag })
      expect([known.status, await known.text()]).toEqual([304, ''])
      expect((await get(`${job}/result`, { range: `bytes=${size}-` })).status).toBe(416)
      expect((await get(`${job}/result`, { 'if-match': '"other"' })).status).toBe(412)
    },
  )
})
