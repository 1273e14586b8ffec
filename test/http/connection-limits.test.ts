import { describe, expect, it } from 'vitest'
import { InvalidArgument } from '../../src/core/errors.ts'
import { limitsOfNode } from '../../src/engine/options.ts'
import { bytes, engines, post, start } from './harness.ts'

const define = (svc: Parameters<Parameters<typeof start>[1]>[0]) =>
  svc.api({ ...bytes, name: 'echo' }, (body) => body)

describe('connections to engine node', () => {
  it('above the cap of their address are closed, until others of it are', async () => {
    const server = await start('node', define, { maxConnectionsPerAddress: 2 })
    const [first, second] = [await server.connect(), await server.connect()]
    for (const raw of [first, second]) {
      raw.write(post('/echo', 'x'))
      expect((await raw.answer()).text).toBe('x')
    }
    const third = await server.connect()
    await third.closed
    const fourth = await server.connect()
    await fourth.closed
    expect(server.log.filter(({ event }) => event === 'connections_capped')).toHaveLength(1)
    first.write(post('/echo', 'y'))
    expect((await first.answer()).text).toBe('y')

    second.destroy()
    await second.closed
    let text: string | undefined
    do {
      // The server hears of the closing when it does.
      text = await server.ask(post('/echo', 'z')).then(
        (answer) => answer.text,
        () => undefined,
      )
    } while (text === undefined)
    expect(text).toBe('z')
  })

  it('are closed with 408 when their headers do not come in time', async () => {
    const server = await start('node', define, { headerTimeoutMs: 60 })
    const raw = await server.connect()
    raw.write('POST /echo HTTP/1.1\r\nhost: x\r\n')
    expect((await raw.answer()).status).toBe(408)
    await raw.closed
  })

  it('are closed when they say nothing at all', async () => {
    const server = await start('node', define, { headerTimeoutMs: 60 })
    const raw = await server.connect()
    await raw.closed
  })

  it('are closed after the idle time', async () => {
    const server = await start('node', define, { idleTimeoutMs: 60 })
    const raw = await server.connect()
    raw.write(post('/echo', 'x'))
    expect((await raw.answer()).text).toBe('x')
    await raw.closed
  })
})

describe.skipIf(!engines.includes('uws'))('connections to engine uws', () => {
  it.each(limitsOfNode)('have no %s: it is refused at the start', async (name) => {
    await expect(start('uws', define, { [name]: 50 })).rejects.toThrow(InvalidArgument)
    await expect(start('uws', define, { [name]: 50 })).rejects.toThrow(`${name} needs engine node`)
  })
})
