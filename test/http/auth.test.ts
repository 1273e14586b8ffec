import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiKey, jwt, rateLimit } from '../../src/api/auth/index.ts'
import {
  Context,
  InvalidArgument,
  io,
  type Service,
  type ServiceOptions,
  Unauthorized,
} from '../../src/index.ts'
import { encodeRequest } from '../../src/messages/envelope.ts'
import { GrpcClient } from '../rpc/harness.ts'
import { bytes, engines, post, start } from './harness.ts'

const hash = (text: string) => createHash('sha256').update(text).digest('hex')
const directory = mkdtempSync(join(tmpdir(), 'serving-auth-'))
const file = join(directory, 'jwks.json')
const issuer = 'https://issuer.example.org'
let keys: Awaited<ReturnType<typeof generateKeyPair>>
let others: typeof keys
let published: object
let remote: Server
let fetches = 0

const setOf = async (pair: typeof keys, kid: string) => ({
  keys: [{ ...(await exportJWK(pair.publicKey)), kid, alg: 'ES256', use: 'sig' }],
})

beforeAll(async () => {
  keys = await generateKeyPair('ES256')
  others = await generateKeyPair('ES256')
  published = await setOf(keys, 'one')
  writeFileSync(file, JSON.stringify(published))
  remote = createServer((_, res) => {
    fetches++
    res.end(JSON.stringify(published))
  })
  await new Promise<void>((resolve) => remote.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  remote.close()
  rmSync(directory, { recursive: true })
})

const now = () => Math.floor(Date.now() / 1000)
function token(claims: Record<string, unknown> = {}, pair = keys, kid = 'one'): Promise<string> {
  const payload = {
    sub: 'ann',
    iss: issuer,
    aud: 'models',
    exp: now() + 60,
    scope: 'infer read',
    ...claims,
  }
  return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid }).sign(pair.privateKey)
}

const define = (svc: Service) => {
  svc.api({ ...bytes, name: 'who' }, (_, ctx) => ctx.state.caller?.name ?? 'nobody')
  svc.api({ ...bytes, name: 'open', auth: false }, (_, ctx) => ctx.state.caller?.name ?? 'nobody')
  const own = (ctx: { readonly headers: { get(name: string): string | undefined } }) => {
    if (ctx.headers.get('x-own') === undefined) throw new Unauthorized('expected x-own')
  }
  svc.api({ ...bytes, name: 'own', auth: own }, () => 'own')
  svc.get('/labels', { output: new io.JSON(), name: 'labels' }, () => [])
  svc.mount('/app', () => new Response('app'))
}

describe.each(engines)('auth on %s', (engine) => {
  const serveIt = (options: ServiceOptions, more = {}) =>
    start(engine, define, { introspection: true, ...more }, options)

  it('lets in who has a key, everywhere but at health, public paths and open APIs', async () => {
    const auth = apiKey({
      keys: [hash('first'), { name: 'ann', hash: hash('second').toUpperCase() }],
    })
    const running = await serveIt({ auth, publicPaths: ['/openapi.json'] }, { docs: true })
    const ask = async (path: string, headers: Record<string, string> = {}, method = 'POST') => {
      const answer = await running.ask(post(path, method === 'POST' ? 'x' : '', headers, method))
      return [answer.status, answer.text.slice(0, 8)]
    }
    expect(await ask('/who', { 'x-api-key': 'second' })).toEqual([200, 'ann'])
    expect(await ask('/who', { authorization: 'bearer first' })).toEqual([
      200,
      hash('first').slice(0, 8),
    ])
    for (const headers of [
      {},
      { 'x-api-key': 'third' },
      { authorization: 'Basic first' },
      { 'x-api-key': hash('first') },
    ])
      expect((await ask('/who', headers as Record<string, string>))[0]).toBe(401)
    expect(await ask('/open')).toEqual([200, 'nobody'])
    expect((await ask('/own'))[0]).toBe(401)
    expect(await ask('/own', { 'x-own': '1' })).toEqual([200, 'own'])
    const closed = [
      '/labels',
      '/app',
      '/docs.json',
      '/v2/models/who',
      '/v2',
      '/v2/models/who/ready',
      '/v2/models/no/ready',
    ]
    for (const path of closed) {
      expect([path, (await ask(path, {}, 'GET'))[0]]).toEqual([path, 401])
    }
    for (const path of [
      '/livez',
      '/readyz',
      '/healthz',
      '/openapi.json',
      '/v2/health/live',
      '/v2/health/ready',
    ])
      expect([path, (await ask(path, {}, 'GET'))[0]]).toEqual([path, 200])
    const refused = await running.ask(post('/who', '', { 'content-length': '1000' }))
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, ['Bearer']])
    const asModel = await running.ask(post('/v2/models/who', '', {}, 'GET'))
    expect([asModel.status, asModel.headers.get('www-authenticate')]).toEqual([401, ['Bearer']])
    const wrong = await running.ask(post('/who', 'x', { 'x-api-key': 'wrong' }))
    expect(wrong.headers.get('www-authenticate')).toEqual(['Bearer error="invalid_token"'])
    expect(wrong.text + JSON.stringify(running.log)).not.toContain('wrong"')
  })

  it('holds for Connect and gRPC, whose requests name the API within', async () => {
    const auth = apiKey({ keys: [{ name: 'ann', hash: hash('second') }] })
    const running = await serveIt({ auth }, { grpcPort: 0 })
    const call = async (api: string, headers: Record<string, string> = {}) => {
      const body = JSON.stringify({ apiName: api, serializedBytes: 'eA==' })
      const answer = await running.ask(
        post('/serving.v1.ServingService/Call', body, {
          'content-type': 'application/json',
          ...headers,
        }),
      )
      return [answer.status, answer.status === 200 ? 'ok' : JSON.parse(answer.text).code]
    }
    expect(await call('who')).toEqual([401, 'unauthenticated'])
    expect(await call('nowhere')).toEqual([401, 'unauthenticated'])
    expect(await call('open')).toEqual([200, 'ok'])
    expect(await call('who', { 'x-api-key': 'second' })).toEqual([200, 'ok'])
    expect(await call('own', { 'x-api-key': 'second' })).toEqual([401, 'unauthenticated'])
    expect(await call('own', { 'x-own': '1' })).toEqual([200, 'ok'])
    const metadata = post('/serving.v1.ServingService/ServiceMetadata', '{}', {
      'content-type': 'application/json',
    })
    expect((await running.ask(metadata)).status).toBe(401)
    const client = new GrpcClient(running.listener.grpcPort as number)
    const grpc = async (api: string, headers: Record<string, string> = {}) => {
      const request = encodeRequest(api, { field: 'serialized_bytes', message: Buffer.from('x') })
      const { error, bytes: message } = await client.raw(request, { metadata: headers })
      return error === undefined ? (message as Buffer).length > 0 : error.code
    }
    expect(await grpc('who')).toBe(16)
    expect(await grpc('open')).toBe(true)
    expect(await grpc('who', { authorization: 'Bearer second' })).toBe(true)
    expect(await grpc('own', { 'x-own': '1' })).toBe(true)
    expect((await client.raw(Buffer.alloc(0), {}, 'ServiceMetadata')).error?.code).toBe(16)
    const request = encodeRequest('who', { field: 'serialized_bytes', message: Buffer.from('x') })
    await expect(
      client.stream('who', { field: 'serialized_bytes', message: request } as never),
    ).rejects.toMatchObject({
      code: 16,
    })
    client.close()
  })

  it('verifies tokens by the keys of a file or a URL, and remembers them', async () => {
    const url = new URL(`http://127.0.0.1:${(remote.address() as AddressInfo).port}/jwks`)
    for (const jwks of [file, url]) {
      const before = fetches
      const running = await serveIt({
        auth: jwt({ jwks, issuer, audience: ['models', 'other'], clockTolerance: 30 }),
      })
      const ask = async (text: string) => {
        const answer = await running.ask(post('/who', 'x', { authorization: `Bearer ${text}` }))
        return answer.status === 200
          ? answer.text
          : [answer.status, answer.headers.get('www-authenticate')?.[0]]
      }
      const good = await token()
      expect(await ask(good)).toBe('ann')
      expect(await ask(good)).toBe('ann')
      const invalid = [401, 'Bearer error="invalid_token"']
      for (const claims of [
        { iss: 'https://evil' },
        { aud: 'nobody' },
        { exp: now() - 60 },
        { nbf: now() + 60 },
      ])
        expect([claims, await ask(await token(claims))]).toEqual([claims, invalid])
      expect(await ask(await token({ exp: undefined }))).toEqual(invalid)
      expect(await ask(await token({}, others))).toEqual(invalid)
      for (const sub of [{ id: 1 }, ['ann'], 7])
        expect(await ask(await token({ sub }))).toEqual(invalid)
      expect(await ask(`${good.slice(0, -6)}AAAAAA`)).toEqual(invalid)
      const [header, payload] = good.split('.')
      const none = Buffer.from('{"alg":"none"}').toString('base64url')
      expect(await ask(`${none}.${payload}.`)).toEqual(invalid)
      expect(await ask(`${header}.${payload}`)).toEqual(invalid)
      // Within the tolerance, and no longer from the cache afterwards.
      expect(await ask(await token({ exp: now() - 1 }))).toBe('ann')
      if (jwks === url) expect(fetches - before).toBe(1)
    }
  })

  it('reads a file of keys again when it has changed, and remembers as many verified tokens as it may', async () => {
    const path = join(directory, `${engine}.json`)
    writeFileSync(path, JSON.stringify(published))
    const running = await serveIt({
      auth: jwt({ jwks: path, issuer, audience: 'models', cacheSize: 2 }),
    })
    const ask = async (text: string) =>
      (await running.ask(post('/who', 'x', { authorization: `Bearer ${text}` }))).status
    expect(await ask(await token({}, others, 'two'))).toBe(401)
    const tokens = [await token({ sub: 'a' }), await token({ sub: 'b' }), await token({ sub: 'c' })]
    for (const each of tokens) expect(await ask(each)).toBe(200)
    writeFileSync(path, JSON.stringify(await setOf(others, 'two')))
    utimesSync(path, new Date(), new Date(Date.now() + 5000))
    expect([await ask(tokens[0]), await ask(tokens[1]), await ask(tokens[2])]).toEqual([
      401, 200, 200,
    ])
    expect(await ask(await token({ sub: 'd' }))).toBe(401)
    expect(await ask(await token({}, others, 'two'))).toBe(200)
  })

  it('asks for scopes with 403, over gRPC PERMISSION_DENIED, and answers 503 without the keys', async () => {
    const auth = jwt({ jwks: file, issuer, audience: 'models', scopes: ['infer', 'admin'] })
    const running = await serveIt({ auth }, { grpcPort: 0 })
    const authorization = `Bearer ${await token()}`
    const refused = await running.ask(post('/who', 'x', { authorization }))
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      ['Bearer error="insufficient_scope", scope="infer admin"'],
    ])
    const admin = {
      authorization: `Bearer ${await token({ scope: undefined, scp: ['infer', 'admin'] })}`,
    }
    expect((await running.ask(post('/who', 'x', admin))).status).toBe(200)
    const client = new GrpcClient(running.listener.grpcPort as number)
    const request = encodeRequest('own', undefined)
    expect(
      (await client.raw(request, { metadata: { authorization, 'x-own': '1' } })).error?.code,
    ).not.toBe(7)
    const who = encodeRequest('who', { field: 'serialized_bytes', message: Buffer.from('x') })
    expect((await client.raw(who, { metadata: { authorization } })).error?.code).toBe(7)
    client.close()
    const absent = await serveIt({
      auth: jwt({ jwks: new URL('http://127.0.0.1:1/'), issuer, audience: 'models' }),
    })
    expect((await absent.ask(post('/who', 'x', { authorization }))).status).toBe(503)
  })

  it('takes a key or a token from the cookie of an option, after the headers', async () => {
    const auth = apiKey({ keys: [{ name: 'ann', hash: hash('a+b/c=') }], cookie: 'key' })
    const running = await serveIt({ auth })
    const ask = async (headers: Record<string, string>, server = running) => {
      const answer = await server.ask(post('/who', 'x', headers))
      return answer.status === 200 ? answer.text : [answer.status, JSON.parse(answer.text).detail]
    }
    expect(await ask({ cookie: 'other=1; key=a+b/c=; last=2' })).toBe('ann')
    // As setCookie writes it.
    expect(await ask({ cookie: 'key=a%2Bb%2Fc%3D' })).toBe('ann')
    expect(await ask({ cookie: 'key=a+b/c=', 'x-api-key': 'wrong' })).toEqual([
      401,
      expect.any(String),
    ])
    expect(await ask({ cookie: 'Key=a+b/c=; keys=a+b/c=' })).toEqual([
      401,
      expect.stringContaining('the cookie key'),
    ])
    const plain = await serveIt({ auth: apiKey({ keys: [hash('a')] }) })
    expect(await ask({ cookie: 'x-api-key=a' }, plain)).toEqual([
      401,
      expect.not.stringContaining('cookie'),
    ])
    const tokens = await serveIt({
      auth: jwt({ jwks: file, issuer, audience: 'models', cookie: 'session' }),
    })
    expect(await ask({ cookie: `session=${await token()}` }, tokens)).toBe('ann')
    expect(await ask({ cookie: 'session=a.b.c' }, tokens)).toEqual([401, expect.any(String)])
    expect(await ask({ cookie: 'other=1' }, tokens)).toEqual([
      401,
      expect.stringContaining('the cookie session'),
    ])
  })

  it('limits callers for themselves, and tells them what is left', async () => {
    const auth = apiKey({ keys: ['ann', 'bob'].map((name) => ({ name, hash: hash(name) })) })
    const running = await start(
      engine,
      (svc) => {
        svc.onRequest(rateLimit({ rate: 0.001, burst: 2 }))
        define(svc)
      },
      {},
      { auth },
    )
    const ask = (key: string) => running.ask(post('/who', 'x', { 'x-api-key': key }))
    const first = await ask('ann')
    expect([first.headers.get('ratelimit-policy'), first.headers.get('ratelimit')]).toEqual([
      ['"default";q=2;w=2000'],
      ['"default";r=1;t=0'],
    ])
    expect((await ask('ann')).status).toBe(200)
    const third = await ask('ann')
    expect([third.status, JSON.parse(third.text).code]).toEqual([429, 'too_many_requests'])
    expect(Number(third.headers.get('retry-after')?.[0])).toBeGreaterThan(990)
    expect((await ask('bob')).status).toBe(200)
  })

  it('limits wrong keys, too, where the limit is before auth', async () => {
    const auth = apiKey({ keys: [{ name: 'ann', hash: hash('ann') }] })
    const running = await start(
      engine,
      (svc) => {
        svc.onRequest((ctx) =>
          ctx.response.setHeader('x-caller', ctx.state.caller?.name ?? 'nobody'),
        )
        svc.onRequest(rateLimit({ rate: 0.001, burst: 2, before: 'auth' }))
        define(svc)
      },
      {},
      { auth },
    )
    const ask = async (key: string) => {
      const answer = await running.ask(post('/who', 'x', { 'x-api-key': key }))
      return [answer.status, answer.headers.get('x-caller')?.[0]]
    }
    expect([await ask('ann'), await ask('wrong'), await ask('wrong'), await ask('ann')]).toEqual([
      [200, 'ann'],
      [401, undefined],
      [429, undefined],
      [429, undefined],
    ])
    const call = post('/serving.v1.ServingService/Call', '{"apiName":"open"}', {
      'content-type': 'application/json',
    })
    expect((await running.ask(call)).status).toBe(429)
  })
})

it('limits the first 64 bits of an IPv6 address', async () => {
  const limit = rateLimit({ rate: 0.001, burst: 1 })
  const isRefused = (remoteAddress: string) => {
    try {
      limit(new Context({ remoteAddress }))
      return false
    } catch {
      return true
    }
  }
  const asked = [
    '2001:db8::1',
    '2001:db8::2',
    '2001:db8:0:0:ffff::',
    '2001:db8:0:1::1',
    '::1',
    '::2',
    '1.2.3.4',
  ]
  expect(asked.map(isRefused)).toEqual([false, true, true, false, false, true, false])
})

it.each([
  [() => apiKey({ keys: [] }), 'keys of apiKey'],
  [() => apiKey({ keys: ['my-secret-key'] }), 'expected the SHA-256'],
  [() => jwt({ jwks: 5 as never, issuer, audience: 'a' }), 'jwks of jwt'],
  [() => jwt({ jwks: file, issuer: '', audience: [] }), 'audience of jwt'],
  [() => jwt({ jwks: file, issuer } as never), 'audience of jwt'],
  [() => apiKey({ keys: [hash('a')], cookie: 'a b' }), 'cookie of apiKey'],
  [() => jwt({ jwks: file, issuer, audience: 'a', cookie: 5 as never }), 'cookie of jwt'],
  [() => jwt({ jwks: file, issuer, audience: 'a', algorithms: ['ES256', 'HS256'] }), 'HS256'],
  [
    () => jwt({ jwks: file, issuer, audience: 'a', algorithms: ['none'] }),
    'asymmetric ones such as ES256',
  ],
  [() => jwt({ jwks: file, issuer, audience: 'a', algorithms: [] }), 'algorithms of jwt'],
  [() => rateLimit({ rate: 0 }), 'rate of rateLimit'],
  [() => rateLimit({ rate: 1, burst: 0.5 }), 'burst of rateLimit'],
  [() => rateLimit({ rate: 1, before: 'hooks' as never }), 'before of rateLimit'],
  [() => rateLimit({ rate: 1, by: 'key' as never }), 'by of rateLimit'],
])('refuses wrong options: %s', (make, message) => {
  expect(make).toThrow(InvalidArgument)
  expect(make).toThrow(message)
  expect(make).not.toThrow('my-secret-key')
})
