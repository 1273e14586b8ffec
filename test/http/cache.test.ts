import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { apiKey } from '../../src/api/auth/index.ts'
import type { CacheOptions } from '../../src/api/cache-options.ts'
import { BadInput, type Context, io, Service } from '../../src/index.ts'
import { hasRedis, redisServer } from '../jobs/redis-server.ts'
import { twoIssuers } from '../tokens.ts'
import { bytes, engines, post, start } from './harness.ts'

let calls: string[] = []
afterEach(() => {
  calls = []
})

/** Answers in upper case, and notes each call. */
const upper = (body: Uint8Array) => {
  const text = Buffer.from(body).toString()
  calls.push(text)
  return Buffer.from(`${text.toUpperCase()} ${calls.length}`)
}

const define = (cache: CacheOptions) => (svc: Service) => {
  svc.api({ ...bytes, name: 'upper', cache }, upper)
}

describe.each(engines)('an API with a cache on %s', (engine) => {
  it('answers equal requests from memory, and says for how long', async () => {
    const { ask } = await start(engine, define({ ttl: '1h' }))
    const answers = []
    for (const [id, body] of ['one a', 'two a', 'three b'].map((text) => text.split(' ')))
      answers.push(await ask(post('/upper', body, { 'x-request-id': id })))
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [200, 'A 1'],
      [200, 'A 1'],
      [200, 'B 2'],
    ])
    for (const { headers } of answers) {
      expect(headers.get('cache-control')).toEqual(['private, max-age=3600'])
      expect(Number(headers.get('age')?.[0])).toBeGreaterThanOrEqual(0)
      expect(headers.get('content-type')).toEqual(['application/octet-stream'])
    }
    expect(answers.map(({ headers }) => headers.get('x-request-id')?.[0])).toEqual([
      'one',
      'two',
      'three',
    ])
  })

  it('distinguishes queries, content types, accepted types and the headers of vary', async () => {
    const { ask } = await start(engine, define({ ttl: '1h', vary: ['X-Model'] }))
    const requests = [
      post('/upper', 'a'),
      post('/upper?top=1', 'a'),
      post('/upper', 'a', { 'content-type': 'application/octet-stream' }),
      post('/upper', 'a', { accept: 'application/octet-stream' }),
      post('/upper', 'a', { 'x-model': 'large' }),
    ]
    for (const request of [...requests, ...requests]) await ask(request)
    expect(calls.length).toBe(requests.length)
    const { headers } = await ask(post('/upper', 'a', { 'x-other': 'any' }))
    expect(calls.length).toBe(requests.length)
    expect(headers.get('vary')).toEqual(['content-type, accept, x-model'])
  })

  it('keeps the answers of callers apart, and asks auth each time', async () => {
    const keys = ['ann', 'bob'].map((name) => ({
      name,
      hash: createHash('sha256').update(name).digest('hex'),
    }))
    const { ask } = await start(engine, define({ ttl: '1h' }), {}, { auth: apiKey({ keys }) })
    const of = async (key: string) => (await ask(post('/upper', 'a', { 'x-api-key': key }))).text
    expect([await of('ann'), await of('ann'), await of('bob')]).toEqual(['A 1', 'A 1', 'A 2'])
    expect((await ask(post('/upper', 'a', { 'x-api-key': 'eve' }))).status).toBe(401)
  })

  it('computes again after its time', async () => {
    const { ask } = await start(engine, define({ ttl: 50 }))
    await ask(post('/upper', 'a'))
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect((await ask(post('/upper', 'a'))).text).toBe('A 2')
  })

  it('computes once for equal requests at the same time', async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const { ask } = await start(engine, (svc) => {
      svc.api({ ...bytes, name: 'upper', cache: { ttl: '1h' } }, async (body) => {
        const answer = upper(body)
        await released
        return answer
      })
    })
    const asked = [ask(post('/upper', 'a')), ask(post('/upper', 'a')), ask(post('/upper', 'b'))]
    while (calls.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
    asked.push(ask(post('/upper', 'a')))
    await new Promise((resolve) => setTimeout(resolve, 50))
    release()
    const texts = (await Promise.all(asked)).map(({ text }) => text.slice(0, 1))
    expect(texts).toEqual(['A', 'A', 'B', 'A'])
    expect(calls.sort()).toEqual(['a', 'b'])
  })

  it('gives an error to all who waited, each with its own id, and keeps it not', async () => {
    let mayEnd = () => {}
    const { ask } = await start(engine, (svc) => {
      svc.api({ ...bytes, name: 'upper', cache: { ttl: '1h' } }, async (body) => {
        const answer = upper(body)
        if (calls.length === 1) await new Promise<void>((resolve) => (mayEnd = resolve))
        if (calls.length === 1) throw new BadInput('not the first')
        return answer
      })
    })
    const of = (id: number) => ask(post('/upper', 'a', { 'x-request-id': `id-${id}` }))
    const asked = Array.from({ length: 30 }, (_, i) => of(i))
    while (calls.length < 1) await new Promise((resolve) => setTimeout(resolve, 5))
    await new Promise((resolve) => setTimeout(resolve, 50))
    mayEnd()
    for (const [id, { status, text, headers }] of (await Promise.all(asked)).entries()) {
      expect([status, JSON.parse(text).requestId]).toEqual([400, `id-${id}`])
      expect(headers.get('cache-control')).toBeUndefined()
    }
    expect(calls.length).toBe(1)
    expect((await of(0)).text).toBe('A 2')
  })

  it('computes once more if the client leaves whose answer the others wait for', async () => {
    const ends: (() => void)[] = []
    const { ask, connect } = await start(engine, (svc) => {
      svc.api({ ...bytes, name: 'upper', cache: { ttl: '1h' } }, async (body) => {
        calls.push('a')
        await new Promise<void>((resolve) => ends.push(resolve))
        return body
      })
    })
    const first = await connect()
    first.write(post('/upper', 'a'))
    while (calls.length < 1) await new Promise((resolve) => setTimeout(resolve, 5))
    const asked = Array.from({ length: 30 }, () => ask(post('/upper', 'a')))
    await new Promise((resolve) => setTimeout(resolve, 50))
    first.destroy()
    while (calls.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
    for (const end of ends) end()
    expect((await Promise.all(asked)).map(({ text }) => text)).toEqual(asked.map(() => 'a'))
    expect(calls.length).toBe(2)
  })

  it('keeps nothing if a descriptor may read any header, and says so at the start', async () => {
    class Lang extends io.Text {
      override readonly readsHeaders = { all: true } as never
      override toHttpResponse(text: string, ctx?: Context) {
        return { headers: [], body: `${text} in ${ctx?.headers.get('x-lang')}` }
      }
    }
    const { ask, log } = await start(engine, (svc) => {
      svc.api(
        { input: new io.Text(), output: new Lang(), name: 'hello', cache: { ttl: '1h' } },
        (text: string) => text,
      )
    })
    const of = async (lang: string) =>
      (await ask(post('/hello', 'hello', { 'content-type': 'text/plain', 'x-lang': lang }))).text
    expect([await of('de'), await of('fr')]).toEqual(['hello in de', 'hello in fr'])
    expect(log.filter(({ event }) => event === 'cache').map(({ msg }) => msg)).toEqual([
      'the cache of hello keeps nothing: readsHeaders of its descriptors does not name the headers they read',
    ])
  })

  it('distinguishes all of ctx.state: issuers, roles; and keeps nothing of callers without a name', async () => {
    const { auth, as } = await twoIssuers()
    const seen = (svc: Service) => {
      svc.onRequest((ctx) => void Object.assign(ctx.state, { team: ctx.headers.get('x-team') }))
      svc.api({ ...bytes, name: 'who', cache: { ttl: '1h' } }, (_, ctx) => {
        calls.push('who')
        return JSON.stringify(ctx.state)
      })
    }
    const { ask, log } = await start(engine, seen, {}, { auth })
    const claims = [
      { sub: 'ann' },
      { sub: 'ann', iss: 'https://two' },
      { sub: 'ann', role: 'admin' },
      { client: 'one' },
      { client: 'two' },
    ]
    const tokens = await Promise.all(claims.map((each) => as(each)))
    const requests = [...tokens, { ...tokens[0], 'x-team': 'red' }].map((headers) =>
      post('/who', '', headers),
    )
    const answers: string[] = []
    for (const request of [...requests, ...requests]) answers.push((await ask(request)).text)
    expect(new Set(answers).size).toBe(requests.length)
    expect(answers.slice(requests.length)).toEqual(answers.slice(0, requests.length))
    // The two without sub were computed each time.
    expect(calls.length).toBe(requests.length + 2)
    expect(log.filter(({ event }) => event === 'cache').length).toBe(1)
  })

  it.each<[string, (ctx: Context) => object]>([
    ['names no caller', (ctx) => ({ user: ctx.headers.get('x-user') })],
    [
      'leaves more than JSON tells',
      (ctx) => ({ caller: { name: 'one' }, user: new Map([['x', ctx.headers.get('x-user')]]) }),
    ],
    [
      'hides a member',
      (ctx) =>
        Object.defineProperty({ caller: { name: 'one' } }, 'user', {
          value: ctx.headers.get('x-user'),
        }),
    ],
  ])('keeps nothing where a hook %s', async (_, stateOf) => {
    const { ask, log } = await start(engine, (svc) => {
      svc.onRequest(
        (ctx) =>
          void Object.defineProperties(ctx.state, Object.getOwnPropertyDescriptors(stateOf(ctx))),
      )
      svc.api({ ...bytes, name: 'who', cache: { ttl: '1h' } }, (_, ctx) =>
        inspect(ctx.state, { showHidden: true }),
      )
    })
    const of = async (user: string) => (await ask(post('/who', '', { 'x-user': user }))).text
    expect([await of('ann'), await of('bob')]).toEqual([
      expect.stringContaining('ann'),
      expect.stringContaining('bob'),
    ])
    expect(log.filter(({ event }) => event === 'cache').map(({ msg }) => msg)).toEqual([
      'the cache of who keeps no answers for what hooks leave in ctx.state without the name of a caller',
    ])
  })

  it('keeps no stream, no answer with a cookie, and none that says no-store', async () => {
    const { ask } = await start(engine, (svc) => {
      const cache = { ttl: '1h' }
      svc.api(
        { input: new io.Text(), output: new io.Text(), name: 'stream', cache },
        async function* () {
          yield String(calls.push('stream'))
        },
      )
      svc.api({ ...bytes, name: 'cookie', cache }, (body, ctx) => {
        ctx.response.setCookie('a', 'b')
        return upper(body)
      })
      svc.api({ ...bytes, name: 'no-store', cache }, (body, ctx) => {
        ctx.response.setHeader('cache-control', 'no-store')
        return upper(body)
      })
    })
    for (const path of ['/stream', '/cookie', '/no-store']) {
      for (const _ of [1, 2])
        expect((await ask(post(path, 'a', { 'content-type': 'text/plain' }))).status).toBe(200)
    }
    expect(calls.length).toBe(6)
  })

  it('obeys the cache-control of a request', async () => {
    const { ask } = await start(engine, define({ ttl: '1h' }))
    const of = async (control?: string) =>
      (await ask(post('/upper', 'a', control === undefined ? {} : { 'cache-control': control })))
        .text
    expect([
      await of(),
      await of('no-cache'),
      await of(),
      await of('no-store'),
      await of(),
    ]).toEqual(['A 1', 'A 2', 'A 2', 'A 3', 'A 2'])
  })

  it('drops the least recently used above maxBytes, and keeps no larger answer', async () => {
    const { ask } = await start(engine, define({ ttl: '1h', maxBytes: 10_000 }))
    const sizes = ['a', 'b', 'c'].map((letter) => letter.repeat(3_000))
    for (const body of [...sizes, sizes[2], sizes[0], 'd'.repeat(20_000), 'd'.repeat(20_000)])
      await ask(post('/upper', body))
    expect(calls.map((body) => body[0])).toEqual(['a', 'b', 'c', 'a', 'd', 'd'])
  })
})

describe.skipIf(!hasRedis)('an API with a cache in Redis', () => {
  it('shares answers between servers, computes once for requests in flight, and works without the server', async () => {
    const server = await redisServer()
    onTestFinished(() => server.stop())
    const cache = { ttl: '1h', store: server.url }
    const [one, two] = [
      await start(engines[0], define(cache)),
      await start(engines[0], define(cache)),
    ]
    const both = await Promise.all([one.ask(post('/upper', 'a')), one.ask(post('/upper', 'a'))])
    expect(both.map(({ text }) => text)).toEqual(['A 1', 'A 1'])
    // It is written after the answer.
    let shared = await two.ask(post('/upper', 'b', { 'cache-control': 'no-store' }))
    for (let tries = 0; shared.text !== 'A 1' && tries < 100; tries++) {
      calls = ['']
      await new Promise((resolve) => setTimeout(resolve, 20))
      const three = await start(engines[0], define(cache))
      shared = await three.ask(post('/upper', 'a'))
    }
    expect(shared.text).toBe('A 1')
    expect(shared.headers.get('content-type')).toEqual(['application/octet-stream'])
    expect(Number(shared.headers.get('age')?.[0])).toBeGreaterThanOrEqual(0)
    await server.kill()
    expect((await two.ask(post('/upper', 'c'))).text).toMatch(/^C /)
    expect((await one.ask(post('/upper', 'a'))).text).toBe('A 1')
  })
})

describe.skipIf(!hasRedis)('an entry in Redis of a server whose clock is ahead', () => {
  it('stays in memory for no longer than its time', async () => {
    const server = await redisServer()
    onTestFinished(() => server.stop())
    const client = new Redis(server.url)
    onTestFinished(() => client.disconnect())
    const cache = { ttl: 1_000, store: server.url }
    const now = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: now + 3_600_000 })
    onTestFinished(() => void vi.useRealTimers())
    const ahead = await start(engines[0], define(cache))
    await ahead.ask(post('/upper', 'a'))
    while ((await client.keys('serving-cache:*')).length === 0);
    vi.setSystemTime(now)
    const right = await start(engines[0], define(cache))
    expect((await right.ask(post('/upper', 'a'))).text).toBe('A 1')
    const until = performance.now() + 1_100
    while (performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 50))
    expect((await right.ask(post('/upper', 'a'))).text).toBe('A 2')
  })
})

describe.skipIf(!hasRedis)('a damaged entry in Redis', () => {
  it.each<[string, (entry: Buffer) => Buffer]>([
    ['is empty', () => Buffer.alloc(0)],
    ['is short', (entry) => entry.subarray(0, entry.length - 1)],
    ['was written by another program', () => Buffer.from('{"answer":42}')],
    ['has another byte', (entry) => Buffer.from(entry).fill(0x7a, entry.length - 1)],
    ['has no head', (entry) => entry.subarray(0, 36)],
  ])('is a miss if it %s', async (_, damage) => {
    const server = await redisServer()
    onTestFinished(() => server.stop())
    const client = new Redis(server.url)
    onTestFinished(() => client.disconnect())
    const cache = { ttl: '1h', store: server.url }
    const one = await start(engines[0], define(cache))
    await one.ask(post('/upper', 'a'))
    let keys: string[] = []
    while (keys.length === 0) keys = await client.keys('serving-cache:*')
    const entry = (await client.getBuffer(keys[0])) as Buffer
    await client.set(keys[0], damage(entry))
    const two = await start(engines[0], define(cache))
    for (const _ of [1, 2]) expect((await two.ask(post('/upper', 'a'))).text).toBe('A 2')
    // It is written after the answer.
    let repaired: Buffer | null = null
    while (repaired === null || repaired.length < entry.length)
      repaired = await client.getBuffer(keys[0])
    const three = await start(engines[0], define(cache))
    expect((await three.ask(post('/upper', 'a'))).text).toBe('A 2')
  })
})

describe('the option cache', () => {
  it.each([
    [{}, 'ttl of cache of upper'],
    [{ ttl: 'soon' }, 'ttl of cache of upper'],
    [{ ttl: '1m', maxBytes: 0 }, 'maxBytes of cache of upper'],
    [{ ttl: '1m', vary: 'accept' }, 'vary of cache of upper'],
    [{ ttl: '1m', size: 5 }, 'unknown option "size" for cache of upper'],
  ])('refuses %j', (cache, message) => {
    expect(() =>
      new Service('x').api({ ...bytes, name: 'upper', cache: cache as never }, upper),
    ).toThrow(message)
  })
})
