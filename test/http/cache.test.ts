import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { apiKey } from '../../src/api/auth/index.ts'
import type { CacheOptions } from '../../src/api/cache-options.ts'
import { BadInput, io, Service } from '../../src/index.ts'
import { hasRedis, redisServer } from '../jobs/redis-server.ts'
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
    expect(answers.map(({ headers }) => headers.get('x-request-id')?.[0])).toEqual(['one', 'two', 'three'])
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
    await ask(post('/upper', 'a', { 'x-other': 'any' }))
    expect(calls.length).toBe(requests.length)
  })

  it('keeps the answers of callers apart, and asks auth each time', async () => {
    const keys = ['ann', 'bob'].map((name) => ({ name, hash: createHash('sha256').update(name).digest('hex') }))
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

  it('keeps no error: those who waited compute for themselves', async () => {
    const { ask } = await start(engine, (svc) => {
      svc.api({ ...bytes, name: 'upper', cache: { ttl: '1h' } }, async (body) => {
        const answer = upper(body)
        await new Promise((resolve) => setTimeout(resolve, 50))
        if (calls.length === 1) throw new BadInput('not the first')
        return answer
      })
    })
    const answers = await Promise.all([ask(post('/upper', 'a')), ask(post('/upper', 'a'))])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    const refused = answers.find(({ status }) => status === 400)
    expect(refused?.headers.get('cache-control')).toBeUndefined()
    expect(calls.length).toBe(2)
  })

  it('keeps no stream, no answer with a cookie, and none that says no-store', async () => {
    const { ask } = await start(engine, (svc) => {
      const cache = { ttl: '1h' }
      svc.api({ input: new io.Text(), output: new io.Text(), name: 'stream', cache }, async function* () {
        yield String(calls.push('stream'))
      })
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
      for (const _ of [1, 2]) expect((await ask(post(path, 'a', { 'content-type': 'text/plain' }))).status).toBe(200)
    }
    expect(calls.length).toBe(6)
  })

  it('obeys the cache-control of a request', async () => {
    const { ask } = await start(engine, define({ ttl: '1h' }))
    const of = async (control?: string) =>
      (await ask(post('/upper', 'a', control === undefined ? {} : { 'cache-control': control }))).text
    expect([await of(), await of('no-cache'), await of(), await of('no-store'), await of()]).toEqual([
      'A 1',
      'A 2',
      'A 2',
      'A 3',
      'A 2',
    ])
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
    const [one, two] = [await start('uws', define(cache)), await start('uws', define(cache))]
    const both = await Promise.all([one.ask(post('/upper', 'a')), one.ask(post('/upper', 'a'))])
    expect(both.map(({ text }) => text)).toEqual(['A 1', 'A 1'])
    // It is written after the answer.
    let shared = await two.ask(post('/upper', 'b', { 'cache-control': 'no-store' }))
    for (let tries = 0; shared.text !== 'A 1' && tries < 100; tries++) {
      calls = ['']
      await new Promise((resolve) => setTimeout(resolve, 20))
      const three = await start('uws', define(cache))
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

describe('the option cache', () => {
  it.each([
    [{}, 'ttl of upper'],
    [{ ttl: 'soon' }, 'ttl of upper'],
    [{ ttl: '1m', maxBytes: 0 }, 'maxBytes of upper'],
    [{ ttl: '1m', vary: 'accept' }, 'vary of upper'],
    [{ ttl: '1m', size: 5 }, 'unknown option "size" for cache of upper'],
  ])('refuses %j', (cache, message) => {
    expect(() => new Service('x').api({ ...bytes, name: 'upper', cache: cache as never }, upper)).toThrow(message)
  })
})
