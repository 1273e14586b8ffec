import { isBuiltin } from 'node:module'
import { describe, expect, it } from 'vitest'
import { deferred } from '../../src/core/promise.ts'
import { BadInput, DeadlineExceeded, io, type Service } from '../../src/index.ts'
import { engines } from '../engines.ts'
import { eventsOf, jsonOf, start } from './harness.ts'
import { until } from './stores.ts'

const json = { input: new io.JSON(), output: new io.JSON() }
const text = { input: new io.Text(), output: new io.Text() }

describe.skipIf(!isBuiltin('node:sqlite')).each(engines)(
  'jobs that run in a server on %s',
  (engine) => {
    it('runs jobs beside all the requests that may run', async () => {
      const gate = deferred<void>()
      const define = (svc: Service) => {
        svc.api({ ...json, name: 'held', async: true, maxInFlight: 1 }, (_: unknown, ctx) =>
          ctx.job === undefined ? gate.promise.then(() => 1) : 2,
        )
      }
      const { submit, post, get } = await start(engine, define, { maxInFlight: 2 })
      const job = await submit('/held', 0)
      const held = post('/held', 0)
      const answer = await until(async () => {
        const result = await get(`${job}/result`)
        return result.status === 200 && result
      })
      expect(await jsonOf(answer)).toBe(2)
      gate.resolve()
      expect(await (await held).json()).toBe(1)
    })

    it('takes submissions while the API has no slot left', async () => {
      const gate = deferred<number>()
      const define = (svc: Service) =>
        svc.api({ ...json, name: 'held', async: true, maxInFlight: 1 }, (value: unknown, ctx) =>
          ctx.job === undefined ? gate.promise : value,
        )
      const { post, submit, result } = await start(engine, define)
      const held = post('/held', 0)
      await until(async () => (await post('/held', 0)).status === 503)
      const job = await submit('/held', 1)
      expect((await post('/held/submit', 2)).status).toBe(200)
      expect(
        (await post('/serving.v1.ServingService/SubmitJob', { apiName: 'held', json: 3 })).status,
      ).toBe(200)
      expect(await (await result(job)).json()).toBe(1)
      gate.resolve(0)
      await held
    })

    it('tries answers of 5xx again, and those of 4xx never', async () => {
      const starts: number[] = []
      const define = (svc: Service) => {
        svc.api({ ...json, name: 'third', async: { retries: 3 } }, (_: unknown, ctx) => {
          starts.push(ctx.job?.attempt ?? 0)
          if (starts.length < 3) throw new Error('not yet')
          return starts
        })
        svc.api({ ...json, name: 'never', async: { retries: 3 } }, () => {
          throw new BadInput('expected another value')
        })
        svc.api({ ...json, name: 'once', async: { retries: 0 } }, () => {
          throw new Error('a secret of the server')
        })
      }
      const { submit, result, status } = await start(engine, define)
      expect(await (await result(await submit('/third', 0))).json()).toEqual([1, 2, 3])
      const never = await submit('/never', 0)
      const refused = await result(never)
      expect([refused.status, (await jsonOf(refused)).detail]).toEqual([
        400,
        'expected another value',
      ])
      expect(await status(never)).toMatchObject({
        status: 'failed',
        attempt: 1,
        responseStatus: 400,
      })
      const once = await result(await submit('/once', 0))
      expect([once.status, await once.text()]).toEqual([500, expect.not.stringContaining('secret')])
      expect(once.headers.get('content-type')).toBe('application/problem+json')
    })

    it('ends an attempt at its timeout with 504, also amid a stream', async () => {
      const reasons: unknown[] = []
      const define = (svc: Service) => {
        svc.api(
          { ...json, name: 'late', async: { retries: 0, timeout: 200 } },
          (_: unknown, ctx) => {
            ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason))
            return new Promise(() => {})
          },
        )
        svc.api(
          { ...text, name: 'drip', async: { retries: 0, timeout: '1s' } },
          async function* (_: string, ctx) {
            yield 'a'
            await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
            yield 'b'
          },
        )
      }
      const { submit, result } = await start(engine, define)
      const late = await result(await submit('/late', 0))
      expect([late.status, (await jsonOf(late)).code]).toEqual([504, 'deadline_exceeded'])
      expect(reasons).toEqual([expect.any(DeadlineExceeded)])
      const drip = await result(await submit('/drip', 'x'))
      expect([drip.status, (await jsonOf(drip)).code]).toEqual([504, 'deadline_exceeded'])
    })

    it('lets a job run longer than a request may', async () => {
      const define = (svc: Service) =>
        svc.api(
          { ...json, name: 'slow', async: true },
          () => new Promise((resolve) => setTimeout(resolve, 400, 'done')),
        )
      const { post, get } = await start(engine, define, { requestTimeoutMs: 200 })
      expect((await post('/slow', 0)).status).toBe(504)
      // Asked again where the request itself was late.
      const job = await until(async () => {
        const { status, headers } = await post('/slow', 0, { prefer: 'respond-async' })
        return status === 202 && headers.get('location')
      })
      const answer = await until(async () => {
        const result = await get(`${job}/result`)
        return result.status === 200 && result
      })
      expect(await jsonOf(answer)).toBe('done')
    })

    it('cancels a queued job at once and a running one by its signal', async () => {
      const reasons: unknown[] = []
      const define = (svc: Service) =>
        svc.api(
          { ...json, name: 'held', async: true },
          (_: unknown, ctx) =>
            new Promise((_, reject) => {
              ctx.signal.addEventListener('abort', () => {
                reasons.push((ctx.signal.reason as { code: string }).code)
                reject(ctx.signal.reason)
              })
            }),
        )
      const { submit, post, get, status, result } = await start(engine, define)
      const running = await submit('/held', 1)
      const queued = await submit('/held', 2)
      await until(async () => (await status(running)).status === 'running')
      const gone = await post(`${queued}/cancel`)
      expect([gone.status, (await jsonOf(gone)).status]).toEqual([200, 'canceled'])
      const asked = await post(`${running}/cancel`)
      expect([200, 202]).toContain(asked.status)
      const ended = await result(running)
      expect([ended.status, reasons]).toEqual([409, ['client_closed']])
      expect(await status(running)).toMatchObject({ status: 'canceled', attempt: 1 })
      expect((await post(`${running}/cancel`)).status).toBe(200)
      expect((await get(`${queued}/result`)).status).toBe(409)
    })

    it('streams status, progress and pieces, and resumes behind the last event', async () => {
      const define = (svc: Service) =>
        svc.api({ ...text, name: 'words', async: true }, async function* (value: string, ctx) {
          await ctx.job?.progress({ done: 0.5 })
          yield* value.split(' ')
        })
      const { submit, get, result } = await start(engine, define)
      const job = await submit('/words', 'one zwei\n\r三')
      const stream = await get(`${job}/events`)
      expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      const events = eventsOf(await stream.text())
      expect(events.map(({ id }) => id)).toEqual(events.map((_, i) => i + 1))
      expect(events.map(({ event, data }) => data[event])).toEqual([
        'queued',
        'running',
        { done: 0.5 },
        'onezwei\n\r三',
        'completed',
      ])
      expect(await (await result(job)).text()).toBe('onezwei\n\r三')
      const rest = await (await get(`${job}/events`, { 'last-event-id': '3' })).text()
      expect(eventsOf(rest)).toEqual(events.slice(3))
      expect((await get(`${job}/events`, { 'last-event-id': String(events.length) })).status).toBe(
        204,
      )
      expect(eventsOf(await (await get(`${job}/events`, { 'last-event-id': 'x' })).text())).toEqual(
        events,
      )
    })

    it('says something on a quiet stream of events', async () => {
      const gate = deferred<void>()
      const define = (svc: Service) =>
        svc.api({ ...json, name: 'held', async: true }, () => gate.promise.then(() => 1))
      const { submit, get } = await start(engine, define)
      const reader = (
        await get(`${await submit('/held', 0)}/events`)
      ).body?.getReader() as ReadableStreamDefaultReader
      let seen = ''
      while (!seen.includes('\n\n:\n\n'))
        seen += Buffer.from((await reader.read()).value).toString()
      gate.resolve()
      for (let next = await reader.read(); !next.done; next = await reader.read())
        seen += Buffer.from(next.value)
      expect(eventsOf(seen).at(-1)?.data.status).toBe('completed')
    })

    it('refuses progress that JSON cannot write', async () => {
      const define = (svc: Service) =>
        svc.api({ ...json, name: 'odd', async: { retries: 0 } }, async (_: unknown, ctx) => {
          await ctx.job?.progress(undefined)
        })
      const { submit, result, log } = await start(engine, define)
      expect((await result(await submit('/odd', 0))).status).toBe(500)
      expect(log()).toContain('for ctx.job.progress')
    })
  },
)
