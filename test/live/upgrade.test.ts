import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { apiKey } from '../../src/api/auth/index.ts'
import { Forbidden } from '../../src/core/errors.ts'
import { Text } from '../../src/descriptors/text.ts'
import type { Outcome } from '../../src/http/outcome.ts'
import type { Service } from '../../src/service.ts'
import type { Running } from '../http/harness.ts'
import {
  deferred,
  framed,
  liveEngines,
  openLive,
  refusal,
  start,
  turns,
  upgradeRequest,
} from './harness.ts'

const text = { input: new Text(), output: new Text() }

async function* echo<T>(inputs: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const input of inputs) yield input
}

async function upgradeStatus(
  running: Running,
  path: string,
  headers?: Record<string, string>,
): Promise<number> {
  const raw = await running.connect()
  raw.write(upgradeRequest(path, headers))
  await raw.until('\r\n\r\n')
  return Number(raw.received.slice(9, 12))
}

describe.each(liveEngines)('the upgrade to a live stream on %s', (engine) => {
  it('answers a GET without an upgrade with 426', async () => {
    const running = await start(engine, (svc) => svc.live('echo', text, echo))
    const {
      status,
      headers,
      text: body,
    } = await running.ask('GET /echo HTTP/1.1\r\nhost: test\r\n\r\n')
    expect(status).toBe(426)
    expect(headers.get('content-type')).toEqual(['application/problem+json'])
    expect(JSON.parse(body)).toMatchObject({ code: 'upgrade_required' })
  })

  it('leaves the POST function of the path and other paths alone', async () => {
    const running = await start(engine, (svc) => {
      svc.live('echo', text, echo)
      svc.api({ ...text, name: 'post', route: 'echo' }, (each: string) => `posted ${each}`)
    })
    expect(
      (await running.ask('POST /echo HTTP/1.1\r\nhost: test\r\ncontent-length: 1\r\n\r\nx')).text,
    ).toBe('posted x')
    expect((await refusal(running, '/other')).status).toBe(404)
  })

  it('runs auth and hooks before the answer, and refuses with their problem', async () => {
    const seen: string[] = []
    const auth = apiKey({
      keys: [{ name: 'a', hash: createHash('sha256').update('key1').digest('hex') }],
    })
    const running = await start(engine, (svc) => {
      const onRequest = (ctx: { readonly headers: { get(name: string): string | undefined } }) => {
        if (ctx.headers.get('x-team') === undefined) throw new Forbidden('expected x-team')
      }
      svc.live('echo', { ...text, auth, onRequest }, async function* (_, ctx) {
        seen.push(
          String(ctx.state.caller?.name),
          String(ctx.query.get('q')),
          String(ctx.api),
          ctx.path,
        )
        yield 'hello'
      })
    })
    const anonymous = await refusal(running, '/echo')
    expect(anonymous.status).toBe(401)
    expect(JSON.parse(anonymous.text)).toMatchObject({ code: 'unauthorized' })
    expect((await refusal(running, '/echo', { 'x-api-key': 'key1' })).status).toBe(403)
    const client = await openLive(running, '/echo?q=7', [], {
      headers: { 'x-api-key': 'key1', 'x-team': 'b' },
    })
    expect(await client.next()).toBe('hello')
    expect(seen).toEqual(['a', '7', 'echo', '/echo'])
  })

  it('waits for hooks, whose headers go with its answer', async () => {
    const running = await start(engine, (svc) => {
      svc.onRequest(async (ctx) => {
        await new Promise((resolve) => setImmediate(resolve))
        ctx.response.setHeader('x-hook', 'ran')
      })
      svc.live('echo', text, echo)
    })
    const client = await openLive(running, '/echo')
    client.send('a')
    expect(await client.next()).toBe('a')
    const raw = await running.connect()
    raw.write(upgradeRequest('/echo'))
    await raw.until('\r\n\r\n')
    expect(raw.received).toMatch(/^HTTP\/1\.1 101 /)
    expect(raw.received.toLowerCase()).toContain('x-hook: ran\r\n')
  })

  it('refuses hooks that take longer than a request may', async () => {
    const running = await start(
      engine,
      (svc) => {
        svc.onRequest(() => new Promise(() => {}))
        svc.live('echo', text, echo)
      },
      { requestTimeoutMs: 50 },
    )
    expect((await refusal(running, '/echo')).status).toBe(504)
  })

  it('does not call the function for a client that leaves while a hook runs', async () => {
    const [began, gone, released] = [deferred(), deferred<Error>(), deferred()]
    let calls = 0
    const running = await start(engine, (svc) => {
      svc.onRequest(async (ctx) => {
        ctx.signal.addEventListener('abort', () => gone.resolve(ctx.signal.reason))
        began.resolve()
        await released.promise
      })
      svc.live('echo', text, async function* () {
        calls++
        yield ''
      })
    })
    const raw = await running.connect()
    raw.write(upgradeRequest('/echo'))
    await began.promise
    raw.destroy()
    expect(await gone.promise).toMatchObject({ code: 'client_closed' })
    released.resolve()
    await running.listener.close()
    expect(calls).toBe(0)
  })

  it('refuses pages of other hosts unless the API names them', async () => {
    const running = await start(engine, (svc) => {
      svc.live('own', text, echo)
      svc.live('listed', { ...text, origins: ['https://app.example'] }, echo)
      svc.live('any', { ...text, origins: ['*'] }, echo)
    })
    const status = (path: string, origin: string) => upgradeStatus(running, path, { origin })
    expect(await status('/own', 'https://evil.example')).toBe(403)
    expect(await status('/own', 'null')).toBe(403)
    expect(await status('/own', 'http://test')).toBe(101)
    expect(await status('/listed', 'https://evil.example')).toBe(403)
    expect(await status('/listed', 'https://app.example')).toBe(101)
    expect(await status('/any', 'https://evil.example')).toBe(101)
  })

  it('refuses more streams than the server and the API may have, until one ends', async () => {
    const running = await start(
      engine,
      (svc) => {
        svc.live('one', { ...text, maxInFlight: 1 }, echo)
        svc.live('two', text, echo)
      },
      { maxLive: 2 },
    )
    const first = await openLive(running, '/one')
    const full = await refusal(running, '/one')
    expect([full.status, full.headers.get('retry-after')]).toEqual([503, ['1']])
    await openLive(running, '/two')
    expect((await refusal(running, '/two')).status).toBe(503)
    first.socket.close(1000)
    await first.closed
    await expect
      .poll(async () => (await running.ask('GET /two HTTP/1.1\r\nhost: t\r\n\r\n')).status)
      .toBe(426)
    await expect
      .poll(async () => {
        try {
          const client = await openLive(running, '/one')
          client.socket.terminate()
          return 'open'
        } catch {
          return 'refused'
        }
      })
      .toBe('open')
  })

  it('refuses more streams than the server may have, also of those that have waited for hooks', async () => {
    const gate = deferred()
    const running = await start(
      engine,
      (svc) => {
        svc.onRequest(() => gate.promise)
        svc.live('echo', text, echo)
      },
      { maxLive: 1 },
    )
    const asked = [1, 2, 3].map(() => upgradeStatus(running, '/echo'))
    await turns(100)
    gate.resolve()
    expect((await Promise.all(asked)).sort()).toEqual([101, 503, 503])
  })

  it('takes no slot of maxInFlight', async () => {
    const running = await start(
      engine,
      (svc: Service) => {
        svc.live('echo', text, echo)
        svc.api({ ...text, name: 'plain' }, (each: string) => each)
      },
      { maxInFlight: 1 },
    )
    await openLive(running, '/echo')
    await openLive(running, '/echo')
    expect(
      (await running.ask('POST /plain HTTP/1.1\r\nhost: test\r\ncontent-length: 1\r\n\r\nx'))
        .status,
    ).toBe(200)
  })

  it('tells hooks and the access log of a stream once, at its end', async () => {
    const outcomes: Outcome[] = []
    const running = await start(
      engine,
      (svc) => {
        svc.onResponse((_, outcome) => void outcomes.push(outcome))
        svc.live('echo', text, async function* (inputs) {
          for await (const each of inputs) {
            yield `${each}${each}`
            return
          }
        })
      },
      { accessLog: true },
    )
    const client = await openLive(running, '/echo', framed)
    await client.control()
    client.send('abc')
    await client.closed
    await expect.poll(() => outcomes.length).toBe(1)
    expect(outcomes[0]).toMatchObject({
      status: 101,
      error: undefined,
      endpoint: 'echo',
      bytesIn: 3,
      bytesOut: 6,
    })
    const lines = running.log.filter(({ path }) => path === '/echo')
    expect(lines).toHaveLength(1)
  })
})

describe.each(liveEngines)('the metrics of live streams on %s', (engine) => {
  it('count open streams, and messages both ways', async () => {
    const running = await start(engine, (svc) => svc.live('echo', text, echo))
    const client = await openLive(running, '/echo')
    client.send('a')
    client.send('b')
    await client.next()
    await client.next()
    const metrics = async () => (await running.ask('GET /metrics HTTP/1.1\r\nhost: t\r\n\r\n')).text
    const shown = await metrics()
    expect(shown).toContain('serving_live_streams{api="echo"} 1\n')
    expect(shown).toContain('serving_live_messages_total{api="echo",direction="in"} 2\n')
    expect(shown).toContain('serving_live_messages_total{api="echo",direction="out"} 2\n')
    client.socket.close()
    await expect.poll(metrics).toContain('serving_live_streams{api="echo"} 0\n')
  })
})
