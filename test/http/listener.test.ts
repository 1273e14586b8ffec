import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { InvalidArgument, SetupError } from '../../src/core/errors.ts'
import type { Listener, ServeOptions } from '../../src/engine/options.ts'
import { loadUws } from '../../src/engine/uws/uws-package.ts'
import { pickEngine, serve } from '../../src/server/listener.ts'
import { Service } from '../../src/service.ts'
import { engines } from './harness.ts'

const silent = pino({ level: 'silent' })
let listener: Listener | undefined
afterEach(async () => {
  await listener?.close()
  listener = undefined
})

describe('serve', () => {
  it.each<[string, object]>([
    ['baseUrl', { baseUrl: 'v1' }],
    ['baseUrl', { baseUrl: '/v1//' }],
    ['baseUrl', { baseUrl: '/v 1' }],
    ['baseUrl', { baseUrl: '/a?b' }],
    ['baseUrl', { baseUrl: 5 }],
    ['port', { port: 65536 }],
    ['port', { port: -1 }],
    ['port', { port: '3000' }],
    ['host', { host: '' }],
    ['engine', { engine: 'express' }],
    ['maxBodyBytes', { maxBodyBytes: -1 }],
    ['maxInFlight', { maxInFlight: 0 }],
    ['requestTimeoutMs', { requestTimeoutMs: 1.5 }],
    ['trustProxy', { trustProxy: 1.5 }],
    ['trustProxy', { trustProxy: 'x-real-ip:1' }],
    ['maxBodyByte', { maxBodyByte: 1 }],
  ])('refuses a wrong %s: %j', async (name, options) => {
    const error = await serve(new Service('s'), {
      logger: silent,
      ...options,
    } as ServeOptions).catch((e) => e)
    expect(error).toBeInstanceOf(InvalidArgument)
    expect(error.message).toContain(name)
  })

  it('refuses what is no Service', async () => {
    await expect(serve({} as Service)).rejects.toThrow(InvalidArgument)
    await expect(serve(undefined as never)).rejects.toThrow(InvalidArgument)
  })

  it('takes the fastest that loads, and tells the engine and the port', async () => {
    listener = await serve(new Service('s'), { port: 0, logger: silent })
    expect([listener.engine, listener.port > 0]).toEqual([engines[0], true])
  })

  it('names the reason when uWebSockets.js does not load, and falls back only when it may', async () => {
    const lines: Record<string, unknown>[] = []
    const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
    const absent = () => loadUws([])
    expect(() => pickEngine('uws', log, absent)).toThrow(
      /engine uws does not load here: no package of uWebSockets.js is installed/,
    )
    expect(lines).toEqual([])
    expect(pickEngine(undefined, log, absent).name).toBe('listenNode')
    expect(lines).toMatchObject([
      { level: 40, reason: expect.stringContaining('no package of uWebSockets.js is installed') },
    ])
  })
})

describe.each(engines)('serve on %s', (engine) => {
  it('names the port that is in use, and undoes the start', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const steps: string[] = []
    const svc = new Service('s')
    svc.onStartup(() => void steps.push('start'))
    svc.onShutdown(() => void steps.push('stop'))
    const error = await serve(svc, { port, host: '127.0.0.1', engine, logger: silent }).catch(
      (e) => e,
    )
    expect(error).toBeInstanceOf(SetupError)
    expect(error.message).toContain(String(port))
    expect(steps).toEqual(['start', 'stop'])
    await new Promise((resolve) => other.close(resolve))
  })

  it('leaves nothing open when a startup hook throws', async () => {
    const steps: string[] = []
    const svc = new Service('s')
    svc.onStartup(() => {
      throw new Error('no model')
    })
    svc.onShutdown(() => {
      steps.push('stop')
      throw new Error('nothing to stop')
    })
    await expect(serve(svc, { port: 0, engine, logger: silent })).rejects.toThrow('no model')
    expect(steps).toEqual(['stop'])
  })

  it('stops listening to its runners when it is closed, and when it does not start', async () => {
    const listeners = new Set<unknown>()
    const runner = {
      name: 'counted',
      unready: undefined,
      waiting: 0,
      start: async () => {},
      stop: async () => {},
      watch: (each: unknown) => {
        listeners.add(each)
        return () => void listeners.delete(each)
      },
    }
    const svc = new Service('s', { runners: [runner] })
    const settings = { port: 0, host: '127.0.0.1', engine, logger: silent }
    const running = await serve(svc, settings)
    expect(listeners.size).toBe(1)
    await expect(serve(svc, { ...settings, port: running.port })).rejects.toThrow(SetupError)
    expect(listeners.size).toBe(1)
    await running.close()
    expect(listeners.size).toBe(0)
  })

  it('frees its port for the next server', async () => {
    const first = await serve(new Service('s'), {
      port: 0,
      host: '127.0.0.1',
      engine,
      logger: silent,
    })
    await first.close()
    listener = await serve(new Service('s'), {
      port: first.port,
      host: '127.0.0.1',
      engine,
      logger: silent,
    })
    expect(listener.port).toBe(first.port)
  })
})
