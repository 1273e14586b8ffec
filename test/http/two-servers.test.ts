import { describe, expect, it } from 'vitest'
import { io, type Service } from '../../src/index.ts'
import { samplesOf, sumOf } from '../metrics/samples.ts'
import { engines, post, start, until } from './harness.ts'

const array = { input: new io.NumpyNdarray(), output: new io.NumpyNdarray() }
const define = (svc: Service) => {
  svc.api({ ...array, name: 'same' }, (x) => x)
}
const infer = JSON.stringify({
  inputs: [{ name: 'input', datatype: 'FP32', shape: [1], data: [1] }],
})

describe.each(engines)('two servers in one process on %s', (engine) => {
  it('count their own requests and models, also when one has closed', async () => {
    const one = await start(engine, define)
    const two = await start(engine, define)
    const counts = async (server: typeof one) => {
      const samples = samplesOf((await server.ask(post('/metrics', '', {}, 'GET'))).text)
      const { text } = await server.ask(post('/v2/models/same/stats', '', {}, 'GET'))
      const { model_stats } = JSON.parse(text)
      const requests = sumOf(samples, 'serving_requests_total', 'code="200"', 'api="same"')
      return [requests, model_stats[0].inference_stats.success.count]
    }
    for (let i = 0; i < 3; i++) {
      expect(
        (await one.ask(post('/same', '[1]', { 'content-type': 'application/json' }))).status,
      ).toBe(200)
      expect((await one.ask(post('/v2/models/same/infer', infer))).status).toBe(200)
    }
    expect((await two.ask(post('/v2/models/same/infer', infer))).status).toBe(200)
    expect([await counts(one), await counts(two)]).toEqual([
      [6, 3],
      [1, 1],
    ])
    await two.listener.close()
    two.forget()
    expect(await counts(one)).toEqual([6, 3])
  })

  it('keep answers apart, and do not see what inject computes', async () => {
    let computed = 0
    const services: Service[] = []
    const cached = (svc: Service) => {
      services.push(svc)
      svc.api(
        { input: new io.Text(), output: new io.Text(), name: 'count', cache: { ttl: '1h' } },
        () => String(++computed),
      )
    }
    const servers = [await start(engine, cached), await start(engine, cached)]
    const headers = { 'content-type': 'text/plain' }
    await services[0].inject({ path: '/count', headers, body: Buffer.from('a') })
    const answers = []
    for (const server of [...servers, ...servers])
      answers.push((await server.ask(post('/count', 'a', headers))).text)
    expect(answers).toEqual(['2', '3', '2', '3'])
  })

  it('refuse, log and drain each by itself, and their ids tell nothing of one another', async () => {
    const ends: (() => void)[] = []
    const waiting = (svc: Service) => {
      svc.api(
        { ...array, name: 'wait' },
        (x) => new Promise((resolve) => ends.push(() => resolve(x))),
      )
    }
    const one = await start(engine, waiting, {
      maxInFlight: 1,
      accessLog: true,
      drainTimeoutMs: 10_000,
    })
    const two = await start(engine, waiting, { maxInFlight: 1, accessLog: true })
    const wait = post('/wait', '[1]', { 'content-type': 'application/json' })
    const first = one.ask(wait)
    await until(() => ends.length === 1)
    const refused = await one.ask(wait)
    expect(refused.status).toBe(503)
    const second = two.ask(wait)
    await until(() => ends.length === 2)
    const closed = one.listener.close()
    one.forget()
    expect((await two.ask(post('/readyz', '', {}, 'GET'))).status).toBe(200)
    for (const end of ends) end()
    expect([(await first).status, (await second).status]).toEqual([200, 200])
    await closed
    const statuses = ({ log }: typeof one) =>
      log.flatMap(({ event, status }) => (event === 'request' ? [status] : []))
    expect([statuses(one).sort(), statuses(two)]).toEqual([[200, 503], [200]])
    const ids = [refused, await two.ask(post('/nowhere', '', {}, 'GET'))].map(
      ({ text }) => JSON.parse(text).requestId,
    )
    expect(ids[0].slice(0, 16)).not.toBe(ids[1].slice(0, 16))
  })
})
