import { describe, expect, it } from 'vitest'
import { bytes, engines, post, type Running, start } from './harness.ts'

/** Counts calls within each turn of the event loop. */
async function counting(engine: 'uws' | 'node'): Promise<{ server: Running; max: () => number }> {
  let inTurn = 0
  let max = 0
  const count = () => {
    if (inTurn++ === 0) {
      setImmediate(() => {
        inTurn = 0
      })
    }
    max = Math.max(max, inTurn)
  }
  const server = await start(engine, (svc) => {
    svc.api({ ...bytes, name: 'echo' }, (body) => {
      count()
      return body
    })
  })
  return { server, max: () => max }
}

describe.each(engines)('pipelining on %s', (engine) => {
  it('is answered in order while it is moderate', async () => {
    const { server } = await counting(engine)
    const raw = await server.connect()
    raw.write(Array.from({ length: 100 }, (_, i) => post('/echo', `${i}`)).join(''))
    for (let i = 0; i < 100; i++) expect((await raw.answer()).text).toBe(`${i}`)
  })

  it('of thousands of requests without reading closes its connection, and does not hold up others', async () => {
    const { server, max } = await counting(engine)
    const raw = await server.connect()
    const other = await server.connect()
    raw.socket.pause()
    raw.write(post('/echo', 'flood').repeat(20_000))
    for (let i = 0; i < 20; i++) {
      other.write(post('/echo', 'other'))
      expect((await other.answer()).text).toBe('other')
    }
    raw.socket.resume()
    await raw.closed
    expect(max()).toBeLessThanOrEqual(1025)
  })

  it('of thousands of requests for nothing is closed as well', async () => {
    const { server } = await counting(engine)
    const raw = await server.connect()
    raw.write(post('/nope', '').repeat(20_000))
    await raw.closed
    expect(server.log.filter(({ msg }) => msg === 'request refused').length).toBeLessThan(6000)
    expect((await server.ask(post('/echo', 'next'))).text).toBe('next')
  })

  it('does not stop many connections from being answered in one turn', async () => {
    const { server } = await counting(engine)
    const clients = await Promise.all(Array.from({ length: 300 }, () => server.connect()))
    for (let round = 0; round < 3; round++) {
      for (const client of clients)
        for (let i = 0; i < 2; i++) client.write(post('/echo', `${round}`))
      for (const client of clients)
        for (let i = 0; i < 2; i++) expect((await client.answer()).text).toBe(`${round}`)
    }
  })
})
