import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rateLimit } from '../../src/api/auth/index.ts'
import { sharedBuckets } from '../../src/api/auth/shared-buckets.ts'
import { hasRedis, redisServer } from '../jobs/redis-server.ts'
import { bytes, engines, post, start } from './harness.ts'

const run = promisify(execFile)

async function testServer() {
  const server = await redisServer()
  onTestFinished(() => server.stop())
  return server
}

describe.skipIf(!hasRedis)('rateLimit with a store on Redis', () => {
  it('lets through as many of a burst as one limit would, over several processes', async () => {
    const { url } = await testServer()
    const program = fileURLToPath(new URL('./take-tokens.ts', import.meta.url))
    const args = ['--import', 'tsx', program, url, '0.001', '50', '40']
    const outputs = await Promise.all([1, 2, 3].map(() => run(process.execPath, args)))
    const taken = outputs.map(({ stdout }) => Number(stdout))
    expect(taken.reduce((sum, each) => sum + each)).toBe(50)
  }, 60_000)

  it('tells what is left as a bucket of tokens does, and when the next one comes', async () => {
    const { url } = await testServer()
    const take = sharedBuckets(url, 'test', 0.5, 2)
    const shares = [await take('ann'), await take('ann'), await take('ann'), await take('bob')]
    expect(shares).toMatchObject([
      { isAllowed: true, remaining: 1, waitMs: 0 },
      { isAllowed: true, remaining: 0 },
      { isAllowed: false, remaining: 0 },
      { isAllowed: true, remaining: 1 },
    ])
    // A token comes every two seconds; the last one that was taken is not full yet.
    for (const share of shares.slice(1, 3)) {
      expect(share?.waitMs).toBeGreaterThan(0)
      expect(share?.waitMs).toBeLessThanOrEqual(2_000)
    }
  })

  it('gives tokens back in time, up to the burst', async () => {
    const { url } = await testServer()
    const take = sharedBuckets(url, 'test', 100, 1)
    expect((await take('ann'))?.isAllowed).toBe(true)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await take('ann')).toMatchObject({ isAllowed: true, remaining: 0 })
  })

  it.each(engines)(
    'counts for two servers together, each limit by its name, on %s',
    async (engine) => {
      const { url } = await testServer()
      const startOne = (name: string) =>
        start(engine, (svc) => {
          svc.onRequest(rateLimit({ rate: 0.001, burst: 3, store: url, name }))
          svc.api({ ...bytes, name: 'echo' }, (body) => body)
        })
      const [one, two, other] = [
        await startOne('asks'),
        await startOne('asks'),
        await startOne('others'),
      ]
      const statuses: number[] = []
      for (const server of [one, two, one, two, other])
        statuses.push((await server.ask(post('/echo', 'x'))).status)
      expect(statuses).toEqual([200, 200, 200, 429, 200])
      const refused = await one.ask(post('/echo', 'x'))
      expect(refused.headers.get('ratelimit-policy')).toEqual(['"asks";q=3;w=3000'])
      expect(refused.headers.get('ratelimit')?.[0]).toMatch(/^"asks";r=0;t=\d+$/)
      expect(Number(refused.headers.get('retry-after')?.[0])).toBeGreaterThan(0)
    },
  )

  it('lets each worker count alone while the server is away, and together again later', async () => {
    const server = await testServer()
    const running = await start('uws', (svc) => {
      svc.onRequest(rateLimit({ rate: 0.001, burst: 2, store: server.url }))
      svc.api({ ...bytes, name: 'echo' }, (body) => body)
    })
    const ask = async () => (await running.ask(post('/echo', 'x'))).status
    expect(await ask()).toBe(200)
    await server.kill()
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429])
    await server.start()
    // The server remembers one request of two.
    while ((await ask()) === 429);
    expect(await ask()).toBe(429)
  })
})

describe('rateLimit with a store', () => {
  it.each([
    [
      { store: 'http://localhost' },
      'expected redis://HOST:PORT or rediss:// for the URL of rateLimit',
    ],
    [{ name: 'two words' }, 'expected letters, digits, _ . and - for name of rateLimit'],
  ])('refuses %j', (options, message) => {
    expect(() => rateLimit({ rate: 1, ...options })).toThrow(message)
  })
})
