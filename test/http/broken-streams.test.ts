import { describe, expect, it } from 'vitest'
import { BadInput } from '../../src/core/errors.ts'
import { Text } from '../../src/descriptors/text.ts'
import { Bytes, bothEngines, bytes, deferred, post, start, turns } from './harness.ts'

describe.each(bothEngines)('streams that break off on %s', (engine) => {
  it.each(['none', 'fewer', 'more'])(
    'cuts the connection when a stream of known length gives %s',
    async (how) => {
      const sized = new Bytes([['content-length', '5']])
      const server = await start(engine, (svc) =>
        svc.api({ input: new Bytes(), output: sized, name: 'sized' }, () =>
          (async function* () {
            if (how !== 'none') yield how.slice(0, 4)
            if (how === 'more') yield 'xy'
          })(),
        ),
      )
      const raw = await server.connect()
      raw.write(post('/sized'))
      await raw.closed
      expect(raw.received).not.toContain('morex')
      expect(server.log.filter((line) => line.level === 50)).toMatchObject([
        { api: 'sized', code: 'internal' },
      ])
    },
  )

  it.each(['throws', 'yields what is no chunk'])(
    'cuts the connection when a stream %s after its first chunk',
    async (how) => {
      const server = await start(engine, (svc) =>
        svc.api({ ...bytes, name: 'break' }, () =>
          (async function* () {
            yield 'first'
            if (how === 'throws') throw new Error('broken stream')
            yield 5 as never
          })(),
        ),
      )
      const raw = await server.connect()
      raw.write(post('/break'))
      await raw.closed
      expect(raw.received).not.toMatch(/\r\n0\r\n\r\n$/)
      expect(server.log.filter((line) => line.level === 50)).toMatchObject([
        { api: 'break', code: 'internal' },
      ])
    },
  )

  it('delivers all that a generator has yielded before it fails, then cuts the connection', async () => {
    const piece = 'p'.repeat(1000)
    const first = deferred()
    const server = await start(engine, (svc) => {
      svc.api({ input: new Text(), output: new Text() }, async function* fail(count) {
        for (let i = 0; i < Number(count); i++) yield piece
        throw new BadInput('late')
      })
      svc.api({ input: new Text(), output: new Text() }, async function first_one(text) {
        await first.promise
        return text
      })
    })
    for (const count of [1, 2, 40]) {
      const raw = await server.connect()
      raw.write(post('/fail', String(count)))
      expect(await raw.closed).toBe('')
      expect([count, raw.received.match(/p{1000}/g)?.length]).toEqual([count, count])
      expect(raw.received).not.toMatch(/\r\n0\r\n\r\n$/)
    }
    // uWebSockets.js answers no request behind one that waits.
    if (engine === 'uws') return
    const raw = await server.connect()
    raw.write(post('/first_one', 'earlier') + post('/fail', '3'))
    await turns(20)
    first.resolve()
    expect(await raw.closed).toBe('')
    expect(raw.received).toContain('earlier')
    expect(raw.received.match(/p{1000}/g)?.length).toBe(3)
  })
})
