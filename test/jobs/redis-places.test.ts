/** Jobs where Redis is more than one server: behind sentinels, in a cluster, over TLS. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openRedis, spareRedis } from '../../src/core/redis.ts'
import { keyPrefix, redisPlace, withoutPassword } from '../../src/core/redis-url.ts'
import type { JobStore } from '../../src/jobs/job-store.ts'
import { root } from '../cli/process.ts'
import { conforms, type StartStore } from './conformance.ts'
import { keepsBodies } from './conformance-bodies.ts'
import { endsJobs } from './conformance-ending.ts'
import { keepsRows } from './conformance-rows.ts'
import {
  clusterNode,
  freePort,
  hasRedis,
  type RedisServer,
  redisCli,
  redisCluster,
  redisSentinel,
  redisServer,
} from './redis-server.ts'
import { silentProxy } from './silent-proxy.ts'
import { completed, newJob, openStore, shortTimes, until } from './stores.ts'

const stopAtEnd = <T extends { stop(): Promise<void> }>(server: T): T => {
  onTestFinished(() => server.stop())
  return server
}

/** Whether a server has taken over. One that does so closes its connections. */
function isPrimary({ port }: RedisServer): boolean {
  try {
    return redisCli(port, 'role').startsWith('master')
  } catch {
    return false
  }
}

async function opened(url: string): Promise<JobStore> {
  const store = await openStore({ kind: 'redis', url, times: shortTimes })
  onTestFinished(() => store.close())
  return store
}

/** Submits as a client does: again until the job is accepted. */
async function accepted(store: JobStore): Promise<string> {
  const job = newJob()
  for (;;) {
    const isAdded = await store.add(job, 10_000).then(
      ({ kind }) => kind === 'added',
      ({ status }) => {
        expect(status).toBe(503)
        return false
      },
    )
    if (isAdded) return job.id
    await sleep(100)
  }
}

/** Submits and runs jobs while `disturb` runs, and checks that each accepted one ends once. */
async function survives(url: string, disturb: () => Promise<void>): Promise<void> {
  const store = await opened(url)
  const worker = store.work([{ api: 'a', concurrency: 4 }], async () => {
    await sleep(20)
    return completed('run')
  })
  let isOver = false
  const ids: string[] = []
  const submitting = (async () => {
    while (!isOver) {
      ids.push(await accepted(store))
      await sleep(5)
    }
  })()
  await until(() => ids.length > 20)
  await disturb()
  const before = ids.length
  await until(() => ids.length > before + 20)
  isOver = true
  await submitting
  const ends = async (id: string) => {
    const events = await store.events(id, 0, 100_000)
    return events.map(({ data }) => data).filter((data) => !['queued', 'running'].includes(data))
  }
  const statuses = async () =>
    new Set(await Promise.all(ids.map(async (id) => (await store.get(id))?.status)))
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(100))
    if ([...(await statuses())].join() === 'completed') break
  expect(await statuses()).toEqual(new Set(['completed']))
  for (const id of ids) expect(await ends(id)).toEqual(['completed'])
  await worker.stop(0)
}

describe.skipIf(!hasRedis)('jobs behind sentinels', () => {
  it('go on when the primary dies and its replica takes over', async () => {
    const primary = stopAtEnd(await redisServer())
    const replica = stopAtEnd(await redisServer())
    redisCli(replica.port, 'replicaof', '127.0.0.1', String(primary.port))
    await until(() => redisCli(replica.port, 'info', 'replication').includes('link_status:up'))
    const sentinel = stopAtEnd(await redisSentinel(primary.port))
    // One of two sentinels is away.
    const hosts = `127.0.0.1:1,127.0.0.1:${sentinel.port}`
    await survives(`redis://${hosts}?sentinel=jobs&sentinelPassword=watch`, async () => {
      await primary.kill()
      await until(() => isPrimary(replica))
    })
  }, 120_000)
})

describe.skipIf(!hasRedis)('jobs behind one address', () => {
  it('go on when another server becomes the primary, and the old one stays', async () => {
    const [one, other] = [stopAtEnd(await redisServer()), stopAtEnd(await redisServer())]
    const follow = (server: RedisServer, primary: RedisServer) =>
      redisCli(server.port, 'replicaof', '127.0.0.1', String(primary.port))
    follow(other, one)
    await until(() => redisCli(other.port, 'info', 'replication').includes('link_status:up'))
    const proxy = await silentProxy(one.url)
    onTestFinished(() => proxy.close())
    await survives(proxy.url, async () => {
      proxy.turnTo(other.url)
      redisCli(other.port, 'replicaof', 'no', 'one')
      follow(one, other)
    })
  }, 120_000)
})

describe.skipIf(!hasRedis)('jobs in a cluster', () => {
  const begin: StartStore = async () => {
    const servers = await redisCluster()
    const url = `redis://${servers.map(({ port }) => `127.0.0.1:${port}`).join()}?cluster`
    const stop = async () => void (await Promise.all(servers.map((server) => server.stop())))
    return { spec: { kind: 'redis', url }, stop }
  }
  conforms('alone', begin)
  endsJobs('its ends', begin)
  keepsBodies('its bodies', begin)
  keepsRows('its rows', begin)

  const start = async () => {
    const servers = await redisCluster()
    for (const server of servers) stopAtEnd(server)
    return { servers, url: `redis://127.0.0.1:1,127.0.0.1:${servers[1].port}?cluster` }
  }
  /** Whose slot it is that all keys have. */
  const ownerOf = async (servers: readonly RedisServer[]) =>
    until(() => {
      const owners = servers.filter(({ port }) => redisCli(port, 'dbsize').trim() !== '0')
      expect(owners.length).toBeLessThan(2)
      return owners[0]
    })

  it('have all their keys on one server', async () => {
    const { servers, url } = await start()
    await survives(`${url}&prefix=reports`, async () => {})
    const { port } = await ownerOf(servers)
    const keys = redisCli(port, 'keys', '*').trim().split('\n')
    expect(keys.filter((key) => !key.startsWith('{reports}:'))).toEqual([])
    // What needs no jobs, as rate limits and caches, has keys on all of them, and keeps no process alive.
    const process = ['--import', 'tsx', 'test/jobs/spare-process.ts', url]
    const { stdout } = await promisify(execFile)(execPath, process, {
      timeout: 30_000,
    })
    expect(stdout).toBe('a!\nb!\nc!\nd!\ne!\n')
  }, 60_000)

  it('go on when their server starts again', async () => {
    const { servers, url } = await start()
    await survives(url, async () => {
      const owner = await ownerOf(servers)
      await owner.kill()
      await sleep(2_000)
      await owner.start()
    })
  }, 120_000)

  it('go on when their server dies and its replica takes over', async () => {
    const { servers, url } = await start()
    const replica = stopAtEnd(await clusterNode())
    await survives(url, async () => {
      const owner = await ownerOf(servers)
      const id = redisCli(owner.port, 'cluster', 'myid').trim()
      const [joining, member] = [replica, owner].map(({ port }) => `127.0.0.1:${port}`)
      const add = [
        '--cluster',
        'add-node',
        joining,
        member,
        '--cluster-slave',
        '--cluster-master-id',
        id,
      ]
      redisCli(owner.port, ...add)
      await until(() => redisCli(replica.port, 'info', 'replication').includes('link_status:up'))
      await owner.kill()
      await until(() => isPrimary(replica), 60_000)
    })
  }, 120_000)

  it('are refused with 503 while all of it is away, and said so', async () => {
    const { servers, url } = await start()
    const store = await opened(url)
    await accepted(store)
    const spare = spareRedis(url, 'the test')
    expect(await spare((client) => client.ping())).toBe('PONG')
    for (const server of servers) await server.kill()
    expect(await spare((client) => client.set('a', 'b'))).toBe(undefined)
    await expect(store.add(newJob(), 10)).rejects.toMatchObject({ status: 503 })
    await until(() => store.unready === 'the job store cannot be reached')
    for (const server of servers) await server.start()
    await until(() => store.unready === undefined)
    await accepted(store)
    await until(async () => (await spare((client) => client.set('a', 'b'))) === 'OK')
  }, 120_000)
})

describe.skipIf(!hasRedis)('jobs on Redis over TLS', () => {
  const tls = join(root, 'test/fixtures/tls')
  const start = async () => {
    const port = String(await freePort())
    const files = ['--tls-cert-file', `${tls}/cert.pem`, '--tls-key-file', `${tls}/key.pem`]
    const options = ['--tls-port', port, ...files, '--tls-ca-cert-file', `${tls}/cert.pem`]
    stopAtEnd(await redisServer([...options, '--appendonly', 'yes']))
    return `rediss://localhost:${port}`
  }

  it('are kept where the certificate of the server is known', async () => {
    const url = await start()
    const client = `cert=${tls}/cert.pem&key=${tls}/key.pem`
    await survives(`${url}?ca=${tls}/cert.pem&${client}`, async () => {})
    await expect(opened(`${url}?${client}`)).rejects.toThrow('none answers')
    await expect(opened(`${url}?ca=${tls}/cert.pem`)).rejects.toThrow('none answers')
  }, 60_000)

  it('that are given up during a handshake do not end the process', async () => {
    const url = `${await start()}?cert=${tls}/cert.pem&key=${tls}/key.pem`
    const unheard: Error[] = []
    const hear = (error: Error) => void unheard.push(error)
    process.on('uncaughtException', hear)
    try {
      for (let turns = 0; turns < 200; turns++) {
        const client = openRedis(url, 'the test')
        for (let turn = 0; turn < turns % 20; turn++) await setImmediate()
        client.disconnect()
        await sleep(1)
      }
      await sleep(500)
    } finally {
      process.off('uncaughtException', hear)
    }
    expect(unheard).toEqual([])
  }, 60_000)
})

describe('the URL of Redis', () => {
  it('names hosts, sentinels or a cluster, a prefix and files', () => {
    expect(redisPlace('redis://me:a%40b@one:1,[::1],three:3/2?sentinel=jobs', 'x')).toEqual({
      url: 'redis://me:a%40b@one:1/2?sentinel=jobs',
      hosts: [
        { host: 'one', port: 1 },
        { host: '::1', port: 26379 },
        { host: 'three', port: 3 },
      ],
      username: 'me',
      password: 'a@b',
      sentinel: 'jobs',
      isCluster: false,
      tls: undefined,
    })
    expect(keyPrefix('redis://h', 'x')).toBe('')
    expect(keyPrefix('redis://h?prefix=reports', 'x')).toBe('reports:')
    expect(keyPrefix('redis://a,b?cluster', 'x')).toBe('{serving}:')
    expect(keyPrefix('redis://a,b?cluster&prefix=reports', 'x')).toBe('{reports}:')
  })

  it.each([
    ['http://h', 'redis://HOST:PORT or rediss:// for the URL of x, received "http://h"'],
    ['redis://a:b:c', 'redis://HOST:PORT or rediss:// for the URL of x'],
    ['redis://a,b', 'one host, or several and ?sentinel=NAME or ?cluster for the URL of x'],
    ['redis://a?ca=/ca.pem', 'rediss:// beside files of TLS for the URL of x'],
    ['rediss://a?ca=/none.pem', 'a file for ca of the URL of x, received "/none.pem"'],
  ])('is checked: %s', (url, message) => {
    expect(() => redisPlace(url, 'x')).toThrow(`expected ${message}`)
  })

  it.each([
    'redis://me:secret@h,other:1/?sentinelPassword=secret&prefix=a',
    'redis://me:se@secret@h:port',
  ])('is shown without its passwords: %s', (url) => {
    expect(withoutPassword(url)).not.toContain('secret')
    expect(withoutPassword(url)).toContain('me:')
  })
})
