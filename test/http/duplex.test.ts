import { request as httpsRequest } from 'node:https'
import { fileURLToPath } from 'node:url'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { bytes, deferred, engines, post, type Raw, start, turns } from './harness.ts'

const fixture = (name: string) =>
  fileURLToPath(new URL(`../fixtures/tls/${name}.pem`, import.meta.url))
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const chunkedHead = (path: string, headers = {}) =>
  post(path, '', { 'transfer-encoding': 'chunked', ...headers })
    .split('\r\n\r\n')[0]
    .concat('\r\n\r\n')
const sizedHead = (path: string, length: number) =>
  post(path, '', { 'content-length': String(length) })

/** What the handlers saw. */
interface Seen {
  calls: number
  readonly bodies: string[]
  readonly cancelled: ReturnType<typeof deferred<void>>
}

/** A Hono app whose handlers answer while they read. */
function streaming(seen: Seen) {
  const app = new Hono()
  const read = async (
    body: ReadableStream<Uint8Array> | null,
    each: (piece: Uint8Array) => unknown,
  ) => {
    try {
      for await (const piece of body ?? []) await each(piece)
      seen.bodies.push('ended')
    } catch (error) {
      seen.bodies.push((error as Error).name)
    }
  }
  app.use(async (_, next) => {
    seen.calls++
    await next()
  })
  app.post('/echo', (c) => new Response(c.req.raw.body))
  app.post('/upper', (c) => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) =>
        controller.enqueue(Buffer.from(Buffer.from(piece).toString().toUpperCase())),
    })
    c.req.raw.body?.pipeTo(writable).catch((error) => seen.bodies.push(error.name))
    return new Response(readable)
  })
  app.post('/greet', (c) => {
    const source = new ReadableStream({
      start: (controller) => {
        controller.enqueue(Buffer.from('hello;'))
        void read(c.req.raw.body, (piece) =>
          controller.enqueue(Buffer.from(`${piece.length};`)),
        ).then(() => {
          try {
            controller.close()
          } catch {
            // Cancelled before.
          }
        })
      },
      cancel: () => seen.cancelled.resolve(),
    })
    return new Response(source)
  })
  app.post('/refuse', (c) => c.text('not read', 403))
  app.post(
    '/sized',
    () =>
      new Response(new Blob(['x'.repeat(300_000)]).stream(), {
        headers: { 'content-length': '300000' },
      }),
  )
  app.post('/lazy', (c) => {
    let began = false
    const source = new ReadableStream({
      pull: async (controller) => {
        if (!began) {
          began = true
          controller.enqueue(Buffer.from('begun;'))
          return
        }
        await turns(5)
        controller.enqueue(Buffer.from(String((await c.req.raw.arrayBuffer()).byteLength)))
        controller.close()
      },
    })
    return new Response(source, { headers: { 'x-lazy': '1' } })
  })
  return app
}

describe.each(engines)('a mounted handler that answers while it reads, on %s', (engine) => {
  const serveApp = async (options = {}) => {
    const seen: Seen = { calls: 0, bodies: [], cancelled: deferred() }
    const app = streaming(seen)
    const running = await start(
      engine,
      (svc) => {
        svc.api({ ...bytes, name: 'beside', route: 'beside' }, (body) => body)
        svc.mount('/', app.fetch as never)
      },
      options,
    )
    return { seen, running, raw: await running.connect() }
  }
  const isOpen = async (raw: Raw) => {
    raw.write(post('/beside', 'again'))
    return (await raw.answer()).text
  }

  it('echoes each piece before the next is sent', async () => {
    const { running } = await serveApp()
    for (const path of ['/echo', '/upper']) {
      const raw = await running.connect()
      raw.write(chunkedHead(path))
      raw.write(chunk('ONE'))
      await raw.until('ONE')
      raw.write(chunk('TWO'))
      await raw.until('TWO')
      raw.write(chunk(''))
      const answer = await raw.answer()
      expect([answer.status, answer.text]).toEqual([200, 'ONETWO'])
      const sized = await running.connect()
      sized.write(sizedHead(path, 6))
      await sized.writeAlone('ONE')
      await sized.until('ONE')
      sized.write('TWO')
      expect((await sized.answer()).text).toBe('ONETWO')
      expect(await isOpen(sized)).toBe('again')
    }
  })

  it('answers before anything of the body has come', async () => {
    const { raw, seen } = await serveApp()
    raw.write(sizedHead('/greet', 4))
    await raw.until('hello;')
    raw.write('four')
    expect((await raw.answer()).text).toBe('hello;4;')
    expect(seen.bodies).toEqual(['ended'])
    expect(await isOpen(raw)).toBe('again')
  })

  it('sends an answer that needs no body at once, and the connection goes on', async () => {
    const { raw } = await serveApp()
    const big = 'x'.repeat(3_000_000)
    for (const path of ['/refuse', '/sized']) {
      raw.write(sizedHead(path, big.length))
      const answer = await raw.answer()
      expect([answer.status, answer.text.length]).toEqual(
        path === '/refuse' ? [403, 8] : [200, 300_000],
      )
      raw.write(big)
      expect(await isOpen(raw)).toBe('again')
    }
  })

  it.each([{}, { connection: 'close' }])(
    'loses no answer when the connection is closed after it: %j',
    async (headers) => {
      const { running } = await serveApp()
      for (const path of ['/refuse', '/sized', '/lazy']) {
        const raw = await running.connect()
        raw.write(chunkedHead(path, headers))
        for (let i = 0; i < 20; i++) {
          raw.write(chunk('x'.repeat(100_000)))
          await turns(1)
        }
        raw.write(chunk(''))
        const answer = await raw.answer()
        const expected = {
          '/refuse': 'not read',
          '/sized': 'x'.repeat(300_000),
          '/lazy': 'begun;2000000',
        }[path]
        expect([answer.text === expected, answer.headers.get('connection')]).toEqual([
          true,
          ['close'],
        ])
      }
    },
  )

  it('holds the limits of size and time while it answers', async () => {
    const { running, seen } = await serveApp({
      maxBodyBytes: 1000,
      bodyTimeoutMs: 150,
      requestTimeoutMs: 0,
    })
    const large = await running.connect()
    large.write(chunkedHead('/greet'))
    large.write(chunk('x'.repeat(900)))
    await large.until('900;')
    large.write(chunk('x'.repeat(200)))
    await large.closed
    const slow = await running.connect()
    slow.write(chunkedHead('/greet'))
    await slow.until('hello;')
    await slow.closed
    expect(seen.bodies).toEqual(['PayloadTooLarge', 'DeadlineExceeded'])
    expect((await running.ask(post('/refuse'))).text).toBe('not read')
  })

  it('is not called without a slot, and gives it back when its client leaves', async () => {
    const { running, raw, seen } = await serveApp({ maxInFlight: 1 })
    raw.write(sizedHead('/greet', 100))
    await raw.until('hello;')
    expect((await running.ask(post('/echo', 'full'))).status).toBe(503)
    expect(seen.calls).toBe(1)
    raw.destroy()
    await seen.cancelled.promise
    await expect.poll(() => seen.bodies).toEqual(['ClientClosed'])
    await expect.poll(async () => (await running.ask(post('/echo', 'free'))).text).toBe('free')
  })

  it('lets its client wait while it does not read, and loses nothing', async () => {
    const { raw } = await serveApp()
    const pieces = 400
    raw.write(chunkedHead('/lazy'))
    await raw.until('begun;')
    for (let i = 0; i < pieces; i++) raw.write(chunk('x'.repeat(10_000)))
    raw.write(chunk(''))
    expect((await raw.answer()).text).toBe(`begun;${pieces * 10_000}`)
  })

  it('reads the scheme of its URL from the socket, or from a proxy that is trusted', async () => {
    const options = { tlsCert: fixture('cert'), tlsKey: fixture('key') }
    const url = async (
      tls: boolean,
      headers: Record<string, string>,
      trustProxy: number | string = 0,
    ) => {
      const running = await start(
        engine,
        (svc) => svc.mount('/', (request, ctx) => new Response(`${request.url} ${ctx.scheme}`)),
        { ...(tls ? options : {}), trustProxy },
      )
      if (!tls) return (await running.ask(post('/a?b', '', headers, 'GET'))).text
      return new Promise<string>((resolve, reject) => {
        const target = {
          port: running.port,
          host: '127.0.0.1',
          path: '/a?b',
          rejectUnauthorized: false,
        }
        const sent = httpsRequest(
          { ...target, headers: { host: 'test', ...headers } },
          async (response) => {
            let text = ''
            for await (const piece of response) text += piece
            resolve(text)
          },
        )
        sent.on('error', reject).end()
      })
    }
    const proto = { 'x-forwarded-proto': 'https' }
    expect(await url(true, {})).toBe('https://test/a?b https')
    expect(await url(false, {})).toBe('http://test/a?b http')
    expect(await url(false, proto)).toBe('http://test/a?b http')
    expect(await url(false, proto, 1)).toBe('https://test/a?b https')
    expect(await url(true, { 'x-forwarded-proto': 'http' }, 1)).toBe('http://test/a?b http')
    expect(await url(false, { forwarded: 'for=1.2.3.4;proto=https' }, 1)).toBe(
      'http://test/a?b http',
    )
    expect(await url(false, { forwarded: 'for=1.2.3.4;proto=https' }, 'forwarded:1')).toBe(
      'https://test/a?b https',
    )
    expect(await url(false, { 'x-forwarded-proto': 'http, https, http' }, 2)).toBe(
      'https://test/a?b https',
    )
    expect(await url(false, { ...proto, forwarded: 'proto=http' }, 1)).toBe(
      'https://test/a?b https',
    )
    expect(await url(false, { 'x-forwarded-proto': 'javascript' }, 1)).toBe('http://test/a?b http')
  })
})
