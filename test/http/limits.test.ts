import { describe, expect, it } from 'vitest'
import { DeadlineExceeded } from '../../src/core/errors.ts'
import { Text } from '../../src/descriptors/text.ts'
import { bothEngines, bytes, deferred, post, start } from './harness.ts'

describe.each(bothEngines)('limits on %s', (engine) => {
  it('answers 504 at the deadline of a waiting function and aborts its signal', async () => {
    const reason = deferred<unknown>()
    const server = await start(
      engine,
      (svc) =>
        svc.api({ ...bytes, name: 'slow' }, async (_body, ctx) => {
          const { signal } = ctx
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          reason.resolve(signal.reason)
          return 'late'
        }),
      { requestTimeoutMs: 20, maxInFlight: 1 },
    )
    const raw = await server.connect()
    for (let i = 0; i < 2; i++) {
      raw.write(post('/slow'))
      const answer = await raw.answer()
      expect([answer.status, JSON.parse(answer.text).code]).toEqual([504, 'deadline_exceeded'])
    }
    expect(await reason.promise).toBeInstanceOf(DeadlineExceeded)
  })

  it('answers 504 when a function that blocks the thread returns too late', async () => {
    const server = await start(
      engine,
      (svc) =>
        svc.api({ ...bytes, name: 'block' }, (_body, ctx) => {
          while (ctx.remainingMs > 0);
          return 'late'
        }),
      { requestTimeoutMs: 10 },
    )
    const answer = await server.ask(post('/block'))
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([504, 'deadline_exceeded'])
  })

  it('answers 504 to an upload that does not come to its end', async () => {
    const server = await start(
      engine,
      (svc) => svc.api({ ...bytes, name: 'echo' }, (body) => body),
      {
        requestTimeoutMs: 20,
        maxInFlight: 1,
      },
    )
    const raw = await server.connect()
    raw.write(post('/echo', 'part', { 'content-length': '100' }))
    const answer = await raw.answer()
    expect([answer.status, answer.headers.get('connection')]).toEqual([504, ['close']])
    raw.destroy()
    let next = await server.ask(post('/echo', 'x'))
    // This machine stood still; with the slot still taken it would be 503.
    while (next.status === 504) next = await server.ask(post('/echo', 'x'))
    expect(next.text).toBe('x')
  })

  it('holds the deadline up to the first chunk of a stream, not beyond', async () => {
    const server = await start(
      engine,
      (svc) => {
        svc.api({ input: new Text(), output: new Text() }, async function* mute(_text, ctx) {
          await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
          yield 'late'
        })
        svc.api({ input: new Text(), output: new Text() }, async function* long(_text, ctx) {
          yield 'in time'
          while (ctx.remainingMs > 0) await new Promise((resolve) => setImmediate(resolve))
          yield ', and on'
        })
      },
      { requestTimeoutMs: 600 },
    )
    expect((await server.ask(post('/mute', 'x'))).status).toBe(504)
    expect((await server.ask(post('/long', 'x'))).text).toBe('in time, and on')
  })

  it('has no deadline when it is 0', async () => {
    const server = await start(
      engine,
      (svc) => svc.api({ ...bytes, name: 'left' }, (_b, ctx) => String(ctx.remainingMs)),
      {
        requestTimeoutMs: 0,
      },
    )
    expect((await server.ask(post('/left'))).text).toBe('Infinity')
  })

  it('refuses requests above the in-flight limit with 503 and retry-after, and health stays up', async () => {
    const release = deferred()
    const server = await start(
      engine,
      (svc) =>
        svc.api({ ...bytes, name: 'wait' }, async (body) => {
          await release.promise
          return body
        }),
      { maxInFlight: 2 },
    )
    const busy = [await server.connect(), await server.connect()]
    for (const raw of busy) await raw.writeAlone(post('/wait', 'in'))
    const raw = await server.connect()
    for (let i = 0; i < 3; i++) {
      raw.write(post('/wait', 'x'.repeat(1000)))
      const refused = await raw.answer()
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, ['1']])
      expect(JSON.parse(refused.text).code).toBe('overloaded')
    }
    for (const path of ['/livez', '/healthz', '/readyz']) {
      raw.write(post(path, '', {}, 'GET'))
      expect((await raw.answer()).status).toBe(200)
    }
    release.resolve()
    for (const one of busy) expect((await one.answer()).text).toBe('in')
    raw.write(post('/wait', 'now'))
    expect((await raw.answer()).text).toBe('now')
  })
})
