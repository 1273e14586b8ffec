import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Forbidden, io, NotFound } from '../../src/index.ts'
import { bytes, chunked, deferred, engines, post, type Running, start, turns } from './harness.ts'

const hono = () => {
  const app = new Hono<{ Bindings: { path: string } }>().basePath('/app')
  app.get('/', (c) => c.text('root'))
  app.get('/hello/:name', (c) =>
    c.json({ hello: c.req.param('name'), q: c.req.query('q'), path: c.env.path }),
  )
  app.put('/length', async (c) => {
    let length = 0
    let pieces = 0
    for await (const piece of c.req.raw.body as ReadableStream<Uint8Array>) {
      length += piece.length
      pieces++
    }
    return c.json({ length, isInPieces: pieces > 1 })
  })
  app.post('/echo', (c) => new Response(c.req.raw.body, { headers: { 'x-echo': '1' } }))
  app.post('/ignore', (c) => c.text('not read', 403))
  app.delete('/cookie', (c) => {
    c.header('set-cookie', 'a=1', { append: true })
    c.header('set-cookie', 'b=2', { append: true })
    return c.body(null, 204)
  })
  app.get('/stream', () => {
    const source = new ReadableStream({
      async start(controller) {
        for (let i = 0; i < 3; i++) {
          controller.enqueue(Buffer.from(`${i};`))
          await turns(3)
        }
        controller.close()
      },
    })
    return new Response(source)
  })
  app.get('/breaks', () => {
    throw new RangeError('a secret')
  })
  return app
}

describe.each(engines)('a mounted Hono app on %s', (engine) => {
  const serveApp = (options = {}): Promise<Running> => {
    const app = hono()
    app.onError((error) => {
      throw error
    })
    return start(
      engine,
      (svc) => {
        svc.api({ ...bytes, name: 'beside', route: 'app/beside' }, (body) => body)
        svc.mount('/app', app.fetch as never)
      },
      options,
    )
  }

  it('answers every method, next to the APIs', async () => {
    const running = await serveApp()
    const raw = await running.connect()
    const ask = async (path: string, method = 'GET', body = '') => {
      raw.write(post(path, body, {}, method))
      const answer = await raw.answer(method === 'HEAD')
      return [answer.status, answer.text]
    }
    expect(await ask('/app')).toEqual([200, 'root'])
    expect(await ask('/app/hello/%61nn?q=%20x')).toEqual([
      200,
      '{"hello":"ann","q":" x","path":"/app/hello/%61nn"}',
    ])
    expect(await ask('/app/beside', 'POST', 'api')).toEqual([200, 'api'])
    expect(await ask('/app/none')).toEqual([404, '404 Not Found'])
    expect(await ask('/app/length', 'PUT', 'four')).toEqual([
      200,
      '{"length":4,"isInPieces":false}',
    ])
    expect(await ask('/app', 'HEAD')).toEqual([200, ''])
    expect((await ask('/app', 'TRACE'))[0]).toBe(405)
    expect((await ask('/application'))[0]).toBe(404)
    expect(await ask('/app/breaks')).toEqual([500, expect.not.stringContaining('secret')])
    raw.write(post('/app/cookie', '', {}, 'DELETE'))
    const cookies = await raw.answer()
    expect([cookies.status, cookies.headers.get('set-cookie')]).toEqual([204, ['a=1', 'b=2']])
    raw.write(post('/app', '', {}, 'GET'))
    expect((await raw.answer()).headers.get('content-length')).toEqual(['4'])
  })

  it('streams bodies both ways', async () => {
    const running = await serveApp()
    const big = 'x'.repeat(2_000_000)
    expect((await running.ask(post('/app/length', big, {}, 'PUT'))).text).toBe(
      '{"length":2000000,"isInPieces":true}',
    )
    expect((await running.ask(post('/app/echo', big))).text.length).toBe(big.length)
    const chunks = post('/app/echo', chunked('ab'.repeat(50_000), 'c'), {
      'transfer-encoding': 'chunked',
    })
    expect((await running.ask(chunks)).text.length).toBe(100_001)
    expect((await running.ask(post('/app/ignore', big))).text).toBe('not read')
    const stream = await running.ask(post('/app/stream', '', {}, 'GET'))
    expect([stream.text, stream.headers.get('transfer-encoding')]).toEqual(['0;1;2;', ['chunked']])
  })

  it('is bound by the limits of size and time, and learns that its client left', async () => {
    const aborted = deferred()
    const cancelled = deferred()
    const running = await start(
      engine,
      (svc) => {
        svc.mount('/', async (request) => {
          const { pathname } = new URL(request.url)
          if (pathname === '/length')
            return new Response(String((await request.arrayBuffer()).byteLength))
          if (pathname === '/endless') {
            const pull = () => turns(1)
            return new Response(
              new ReadableStream({
                start: (controller) => controller.enqueue(Buffer.from('begun')),
                pull,
                cancel: () => cancelled.resolve(),
              }),
            )
          }
          request.signal.addEventListener('abort', () => aborted.resolve())
          return new Promise(() => {})
        })
      },
      { maxBodyBytes: 1000, requestTimeoutMs: 1000 },
    )
    expect((await running.ask(post('/length', 'x'.repeat(1001)))).status).toBe(413)
    const endless = post('/length', chunked('x'.repeat(900), 'y'.repeat(900)), {
      'transfer-encoding': 'chunked',
    })
    expect((await running.ask(endless)).status).toBe(413)
    expect((await running.ask(post('/slow', ''))).status).toBe(504)
    const leaver = await running.connect()
    leaver.write(post('/slow', '', {}, 'GET'))
    await turns(20)
    leaver.destroy()
    await aborted.promise
    const reader = await running.connect()
    reader.write(post('/endless', '', {}, 'GET'))
    await reader.until('begun')
    reader.destroy()
    await cancelled.promise
  })

  it('refuses what is no request of the Fetch standard, and answers what is no Response with 500', async () => {
    const running = await start(engine, (svc) => {
      svc.onRequest((ctx) => {
        ctx.response.setHeader('x-hook', '1')
        if (ctx.query.has('refuse')) throw new Forbidden('no')
      })
      svc.mount('/app', ((request: Request) => {
        if (request.url.endsWith('missing')) throw new NotFound('nothing there')
        return { status: 200 }
      }) as never)
    })
    const statusOf = async (text: string) => (await running.ask(text)).status
    expect(await statusOf(post('/app', '', { host: 'a b' }, 'GET'))).toBe(400)
    expect(await statusOf(post('/app', '', {}, 'GET'))).toBe(500)
    expect(await statusOf(post('/app/missing', '', {}, 'GET'))).toBe(404)
    const refused = await running.ask(post('/app?refuse', '', {}, 'GET'))
    expect([refused.status, refused.headers.get('x-hook')]).toEqual([403, ['1']])
  })
})

describe.each(engines)('GET functions on %s', (engine) => {
  it('receive the query, checked by a schema', async () => {
    const running = await start(engine, (svc) => {
      const query = z.object({
        top: z.coerce.number().int().max(9).default(3),
        tag: z.array(z.string()).optional(),
      })
      svc.get('/labels', { query, output: new io.JSON() }, function labels({ top, tag }) {
        const next: number = top + 1
        return { next, tag: tag ?? [] }
      })
      svc.get('/raw/query', { output: new io.JSON(), name: 'raw' }, (record, ctx) => ({
        ...record,
        api: ctx.api ?? '',
      }))
      svc.api({ ...bytes, name: 'post', route: 'labels' }, (body) => body)
    })
    const raw = await running.connect()
    const ask = async (path: string, method = 'GET') => {
      raw.write(post(path, '', {}, method))
      const answer = await raw.answer(method === 'HEAD')
      return [answer.status, answer.text === '' ? '' : JSON.parse(answer.text)]
    }
    expect(await ask('/labels?top=4&tag=a&tag=b')).toEqual([200, { next: 5, tag: ['a', 'b'] }])
    expect(await ask('/labels?tag=one')).toEqual([200, { next: 4, tag: ['one'] }])
    expect(await ask('/labels')).toEqual([200, { next: 4, tag: [] }])
    expect(await ask('/labels?top=10')).toEqual([
      400,
      expect.objectContaining({ reason: 'schema', path: 'top' }),
    ])
    expect(await ask('/labels', 'HEAD')).toEqual([200, ''])
    expect(await ask('/labels', 'PUT')).toEqual([
      405,
      expect.objectContaining({ code: 'method_not_allowed' }),
    ])
    expect(await ask('/raw/query?a=1&__proto__=2&a=3')).toEqual([
      200,
      { a: ['1', '3'], ['__proto__']: '2', api: 'raw' },
    ])
    expect(await ask(`/raw/query?${'a&'.repeat(1001)}`)).toEqual([
      400,
      expect.objectContaining({ reason: 'size' }),
    ])
    raw.write(post('/labels', 'posted'))
    expect((await raw.answer()).text).toBe('posted')
  })
})
