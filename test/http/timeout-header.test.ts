/** The time that a client gives its request by `grpc-timeout`. */
import { io, type ServeOptions, Service } from 'serving'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bothEngines } from '../engines.ts'
import { start } from '../rpc/harness.ts'

const json = { input: new io.JSON(), output: new io.JSON() }

function service(): Service {
  const svc = new Service('timed', { mcp: true })
  svc.api({ ...json, name: 'left' }, (_, ctx) => (ctx.deadlineMs ?? Infinity) - Date.now())
  svc.get(
    '/left',
    { output: new io.JSON(), name: 'get_left' },
    (_, ctx) => (ctx.deadlineMs ?? Infinity) - Date.now(),
  )
  // It reads no header itself.
  svc.api({ ...json, name: 'never' }, (_value) => new Promise<null>(() => {}))
  svc.api(
    { input: new io.NumpyNdarray({ shape: [-1] }), output: new io.NumpyNdarray(), name: 'same' },
    (x) => x,
  )
  return svc
}

describe.each(bothEngines)('grpc-timeout on %s', (engine) => {
  async function open(options: ServeOptions = {}) {
    const listener = await start(service(), { engine, ...options })
    onTestFinished(() => listener.close())
    return (path: string, timeout: string, init: RequestInit = { method: 'POST', body: '1' }) =>
      fetch(`http://127.0.0.1:${listener.port}${path}`, {
        ...init,
        headers: { 'content-type': 'application/json', 'grpc-timeout': timeout },
      })
  }

  it('reaches functions, within the bound of the server', async () => {
    const ask = await open({ requestTimeoutMs: 30_000 })
    const left = async (timeout: string, init?: RequestInit) =>
      Number(await (await ask('/left', timeout, init)).text())
    for (const timeout of ['20S', '20000m', '20000000u']) {
      expect(await left(timeout)).toBeGreaterThan(10_000)
      expect(await left(timeout)).toBeLessThanOrEqual(20_000)
    }
    expect(await left('20S', { method: 'GET' })).toBeLessThanOrEqual(20_000)
    expect(await left('8H')).toBeGreaterThan(20_000)
    expect(await left('8H')).toBeLessThanOrEqual(30_000)
  })

  it('ends a function that takes longer', async () => {
    const ask = await open({ requestTimeoutMs: 0 })
    const late = await ask('/never', '50m')
    expect([late.status, ((await late.json()) as { code: string }).code]).toEqual([
      504,
      'deadline_exceeded',
    ])
  })

  it('is refused in the form of each protocol if it is no time', async () => {
    const ask = await open()
    for (const timeout of ['soon', '1', '-1S', '1s', '123456789m', '1.5S', '1S, 2S']) {
      const refused = await ask('/left', timeout)
      expect([refused.status, await refused.json()]).toEqual([
        400,
        expect.objectContaining({
          detail: expect.stringContaining('a unit, as 2500m or 2S, for grpc-timeout'),
        }),
      ])
    }
    const model = await ask('/v2/models/same/infer', 'soon')
    expect([model.status, await model.json()]).toEqual([
      400,
      expect.objectContaining({ error: expect.stringContaining('grpc-timeout') }),
    ])
    expect(await (await ask('/mcp', 'soon')).json()).toMatchObject({ jsonrpc: '2.0', error: {} })
    expect((await ask('/livez', 'soon', { method: 'GET' })).status).toBe(200)
  })
})
