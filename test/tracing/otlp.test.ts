import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { io, Service, traceHeaders } from 'serving'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serve } from '../../src/server/listener.ts'
import { registeredProvider } from '../../src/telemetry/tracing/otel-tracer.ts'

const options = {
  port: 0,
  host: '127.0.0.1',
  otlpEndpoint: 'http://127.0.0.1:9',
  logger: pino({ level: 'silent' }),
} as const

interface Received {
  readonly resourceSpans: readonly {
    readonly resource: {
      readonly attributes: readonly { readonly key: string; readonly value: object }[]
    }
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly name: string
        readonly spanId: string
        readonly traceId: string
      }[]
    }[]
  }[]
}

/** Returns the URL of a collector, and `service: span` of all that it has received. */
async function collector() {
  const received: Received[] = []
  const server = createServer((req, res) => {
    const pieces: Buffer[] = []
    req.on('data', (piece: Buffer) => pieces.push(piece))
    req.on('end', () => {
      received.push(JSON.parse(Buffer.concat(pieces).toString()))
      res.end('{}')
    })
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const spans = () =>
    received
      .flatMap(({ resourceSpans }) => resourceSpans)
      .flatMap(({ resource, scopeSpans }) => {
        const name = resource.attributes.find(({ key }) => key === 'service.name')?.value
        return scopeSpans.flatMap((scope) =>
          scope.spans.map((span) => ({ service: Object.values(name ?? {})[0], ...span })),
        )
      })
  return {
    otlpEndpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    names: () => spans().map(({ service, name }) => `${service}: ${name}`),
  }
}

const stages = ['decode', 'function', 'encode', 'POST /where']

describe('an SDK for otlpEndpoint', () => {
  it.each([
    ['tlsCert', { tlsCert: '/nowhere/cert.pem', tlsKey: '/nowhere/key.pem' }],
    ['corsOrigin', { corsOrigin: 'no origin' }],
  ])('is not left registered by a start that fails for its %s', async (_, wrong) => {
    await expect(serve(new Service('s'), { ...options, ...wrong })).rejects.toThrow()
    expect(registeredProvider()).toBeUndefined()
  })

  it('is registered while the server runs, also the second time', async () => {
    for (let i = 0; i < 2; i++) {
      const listener = await serve(new Service('s'), options)
      expect(registeredProvider()).toBeDefined()
      await listener.close()
      expect(registeredProvider()).toBeUndefined()
    }
  })

  it('is one for each server of a process, also when the first one has ended', async () => {
    const collectors = [await collector(), await collector()]
    const [one, two] = await Promise.all(
      collectors.map(({ otlpEndpoint }, i) => {
        const svc = new Service(`service-${i}`)
        svc.api(
          { input: new io.Text(), output: new io.Text(), name: 'where' },
          (_, ctx) => traceHeaders(ctx).traceparent,
        )
        return serve(svc, { ...options, otlpEndpoint })
      }),
    )
    const where = async ({ port }: { readonly port: number }) =>
      await (await fetch(`http://127.0.0.1:${port}/where`, { method: 'POST', body: 'x' })).text()
    await where(one)
    await where(two)
    await one.close()
    expect(collectors[0].names()).toEqual(stages.map((name) => `service-0: ${name}`))
    const traceparent = await where(two)
    await two.close()
    expect(collectors[0].names()).toHaveLength(stages.length)
    expect(collectors[1].names()).toEqual(
      [...stages, ...stages].map((name) => `service-1: ${name}`),
    )
    // What the function calls goes on below its span: that of this server's own SDK.
    const [, last] = collectors[1].spans().filter(({ name }) => name === 'function')
    expect(traceparent).toBe(`00-${last.traceId}-${last.spanId}-01`)
    expect(registeredProvider()).toBeUndefined()
  })
})
