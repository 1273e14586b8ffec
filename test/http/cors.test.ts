import { describe, expect, it } from 'vitest'
import { BadInput, Forbidden, InvalidArgument, io, Service } from '../../src/index.ts'
import { type Answer, bytes, engines, post, start } from './harness.ts'

const page = 'https://app.example.org'
const corsOf = ({ headers }: Answer) =>
  Object.fromEntries(
    [...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'),
  )

describe.each(engines)('CORS on %s', (engine) => {
  const serveIt = (cors: ConstructorParameters<typeof Service>[1], options = {}) =>
    start(
      engine,
      (svc) => {
        svc.onRequest((ctx) => {
          ctx.response.setHeader('vary', 'x-team')
          if (ctx.headers.get('x-refuse') !== undefined) throw new Forbidden('no')
        })
        svc.api({ ...bytes, name: 'echo' }, (body) => body)
        svc.api({ ...bytes, name: 'fails' }, () => {
          throw new BadInput('never')
        })
        svc.api({ ...bytes, name: 'stream' }, async function* () {
          yield 'a'
        } as never)
        svc.get('/labels', { output: new io.JSON(), name: 'labels' }, () => [])
        svc.mount('/app', () => new Response('app'))
      },
      options,
      cors,
    )

  it('answers preflights before hooks, for paths that are there', async () => {
    const running = await serveIt({
      cors: { origin: [page, 'http://localhost:5000'], credentials: true, maxAge: 60 },
    })
    const ask = (path: string, origin = page, headers = {}) =>
      running.ask(
        post(
          path,
          '',
          {
            origin,
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'x-refuse, a b',
            ...headers,
          },
          'OPTIONS',
        ),
      )
    const echo = await ask('/echo', page, { 'x-refuse': '1' })
    expect([echo.status, echo.text, corsOf(echo)]).toEqual([
      204,
      '',
      {
        'access-control-allow-origin': [page],
        'access-control-allow-credentials': ['true'],
        'access-control-allow-methods': ['POST'],
        'access-control-allow-headers': ['x-refuse'],
        'access-control-max-age': ['60'],
        'access-control-expose-headers': [
          'x-request-id, retry-after, ratelimit, ratelimit-policy, location, preference-applied',
        ],
        vary: ['Access-Control-Request-Method, Access-Control-Request-Headers', 'Origin'],
      },
    ])
    expect(corsOf(await ask('/labels'))['access-control-allow-methods']).toEqual(['GET, HEAD'])
    expect(corsOf(await ask('/app/x'))['access-control-allow-methods']?.[0]).toContain('DELETE')
    expect((await ask('/nowhere')).status).toBe(404)
    const foreign = await ask('/echo', 'https://evil.example.org')
    expect(corsOf(foreign)['access-control-allow-origin']).toBeUndefined()
    const plain = await running.ask(post('/echo', '', {}, 'OPTIONS'))
    expect([plain.status, plain.headers.get('allow'), corsOf(plain)]).toEqual([
      204,
      ['POST, OPTIONS'],
      { vary: ['Origin'] },
    ])
    expect((await running.ask(post('/nowhere', 'x'))).status).toBe(404)
  })

  it('makes every answer readable: errors, refusals, streams, mounts, health', async () => {
    const running = await serveIt(
      { cors: { origin: page, exposedHeaders: ['x-own'] } },
      { maxBodyBytes: 100 },
    )
    const statuses: number[] = []
    for (const [method, path, body, headers] of [
      ['POST', '/echo', 'x', {}],
      ['POST', '/fails', 'x', {}],
      ['POST', '/stream', 'x', {}],
      ['POST', '/nowhere', 'x', {}],
      ['GET', '/echo', '', {}],
      ['POST', '/echo', 'x'.repeat(101), {}],
      ['POST', '/echo', 'x', { 'x-refuse': '1' }],
      ['GET', '/labels', '', {}],
      ['GET', '/app', '', {}],
      ['GET', '/livez', '', {}],
      ['POST', '/serving.v1.ServingService/Call', 'x', {}],
    ] as const) {
      const answer = await running.ask(post(path, body, { origin: page, ...headers }, method))
      statuses.push(answer.status)
      const lines = corsOf(answer)
      expect([
        path,
        lines['access-control-allow-origin'],
        lines['access-control-expose-headers']?.[0],
      ]).toEqual([
        path,
        [page],
        expect.stringContaining('ratelimit-policy, location, preference-applied, x-own'),
      ])
      expect(lines.vary).toContain('Origin')
    }
    expect(statuses).toEqual([200, 400, 200, 404, 405, 413, 403, 200, 200, 200, 415])
    const echo = await running.ask(post('/echo', 'x'))
    expect(corsOf(echo).vary).toEqual(['Origin', 'x-team'])
  })

  it('is off by default, and taken from the option of the server', async () => {
    const off = await serveIt({})
    expect((await off.ask(post('/echo', '', { origin: page }, 'OPTIONS'))).status).toBe(405)
    expect(corsOf(await off.ask(post('/echo', 'x', { origin: page })))).toEqual({
      vary: ['x-team'],
    })
    const any = await serveIt({}, { corsOrigin: '*' })
    expect(
      corsOf(await any.ask(post('/echo', 'x', { origin: page })))['access-control-allow-origin'],
    ).toEqual(['*'])
    const two = await serveIt(
      { cors: { origin: '*', maxAge: 1 } },
      { corsOrigin: `http://a.example, ${page}` },
    )
    expect(
      corsOf(await two.ask(post('/echo', 'x', { origin: page })))['access-control-allow-origin'],
    ).toEqual([page])
    expect(corsOf(await two.ask(post('/echo', 'x', { origin: 'http://b.example' })))).toEqual({
      vary: ['Origin', 'x-team'],
    })
  })
})

it.each([
  [{ origin: 'https://a.example/' }, 'origin of cors'],
  [{ origin: 'a.example' }, 'origin of cors'],
  [{ origin: '*', credentials: true }, 'credentials of cors need a list of origins'],
  [{ origin: '*', maxAge: -1 }, 'maxAge of cors'],
  [{ origin: '*', headers: ['a b'] }, 'headers of cors'],
  [{ origin: '*', orgin: 1 }, 'unknown option "orgin"'],
])('refuses %j when the service is made', (cors, message) => {
  expect(() => new Service('wrong', { cors } as never)).toThrow(InvalidArgument)
  expect(() => new Service('wrong', { cors } as never)).toThrow(message)
})
