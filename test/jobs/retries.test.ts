import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { apiKey, rateLimit } from '../../src/api/auth/index.ts'
import { deferred } from '../../src/core/promise.ts'
import { Forbidden, io, type Service } from '../../src/index.ts'
import { bothEngines } from '../engines.ts'
import { folder, start } from './harness.ts'
import { until } from './stores.ts'

const mb = 1024 * 1024
const json = { input: new io.JSON(), output: new io.JSON() }

describe.skipIf(!isBuiltin('node:sqlite')).each(bothEngines)('retries of jobs on %s', (engine) => {
  const keyOf = (name: string) => ({
    name,
    hash: createHash('sha256').update(`${name}-key`).digest('hex'),
  })
  const as = (name: string) => ({ 'x-api-key': `${name}-key` })

  it('name the input, whose bytes are there once', async () => {
    const path = folder()
    const define = (svc: Service) =>
      svc.api(
        { input: new io.Text(), output: new io.JSON(), name: 'size', async: true },
        (text: string) => text.length,
      )
    const served = await start(
      engine,
      define,
      { maxMemoryBytes: 3 * mb },
      {},
      join(path, 'jobs.db'),
    )
    const job = await served.submit('/size', 'x'.repeat(2 * mb))
    await served.result(job)
    const blobs = () => readdirSync(join(path, 'jobs.db.blobs'))
    const before = blobs()
    expect(before).toHaveLength(1)
    const jobs = await Promise.all(Array.from({ length: 20 }, () => served.post(`${job}/retry`)))
    const places = jobs.map((each) => each.headers.get('location') as string)
    expect(jobs.map(({ status }) => status)).toEqual(Array(20).fill(202))
    for (const place of places) expect(await (await served.result(place)).json()).toBe(2 * mb)
    expect(blobs()).toEqual(before)
    // Of what is below a blob, too.
    const small = await served.submit('/size', 'y'.repeat(900_000))
    await served.result(small)
    for (let i = 0; i < 5; i++)
      await served.result((await served.post(`${small}/retry`)).headers.get('location') ?? '')
    await served.listener.close()
    const file = readFileSync(join(path, 'jobs.db'))
    expect(file.length).toBeLessThan(2 * 900_000)
  })

  it('run the hooks of the API, with the state of who asks', async () => {
    let isOpen = true
    const states: unknown[] = []
    const define = (svc: Service) => {
      svc.onRequest((ctx) => {
        Object.assign(ctx.state, { at: ctx.headers.get('x-at') })
      })
      const onRequest = () => {
        if (!isOpen) throw new Forbidden('closed')
      }
      svc.api({ ...json, name: 'guarded', async: true, onRequest }, (_: unknown, ctx) => {
        states.push(ctx.state)
        return 1
      })
    }
    const { submit, result, post } = await start(
      engine,
      define,
      {},
      { auth: apiKey({ keys: [keyOf('ann')] }) },
    )
    const ann = as('ann')
    const job = await submit('/guarded', 1, { ...ann, 'x-at': 'first' })
    const id = job.split('/').pop()
    const ended = (place: string) =>
      until(async () => (await result(place).then((each) => each.status)) !== 202)
    const routes = [`${job}/retry`, `/guarded/retry?task_id=${id}`]
    await until(async () => states.length === 1)
    isOpen = false
    for (const route of routes) expect((await post(route, undefined, ann)).status).toBe(403)
    isOpen = true
    for (const route of routes)
      expect((await post(route, undefined, { ...ann, 'x-at': 'now' })).ok).toBe(true)
    await until(() => states.length === 3)
    await ended(job)
    expect(states).toEqual(['first', 'now', 'now'].map((at) => ({ caller: { name: 'ann' }, at })))
  })

  it('count against the rate limit of the API, each once', async () => {
    const onRequest = rateLimit({ rate: 0.001, burst: 3 })
    const define = (svc: Service) =>
      svc.api({ ...json, name: 'few', async: true, onRequest }, (value: unknown) => value)
    const { submit, result, post } = await start(engine, define)
    const job = await submit('/few', 1)
    await result(job)
    const id = job.split('/').pop()
    const statuses = []
    for (const route of [
      `${job}/retry`,
      `/few/retry?task_id=${id}`,
      `${job}/retry`,
      `/few/retry?task_id=${id}`,
    ])
      statuses.push((await post(route)).status)
    expect(statuses).toEqual([202, 200, 429, 429])
  })

  it('take a slot of the server', async () => {
    const gate = deferred<number>()
    const define = (svc: Service) => {
      svc.api({ ...json, name: 'held' }, () => gate.promise)
      svc.api({ ...json, name: 'echo', async: true }, (value: unknown) => value)
    }
    const { submit, result, post } = await start(engine, define, { maxInFlight: 1 })
    const job = await submit('/echo', 1)
    await result(job)
    const held = post('/held', 1)
    await until(async () => (await post('/held', 1)).status === 503)
    expect((await post(`${job}/retry`)).status).toBe(503)
    gate.resolve(1)
    await held
    expect((await post(`${job}/retry`)).status).toBe(202)
  })
})
