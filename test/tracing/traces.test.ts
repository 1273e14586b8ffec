import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { io, type NDArray, Runner, type Service, traceHeaders } from 'serving'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { CallRecorder } from '../../src/telemetry/calls/call-recorder.ts'
import { engines, post, start } from '../http/harness.ts'
import { GrpcClient } from '../rpc/harness.ts'
import { model } from '../runner/runner.ts'

// The real SDK of Node; only where its spans go is memory.
const spans = new InMemorySpanExporter()
let asked = 0
const counting: Sampler = {
  shouldSample() {
    asked++
    return { decision: SamplingDecision.RECORD_AND_SAMPLED }
  },
  toString: () => 'counting',
}
const sampler = new ParentBasedSampler({ root: counting, remoteParentSampled: counting })
const provider = new NodeTracerProvider({
  sampler,
  spanProcessors: [new SimpleSpanProcessor(spans)],
})
provider.register()

beforeEach(() => {
  spans.reset()
  asked = 0
})
afterAll(() => provider.shutdown())

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parent = `00-${traceId}-b7ad6b7169203331-01`
const unsampled = `00-${traceId}-b7ad6b7169203331-00`
const json = { 'content-type': 'application/json' }

/** Returns the span of that name; there must be one only. */
function span(name: string): ReadableSpan {
  const found = spans.getFinishedSpans().filter((each) => each.name === name)
  if (found.length !== 1) throw new Error(`expected a span ${name}, received ${names().join(', ')}`)
  return found[0]
}

const names = () => spans.getFinishedSpans().map(({ name }) => name)
const parentOf = (name: string) => span(name).parentSpanContext?.spanId
const idOf = (name: string) => span(name).spanContext().spanId

/** Waits until the spans of a request are there: its own ends after its answer was sent. */
async function ended(name: string, count = 1): Promise<void> {
  while (names().filter((each) => each === name).length < count) await new Promise(setImmediate)
}

function define(svc: Service): void {
  svc.api({ input: new io.JSON(), output: new io.JSON(), name: 'where' }, (_: unknown, ctx) => {
    trace.getTracer('user').startSpan('own').end()
    return { headers: traceHeaders(ctx), active: trace.getSpanContext(context.active())?.traceId }
  })
  svc.api({ input: new io.JSON(), output: new io.JSON(), name: 'fail' }, () => {
    throw new Error('no')
  })
}

const places = engines.flatMap((engine) => [
  { engine, how: '' },
  { engine, how: ', with the calls of the page', isRecorded: true },
])

/** With a recorder of calls, spans are the same. */
const startBy =
  (isRecorded: boolean) =>
  (...[engine, setUp, options, service]: Parameters<typeof start>) =>
    start(engine, setUp, options, service, isRecorded ? new CallRecorder() : undefined)

describe.each(places)('traces of the engine $engine$how', ({ engine, isRecorded = false }) => {
  const startHere = startBy(isRecorded)
  it('have a span for the request and its stages, below the one of the caller', async () => {
    const { ask, port } = await startHere(engine, define)
    expect(port).toBeGreaterThan(0)
    const answer = await ask(
      post('/where', '1', { ...json, traceparent: parent, 'user-agent': 'test' }),
    )
    await ended('POST /where')
    expect(names()).toEqual(['decode', 'own', 'function', 'encode', 'POST /where'])
    const request = span('POST /where')
    expect(request.spanContext().traceId).toBe(traceId)
    expect(request.parentSpanContext?.spanId).toBe('b7ad6b7169203331')
    expect(request.kind).toBe(SpanKind.SERVER)
    expect(request.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/where',
      'http.response.status_code': 200,
      'url.path': '/where',
      'url.scheme': 'http',
      'client.address': '127.0.0.1',
      'user_agent.original': 'test',
      'serving.api': 'where',
    })
    expect(request.status.code).toBe(SpanStatusCode.UNSET)
    for (const stage of ['decode', 'function', 'encode'])
      expect(parentOf(stage)).toBe(idOf('POST /where'))
    expect(parentOf('own')).toBe(idOf('function'))
    const { headers, active } = JSON.parse(answer.text)
    expect(headers.traceparent).toBe(`00-${traceId}-${idOf('function')}-01`)
    expect(active).toBe(traceId)
  })

  it('have all stages beside a second server in the process, which decides for its own requests alone', async () => {
    const one = await startHere(engine, define)
    const two = await startHere(engine, define, { traceSample: 0 })
    await one.ask(post('/where', '1', json))
    await ended('POST /where')
    await two.ask(post('/where', '1', json))
    await two.listener.close()
    two.forget()
    await one.ask(post('/where', '1', json))
    await ended('POST /where', 2)
    const all = ['decode', 'own', 'function', 'encode', 'POST /where']
    expect(names()).toEqual([...all, ...all])
  })

  it('are decided before the SDK is asked: by the flag of the caller, else by traceSample', async () => {
    const { ask } = await startHere(engine, define, { traceSample: 0 })
    const answer = await ask(post('/where', '1', { ...json, traceparent: unsampled }))
    // What the function does below is not recorded, either, and the trace goes on as it came.
    expect(JSON.parse(answer.text).headers.traceparent).toBe(unsampled)
    expect((await ask(post('/where', '1', json))).status).toBe(200)
    expect({ asked, names: names() }).toEqual({ asked: 0, names: [] })
    await ask(post('/where', '1', { ...json, traceparent: parent }))
    await ended('POST /where')
    expect(span('POST /where').spanContext().traceId).toBe(traceId)
  })

  it('begin anew for a traceparent that is none', async () => {
    const { ask } = await startHere(engine, define)
    for (const traceparent of ['00-0-0-01', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, 'x']) {
      spans.reset()
      await ask(post('/where', '1', { ...json, traceparent }))
      await ended('POST /where')
      expect(span('POST /where').parentSpanContext).toBeUndefined()
    }
  })

  it('say of an error from 500 up what it was, and of others their status', async () => {
    const { ask } = await startHere(engine, define)
    await ask(post('/fail', '1', json))
    await ended('POST /fail')
    const failed = span('POST /fail')
    expect(failed.status.code).toBe(SpanStatusCode.ERROR)
    expect(failed.attributes).toMatchObject({
      'http.response.status_code': 500,
      'error.type': 'function_error',
    })
    expect(span('function').status.code).toBe(SpanStatusCode.ERROR)
    spans.reset()
    await ask(post('/fail', '{', json))
    await ended('POST /fail')
    expect(span('POST /fail').status.code).toBe(SpanStatusCode.UNSET)
    expect(span('POST /fail').attributes['http.response.status_code']).toBe(400)
    expect(span('decode').status.code).toBe(SpanStatusCode.ERROR)
  })

  it('follow gRPC and Connect, with the names of RPC', async () => {
    const text = (svc: Service) =>
      void svc.api(
        { input: new io.Text(), output: new io.Text(), name: 'echo' },
        (value: string) => value,
      )
    const { ask, listener } = await startHere(engine, text, { grpcPort: 0 })
    const client = new GrpcClient(listener.grpcPort as number)
    const name = 'serving.v1.ServingService/Call'
    await client.call(
      'echo',
      { field: 'text', message: 'x' },
      { metadata: { traceparent: parent } },
    )
    await ended(name)
    const attributes = { 'rpc.method': name, 'rpc.status_code': 'OK', 'serving.api': 'echo' }
    expect(span(name).attributes).toMatchObject({ ...attributes, 'rpc.system.name': 'grpc' })
    expect(span(name).spanContext().traceId).toBe(traceId)
    expect(parentOf('function')).toBe(idOf(name))
    spans.reset()
    await client.call('missing', { field: 'text', message: 'x' })
    await ended(name)
    expect(span(name).attributes['rpc.status_code']).toBe('NOT_FOUND')
    client.close()
    spans.reset()
    await ask(post(`/${name}`, '{"apiName":"echo","text":"x"}', { ...json, traceparent: parent }))
    await ended(name)
    expect(span(name).attributes).toMatchObject({ ...attributes, 'rpc.system.name': 'connectrpc' })
    expect(span(name).spanContext().traceId).toBe(traceId)
  })
})

describe.each([false, true])('traces of a Runner, with the calls of the page: %s', (isRecorded) => {
  const startHere = startBy(isRecorded)
  const methods = { where: {}, fail: {}, rows: { batchable: true, maxBatchSize: 16 } }

  function serveModel(isolation: 'thread' | 'process', threads = 1) {
    const module = model('traced')
    const runner = new Runner<typeof import('../runner/models/traced.ts')>('m', {
      module,
      methods,
      isolation,
      threads,
    })
    const runnable = (svc: Service) => {
      svc.api({ input: new io.Text(), output: new io.Text(), name: 'where' }, (text: string, ctx) =>
        runner.where(text, ctx),
      )
      svc.api({ input: new io.Text(), output: new io.Text(), name: 'alone' }, (text: string) =>
        runner.where(text),
      )
      svc.api(
        { input: new io.Text(), output: new io.Text(), name: 'fail' },
        async (text: string, ctx) => {
          await runner.fail(text, ctx)
          return ''
        },
      )
      svc.api(
        {
          input: new io.NumpyNdarray({ dtype: 'float32' }),
          output: new io.NumpyNdarray(),
          name: 'rows',
        },
        async (x, ctx) => (await runner.rows(x, ctx)) as NDArray,
      )
    }
    return startHere('node', runnable, {}, { runners: [runner] })
  }

  it.each([
    ['thread', 1],
    ['thread', 0],
    ['process', 1],
  ] as const)('cross into a %s (%i)', async (isolation, threads) => {
    const { ask } = await serveModel(isolation, threads)
    const answer = await ask(
      post('/where', 'x', { 'content-type': 'text/plain', traceparent: parent }),
    )
    await ended('POST /where')
    expect(parentOf('m.where')).toBe(idOf('function'))
    expect(parentOf('queue')).toBe(idOf('m.where'))
    expect(parentOf('model m.where')).toBe(idOf('m.where'))
    expect(answer.text).toBe(`00-${traceId}-${idOf('model m.where')}-01`)
  })

  it('are below the function also without its ctx', async () => {
    const { ask } = await serveModel('thread')
    const answer = await ask(
      post('/alone', 'x', { 'content-type': 'text/plain', traceparent: parent }),
    )
    await ended('POST /alone')
    expect(parentOf('m.where')).toBe(idOf('function'))
    expect(answer.text).toBe(`00-${traceId}-${idOf('model m.where')}-01`)
  })

  it('are not there for a caller that is not sampled', async () => {
    const { ask } = await serveModel('thread')
    const answer = await ask(
      post('/where', 'x', { 'content-type': 'text/plain', traceparent: unsampled }),
    )
    expect({ text: answer.text, asked, names: names() }).toEqual({
      text: 'nowhere',
      asked: 0,
      names: [],
    })
  })

  it('tell of a method that fails', async () => {
    const { ask } = await serveModel('thread')
    expect((await ask(post('/fail', 'x', { 'content-type': 'text/plain' }))).status).toBe(500)
    await ended('POST /fail')
    expect(span('m.fail').status.code).toBe(SpanStatusCode.ERROR)
  })

  it('link a batch to its requests, and each of them to the batch', async () => {
    const { ask } = await serveModel('thread')
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map(() => ask(post('/rows', '[[1],[2]]', json))),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    await ended('POST /rows', 5)
    const all = spans.getFinishedSpans()
    const calls = all.filter(({ name }) => name === 'm.rows')
    const batches = all.filter(({ name }) => name === 'batch m.rows')
    expect(calls).toHaveLength(5)
    // Each call is in one batch, whatever their number is.
    const linked = batches.flatMap(({ links }) => links.map((link) => link.context.spanId))
    expect(linked.sort()).toEqual(calls.map((call) => call.spanContext().spanId).sort())
    for (const call of calls) {
      const [{ context: to }] = call.links
      expect(batches.map((batch) => batch.spanContext().spanId)).toContain(to.spanId)
    }
    const rows = batches.reduce(
      (sum, { attributes }) => sum + Number(attributes['serving.batch.rows']),
      0,
    )
    expect(rows).toBe(10)
    expect(all.filter(({ name }) => name === 'model m.rows')).toHaveLength(batches.length)
  })
})
