import { describe, expect, it } from 'vitest'
import { Text } from '../../src/descriptors/text.ts'
import type { Service } from '../../src/service.ts'
import {
  deferred,
  frame,
  liveEngines,
  post,
  refusal,
  start,
  turns,
  upgradeRequest,
} from './harness.ts'

const text = { input: new Text(), output: new Text() }

const services = (svc: Service) => {
  svc.api({ ...text, name: 'upper' }, (value) => value.toUpperCase())
  svc.live('echo', text, async function* (inputs) {
    yield* inputs
  })
}

describe.each(liveEngines)('requests for other upgrades on %s', (engine) => {
  it('are answered as if they asked for none, over the same connection', async () => {
    const running = await start(engine, services)
    const client = await running.connect()
    const h2c = {
      upgrade: 'h2c',
      connection: 'Upgrade, HTTP2-Settings',
      'http2-settings': 'AAMAAABkAAQAAP__',
    }
    const type = { 'content-type': 'text/plain' }
    for (const body of ['one', 'x'.repeat(200_000), 'three']) {
      const request = post('/upper', body, { ...type, ...h2c })
      // The end of a body comes later than what Node has read with the headers.
      await client.writeAlone(request.slice(0, -2))
      client.write(request.slice(-2))
      const answer = await client.answer()
      expect([answer.status, answer.body.toString()]).toEqual([200, body.toUpperCase()])
    }
  })

  it('are answered one after the other if they come at once', async () => {
    const running = await start(engine, services)
    const client = await running.connect()
    const h2c = {
      upgrade: 'h2c',
      connection: 'Upgrade, HTTP2-Settings',
      'http2-settings': 'AAMAAABkAAQAAP__',
    }
    const request = (i: number) =>
      post(i === 3 ? '/nothing' : '/upper', `body ${i}`, { 'content-type': 'text/plain', ...h2c })
    const all = Array.from({ length: 40 }, (_, i) => request(i))
    client.write(all.join(''))
    for (let i = 0; i < all.length; i++) {
      const answer = await client.answer()
      expect([answer.status, answer.text].slice(0, i === 3 ? 1 : 2)).toEqual(
        i === 3 ? [404] : [200, `BODY ${i}`],
      )
    }
    client.write(post('/upper', 'last', { 'content-type': 'text/plain' }))
    expect((await client.answer()).text).toBe('LAST')
  })

  it('open a live stream behind the answers to earlier requests', async () => {
    const go = deferred()
    const running = await start(engine, (svc) => {
      services(svc)
      svc.api({ ...text, name: 'slow' }, async (value) => {
        await go.promise
        return value
      })
    })
    const client = await running.connect()
    // uWebSockets.js closes connections that ask behind a request that waits.
    client.write(
      post(engine === 'uws' ? '/upper' : '/slow', 'first', { 'content-type': 'text/plain' }) +
        upgradeRequest('/echo'),
    )
    await turns(20)
    go.resolve()
    await client.until('101 Switching Protocols')
    expect(client.received).toMatch(/^HTTP\/1.1 200 OK.*first.*101 Switching/is)
    client.write(frame(1, 'hello'))
    await client.until('hello')
  })

  it('are refused where only a WebSocket is opened', async () => {
    const running = await start(engine, services)
    expect(
      (await refusal(running, '/echo', { upgrade: 'h2c', 'sec-websocket-key': '' })).status,
    ).toBe(426)
    expect((await refusal(running, '/echo', { 'sec-websocket-key': 'short' })).status).toBe(426)
  })

  it('are refused where no live stream is', async () => {
    const running = await start(engine, services)
    expect((await running.ask(upgradeRequest('/nothing'))).status).toBe(404)
    expect((await running.ask(upgradeRequest('/upper'))).status).toBe(405)
  })
})
