import { describe, expect, it } from 'vitest'
import { BadInput, ClientClosed, Overloaded } from '../../src/core/errors.ts'
import { JSON as JSON_ } from '../../src/descriptors/json.ts'
import { Text } from '../../src/descriptors/text.ts'
import {
  Bytes,
  deferred,
  frame,
  framed,
  liveEngines,
  openLive,
  openRaw,
  refusal,
  start,
  turns,
} from './harness.ts'

const text = { input: new Text(), output: new Text() }

async function* echo<T>(inputs: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const input of inputs) yield input
}

async function* never(): AsyncGenerator<never> {
  await new Promise(() => {})
}

describe.each(liveEngines)('the bounds of live streams on %s', (engine) => {
  it('closes the stream of a too large message with 1009', async () => {
    const running = await start(engine, (svc) =>
      svc.live('echo', { ...text, maxMessage: 1000 }, echo),
    )
    const client = await openLive(running, '/echo', framed)
    await client.control()
    client.send('x'.repeat(1000))
    expect(await client.next()).toHaveLength(1000)
    client.send('x'.repeat(1001))
    expect(await client.control()).toMatchObject({
      $: 'error',
      status: 413,
      code: 'payload_too_large',
    })
    expect(await client.closed).toEqual({
      code: 1009,
      reason: 'expected at most 1000 bytes for a message to echo (maxMessage), received 1001',
    })
    const plain = await openLive(running, '/echo')
    plain.send('x'.repeat(2_000_000))
    expect([1009, 1006]).toContain((await plain.closed).code)
    expect(plain.received).toEqual([])
  })

  it('closes the stream of text that is no UTF-8, and aborts its function', async () => {
    const reason = deferred<Error>()
    const running = await start(engine, (svc) => {
      svc.live('echo', text, async function* (inputs, ctx) {
        ctx.signal.addEventListener('abort', () => reason.resolve(ctx.signal.reason))
        yield* inputs
      })
    })
    const raw = await openRaw(running, '/echo')
    raw.write(frame(1, Buffer.from([0xc3, 0x28])))
    await raw.closed
    expect(ClientClosed.is(await reason.promise)).toBe(true)
  })

  it('closes the stream of a wrong input with 4400, and tells where it is wrong', async () => {
    const running = await start(engine, (svc) => {
      svc.live('json', { input: new JSON_(), output: new JSON_() }, echo)
    })
    const client = await openLive(running, '/json', framed)
    await client.control()
    client.send('[1,')
    expect(await client.control()).toMatchObject({
      $: 'error',
      status: 400,
      reason: 'syntax',
      offset: 3,
    })
    expect((await client.closed).code).toBe(4400)
  })

  it('tells of errors of a function by close codes: their message below 500, never that of others', async () => {
    const running = await start(engine, (svc) => {
      const throws = (name: string, error: Error) =>
        // biome-ignore lint/correctness/useYield: it throws
        svc.live(name, text, async function* () {
          throw error
        })
      throws('bad', new BadInput('expected a word'))
      throws('busy', new Overloaded('no model is free'))
      throws('secret', new Error('the password is x'))
      throws('long', new BadInput('ä'.repeat(200)))
    })
    const end = async (path: string) => (await openLive(running, path)).closed
    expect(await end('/bad')).toEqual({ code: 4400, reason: 'expected a word' })
    expect(await end('/busy')).toEqual({ code: 1013, reason: 'no model is free' })
    expect(await end('/secret')).toEqual({ code: 1011, reason: 'function_error' })
    expect(await end('/long')).toEqual({ code: 4400, reason: 'ä'.repeat(60) })
    const client = await openLive(running, '/secret', framed)
    await client.control()
    const told = await client.control()
    expect(told).toMatchObject({ $: 'error', status: 500, code: 'function_error' })
    expect(JSON.stringify(told)).not.toContain('password')
    expect(running.log.filter(({ msg }) => msg === 'request failed').length).toBeGreaterThanOrEqual(
      2,
    )
  })

  it('reports results that the output descriptor cannot encode, and ends the function', async () => {
    const ended = deferred()
    const running = await start(engine, (svc) => {
      svc.live('wrong', text, async function* () {
        try {
          yield 7 as never
        } finally {
          ended.resolve()
        }
      })
      svc.live('none', text, (() => 'text') as never)
    })
    expect((await (await openLive(running, '/wrong')).closed).code).toBe(1011)
    await ended.promise
    expect((await (await openLive(running, '/none')).closed).code).toBe(1011)
  })

  it('lets the function wait for a client that does not read', async () => {
    const piece = new Uint8Array(64 * 1024)
    const gone = deferred()
    let yields = 0
    const running = await start(engine, (svc) => {
      const options = { input: new Bytes(), output: new Bytes(), maxBuffered: '256kb' }
      svc.live('flow', options, async function* () {
        try {
          for (; yields < 10_000; yields++) yield piece
        } finally {
          gone.resolve()
        }
      })
    })
    const raw = await running.connect()
    raw.socket.pause()
    raw.write(
      'GET /flow HTTP/1.1\r\nhost: t\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n' +
        'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
    await expect.poll(() => yields).toBeGreaterThan(3)
    let before = -1
    for (let still = 0; still < 20; still = yields === before ? still + 1 : 0) {
      before = yields
      await turns(20)
    }
    // What the kernels of both sides take is a few MiB.
    expect(yields).toBeLessThan(400)
    raw.socket.resume()
    await expect.poll(() => yields).toBeGreaterThan(before + 10)
    raw.destroy()
    await gone.promise
  })

  it('gives credit for what the function has taken, and closes a client that sends more with 1008', async () => {
    const next = deferred()
    const running = await start(engine, (svc) => {
      svc.live('slow', { ...text, maxBuffered: 1000 }, async function* (inputs) {
        let taken = 0
        for await (const each of inputs) {
          yield `took ${++taken} of ${each.length}`
          if (taken === 4) await next.promise
        }
      })
    })
    const client = await openLive(running, '/slow', framed)
    expect(await client.control()).toEqual({ $: 'credit', bytes: 1000 })
    // Each costs 100.
    for (let i = 0; i < 4; i++) client.send('x'.repeat(36))
    const messages = [
      await client.next(),
      await client.next(),
      await client.next(),
      await client.next(),
    ]
    messages.push(await client.next())
    expect(messages).toContain('{"$":"credit","bytes":300}')
    // Taken no more: 1000 may wait, and the message that goes beyond it.
    for (let i = 0; i < 10; i++) client.send('x'.repeat(36))
    client.send('x'.repeat(36))
    expect(await client.control()).toMatchObject({
      $: 'error',
      status: 429,
      code: 'too_many_requests',
    })
    expect((await client.closed).code).toBe(1008)
    next.resolve()
  })

  it('bounds what waits by number, too: a flood of empty messages', async () => {
    const running = await start(engine, (svc) =>
      svc.live('never', { ...text, maxBuffered: '64kb' }, never),
    )
    const client = await openLive(running, '/never')
    for (let i = 0; i < 1025; i++) client.send('')
    expect(await client.closed).toMatchObject({ code: 1008 })
  })

  it('bounds what waits in control messages, too', async () => {
    const running = await start(engine, (svc) =>
      svc.live('never', { ...text, maxBuffered: '64kb' }, never),
    )
    const client = await openLive(running, '/never', framed)
    await client.control()
    for (let i = 0; i < 1025; i++) client.send('{"$":"value","value":""}')
    expect(await client.closed).toMatchObject({ code: 1008 })
    // What is around the values has been given back.
    expect(client.received[0]).toMatch(/^\{"\$":"credit","bytes":\d+\}$/)
    const last = JSON.parse(String(client.received.at(-1)))
    expect(last).toMatchObject({ $: 'error', status: 429, code: 'too_many_requests' })
  })

  it('gives back all that a value in a control message cost', async () => {
    const running = await start(engine, (svc) =>
      svc.live('echo', { ...text, maxBuffered: 1000 }, echo),
    )
    const client = await openLive(running, '/echo', framed)
    const message = '{"$":"value","value":"{\\"$\\":1}"}'
    let [credit, back] = [0, 0]
    for (let sent = 0; back < 100; ) {
      for (; credit > 0 && sent < 100; sent++) {
        client.send(message)
        credit -= message.length + 64
      }
      const next = String(await client.next())
      if (next.startsWith('{"$":"credit"')) credit += JSON.parse(next).bytes
      else back++
    }
    expect(client.socket.readyState).toBe(client.socket.OPEN)
  })

  it('gives back credit for messages that the function does not want', async () => {
    const running = await start(engine, (svc) => {
      svc.live('first', { ...text, maxBuffered: 1000 }, async function* (inputs) {
        for await (const each of inputs) {
          yield each
          break
        }
        await new Promise(() => {})
      })
    })
    const client = await openLive(running, '/first', framed)
    await client.control()
    client.send('first')
    // The function takes no more then: what comes before that may be too much.
    expect(await client.next()).toBe('first')
    for (let round = 0; round < 20; round++) client.send('x'.repeat(36))
    let credit = 0
    while (credit < 1500) {
      const message = String(await client.next())
      if (message.startsWith('{"$":"credit"')) credit += JSON.parse(message).bytes
    }
    expect(client.socket.readyState).toBe(client.socket.OPEN)
  })

  it('pings a silent client, keeps one that answers, and closes one that does not with 1001', async () => {
    const running = await start(engine, (svc) =>
      svc.live('echo', { ...text, idleTimeout: '400ms' }, echo),
    )
    let pings = 0
    const alive = await openLive(running, '/echo')
    alive.socket.on('ping', () => pings++)
    const deaf = await openLive(running, '/echo', framed, { autoPong: false })
    await deaf.control()
    expect(await deaf.control()).toMatchObject({ $: 'error', code: 'client_closed' })
    expect((await deaf.closed).code).toBe(1001)
    await expect.poll(() => pings).toBeGreaterThan(4)
    alive.send('still here')
    expect(await alive.next()).toBe('still here')
  })

  it('aborts the signal and ends the generator if the client vanishes', async () => {
    const [began, aborted, ended, cleaned] = [
      deferred(),
      deferred<Error>(),
      deferred<unknown>(),
      deferred(),
    ]
    const running = await start(engine, (svc) => {
      svc.live('wait', text, async function* (inputs, ctx) {
        ctx.signal.addEventListener('abort', () => aborted.resolve(ctx.signal.reason))
        ctx.onEnd(() => cleaned.resolve())
        began.resolve()
        try {
          for await (const each of inputs) yield each
        } catch (error) {
          ended.resolve(error)
          throw error
        }
      })
    })
    const client = await openLive(running, '/wait')
    await began.promise
    client.socket.terminate()
    expect(await aborted.promise).toMatchObject({ code: 'client_closed' })
    expect(await ended.promise).toMatchObject({ code: 'client_closed' })
    await cleaned.promise
    expect(running.log.filter(({ level }) => Number(level) >= 40)).toEqual([])
  })

  it('refuses streams while it drains, then closes those that run with 1012', async () => {
    const running = await start(engine, (svc) => svc.live('echo', text, echo), {
      drainTimeoutMs: 300,
    })
    const client = await openLive(running, '/echo')
    const raw = await running.connect()
    const closing = running.listener.close()
    client.send('still served')
    expect(await client.next()).toBe('still served')
    raw.write('GET /livez HTTP/1.1\r\nhost: t\r\n\r\n')
    expect((await raw.answer()).status).toBe(200)
    expect((await refusal(running, '/echo').catch(() => ({ status: 503 }))).status).toBe(503)
    expect(await client.closed).toEqual({ code: 1012, reason: 'the server stops' })
    await closing
  })

  it('lets streams that end within the time to drain end as they would', async () => {
    const go = deferred()
    const running = await start(
      engine,
      (svc) => {
        svc.live('last', text, async function* () {
          await go.promise
          yield 'last'
        })
      },
      { drainTimeoutMs: 20_000 },
    )
    const client = await openLive(running, '/last')
    const closing = running.listener.close()
    go.resolve()
    expect(await client.next()).toBe('last')
    expect((await client.closed).code).toBe(1000)
    await closing
  })
})
