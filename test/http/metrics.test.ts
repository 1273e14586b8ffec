import { credentials } from '@grpc/grpc-js'
import { Counter } from 'prom-client'
import { describe, expect, it } from 'vitest'
import * as io from '../../src/descriptors/index.ts'
import { samplesOf, sumOf } from '../metrics/samples.ts'
import { GrpcClient } from '../rpc/harness.ts'
import { bytes, engines, post, type Running, start } from './harness.ts'

const get = (path: string, headers: Record<string, string> = {}) => post(path, '', headers, 'GET')
const scrape = async ({ ask }: Running) => samplesOf((await ask(get('/metrics'))).text)

describe.each(engines)('metrics of the engine %s', (engine) => {
  it('count every request by API, protocol and status, and its bytes, once', async () => {
    const running = await start(engine, (svc) => {
      svc.api({ ...bytes, name: 'echo' }, (body) => body)
      svc.api({ input: new io.JSON(), output: new io.JSON(), name: 'fail' }, () => {
        throw new Error('no')
      })
    })
    for (let i = 0; i < 5; i++)
      expect((await running.ask(post('/echo', 'x'.repeat(i)))).status).toBe(200)
    const json = { 'content-type': 'application/json' }
    expect((await running.ask(post('/fail', '{}', json))).status).toBe(500)
    expect((await running.ask(post('/fail', '{', json))).status).toBe(400)
    expect((await running.ask(post('/nowhere'))).status).toBe(404)
    expect((await running.ask(get('/readyz'))).status).toBe(200)
    const samples = await scrape(running)
    const counted = [...samples].filter(([series]) => series.startsWith('serving_requests_total'))
    expect(Object.fromEntries(counted)).toEqual({
      'serving_requests_total{api="echo",transport="http",code="200"}': 5,
      'serving_requests_total{api="fail",transport="http",code="500"}': 1,
      'serving_requests_total{api="fail",transport="http",code="400"}': 1,
      'serving_requests_total{api="none",transport="http",code="404"}': 1,
      'serving_requests_total{api="/readyz",transport="http",code="200"}': 1,
    })
    const echo = '{api="echo",transport="http"}'
    expect(samples.get(`serving_request_duration_seconds_count${echo}`)).toBe(5)
    expect(
      samples.get(`serving_request_duration_seconds_bucket{le="+Inf",api="echo",transport="http"}`),
    ).toBe(5)
    expect(samples.get(`serving_request_duration_seconds_sum${echo}`)).toBeGreaterThan(0)
    expect(samples.get(`serving_request_body_bytes_total${echo}`)).toBe(10)
    expect(samples.get(`serving_response_body_bytes_total${echo}`)).toBe(10)
  })

  it('count what limits refuse, by reason, and requests in flight', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const running = await start(
      engine,
      (svc) =>
        svc.api({ ...bytes, name: 'hold' }, async (body) => {
          await held
          return body
        }),
      { maxInFlight: 1, maxBodyBytes: 10 },
    )
    const first = running.ask(post('/hold', 'a'))
    while ((await scrape(running)).get('serving_requests_in_flight') !== 1)
      await new Promise(setImmediate)
    expect((await running.ask(post('/hold', 'b'))).status).toBe(503)
    expect((await running.ask(post('/hold', 'c'.repeat(11)))).status).toBe(413)
    release()
    await first
    const samples = await scrape(running)
    expect(samples.get('serving_rejected_total{reason="in_flight"}')).toBe(1)
    expect(samples.get('serving_rejected_total{reason="payload_too_large"}')).toBe(1)
    expect(samples.get('serving_requests_in_flight')).toBe(0)
  })

  it('count Connect and gRPC as protocols of their own', async () => {
    const running = await start(
      engine,
      (svc) =>
        svc.api(
          { input: new io.Text(), output: new io.Text(), name: 'echo' },
          (text: string) => text,
        ),
      { grpcPort: 0 },
    )
    const client = new GrpcClient(
      running.listener.grpcPort as number,
      undefined,
      credentials.createInsecure(),
    )
    await client.call('echo', { field: 'text', message: 'hi' })
    await client.call('missing', { field: 'text', message: 'hi' })
    client.close()
    const path = '/serving.v1.ServingService/Call'
    const json = { 'content-type': 'application/json' }
    expect((await running.ask(post(path, '{"apiName":"echo","text":"hi"}', json))).status).toBe(200)
    const samples = await scrape(running)
    expect(samples.get('serving_requests_total{api="echo",transport="grpc",code="OK"}')).toBe(1)
    expect(sumOf(samples, 'serving_requests_total', 'transport="grpc"', 'code="NOT_FOUND"')).toBe(1)
    expect(samples.get('serving_requests_total{api="echo",transport="connect",code="200"}')).toBe(1)
  })

  it('are there in both formats, with those of the process and of the application', async () => {
    const own = new Counter({ name: `own_things_total_${engine}`, help: 'Things.' })
    own.inc(3)
    const running = await start(engine, (svc) =>
      svc.api({ ...bytes, name: 'echo' }, (body) => body),
    )
    await running.ask(post('/echo', 'x'))
    const plain = await running.ask(get('/metrics'))
    expect(plain.headers.get('content-type')).toEqual(['text/plain; version=0.0.4; charset=utf-8'])
    for (const name of [
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_heap_size_used_bytes',
      'nodejs_external_memory_bytes',
      'process_cpu_seconds_total',
      `own_things_total_${engine} 3`,
      '# TYPE nodejs_gc_duration_seconds histogram',
      'serving_build_info{version="',
    ]) {
      expect(plain.text).toContain(name)
    }
    // As Prometheus 2 asks.
    const accept =
      'application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.3,*/*;q=0.1'
    const open = await running.ask(get('/metrics', { accept }))
    expect(open.headers.get('content-type')).toEqual([
      'application/openmetrics-text; version=1.0.0; charset=utf-8',
    ])
    expect(open.text).toContain('# TYPE serving_requests counter\n')
    expect(open.text).toContain(
      'serving_requests_total{api="echo",transport="http",code="200"} 1\n',
    )
    expect(open.text).not.toContain('_total_total')
    expect(open.text.endsWith('# EOF\n')).toBe(true)
  })

  it('tell how late the event loop is, without the interval at which that is sampled', async () => {
    const running = await start(engine, (svc) =>
      svc.api({ ...bytes, name: 'echo' }, (body) => body),
    )
    await scrape(running)
    await new Promise((resolve) => setTimeout(resolve, 500))
    const samples = await scrape(running)
    // The interval is 0.1 seconds.
    expect(samples.get('nodejs_eventloop_lag_min_seconds')).toBeLessThan(0.1)
    // Twice within an interval: nothing was measured between.
    expect((await scrape(running)).get('nodejs_eventloop_lag_min_seconds') ?? 0).toBeLessThan(1)
  })

  it('have a port of their own, alone where that is asked for, or are off', async () => {
    const define: Parameters<typeof start>[1] = (svc) =>
      svc.api({ ...bytes, name: 'echo' }, (body) => body)
    const alone = await start(engine, define, { metrics: false, metricsPort: 0 })
    await alone.ask(post('/echo', 'x'))
    expect((await alone.ask(get('/metrics'))).status).toBe(404)
    const url = `http://127.0.0.1:${alone.listener.metricsPort}`
    const text = await (await fetch(`${url}/metrics`)).text()
    expect(
      samplesOf(text).get('serving_requests_total{api="echo",transport="http",code="200"}'),
    ).toBe(1)
    expect((await fetch(`${url}/echo`)).status).toBe(404)
    const off = await start(engine, define, { metrics: false })
    expect((await off.ask(get('/metrics'))).status).toBe(404)
    expect(await off.listener.collectMetrics()).toEqual([])
  })
})
