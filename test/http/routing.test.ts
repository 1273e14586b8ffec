import { describe, expect, it } from 'vitest'
import { bytes, chunked, engines, post, start } from './harness.ts'

describe.each(engines)('paths and methods on %s', (engine) => {
  const echo = (options = {}) =>
    start(
      engine,
      (svc) => svc.api({ ...bytes, name: 'echo', route: 'text/echo' }, (body) => body),
      options,
    )

  it('answers POST below the base URL, with and without a query', async () => {
    const server = await echo({ baseUrl: '/v1' })
    expect((await server.ask(post('/v1/text/echo', 'hi'))).text).toBe('hi')
    expect((await server.ask(post('/v1/text/echo?x=1', 'hi'))).text).toBe('hi')
    expect((await server.ask(post('/text/echo', 'hi'))).status).toBe(404)
  })

  it('answers other paths with a 404 problem and keeps the connection', async () => {
    const raw = await (await echo()).connect()
    for (const path of [
      '/nope',
      '/text',
      '/text/echo/',
      '//text/echo',
      '/text/ECHO',
      '/text/ech%6f',
    ]) {
      raw.write(post(path, 'body'))
      const answer = await raw.answer()
      expect([path, answer.status]).toEqual([path, 404])
      expect(answer.headers.get('content-type')).toEqual(['application/problem+json'])
      expect(answer.headers.get('x-request-id')).toEqual([JSON.parse(answer.text).requestId])
      expect(JSON.parse(answer.text)).toMatchObject({ code: 'not_found', status: 404 })
    }
    raw.write(post('/text/echo', 'still here'))
    expect((await raw.answer()).text).toBe('still here')
  })

  it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'])(
    'answers %s on an API with 405 and allow',
    async (method) => {
      const raw = await (await echo()).connect()
      raw.write(post('/text/echo', '', {}, method))
      const answer = await raw.answer(method === 'HEAD')
      expect(answer.status).toBe(405)
      expect(answer.headers.get('allow')).toEqual(['POST'])
      expect(answer.headers.get('x-request-id')).toHaveLength(1)
      if (method !== 'HEAD') expect(JSON.parse(answer.text).code).toBe('method_not_allowed')
      raw.write(post('/text/echo', 'next'))
      expect((await raw.answer()).text).toBe('next')
    },
  )

  it('closes after a chunked body that nobody asked for, once the 404 is out', async () => {
    const raw = await (await echo()).connect()
    raw.write(post('/nope', chunked('x'), { 'transfer-encoding': 'chunked' }))
    const answer = await raw.answer()
    expect([answer.status, answer.headers.get('connection')]).toEqual([404, ['close']])
    expect(await raw.closed).toBe('')
  })

  it.each(['/livez', '/healthz', '/readyz'])(
    'answers GET and HEAD of %s at the root',
    async (path) => {
      const server = await echo({ baseUrl: '/v1' })
      const got = await server.ask(post(path, '', {}, 'GET'))
      expect([got.status, got.text, got.headers.get('content-length')]).toEqual([
        200,
        'ok\n',
        ['3'],
      ])
      const head = await server.ask(post(path, '', {}, 'HEAD'))
      expect([head.status, head.text]).toEqual([200, ''])
      const posted = await server.ask(post(path, 'x'))
      expect([posted.status, posted.headers.get('allow')]).toEqual([405, ['GET, HEAD']])
    },
  )

  it('sends nothing after the head of a HEAD answer', async () => {
    const raw = await (await echo()).connect()
    raw.write(post('/nope', '', {}, 'HEAD') + post('/livez', '', {}, 'GET'))
    expect((await raw.answer(true)).status).toBe(404)
    expect((await raw.answer()).text).toBe('ok\n')
  })

  it('cuts a long path in the problem', async () => {
    const answer = await (await echo()).ask(post(`/${'x'.repeat(2000)}`))
    expect(answer.status).toBe(404)
    expect(answer.text.length).toBeLessThan(500)
  })
})

describe('paths on node', () => {
  // uWebSockets.js answers 505 to these itself.
  it('knows its paths in absolute form', async () => {
    const server = await start('node', (svc) => svc.api({ ...bytes, name: 'echo' }, (body) => body))
    expect((await server.ask(post('http://test/echo', 'hi'))).text).toBe('hi')
    // The path is `/`, where the page to try APIs is.
    expect((await server.ask(post('http://test', 'hi'))).status).toBe(405)
    expect((await server.ask(post('http://test/nope', 'hi'))).status).toBe(404)
  })
})
