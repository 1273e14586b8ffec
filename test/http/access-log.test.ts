import { describe, expect, it } from 'vitest'
import { Overloaded } from '../../src/core/errors.ts'
import { GrpcClient } from '../rpc/harness.ts'
import { bytes, engines, post, type Running, start } from './harness.ts'

const define: Parameters<typeof start>[1] = (svc) => {
  svc.api({ ...bytes, name: 'echo' }, (body) => body)
  svc.api({ ...bytes, name: 'busy' }, () => {
    throw new Overloaded('no')
  })
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'
const lines = ({ log }: Running) => log.filter(({ event }) => event === 'request')

/** Waits for the lines of that many requests, which are written after their answers. */
async function untilLines(running: Running, count: number): Promise<Record<string, unknown>[]> {
  while (lines(running).length < count) await new Promise(setImmediate)
  return lines(running)
}

describe.each(engines)('the access log of the engine %s', (engine) => {
  it('has a line for each request, without headers, query and body', async () => {
    const running = await start(engine, define, { accessLog: true })
    const secret = { authorization: 'Bearer secret', traceparent, 'x-request-id': 'abc' }
    await running.ask(post('/echo?token=secret', 'secret', secret))
    const [line] = await untilLines(running, 1)
    expect(line).toEqual({
      level: 30,
      time: expect.any(Number),
      pid: process.pid,
      hostname: expect.any(String),
      event: 'request',
      method: 'POST',
      path: '/echo',
      api: 'echo',
      protocol: 'http',
      status: 200,
      ms: expect.any(Number),
      bytesIn: 6,
      bytesOut: 6,
      requestId: 'abc',
      traceId: '0af7651916cd43dd8448eb211c80319c',
      remoteAddress: '127.0.0.1',
      msg: 'POST /echo 200',
    })
    expect(JSON.stringify(running.log)).not.toContain('secret')
  })

  it('shows what was refused at level info, and no probes', async () => {
    const running = await start(engine, define, { accessLog: true, maxBodyBytes: 10 })
    await running.ask(post('/livez', '', {}, 'GET'))
    await running.ask(post('/metrics', '', {}, 'GET'))
    await running.ask(post('/nowhere'))
    await running.ask(post('/echo', 'x'.repeat(11)))
    await running.ask(post('/busy'))
    const seen = await untilLines(running, 3)
    expect(
      seen.map(({ level, path, api, status, code }) => [level, path, api, status, code]),
    ).toEqual([
      [30, '/nowhere', undefined, 404, 'not_found'],
      [30, '/echo', 'echo', 413, 'payload_too_large'],
      [30, '/busy', 'busy', 503, 'overloaded'],
    ])
  })

  it('has a share of them where that is asked for, and all answers from 500 up', async () => {
    const running = await start(engine, define, { accessLog: true, accessLogSample: 0.25 })
    for (let i = 0; i < 20; i++) await running.ask(post('/echo', 'x'))
    for (let i = 0; i < 5; i++) await running.ask(post('/busy'))
    const seen = await untilLines(running, 9)
    expect(seen.filter(({ status }) => status === 503)).toHaveLength(5)
    expect(seen.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(4)
    expect(seen.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(6)
  })

  it('has calls over gRPC', async () => {
    const running = await start(engine, define, { accessLog: true, grpcPort: 0 })
    const client = new GrpcClient(running.listener.grpcPort as number)
    await client.call('missing', { field: 'text', message: 'x' })
    client.close()
    expect(await untilLines(running, 1)).toMatchObject([
      { protocol: 'grpc', path: '/serving.v1.ServingService/Call', status: 404, code: 'not_found' },
    ])
  })

  it('is off unless asked for', async () => {
    const running = await start(engine, define)
    await running.ask(post('/echo', 'x'))
    expect(lines(running)).toEqual([])
  })
})
