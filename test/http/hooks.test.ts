import { describe, expect, it } from 'vitest'
import {
  type Context,
  Forbidden,
  type Outcome,
  type Service,
  Unauthorized,
} from '../../src/index.ts'
import { bytes, chunked, deferred, engines, post, type Raw, start, turns } from './harness.ts'

interface Seen {
  readonly outcomes: Outcome[]
  /** Resolves when that many requests have ended. */
  ended(count: number): Promise<readonly Outcome[]>
  readonly hook: (ctx: Context, outcome: Outcome) => void
}

function recorder(): Seen {
  const outcomes: Outcome[] = []
  return {
    outcomes,
    hook: (_, outcome) => void outcomes.push(outcome),
    async ended(count) {
      while (outcomes.length < count) await turns(1)
      await turns(5)
      expect(outcomes.length).toBe(count)
      return outcomes
    },
  }
}

const brief = ({ status, code, endpoint, bytesIn, bytesOut }: Outcome) => [
  status,
  code,
  endpoint,
  bytesIn,
  bytesOut,
]

describe.each(engines)('hooks on %s', (engine) => {
  const observed = (define: (svc: Service, seen: Seen) => void, options = {}) => {
    const seen = recorder()
    const server = start(
      engine,
      (svc) => {
        svc.onResponse(seen.hook)
        define(svc, seen)
      },
      options,
    )
    return { seen, server }
  }

  it('tell the outcome of every kind of answer once', async () => {
    const { seen, server } = observed(
      (svc) => {
        svc.api({ ...bytes, name: 'echo' }, (body) => body)
        svc.api({ ...bytes, name: 'broken' }, () => {
          throw new RangeError('a secret')
        })
        svc.api({ ...bytes, name: 'none' }, (_, ctx) => {
          ctx.response.status = 204
          return ''
        })
      },
      { maxBodyBytes: 100 },
    )
    const running = await server
    const raw = await running.connect()
    for (const request of [
      post('/echo', 'four'),
      post('/nowhere', 'body'),
      post('/echo', '', {}, 'GET'),
      post('/broken', 'abc'),
      post('/none', 'abc'),
      post('/livez', '', {}, 'GET'),
    ]) {
      raw.write(request)
      await raw.answer()
    }
    raw.write(post('/livez', '', {}, 'HEAD'))
    await raw.answer(true)
    await running.ask(post('/echo', 'x'.repeat(101)))
    const outcomes = await seen.ended(8)
    const length = (i: number) => outcomes[i].bytesOut
    expect(outcomes.map(brief)).toEqual([
      [200, undefined, 'echo', 4, 4],
      [404, 'not_found', undefined, 0, length(1)],
      [405, 'method_not_allowed', undefined, 0, length(2)],
      [500, 'function_error', 'broken', 3, length(3)],
      [204, undefined, 'none', 3, 0],
      [200, undefined, '/livez', 0, 3],
      [200, undefined, '/livez', 0, 0],
      [413, 'payload_too_large', 'echo', 0, length(7)],
    ])
    for (const { durations, protocol, status } of outcomes) {
      expect(protocol).toBe('http')
      expect(durations.totalMs).toBeGreaterThanOrEqual(durations.statusMs as number)
      if (status < 300)
        expect(durations.statusMs).toBeGreaterThanOrEqual(durations.bodyMs as number)
    }
    expect(outcomes.filter(({ bytesOut }) => bytesOut > 100).length).toBe(4)
  })

  it('tell requests that are refused for their framing or for load', async () => {
    const hold = deferred()
    const { seen, server } = observed(
      (svc) => {
        svc.api({ ...bytes, name: 'slow' }, async () => {
          await hold.promise
          return 'late'
        })
      },
      { maxInFlight: 1 },
    )
    const running = await server
    const first = await running.connect()
    first.write(post('/slow', 'a'))
    await turns(20)
    expect((await running.ask(post('/slow', 'b'))).status).toBe(503)
    const twice =
      engine === 'uws'
        ? 'content-length: 3\r\ncontent-length: 3'
        : 'content-length: 3\r\nhost: other'
    expect(
      (await running.ask(`POST /slow HTTP/1.1\r\nhost: test\r\n${twice}\r\n\r\nabc`)).status,
    ).toBe(400)
    hold.resolve()
    await first.answer()
    const outcomes = await seen.ended(3)
    expect(outcomes.map(({ status, code }) => [status, code])).toEqual([
      [503, 'overloaded'],
      [400, 'bad_input'],
      [200, undefined],
    ])
  })

  it('tell streams, whole and broken, and clients that leave', async () => {
    const begun = deferred()
    const { seen, server } = observed((svc) => {
      svc.api({ ...bytes, name: 'count' }, async function* () {
        yield 'one'
        yield 'two'
      } as never)
      svc.api({ ...bytes, name: 'breaks' }, async function* () {
        yield 'one'
        await turns(3)
        throw new RangeError('a secret')
      } as never)
      svc.api({ ...bytes, name: 'endless' }, async function* (_: unknown, ctx: Context) {
        yield 'one'
        begun.resolve()
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      } as never)
      svc.api({ ...bytes, name: 'waits' }, (body) => body)
    })
    const running = await server
    expect((await running.ask(post('/count'))).text).toBe('onetwo')
    await expect(running.ask(post('/breaks'))).rejects.toThrow('closed')
    const leaver = await running.connect()
    leaver.write(post('/endless'))
    await begun.promise
    leaver.destroy()
    await seen.ended(3)
    const half = await running.connect()
    await half.writeAlone(post('/waits', 'part', { 'content-length': '100' }))
    half.destroy()
    const outcomes = await seen.ended(4)
    expect(outcomes.map(brief)).toEqual([
      [200, undefined, 'count', 0, 6],
      [200, 'internal', 'breaks', 0, 3],
      [200, 'client_closed', 'endless', 0, 3],
      [499, 'client_closed', 'waits', 4, 0],
    ])
    expect((outcomes[1].error as Error).cause).toMatchObject({ message: 'a secret' })
    expect(outcomes[3].durations).toMatchObject({ bodyMs: undefined, statusMs: undefined })
  })

  it('refuse before the body comes, and keep the connection', async () => {
    const bodies: unknown[] = []
    const { seen, server } = observed((svc) => {
      svc.onRequest((ctx) => {
        ctx.response.setHeader('x-hook', 'ran')
        if (ctx.headers.get('x-sync') !== undefined) throw new Forbidden('not you')
      })
      svc.onRequest(async (ctx) => {
        await turns(2)
        if (ctx.headers.get('x-async') !== undefined) throw new Unauthorized('who is it?')
      })
      svc.api({ ...bytes, name: 'echo' }, (body) => {
        bodies.push(body)
        return body
      })
    })
    const running = await server
    for (const header of ['x-sync', 'x-async']) {
      const raw = await running.connect()
      // The answer comes although the body does not.
      raw.write(post('/echo', '', { 'content-length': '1000', [header]: '1' }))
      const refused = await raw.answer()
      expect(refused.status).toBe(header === 'x-sync' ? 403 : 401)
      expect(refused.headers.get('x-hook')).toEqual(['ran'])
      expect(refused.headers.get('www-authenticate')).toEqual(
        header === 'x-sync' ? undefined : ['Bearer'],
      )
      raw.write('b'.repeat(1000))
      raw.write(post('/echo', 'next'))
      const next = await raw.answer()
      expect([next.status, next.text, next.headers.get('x-hook')]).toEqual([200, 'next', ['ran']])
      // What is in the same packet is dropped as well.
      raw.write(post('/echo', 'together', { [header]: '1' }))
      expect((await raw.answer()).status).toBe(refused.status)
      raw.write(post('/echo', chunked('abc'), { 'transfer-encoding': 'chunked', [header]: '1' }))
      const last = await raw.answer()
      expect([last.status, last.headers.get('connection')]).toEqual([refused.status, ['close']])
    }
    const outcomes = await seen.ended(8)
    expect(outcomes.map(({ status }) => status)).toEqual([403, 200, 403, 403, 401, 200, 401, 401])
    expect(bodies.length).toBe(2)
  })

  it('hold the body while they wait, whole, in pieces and for receivers', async () => {
    let open = deferred()
    const { server } = observed((svc) => {
      svc.onRequest(() => open.promise)
      svc.api({ ...bytes, name: 'echo' }, (body) => String(body.length))
    })
    const running = await server
    const send = async (raw: Raw, ...pieces: string[]) => {
      open = deferred()
      for (const piece of pieces) await raw.writeAlone(piece)
      await turns(5)
      expect(raw.received).toBe('')
      open.resolve()
      return (await raw.answer()).text
    }
    const raw = await running.connect()
    expect(await send(raw, post('/echo', 'together'))).toBe('8')
    expect(await send(raw, post('/echo', 'split', { 'content-length': '10' }), 'later')).toBe('10')
    expect(await send(raw, post('/echo', '', {}))).toBe('0')
    expect(await send(raw, post('/echo', 'x'.repeat(3_000_000)))).toBe('3000000')
    expect(
      await send(raw, post('/echo', chunked('abc', 'de'), { 'transfer-encoding': 'chunked' })),
    ).toBe('5')
  })

  it('are bound by the deadline, the limit of the body and the client', async () => {
    const { seen, server } = observed(
      (svc) => {
        svc.onRequest(() => new Promise(() => {}))
        svc.api({ ...bytes, name: 'echo' }, (body) => body)
      },
      { requestTimeoutMs: 500, maxBodyBytes: 1000 },
    )
    const running = await server
    const late = await running.ask(post('/echo', 'body'))
    expect([late.status, JSON.parse(late.text).code]).toEqual([504, 'deadline_exceeded'])
    const gone = await running.connect()
    await gone.writeAlone(post('/echo', 'body'))
    gone.destroy()
    const outcomes = await seen.ended(2)
    expect(outcomes.map(({ status }) => status)).toEqual([504, 499])
  })

  // uWebSockets.js sends it by itself.
  it.skipIf(engine === 'uws')('send no 100 Continue to whom they refuse', async () => {
    const running = await start(engine, (svc) => {
      svc.onRequest(async (ctx) => {
        await turns(1)
        if (ctx.headers.get('x-bad') !== undefined) throw new Forbidden('no')
      })
      svc.api({ ...bytes, name: 'echo' }, (body) => body)
    })
    const raw = await running.connect()
    raw.write(post('/echo', '', { 'content-length': '4', expect: '100-continue', 'x-bad': '1' }))
    await raw.until('403')
    expect(raw.received).not.toContain('100 Continue')
  })

  it('hide what they throw unless it is a ServingError', async () => {
    const running = await start(engine, (svc) => {
      svc.onRequest(() => {
        throw new TypeError('a secret')
      })
      svc.onResponse(() => {
        throw new TypeError('of a response')
      })
      svc.onError(async () => {
        throw new TypeError('of an error')
      })
      svc.api({ ...bytes, name: 'echo' }, (body) => body)
    })
    const answer = await running.ask(post('/echo', 'body'))
    expect([answer.status, answer.text.includes('secret')]).toEqual([500, false])
    await turns(3)
    const failed = running.log
      .filter(({ event }) => event === 'hook_failed')
      .map(({ err }) => (err as Error).message)
    expect(failed.sort()).toEqual(['of a response', 'of an error'])
    expect(JSON.stringify(running.log)).toContain('a secret')
  })

  it('know the request, leave state for the function, and belong to one API', async () => {
    const seen: unknown[] = []
    const errors: unknown[] = []
    const running = await start(engine, (svc) => {
      svc.onRequest((ctx) => {
        ctx.state.caller = { name: 'ann' }
        seen.push([ctx.method, ctx.path, ctx.api, ctx.remoteAddress])
      })
      svc.onError((ctx, error) => {
        ctx.response.setHeader('x-error', (error as Forbidden).code)
        errors.push((error.cause as Error | undefined)?.message ?? error.message)
      })
      const own = {
        onRequest: () => void seen.push('own'),
        onResponse: (ctx: Context) => void seen.push(ctx.api),
      }
      svc.api({ ...bytes, name: 'mine', ...own }, (_, ctx) => String(ctx.state.caller?.name))
      svc.api({ ...bytes, name: 'other', route: 'deep/other' }, (_, ctx) => {
        ctx.response.setHeader('x-lost', 'set by the function')
        throw new RangeError('a secret')
      })
    })
    const raw = await running.connect()
    raw.write(post('/mine?a=1', 'x'))
    expect((await raw.answer()).text).toBe('ann')
    raw.write(post('/deep/other', 'x'))
    const failed = await raw.answer()
    expect([failed.headers.get('x-error'), failed.headers.get('x-lost')]).toEqual([
      ['function_error'],
      undefined,
    ])
    raw.write(post('/absent', 'x'))
    expect((await raw.answer()).headers.get('x-error')).toEqual(['not_found'])
    expect(seen).toEqual([
      ['POST', '/mine', 'mine', '127.0.0.1'],
      'own',
      'mine',
      ['POST', '/deep/other', 'other', '127.0.0.1'],
    ])
    expect(errors).toEqual(['a secret', expect.stringContaining('/absent')])
  })

  it('know the address that trusted proxies saw', async () => {
    const running = await start(
      engine,
      (svc) => svc.api({ ...bytes, name: 'who' }, (_: Uint8Array) => 'nobody'),
      {
        trustProxy: 1,
      },
    )
    expect((await running.ask(post('/who', 'x'))).text).toBe('nobody')
    const trusting = await start(
      engine,
      (svc) => svc.api({ ...bytes, name: 'who' }, (_, ctx) => String(ctx.remoteAddress)),
      { trustProxy: 2 },
    )
    const who = async (headers: Record<string, string>, from = trusting) =>
      (await from.ask(post('/who', 'x', headers))).text
    expect(await who({ 'x-forwarded-for': '6.6.6.6, 1.2.3.4, 10.0.0.1' })).toBe('1.2.3.4')
    // A client's own, which a proxy passes on that does not write it.
    expect(await who({ forwarded: 'for=1.1.1.1', 'x-forwarded-for': '2.2.2.2, 10.0.0.1' })).toBe(
      '2.2.2.2',
    )
    expect(await who({ forwarded: 'for=1.1.1.1' })).toBe('127.0.0.1')
    const standard = await start(
      engine,
      (svc) => svc.api({ ...bytes, name: 'who' }, (_, ctx) => String(ctx.remoteAddress)),
      { trustProxy: 'forwarded:2' },
    )
    const forwarded = 'for=6.6.6.6, for="[2001:db8:0::1]:99";proto=http, for=10.0.0.1'
    expect(await who({ forwarded }, standard)).toBe('2001:db8::1')
    expect(await who({ forwarded, 'x-forwarded-for': '2.2.2.2, 10.0.0.1' }, standard)).toBe(
      '2001:db8::1',
    )
    expect(await who({ 'x-forwarded-for': '2.2.2.2' }, standard)).toBe('127.0.0.1')
    expect(await who({ 'x-forwarded-for': 'unknown, x' })).toBe('127.0.0.1')
    expect(await who({})).toBe('127.0.0.1')
  })
})
