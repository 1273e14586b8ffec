import { describe, expect, it, onTestFinished } from 'vitest'
import { spareRedis } from '../../src/core/redis.ts'
import { io, type Service } from '../../src/index.ts'
import { start } from './harness.ts'
import { hasRedis, redisServer } from './redis-server.ts'
import { silentProxy } from './silent-proxy.ts'
import { completed, newJob, openStore, until, untilStatus } from './stores.ts'

async function testProxy() {
  const redis = await redisServer()
  const proxy = await silentProxy(redis.url)
  onTestFinished(async () => {
    proxy.close()
    await redis.stop()
  })
  return { redis, proxy }
}

async function opened(url: string) {
  const store = await openStore({ kind: 'redis', url })
  onTestFinished(() => store.close())
  return store
}

const define = (svc: Service) => {
  svc.api({ input: new io.Text(), output: new io.Text(), name: 'shout', async: true }, (text) =>
    text.toUpperCase(),
  )
}

describe.skipIf(!hasRedis)('connections to Redis that fall silent', () => {
  it('come back: those that submit, watch, take jobs and hear of cancels', async () => {
    const { redis, proxy } = await testProxy()
    const direct = await opened(redis.url)
    const store = await opened(proxy.url)
    const canceled: string[] = []
    const worker = store.work([{ api: 'a', concurrency: 2 }], async ({ job, signal }) => {
      if (job.priority === 0) return completed('run')
      await until(() => signal.aborted, 60_000)
      canceled.push(job.id)
      return { kind: 'canceled' }
    })
    onTestFinished(() => worker.stop(0))
    const first = newJob()
    await store.add(first, 10)
    await untilStatus(store, first.id, 'completed')
    let changes = 0
    const watched = newJob({ api: 'watched' })
    await store.add(watched, 10)
    onTestFinished(store.watch(watched.id, () => changes++))
    await until(() => changes > 0)

    proxy.silence()
    await expect(store.get(first.id)).rejects.toMatchObject({ code: 'overloaded' })
    // What submits.
    const second = newJob()
    await until(
      () =>
        store.add(second, 10).then(
          () => true,
          () => false,
        ),
      60_000,
    )
    // What takes jobs.
    await untilStatus(direct, second.id, 'completed', 60_000)
    // What watches, also a change that came while it heard nothing.
    await direct.cancel(watched.id)
    const before = changes
    await until(() => changes > before, 60_000)
    // What hears of cancels.
    const third = newJob({ priority: 1 })
    await direct.add(third, 10)
    await untilStatus(direct, third.id, 'running')
    await direct.cancel(third.id)
    await untilStatus(direct, third.id, 'canceled')
    expect(canceled).toEqual([third.id])
  }, 120_000)

  it('say so in /readyz, until they are back', async () => {
    const { proxy } = await testProxy()
    const { get, submit, result } = await start('uws', define, {}, { jobs: { store: proxy.url } })
    const ready = async () => {
      const answer = await get('/readyz')
      return `${answer.status} ${await answer.text()}`
    }
    expect(await ready()).toBe('200 ok\n')
    proxy.silence(true)
    await until(async () => (await ready()) === '503 the job store cannot be reached\n', 60_000)
    proxy.heal()
    await until(async () => (await ready()) === '200 ok\n', 60_000)
    expect(await (await result(await submit('/shout', 'hello'))).text()).toBe('HELLO')
  }, 120_000)

  it('cost nobody a wait where an answer can do without them', async () => {
    const { proxy } = await testProxy()
    const spare = spareRedis(proxy.url, 'the test')
    const ask = () => spare((client) => client.ping())
    expect(await ask()).toBe('PONG')
    proxy.silence(true)
    // Of the first ones each waits.
    let asked = 0
    const isAsked = async () => {
      const before = asked
      await spare((client) => {
        asked++
        return client.ping()
      })
      return asked > before
    }
    await until(async () => !(await isAsked()))
    expect(await isAsked()).toBe(false)
    proxy.heal()
    await until(async () => (await ask()) === 'PONG')
  }, 60_000)
})
