import { describe, expect, it, onTestFinished } from 'vitest'
import { of, startProcess, survives } from './kill-conformance.ts'
import { hasRedis, redisServer } from './redis-server.ts'
import { newJob, openStore, resultText, shortTimes, untilStatus } from './stores.ts'

describe.skipIf(!hasRedis)('a job store on Redis', () => {
  survives('among processes', async () => {
    const server = await redisServer()
    return { spec: { kind: 'redis', url: server.url }, stop: () => server.stop() }
  })

  const begin = async () => {
    const server = await redisServer()
    onTestFinished(() => server.stop())
    const spec = { kind: 'redis', url: server.url, times: shortTimes } as const
    const store = await openStore(spec)
    onTestFinished(() => store.close())
    return { spec, store }
  }

  it('keeps the job of a process that computes for longer than a lease', async () => {
    const { spec, store } = await begin()
    const first = await startProcess(spec, { kind: 'work', concurrency: 1 })
    const job = newJob({}, 'block-once 8000')
    await store.add(job, 10)
    await untilStatus(store, job.id, 'running')
    const second = await startProcess(spec, { kind: 'work', concurrency: 1 })
    expect(await untilStatus(store, job.id, 'completed')).toMatchObject({ attempt: 1 })
    expect([of(first, 'started').length, of(second, 'started').length]).toEqual([1, 0])
  }, 90_000)

  it('loses the job of a process that computes for longer than its timeout, and calls that no death', async () => {
    const { spec, store } = await begin()
    const job = newJob({ timeoutMs: 1_000 }, 'block 3600000')
    await store.add(job, 10)
    const workers = [1, 2, 3].map(() => startProcess(spec, { kind: 'work', concurrency: 1 }))
    await untilStatus(store, job.id, 'failed', 60_000)
    const code = JSON.parse(await resultText(store, job.id)).code
    expect([(await store.result(job.id))?.status, code]).toEqual([500, 'lease_lost'])
    const started = (await Promise.all(workers)).map((worker) => of(worker, 'started').length)
    expect(started.sort()).toEqual([0, 1, 1])
  }, 90_000)
})
