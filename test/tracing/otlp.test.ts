import { pino } from 'pino'
import { Service } from 'serving'
import { describe, expect, it } from 'vitest'
import { serve } from '../../src/server/listener.ts'
import { isSdkRegistered } from '../../src/telemetry/tracing/otel-tracer.ts'

const options = {
  port: 0,
  host: '127.0.0.1',
  otlpEndpoint: 'http://127.0.0.1:9',
  logger: pino({ level: 'silent' }),
} as const

describe('an SDK for otlpEndpoint', () => {
  it.each([
    ['tlsCert', { tlsCert: '/nowhere/cert.pem', tlsKey: '/nowhere/key.pem' }],
    ['corsOrigin', { corsOrigin: 'no origin' }],
  ])('is not left registered by a start that fails for its %s', async (_, wrong) => {
    await expect(serve(new Service('s'), { ...options, ...wrong })).rejects.toThrow()
    expect(isSdkRegistered()).toBe(false)
  })

  it('is registered while the server runs, also the second time', async () => {
    for (let i = 0; i < 2; i++) {
      const listener = await serve(new Service('s'), options)
      expect(isSdkRegistered()).toBe(true)
      await listener.close()
      expect(isSdkRegistered()).toBe(false)
    }
  })
})
