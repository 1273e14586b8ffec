import { describe, expect, it, onTestFinished } from 'vitest'
import { openBullmqStore } from '../../src/jobs/bullmq/bullmq-store.ts'
import { conforms } from './conformance.ts'
import { hasRedis, type RedisServer, redisServer } from './redis-server.ts'
import { newJob } from './stores.ts'

async function testServer(options?: readonly string[]): Promise<RedisServer> {
  const server = await redisServer(options)
  onTestFinished(() => server.stop())
  return server
}

async function warningsOf({ url }: RedisServer): Promise<string[]> {
  const warnings: string[] = []
  const store = openBullmqStore({ url, warn: (message) => warnings.push(message) })
  await store.open()
  await store.close()
  return warnings
}

describe.skipIf(!hasRedis)('a job store on Redis', () => {
  conforms('alone', async () => {
    const server = await redisServer()
    return { spec: { kind: 'redis', url: server.url }, stop: () => server.stop() }
  })

  it('warns of a server that would lose jobs, and of no other', async () => {
    expect(await warningsOf(await testServer())).toEqual([])
    const forgetful = ['--appendonly', 'no', '--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru']
    expect(await warningsOf(await testServer(forgetful))).toEqual([
      expect.stringContaining('set appendonly yes'),
      expect.stringContaining('set maxmemory-policy noeviction, it is allkeys-lru'),
    ])
  })

  it('keeps what it has accepted over the death of the server, and says 503 meanwhile', async () => {
    const server = await testServer()
    const store = openBullmqStore({ url: server.url, warn: () => {} })
    await store.open()
    const jobs = Array.from({ length: 20 }, () => newJob())
    for (const job of jobs) await store.add(job, 100)
    await server.kill()
    await expect(store.add(newJob(), 100)).rejects.toMatchObject({ status: 503, code: 'overloaded' })
    await server.start()
    for (const { id } of jobs) expect(await store.get(id)).toMatchObject({ status: 'queued' })
    await store.close()
  })
})

describe('a job store on Redis, where no server is', () => {
  it('says where it looked, without the password', async () => {
    const store = openBullmqStore({ url: 'redis://me:secret@127.0.0.1:1/', warn: () => {} })
    const error = await store.open().catch((caught: Error) => caught as Error)
    expect(error).toMatchObject({ code: 'invalid_argument' })
    expect((error as Error).message).toMatch(/^expected a Redis or Valkey server at redis:\/\/me:.*@127\.0\.0\.1:1/)
    expect((error as Error).message).not.toContain('secret')
  })

  it('refuses another URL', async () => {
    const store = openBullmqStore({ url: 'http://localhost', warn: () => {} })
    await expect(store.open()).rejects.toThrow('expected redis://HOST:PORT or rediss:// for the URL of the job store')
  })
})
