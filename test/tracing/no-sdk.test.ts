import { Context, HeaderList, traceHeaders } from 'serving'
import { describe, expect, it } from 'vitest'
import { sampleShare } from '../../src/telemetry/tracing/otel-tracer.ts'
import { formatTraceparent, parseTraceparent } from '../../src/telemetry/tracing/traceparent.ts'
import { bytes, post, start } from '../http/harness.ts'

const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe('without an SDK', () => {
  it('nothing is traced, and headers of a trace are passed on as they came', async () => {
    const traces: unknown[] = []
    const { ask } = await start('node', (svc) =>
      svc.api({ ...bytes, name: 'echo' }, (body, ctx) => {
        traces.push(ctx.trace)
        return body
      }),
    )
    expect((await ask(post('/echo', 'x', { traceparent: parent }))).status).toBe(200)
    expect(traces).toEqual([undefined])
    const ctx = new Context({
      headers: HeaderList.from({ traceparent: parent, tracestate: 'a=b', other: 'x' }),
    })
    expect(traceHeaders(ctx)).toEqual({ traceparent: parent, tracestate: 'a=b' })
  })
})

describe('traceparent', () => {
  it.each([
    [parent, true],
    [parent.replace(/01$/, '00'), false],
    [parent.replace(/01$/, '03'), true],
    [parent.replace(/^00/, '01'), true],
    [`${parent.replace(/^00/, 'cc')}-what-comes`, true],
  ])('%s is read', (header, sampled) => {
    expect(parseTraceparent(header)).toEqual({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      sampled,
    })
  })

  it.each([
    '',
    parent.toUpperCase(),
    parent.replace(/^00/, 'ff'),
    `${parent}-more`,
    parent.replace(/-b7ad6b7169203331-/, `-${'0'.repeat(16)}-`),
    parent.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32)),
    parent.slice(1),
  ])('"%s" is none', (header) => {
    expect(parseTraceparent(header)).toBeUndefined()
  })

  it('is written as it is read', () => {
    expect(
      formatTraceparent(
        parseTraceparent(parent) as NonNullable<ReturnType<typeof parseTraceparent>>,
      ),
    ).toBe(parent)
  })
})

describe("the share of OpenTelemetry's variables", () => {
  it.each([
    [{}, 1],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' }, 0.25],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '7' }, 1],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, 0],
    [{ OTEL_TRACES_SAMPLER: 'always_on', OTEL_TRACES_SAMPLER_ARG: '0.1' }, 1],
  ])('%j is %d', (environment, share) => {
    expect(sampleShare(environment)).toBe(share)
  })
})
