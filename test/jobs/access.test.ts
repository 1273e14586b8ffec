import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { apiKey } from '../../src/api/auth/index.ts'
import type { OwnerKey } from '../../src/api/caller-identity.ts'
import { deferred } from '../../src/core/promise.ts'
import { io, type Service } from '../../src/index.ts'
import { bothEngines } from '../engines.ts'
import { twoIssuers } from '../tokens.ts'
import { eventsOf, folder, jsonOf, start } from './harness.ts'
import { newJob, openStore, until } from './stores.ts'

const json = { input: new io.JSON(), output: new io.JSON() }
const keyOf = (name: string) => ({
  name,
  hash: createHash('sha256').update(`${name}-key`).digest('hex'),
})
const as = (name: string) => ({ 'x-api-key': `${name}-key` })
const echo = (svc: Service) =>
  svc.api({ ...json, name: 'echo', async: true }, (value: unknown) => value)

describe.skipIf(!isBuiltin('node:sqlite')).each(bothEngines)(
  'who may look at jobs on %s',
  (engine) => {
    it('shows a job to its caller alone: others get what an unknown id gets', async () => {
      const auth = apiKey({ keys: [keyOf('ann'), keyOf('bob')] })
      const { submit, get, post } = await start(engine, echo, {}, { auth })
      const job = await submit('/echo', 1, as('ann'))
      expect((await get(`${job}/result`, { ...as('ann'), prefer: 'wait=20' })).status).toBe(200)
      for (const below of ['', '/result', '/events']) {
        expect((await get(job + below, as('ann'))).status).toBe(200)
        const refused = await get(job + below, as('bob'))
        const unknown = await get(`/jobs/AAAAAAAAAAAAAAAAAAAAAA${below}`, as('bob'))
        const both = await Promise.all(
          [refused, unknown].map(async (each) => [each.status, (await jsonOf(each)).detail]),
        )
        expect(both[0]).toEqual([404, 'there is no job with this id'])
        expect(both[1]).toEqual(both[0])
        expect((await get(job + below)).status).toBe(401)
      }
      for (const below of ['/cancel', '/retry'])
        expect((await post(job + below, undefined, as('bob'))).status).toBe(404)
      const id = job.split('/').pop()
      expect((await get(`/echo/status?task_id=${id}`, as('bob'))).status).toBe(404)
      expect((await get(`/echo/status?task_id=${id}`, as('ann'))).status).toBe(200)
    })

    it('asks the auth of the API whose job it is', async () => {
      const define = (svc: Service) => {
        echo(svc)
        svc.api(
          { ...json, name: 'own', async: true, auth: apiKey({ keys: [keyOf('eve')] }) },
          (value: unknown) => value,
        )
        svc.api({ ...json, name: 'open', async: true, auth: false }, (value: unknown) => value)
      }
      const { submit, get } = await start(
        engine,
        define,
        {},
        { auth: apiKey({ keys: [keyOf('ann')] }) },
      )
      const own = await submit('/own', 1, as('eve'))
      expect([(await get(own, as('eve'))).status, (await get(own, as('ann'))).status]).toEqual([
        200, 401,
      ])
      const open = await submit('/open', 1)
      expect((await get(open)).status).toBe(200)
      const plain = await submit('/echo', 1, as('ann'))
      expect([(await get(plain, as('ann'))).status, (await get(plain, as('eve'))).status]).toEqual([
        200, 401,
      ])
      expect((await get('/jobs/AAAAAAAAAAAAAAAAAAAAAA')).status).toBe(401)
    })

    it('refuses more jobs of a caller than maxPerCaller, until one has ended', async () => {
      const define = (svc: Service) =>
        svc.api({ ...json, name: 'echo', async: { maxPerCaller: 2 } }, (value: unknown) => value)
      const auth = apiKey({ keys: [keyOf('ann'), keyOf('bob')] })
      const { submit, post } = await start(engine, define, { jobRole: 'submit' }, { auth })
      const first = await submit('/echo', 1, as('ann'))
      await submit('/echo', 2, { ...as('ann'), 'idempotency-key': 'k' })
      const more = () => post('/echo', 3, { ...as('ann'), prefer: 'respond-async' })
      const refused = await more()
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
      expect(await jsonOf(refused)).toMatchObject({
        code: 'too_many_requests',
        detail: 'expected at most 2 jobs of a caller of echo that wait or run',
      })
      await submit('/echo', 2, { ...as('ann'), 'idempotency-key': 'k' })
      await submit('/echo', 1, as('bob'))
      await post(`${first}/cancel`, undefined, as('ann'))
      expect((await post(`${first}/retry`, undefined, as('ann'))).status).toBe(202)
      expect((await more()).status).toBe(429)
    })

    it('counts an idempotency key for its caller', async () => {
      const auth = apiKey({ keys: [keyOf('ann'), keyOf('bob')] })
      const { submit } = await start(engine, echo, {}, { auth })
      const key = { 'idempotency-key': 'k' }
      const ann = await submit('/echo', 1, { ...as('ann'), ...key })
      expect(await submit('/echo', 2, { ...as('bob'), ...key })).not.toBe(ann)
      expect(await submit('/echo', 1, { ...as('ann'), ...key })).toBe(ann)
    })

    it('tells callers of two issuers apart, and takes no job of a token without sub', async () => {
      const { auth, as } = await twoIssuers()
      const { submit, get, post } = await start(engine, echo, {}, { auth })
      const [one, two] = [await as({ sub: 'ann' }), await as({ sub: 'ann', iss: 'https://two' })]
      const key = { 'idempotency-key': 'k' }
      const job = await submit('/echo', 1, { ...one, ...key })
      expect(await submit('/echo', 1, { ...one, ...key })).toBe(job)
      expect(await submit('/echo', 1, { ...two, ...key })).not.toBe(job)
      const nobody = await as({})
      expect((await get(job, one)).status).toBe(200)
      expect([(await get(job, two)).status, (await get(job, nobody)).status]).toEqual([404, 404])
      const refused = await post('/echo', 1, { ...nobody, prefer: 'respond-async' })
      expect([refused.status, (await jsonOf(refused)).detail]).toEqual([
        401,
        expect.stringContaining('claim sub'),
      ])
    })

    it('shows jobs of 0.1.0, whose owner is a name, to callers of that name', async () => {
      const file = join(folder(), 'jobs.db')
      const store = await openStore({ kind: 'sqlite', path: file })
      const ids = ['ann', '', '["","ann"]', '["https://one","ann"]'].map((owner) =>
        newJob({ api: 'echo', owner: owner as OwnerKey }),
      )
      for (const job of ids) await store.add(job, 10)
      await store.close()
      const { auth, as } = await twoIssuers()
      const { get } = await start(engine, echo, {}, { auth }, file)
      const statuses = async (headers: Record<string, string>) =>
        Promise.all(ids.map(async ({ id }) => (await get(`/jobs/${id}`, headers)).status))
      expect(await statuses(await as({ sub: 'ann' }))).toEqual([200, 404, 404, 200])
      expect(await statuses(await as({ sub: 'ann', iss: 'https://two' }))).toEqual([
        200, 404, 404, 404,
      ])
      expect(await statuses(await as({ sub: '["https://one","ann"]' }))).toEqual([
        404, 404, 404, 404,
      ])
      expect(await statuses(await as({}))).toEqual([404, 404, 404, 404])
    })

    it('runs auth and hooks once, and gives the function what they left', async () => {
      const seen: unknown[] = []
      let requests = 0
      const define = (svc: Service) => {
        svc.onRequest((ctx) => {
          requests++
          Object.assign(ctx.state, { team: { name: 'red' } })
        })
        svc.api({ ...json, name: 'who', async: true }, (_: unknown, ctx) => {
          seen.push(
            ctx.state,
            ctx.query.get('q'),
            ctx.headers.get('x-own'),
            ctx.headers.get('x-request-id'),
            ctx.id,
          )
          return requests
        })
      }
      const { post } = await start(engine, define, {}, { auth: apiKey({ keys: [keyOf('ann')] }) })
      const headers = {
        ...as('ann'),
        'x-own': 'yes',
        'x-request-id': 'r1',
        prefer: 'respond-async, wait=20',
      }
      expect(await (await post('/who?q=1', 0, headers)).json()).toBe(1)
      expect(seen).toEqual([
        { caller: { name: 'ann' }, team: { name: 'red' } },
        '1',
        'yes',
        'r1',
        'r1',
      ])
    })

    it('says in the log which member of ctx.state a job cannot keep', async () => {
      const define = (svc: Service) => {
        svc.onRequest((ctx) => {
          Object.assign(ctx.state, { team: 'red', balance: { left: 1n } })
        })
        echo(svc)
      }
      const { post, log } = await start(engine, define)
      expect((await post('/echo', 0)).status).toBe(200)
      const answer = await post('/echo', 0, { prefer: 'respond-async' })
      expect([answer.status, await jsonOf(answer)]).toMatchObject([
        500,
        { code: 'invalid_argument' },
      ])
      expect(log()).toContain('expected ctx.state.balance to be JSON, since a job keeps it')
    })

    it('keeps no credentials in the store, and logs neither input nor result', async () => {
      const path = folder()
      const define = (svc: Service) =>
        svc.api({ ...json, name: 'shout', async: true }, (value: unknown, ctx) => {
          const { headers } = ctx
          return [
            `${value}`.toUpperCase(),
            headers.get('authorization'),
            headers.get('x-team'),
            headers.get('cookie'),
          ]
        })
      const auth = apiKey({ keys: [keyOf('ann')], header: 'x-team' })
      const { submit, result, listener, log } = await start(
        engine,
        define,
        {},
        { auth },
        join(path, 'jobs.db'),
      )
      const secrets = {
        'x-team': 'ann-key',
        authorization: 'Bearer other-secret',
        cookie: 'id=cookie-secret',
      }
      const job = await submit('/shout', ['the input'], secrets)
      const answer = await until(async () => {
        const now = await fetch(`http://127.0.0.1:${listener.port}${job}/result`, {
          headers: secrets,
        })
        return now.status === 200 && now
      })
      expect(await answer.json()).toEqual(['THE INPUT', null, null, null])
      expect((await result(job)).status).toBe(401)
      await listener.close()
      const stored = readdirSync(path).filter((name) => !name.endsWith('.blobs'))
      const bytes = stored.map((name) => readFileSync(join(path, name), 'latin1'))
      expect(bytes.join('')).toContain('the input')
      expect(bytes.join('')).not.toMatch(/ann-key|other-secret|cookie-secret/)
      expect(log()).not.toMatch(/the input|THE INPUT/)
    })
  },
)

describe.skipIf(!isBuiltin('node:sqlite')).each(bothEngines)(
  'the end and the start of a server with jobs on %s',
  (engine) => {
    it('lets jobs finish within the time to drain, and takes no other', async () => {
      const gate = deferred<void>()
      const file = join(folder(), 'jobs.db')
      const define = (svc: Service) =>
        svc.api({ ...json, name: 'held', async: true }, () => gate.promise.then(() => 1))
      const first = await start(engine, define, { drainTimeoutMs: 20_000 }, {}, file)
      const running = await first.submit('/held', 0)
      const waiting = await first.submit('/held', 0)
      await until(async () => (await first.status(running)).status === 'running')
      const closed = first.listener.close()
      gate.resolve()
      await closed
      // Another one without the API runs nothing.
      const second = await start(engine, define, {}, {}, file)
      expect((await second.status(running)).status).toBe('completed')
      expect((await second.result(waiting)).status).toBe(200)
    })

    it('ends streams of events and waits for answers at once: another server goes on with them', async () => {
      const gate = deferred<void>()
      const define = (svc: Service) =>
        svc.api({ ...json, name: 'held', async: true }, () => gate.promise.then(() => 1))
      const { submit, get, post, status, listener, file } = await start(engine, define, {
        drainTimeoutMs: 60_000,
      })
      const store = await openStore({ kind: 'sqlite', path: file })
      onTestFinished(() => store.close())
      const job = await submit('/held', 0)
      await until(async () => (await status(job)).status === 'running')
      const asked = [
        get(`${job}/events`),
        get(`${job}/result`, { prefer: 'wait=50' }),
        post('/held', 1, { prefer: 'respond-async, wait=50' }),
      ]
      const events = await asked[0]
      await until(async () => (await store.list({ limit: 2 })).jobs.length === 2)
      const closed = listener.close()
      const [text, result, submitted] = await Promise.all([events.text(), asked[1], asked[2]])
      // All have come while the job still runs.
      expect(eventsOf(text).map(({ data }) => data.status)).toEqual(['queued', 'running'])
      expect([result.status, submitted.status]).toEqual([202, 202])
      gate.resolve()
      await closed
    })

    it('hands jobs back that run longer, without counting the attempt', async () => {
      const file = join(folder(), 'jobs.db')
      const reasons: unknown[] = []
      const define = (svc: Service) =>
        svc.api(
          { ...json, name: 'held', async: { retries: 0 } },
          (_: unknown, ctx) =>
            new Promise((resolve) => {
              if (reasons.length > 0) resolve(ctx.job?.attempt)
              ctx.signal.addEventListener('abort', () => {
                reasons.push((ctx.signal.reason as { code: string }).code)
              })
            }),
        )
      const first = await start(engine, define, { drainTimeoutMs: 100 }, {}, file)
      const job = await first.submit('/held', 0)
      await until(async () => (await first.status(job)).status === 'running')
      await first.listener.close()
      expect(reasons).toEqual(['overloaded'])
      const second = await start(engine, define, {}, {}, file)
      const answer = await second.result(job)
      expect([answer.status, await answer.json()]).toEqual([200, 1])
      expect(await second.status(job)).toMatchObject({ status: 'completed', attempt: 1 })
    })

    it('runs no job before the service is ready', async () => {
      const file = join(folder(), 'jobs.db')
      const first = await start(
        engine,
        (svc) => {
          svc.api({ ...json, name: 'late', async: true }, (_: unknown, ctx) => {
            return new Promise((_, reject) =>
              ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
            )
          })
        },
        { drainTimeoutMs: 1 },
        {},
        file,
      )
      const job = await first.submit('/late', 0)
      await first.listener.close()
      const order: string[] = []
      const second = await start(
        engine,
        (svc) => {
          svc.onStartup(async () => {
            await new Promise((resolve) => setTimeout(resolve, 300))
            order.push('ready')
          })
          svc.api({ ...json, name: 'late', async: true }, () => {
            order.push('job')
            return 1
          })
        },
        {},
        {},
        file,
      )
      expect((await second.result(job)).status).toBe(200)
      expect(order).toEqual(['ready', 'job'])
    })
  },
)
