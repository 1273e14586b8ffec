/**
 * The page as it is sent: paths, headers, size. What it does is tested in `test/browser/page.test.ts`.
 */

import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { BinaryFile, io, Service, Unauthorized } from 'serving'
import { describe, expect, it } from 'vitest'
import { entryBelow } from '../../src/docs/page-data.ts'
import { pageEndpoints } from '../../src/docs/page-endpoints.ts'
import { serve } from '../../src/server/listener.ts'
import { engines } from '../engines.ts'

const svc = new Service('page')
svc.api({ input: new io.Text(), output: new io.Text() }, function upper(text) {
  return text.toUpperCase()
})

const browser = { 'accept-encoding': 'gzip, deflate, br' }

describe('the page', () => {
  it.each(['/', '/docs'])('is at %s, of at most 50 KB gzip', async (path) => {
    const { status, headers, body } = await svc.inject({ path, headers: browser })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('content-encoding')).toBe('gzip')
    expect(headers.get('vary')).toBe('accept-encoding')
    console.log(`the page: ${gunzipSync(body).length} bytes, gzip ${body.length}`)
    expect(body.length).toBeLessThanOrEqual(50 * 1024)
  })

  it('is sent plain to who takes no gzip', async () => {
    for (const headers of [{}, { 'accept-encoding': 'gzip;q=0, br' }]) {
      const response = await svc.inject({ path: '/', headers: headers as Record<string, string> })
      expect(response.headers.get('content-encoding')).toBeUndefined()
      expect(response.text()).toMatch(/^<!doctype html>/)
    }
  })

  it('may run its own script and style, talk to its own server, and nothing else', async () => {
    const response = await svc.inject({ path: '/' })
    const html = response.text()
    const policy = new Map(
      (response.headers.get('content-security-policy') ?? '').split('; ').map((rule) => {
        const [name, ...sources] = rule.split(' ')
        return [name, sources.join(' ')]
      }),
    )
    const hashOf = (tag: string) => {
      const texts = [...html.matchAll(new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`, 'g'))]
      expect(texts).toHaveLength(1)
      return `'sha256-${createHash('sha256').update(texts[0][1]).digest('base64')}'`
    }
    expect(Object.fromEntries(policy)).toEqual({
      'default-src': "'none'",
      'script-src': hashOf('script'),
      'style-src': hashOf('style'),
      'connect-src': "'self'",
      'img-src': 'blob: data:',
      'media-src': 'blob:',
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    })
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    expect(/\b(src|href|url|action)\s*[=(:]\s*["'`]?(https?:)?\/\//.exec(html)?.[0]).toBeUndefined()
  })

  it('is not sent again while it is the same', async () => {
    const { headers } = await svc.inject({ path: '/' })
    const again = await svc.inject({
      path: '/docs',
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    })
    expect(again.status).toBe(304)
    expect(again.body).toHaveLength(0)
    expect((await svc.inject({ path: '/', headers: { 'if-none-match': '"other"' } })).status).toBe(
      200,
    )
  })

  it('is below the base URL', () => {
    expect(pageEndpoints('/v1', []).map(({ path }) => path)).toEqual(['/v1/', '/v1/docs'])
  })

  it('gives way to what the service itself answers at its paths', () => {
    const [root] = pageEndpoints('', [])
    const own = { ...root, name: 'own' }
    expect(pageEndpoints('', [own]).map(({ path }) => path)).toEqual(['/docs'])
    expect(pageEndpoints('', [{ ...own, path: '/*' }]).map(({ path }) => path)).toEqual(['/docs'])
    expect(pageEndpoints('', [{ ...own, methods: ['POST'] }]).map(({ path }) => path)).toEqual([
      '/',
      '/docs',
    ])
  })

  it('gives way to a mounted application', async () => {
    const own = new Service('own')
    own.mount('/', () => new Response('mine'))
    expect((await own.inject({ path: '/' })).text()).toBe('mine')
    expect((await own.inject({ path: '/docs' })).text()).toMatch(/^<!doctype html>/)
  })

  it('has the examples of APIs beside it, for whom the service admits', async () => {
    const own = new Service('own', {
      auth: (ctx) => {
        if (ctx.headers.get('x-api-key') !== 'k') throw new Unauthorized('expected a key')
      },
    })
    const file = new BinaryFile(Buffer.from('<script>x()</script>'), {
      name: 'a.html',
      mimeType: 'text/html',
    })
    const options = { input: new io.File(), output: new io.Text(), name: 'f' }
    own.api({ ...options, examples: [{ name: 'page', input: file }] }, () => '')
    const path = '/docs/examples/f/0'
    expect((await own.inject({ path })).status).toBe(401)
    const { status, headers, body } = await own.inject({ path, headers: { 'x-api-key': 'k' } })
    expect([status, Buffer.from(body).toString()]).toEqual([200, '<script>x()</script>'])
    expect(headers.get('content-type')).toBe('text/html')
    expect(headers.get('content-disposition')).toBe('attachment; filename="a.html"')
    expect(headers.get('content-security-policy')).toBe('sandbox')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('is told what no document has, below the base URL or at the root', async () => {
    const own = new Service('own', { mcp: true })
    own.mount('/app', () => new Response('app'))
    own.mount('/described', () => new Response('app'), { openapi: { paths: {} } })
    const { body } = await own.inject({ path: '/docs/page.json' })
    const { entries } = JSON.parse(Buffer.from(body).toString())
    expect(entries).toMatchObject([
      { group: 'Mounted handlers', path: '/app/*', isRoot: false },
      { group: 'MCP', path: '/mcp', methods: ['POST'], isRoot: false },
    ])
    const [below, above] = ['/v1/a', '/v2'].map((path) => ({ group: 'g', path, methods: ['GET'] }))
    expect(entryBelow('/v1', below)).toMatchObject({ path: '/a', isRoot: false })
    expect(entryBelow('/v1', above)).toMatchObject({ path: '/v2', isRoot: true })
  })

  it('is off where the documents are', async () => {
    const listener = await serve(svc, { port: 0, host: '127.0.0.1', docs: false })
    for (const path of ['/', '/docs', '/docs/page.json', '/openapi.json']) {
      expect((await fetch(`http://127.0.0.1:${listener.port}${path}`)).status, path).toBe(404)
    }
    await listener.close()
  })

  it.each(engines)('comes over a socket of %s', async (engine) => {
    const listener = await serve(svc, { port: 0, host: '127.0.0.1', engine, baseUrl: '/v1' })
    const response = await fetch(`http://127.0.0.1:${listener.port}/v1/docs`)
    expect(response.headers.get('content-encoding')).toBe('gzip')
    expect(await response.text()).toMatch(/^<!doctype html>[\s\S]*<\/html>\s*$/)
    await listener.close()
  })
})
