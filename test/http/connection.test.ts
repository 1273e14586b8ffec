import { describe, expect, it } from 'vitest'
import { ClientClosed } from '../../src/core/errors.ts'
import { bothEngines, bytes, chunked, deferred, post, start, turns } from './harness.ts'

describe.each(bothEngines)('connections on %s', (engine) => {
  it('keeps a connection for the next request', async () => {
    const server = await start(engine, (svc) => svc.api({ ...bytes, name: 'echo' }, (body) => body))
    const raw = await server.connect()
    for (const body of ['one', 'two', 'three']) {
      raw.write(post('/echo', body))
      expect((await raw.answer()).text).toBe(body)
    }
  })

  it('closes when the client asks for it', async () => {
    const server = await start(engine, (svc) => svc.api({ ...bytes, name: 'echo' }, (body) => body))
    const raw = await server.connect()
    raw.write(post('/echo', 'bye', { connection: 'close' }))
    expect((await raw.answer()).text).toBe('bye')
    expect(await raw.closed).toBe('')
  })

  it('serves two requests at once and keeps them apart', async () => {
    const first = deferred<string>()
    const server = await start(engine, (svc) =>
      svc.api({ ...bytes, name: 'wait' }, async (body) => {
        const text = Buffer.from(body).toString()
        return text === 'first' ? first.promise : `${text} done`
      }),
    )
    const [one, two] = [await server.connect(), await server.connect()]
    await one.writeAlone(post('/wait', 'first'))
    two.write(post('/wait', 'second'))
    expect((await two.answer()).text).toBe('second done')
    first.resolve('first done')
    expect((await one.answer()).text).toBe('first done')
  })

  it('answers pipelined requests in order when each is answered at once', async () => {
    const server = await start(engine, (svc) => svc.api({ ...bytes, name: 'echo' }, (body) => body))
    const raw = await server.connect()
    raw.write(['a', 'b', 'c'].map((body) => post('/echo', body)).join(''))
    for (const body of ['a', 'b', 'c']) expect((await raw.answer()).text).toBe(body)
  })

  it('never mixes up pipelined requests that wait', async () => {
    const release = deferred()
    const server = await start(engine, (svc) =>
      svc.api({ ...bytes, name: 'wait' }, async (body) => {
        await release.promise
        return body
      }),
    )
    const raw = await server.connect()
    raw.write(post('/wait', 'a') + post('/wait', 'b'))
    if (engine === 'uws') {
      // uWebSockets.js closes a connection whose next request comes while one is pending.
      await raw.closed
      expect(raw.received).toBe('')
      release.resolve()
    } else {
      release.resolve()
      expect((await raw.answer()).text).toBe('a')
      expect((await raw.answer()).text).toBe('b')
    }
    expect((await server.ask(post('/wait', 'c'))).text).toBe('c')
  })

  it('answers HTTP/1.0 or refuses it, and does not hang', async () => {
    const server = await start(engine, (svc) => svc.api({ ...bytes, name: 'echo' }, (body) => body))
    const raw = await server.connect()
    raw.write('POST /echo HTTP/1.0\r\nhost: x\r\ncontent-length: 2\r\n\r\nhi')
    const answer = await raw.answer()
    if (engine === 'uws') expect(answer.status).toBe(505)
    else expect(answer.text).toBe('hi')
    await raw.closed
  })

  it('streams to HTTP/1.0 without chunks', async () => {
    const server = await start(engine, (svc) =>
      svc.api({ ...bytes, name: 'stream' }, () => ['one ', 'two']),
    )
    const raw = await server.connect()
    raw.write('POST /stream HTTP/1.0\r\nhost: x\r\ncontent-length: 0\r\n\r\n')
    await raw.closed
    if (engine === 'node') expect(raw.received).toMatch(/\r\n\r\none two$/)
  })

  it('survives what is no HTTP at all', async () => {
    const server = await start(engine, (svc) => svc.api({ ...bytes, name: 'echo' }, (body) => body))
    for (const text of [
      '\r\n\r\n',
      'nonsense\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00',
      'POST /echo\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
    ]) {
      const raw = await server.connect()
      await raw.writeAlone(text)
      raw.destroy()
    }
    expect((await server.ask(post('/echo', 'alive'))).text).toBe('alive')
  })
})

describe.each(bothEngines)('clients that go away on %s', (engine) => {
  it('take no slot, and run nothing, when their body never came', async () => {
    let calls = 0
    const server = await start(
      engine,
      (svc) => svc.api({ ...bytes, name: 'count' }, () => `${++calls}`),
      {
        maxInFlight: 1,
      },
    )
    const raw = await server.connect()
    await raw.writeAlone(post('/count', 'part', { 'content-length': '100' }))
    expect((await server.ask(post('/count'))).status).toBe(200)
    raw.destroy()
    await raw.closed
    expect((await server.ask(post('/count'))).text).toBe('2')
  })

  it('tells a running function, and frees its place at once', async () => {
    const entered = deferred()
    const left = deferred<unknown>()
    const server = await start(
      engine,
      (svc) =>
        svc.api({ ...bytes, name: 'wait' }, async (_body, ctx) => {
          const { signal } = ctx
          if (_body.length > 0) return 'quick'
          entered.resolve()
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          left.resolve(signal.reason)
          return 'nobody hears this'
        }),
      { maxInFlight: 1 },
    )
    const raw = await server.connect()
    raw.write(post('/wait'))
    await entered.promise
    expect((await server.ask(post('/wait', 'x'))).status).toBe(503)
    raw.destroy()
    expect(await left.promise).toBeInstanceOf(ClientClosed)
    expect((await server.ask(post('/wait', 'x'))).text).toBe('quick')
    expect(server.log.filter((line) => Number(line.level) > 40)).toEqual([])
  })

  it('takes a half-close for the end of the client while its request runs', async () => {
    // uWebSockets.js and node:http both give a request up whose client has closed its sending side.
    const entered = deferred()
    const aborted = deferred()
    const server = await start(engine, (svc) =>
      svc.api({ ...bytes, name: 'wait' }, async (_body, ctx) => {
        ctx.signal.addEventListener('abort', () => aborted.resolve())
        entered.resolve()
        await aborted.promise
        return 'late'
      }),
    )
    const raw = await server.connect()
    raw.write(post('/wait'))
    await entered.promise
    raw.socket.end()
    await aborted.promise
    await raw.closed
    expect(raw.received).toBe('')
  })

  it.each([
    ['a chunked upload', post('/echo', chunked('x'), { 'transfer-encoding': 'chunked' })],
    ['connection: close', post('/echo', 'x', { connection: 'close' })],
  ])('frees every place when requests are pipelined behind %s', async (_what, closing) => {
    // The large answer empties the cork of uWebSockets.js, so that the closing one closes in the middle of the parser's
    // work.
    const server = await start(
      engine,
      (svc) => {
        svc.api({ ...bytes, name: 'large' }, () => [Buffer.alloc(2_000_000)])
        svc.api({ ...bytes, name: 'echo' }, (body) => body)
      },
      { drainTimeoutMs: 60_000 },
    )
    for (const last of [
      post('/echo', 'third'),
      post('/echo', chunked('x'), { 'transfer-encoding': 'chunked' }),
    ]) {
      const raw = await server.connect()
      raw.write(post('/large') + closing + last)
      await raw.closed
    }
    // Waits for all that are in flight.
    await server.listener.close()
  })

  it('frees the places of pipelined requests whose turn never came', async () => {
    const entered = deferred()
    const server = await start(
      engine,
      (svc) =>
        svc.api({ ...bytes, name: 'wait' }, (_body, ctx) => {
          const { signal } = ctx
          entered.resolve()
          return new Promise<string>((resolve) =>
            signal.addEventListener('abort', () => resolve('late')),
          )
        }),
      { drainTimeoutMs: 60_000 },
    )
    const raw = await server.connect()
    raw.write(post('/wait') + post('/wait') + post('/wait'))
    await entered.promise
    raw.destroy()
    await server.listener.close()
  })

  it('drops what is pipelined behind refused uploads', async () => {
    const server = await start(engine, (svc) => svc.api({ ...bytes, name: 'echo' }, (body) => body))
    const upload = (path: string) =>
      post(path, chunked('x', 'y'), { 'transfer-encoding': 'chunked' })
    // The last request comes before, while and after the first is answered: on node each is another case.
    for (let i = 0; i < 20; i++) {
      const raw = await server.connect()
      raw.write(upload('/readyz') + post('/readyz', 'x'.repeat(100), {}, 'HEAD'))
      for (let waited = 0; waited < i; waited++) await Promise.resolve()
      if (i >= 10) await turns(i - 10)
      raw.write(upload('/nope'))
      await raw.closed
      // Status lines, since the random id of a request may have a 404 in it. A reset may take the first answer, too.
      const statuses = raw.received.match(/^HTTP\/1\.1 \d{3}/gm) ?? []
      expect(statuses.filter((status) => status !== 'HTTP/1.1 405')).toEqual([])
      expect(statuses.length).toBeLessThanOrEqual(1)
    }
    expect((await server.ask(post('/echo', 'alive'))).text).toBe('alive')
  })

  it('is not disturbed by a client that leaves after its answer', async () => {
    const signals: AbortSignal[] = []
    const server = await start(
      engine,
      (svc) =>
        svc.api({ ...bytes, name: 'echo' }, (body, ctx) => {
          signals.push(ctx.signal)
          return body
        }),
      { maxInFlight: 1 },
    )
    for (let i = 0; i < 3; i++) {
      const raw = await server.connect()
      raw.write(post('/echo', 'x'))
      await raw.answer()
      raw.destroy()
      await raw.closed
    }
    expect((await server.ask(post('/echo', 'y'))).text).toBe('y')
    expect(signals.map((signal) => signal.aborted)).toEqual([false, false, false, false])
  })
})
