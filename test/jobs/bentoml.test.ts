import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { deferred } from '../../src/core/promise.ts'
import { io, serve } from '../../src/index.ts'
import { engines } from '../engines.ts'
import { folder, jsonOf, start } from './harness.ts'
import svc from './python/tasks.service.ts'
import { until } from './stores.ts'

interface Exchange {
  readonly method: string
  readonly path: string
  readonly type: string | null
  readonly body: string
  readonly status: number
  readonly answer: string
}

const recorded: Exchange[] = JSON.parse(
  readFileSync(new URL('../fixtures/bentoml/tasks.json', import.meta.url), 'utf8'),
)

describe.skipIf(!isBuiltin('node:sqlite')).each(engines)("BentoML's tasks on %s", (engine) => {
  const begin = async () => {
    const options = {
      port: 0,
      host: '127.0.0.1',
      engine,
      drainTimeoutMs: 0,
      logLevel: 'fatal',
    } as const
    const listener = await serve(svc, {
      ...options,
      jobStore: `sqlite:${join(folder(), 'jobs.db')}`,
    })
    onTestFinished(() => listener.close())
    return (path: string, init?: RequestInit) =>
      fetch(`http://127.0.0.1:${listener.port}${path}`, init)
  }

  it('answer what its unmodified client asked', async () => {
    const ask = await begin()
    const ids = new Map<string, string>()
    let asked = 0
    for (const { method, path, type, body, status, answer } of recorded) {
      const [route, query] = path.split('?task_id=')
      const url = query === undefined ? path : `${route}?task_id=${ids.get(query)}`
      const init = {
        method,
        ...(body !== '' && { body }),
        ...(type !== null && { headers: { 'content-type': type } }),
      }
      const isStatus = route.endsWith('/status')
      const wanted = answer.startsWith('{')
        ? (JSON.parse(answer) as Record<string, unknown>)
        : undefined
      if (isStatus && !/completed|canceled|failed/.test(`${wanted?.status}`)) continue
      // The client asked until the task had ended.
      const got = await until(async () => {
        const now = await ask(url, init)
        return (!isStatus || (await jsonOf(now.clone())).status === wanted?.status) && now
      })
      const text = await got.text()
      expect(got.status, path).toBe(status)
      asked++
      if (wanted === undefined) expect(text, path).toBe(answer)
      else {
        const members = JSON.parse(text)
        expect(Object.keys(members)).toEqual(Object.keys(wanted))
        if (query === undefined || route.endsWith('/retry'))
          ids.set(`${wanted.task_id}`, members.task_id)
        if (!route.endsWith('/cancel')) expect(members.status).toBe(wanted.status)
      }
    }
    expect(asked).toBeGreaterThan(12)
  })

  it('answer as BentoML does without an id, for an unknown one, and for another route', async () => {
    const ask = await begin()
    for (const [method, name] of [
      ['GET', 'status'],
      ['GET', 'get'],
      ['POST', 'retry'],
      ['PUT', 'cancel'],
    ]) {
      const missing = await ask(`/double/${name}`, { method })
      expect([missing.status, await missing.json()]).toEqual([
        400,
        { error: 'task_id is required' },
      ])
      const unknown = await ask(`/double/${name}?task_id=00000000000000000000000000000000`, {
        method,
      })
      expect([unknown.status, await unknown.json()]).toEqual([404, { error: 'task_id not found' }])
    }
    const headers = { 'content-type': 'application/json' }
    const { task_id: id } = await jsonOf(
      await ask('/double/submit', { method: 'POST', headers, body: '[1]' }),
    )
    expect((await ask(`/shout/status?task_id=${id}`)).status).toBe(404)
    await until(
      async () => (await jsonOf(await ask(`/double/status?task_id=${id}`))).status === 'completed',
    )
    const ended = await ask(`/double/cancel?task_id=${id}`, { method: 'PUT' })
    expect(ended.status).toBe(400)
  })

  it('are looked at while all slots of the API are taken', async () => {
    const release = deferred<unknown>()
    const json = { input: new io.JSON(), output: new io.JSON() }
    const { get, post, log } = await start(engine, (svc) =>
      svc.api({ ...json, name: 'held', async: true, maxInFlight: 1 }, () => release.promise),
    )
    const { task_id: id } = await jsonOf(await post('/held/submit', 1))
    const held = post('/held', 2)
    await until(async () => (await post('/held', 3)).status === 503)
    const looks = ['status', 'get'].map((name) => get(`/held/${name}?task_id=${id}`))
    const retried = post(`/held/retry?task_id=${id}`)
    const answers = await Promise.all([...looks, retried].map(async (each) => (await each).status))
    expect(answers, log()).toEqual([200, 400, 400])
    release.resolve(0)
    expect((await held).status).toBe(200)
  })

  it('are named to the client with what they take', async () => {
    const { routes } = await jsonOf(await (await begin())('/schema.json'))
    expect((routes as { name: string }[]).map(({ name }) => name)).toEqual([
      'double',
      'shout',
      'same',
      'hold',
    ])
    expect((routes as unknown[])[2]).toEqual({
      name: 'same',
      route: '/same',
      input: { type: 'tensor', format: 'numpy-array', dtype: 'float64', root_input: true },
      output: { type: 'tensor', format: 'numpy-array', dtype: 'float64' },
      is_task: true,
    })
  })
})
