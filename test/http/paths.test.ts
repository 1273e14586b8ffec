import { createHash } from 'node:crypto'
import { type Context, Forbidden, type Service } from 'serving'
import { describe, expect, it } from 'vitest'
import { apiKey } from '../../src/api/auth/index.ts'
import { bytes, engines, post, start } from './harness.ts'

const auth = apiKey({ keys: [createHash('sha256').update('key').digest('hex')] })

describe.each(engines)('the path of a request on %s', (engine) => {
  it('is refused with dot segments and backslashes, before a mounted handler sees it', async () => {
    const handled: string[] = []
    const { ask } = await start(
      engine,
      (svc) => {
        svc.mount('/pub', (request) => {
          handled.push(new URL(request.url).pathname)
          return new Response('handled')
        })
      },
      {},
      { auth, publicPaths: ['/pub/*'] },
    )
    const refused = [
      '/pub/../app/admin',
      '/pub/..',
      '/pub/./x',
      '/pub/%2e%2e/app/admin',
      '/pub/.%2E/app/admin',
      '/pub/%2e',
      '/pub/..\\app\\admin',
      '/pub/\\..\\app',
    ]
    for (const path of refused)
      expect([path, (await ask(post(path, '', {}, 'GET'))).status]).toEqual([path, 400])
    expect(handled).toEqual([])
    const taken = ['/pub/.well-known/x', '/pub/a..b', '/pub/...', '/pub//x', '/pub/%2e%2ex']
    for (const path of taken)
      expect([path, (await ask(post(path, '', {}, 'GET'))).status]).toEqual([path, 200])
    expect(handled).toEqual(taken)
  })
})

// uWebSockets.js answers 505 to these itself.
describe('the path of a request on node', () => {
  it('in absolute form is the path alone for hooks, auth, handlers and the access log', async () => {
    const seen: string[] = []
    const onlyOthers = ({ path }: Context) => {
      seen.push(path)
      if (path === '/only') throw new Forbidden('expected another path')
    }
    const define = (svc: Service) => {
      svc.onRequest(onlyOthers)
      svc.api({ ...bytes, name: 'only' }, (body) => body)
      svc.mount('/app', (request) => new Response(request.url))
    }
    const { ask, log } = await start('node', define, { accessLog: true })
    expect((await ask(post('http://other/only', 'x'))).status).toBe(403)
    expect((await ask(post('http://other/app/x?y=1', '', {}, 'GET'))).text).toBe(
      'http://test/app/x?y=1',
    )
    expect((await ask(post('http://other/app/../only', 'x'))).status).toBe(400)
    expect((await ask(post('http://other/nowhere', 'x'))).status).toBe(404)
    expect(seen).toEqual(['/only', '/app/x'])
    const logged = log.map(({ path }) => path).filter((path) => path !== undefined)
    expect(logged).toEqual(['/only', '/app/x', '/app/../only', '/nowhere'])
  })
})

describe.each(engines)('publicPaths on %s', (engine) => {
  const statuses = async (publicPaths: readonly string[], paths: readonly string[]) => {
    const define = (svc: Service) => {
      svc.api({ ...bytes, name: 'secret' }, (body) => body)
      svc.mount('/app', () => new Response('app'))
    }
    const { ask } = await start(
      engine,
      define,
      { docs: true, metrics: true },
      { auth, publicPaths },
    )
    const all = paths.map(async (path) => {
      const answer = await ask(path === '/secret' ? post(path, 'x') : post(path, '', {}, 'GET'))
      return answer.status
    })
    return Promise.all(all)
  }

  it('are single paths, unless they end in /*', async () => {
    const paths = ['/secret', '/app', '/app/x', '/metrics', '/openapi.json', '/docs.json', '/v2']
    expect(await statuses(['/'], paths)).toEqual([401, 401, 401, 401, 401, 401, 401])
    expect(await statuses(['/metrics', '/app'], paths)).toEqual([401, 200, 401, 200, 401, 401, 401])
    expect(await statuses(['/app/*', '/v2'], paths)).toEqual([401, 200, 200, 401, 401, 401, 200])
    expect(await statuses(['/*'], paths)).toEqual([200, 200, 200, 200, 200, 200, 200])
  })

  it('may be below a mounted handler', async () => {
    const paths = [
      '/app',
      '/app/health',
      '/app/health/x',
      '/app/%68ealth',
      '/app/pub/x',
      '/app/pub/%2e%2e/x',
      '/app/p',
    ]
    expect(await statuses(['/app/health', '/app/pub/*'], paths)).toEqual([
      401, 200, 401, 401, 200, 400, 401,
    ])
    expect(await statuses(['/app/health', '/secret/*'], ['/app/health', '/secret'])).toEqual([
      200, 200,
    ])
  })

  it('need not name the page, which tells nothing of the service', async () => {
    expect(await statuses([], ['/', '/docs', '/openapi.json', '/docs.json'])).toEqual([
      200, 200, 401, 401,
    ])
  })
})
