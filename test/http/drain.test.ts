import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ClientClosed } from '../../src/core/errors.ts'
import type { Service } from '../../src/service.ts'
import { bothEngines, bytes, deferred, post, start } from './harness.ts'

const refused = (port: number) =>
  new Promise<string>((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
    socket.once('connect', () => {
      socket.destroy()
      resolve('connected')
    })
  })

describe.each(bothEngines)('close() on %s', (engine) => {
  const waiting = async (options = {}) => {
    const entered = deferred()
    const release = deferred()
    const reason = deferred<unknown>()
    const steps: string[] = []
    const define = (svc: Service) => {
      svc.onShutdown(() => void steps.push('stopped'))
      svc.api({ ...bytes, name: 'wait' }, async (_body, ctx) => {
        ctx.signal.addEventListener('abort', () => reason.resolve(ctx.signal.reason))
        entered.resolve()
        await release.promise
        steps.push('answered')
        return 'complete'
      })
    }
    const server = await start(engine, define, { drainTimeoutMs: 60_000, ...options })
    const raw = await server.connect()
    raw.write(post('/wait'))
    await entered.promise
    return { server, raw, release, reason, steps }
  }

  it('refuses connections at once when others have the port, and lets the running request finish', async () => {
    const { server, raw, release, steps } = await waiting()
    const closing = server.listener.close({ accepting: false })
    expect(await refused(server.port)).toBe('ECONNREFUSED')
    release.resolve()
    expect((await raw.answer()).text).toBe('complete')
    await closing
    expect(steps).toEqual(['answered', 'stopped'])
  })

  it('tells readiness, refuses new requests and lets running ones finish, on an open port', async () => {
    const { server, raw, release, steps } = await waiting()
    const idle = await server.connect()
    const closing = server.listener.close()
    const ready = await server.ask(post('/readyz', '', {}, 'GET'))
    expect([ready.status, ready.text]).toEqual([503, 'draining\n'])
    expect((await server.ask(post('/livez', '', {}, 'GET'))).status).toBe(200)
    for (const request of [
      post('/wait', 'x'),
      post('/wait', '', { 'content-length': '30000000' }),
    ]) {
      const late = await server.connect()
      late.write(request)
      const answer = await late.answer()
      expect([answer.status, JSON.parse(answer.text).code]).toEqual([503, 'overloaded'])
      expect([answer.headers.get('connection'), answer.headers.get('retry-after')]).toEqual([
        ['close'],
        ['1'],
      ])
      if (request.endsWith('x')) expect(await late.closed).toBe('')
    }
    expect(steps).toEqual([])
    release.resolve()
    expect((await raw.answer()).text).toBe('complete')
    await closing
    expect(steps).toEqual(['answered', 'stopped'])
    await idle.closed
    expect(await refused(server.port)).toBe('ECONNREFUSED')
  })

  it('answers requests for drainDelayMs while readiness is 503, and closes at once when asked again', async () => {
    const { server, raw, release, steps } = await waiting({ drainDelayMs: 60_000 })
    const idle = await server.connect()
    const closing = server.listener.close()
    const ready = await server.ask(post('/readyz', '', {}, 'GET'))
    expect([ready.status, ready.text, ready.headers.get('connection')]).toEqual([
      503,
      'stopping\n',
      ['close'],
    ])
    release.resolve()
    const late = await server.connect()
    for (const connection of [idle, late]) {
      connection.write(post('/wait', 'x'))
      const answer = await connection.answer()
      expect([answer.status, answer.headers.get('connection')]).toEqual([200, ['close']])
      expect(await connection.closed).toBe('')
    }
    expect((await raw.answer()).text).toBe('complete')
    expect(steps).toEqual(['answered', 'answered', 'answered'])
    await server.listener.close({ atOnce: true })
    await closing
    expect(steps.at(-1)).toBe('stopped')
    expect(await refused(server.port)).toBe('ECONNREFUSED')
  })

  it('waits for no more than drainDelayMs, and not at all when others have the port', async () => {
    const { server, raw, release } = await waiting({ drainDelayMs: 10 })
    const closing = server.listener.close()
    release.resolve()
    expect((await raw.answer()).text).toBe('complete')
    await closing
    expect(await refused(server.port)).toBe('ECONNREFUSED')

    const shared = await waiting({ drainDelayMs: 60_000 })
    shared.release.resolve()
    await shared.server.listener.close({ accepting: false })
    expect(await refused(shared.server.port)).toBe('ECONNREFUSED')
  })

  it('aborts what still runs after drainTimeoutMs', async () => {
    const { server, raw, release, reason, steps } = await waiting({ drainTimeoutMs: 10 })
    await server.listener.close()
    expect(await reason.promise).toBeInstanceOf(ClientClosed)
    await raw.closed
    expect(raw.received).toBe('')
    expect(steps).toEqual(['stopped'])
    expect(await refused(server.port)).toBe('ECONNREFUSED')
    release.resolve()
  })

  it('may be called twice and at once', async () => {
    const { server, release, steps } = await waiting()
    const closings = [server.listener.close(), server.listener.close()]
    release.resolve()
    await Promise.all(closings)
    await server.listener.close()
    expect(steps.filter((step) => step === 'stopped')).toHaveLength(1)
  })

  it('waits for streams', async () => {
    const more = deferred()
    const server = await start(
      engine,
      (svc) =>
        svc.api({ ...bytes, name: 'stream' }, () =>
          (async function* () {
            yield 'first, '
            await more.promise
            yield 'last'
          })(),
        ),
      { drainTimeoutMs: 60_000 },
    )
    const raw = await server.connect()
    raw.write(post('/stream'))
    await raw.until('first')
    const closing = server.listener.close()
    more.resolve()
    expect((await raw.answer()).text).toBe('first, last')
    await closing
  })

  it('rejects with what a shutdown hook throws, after the port is closed', async () => {
    const server = await start(engine, (svc) => {
      svc.onShutdown(() => {
        throw new Error('hook failed')
      })
    })
    const closing = server.listener.close()
    await expect(closing).rejects.toThrow('hook failed')
    expect(await refused(server.port)).toBe('ECONNREFUSED')
    server.forget()
  })
})

describe.each(bothEngines)('leave() on %s, with an event loop that is late', (engine) => {
  const block = (ms: number) => {
    for (const end = performance.now() + ms; performance.now() < end; );
  }
  const echo = (svc: Service) => svc.api({ ...bytes, name: 'echo' }, (body) => body)

  it('answers what came while the loop was held', async () => {
    const server = await start(engine, (svc) => void echo(svc), { drainTimeoutMs: 60_000 })
    const raw = await server.connect()
    raw.write(post('/echo', 'one'))
    expect((await raw.answer()).text).toBe('one')
    const left = server.listener.leave()
    // The time for last requests ends while the loop is held, and the request has come by then.
    await new Promise((resolve) => setTimeout(resolve, 700))
    // After the loop has looked at its sockets, and before its timers.
    await new Promise((resolve) => setImmediate(resolve))
    raw.write(post('/echo', 'two'))
    block(600)
    expect((await raw.answer()).text).toBe('two')
    await left
  })

  it('answers on a connection that was not accepted yet', async () => {
    const server = await start(engine, (svc) => void echo(svc), { drainTimeoutMs: 60_000 })
    const socket = connect({ port: server.port, host: '127.0.0.1' })
    const answer = new Promise<string>((resolve) => {
      socket.once('data', (data) => resolve(String(data)))
      socket.once('error', (error) => resolve(error.message))
      socket.once('close', () => resolve('closed'))
    })
    socket.write(post('/echo', 'three'))
    await new Promise((resolve) => process.nextTick(resolve))
    const left = server.listener.leave()
    expect(await answer).toContain('three')
    await left
  })
})
