import { describe, expect, it } from 'vitest'
import { Text } from '../../src/descriptors/text.ts'
import type { Service } from '../../src/service.ts'
import { liveEngines, post, refusal, start, upgradeRequest } from './harness.ts'

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
    const h2c = { upgrade: 'h2c', connection: 'Upgrade, HTTP2-Settings', 'http2-settings': 'AAMAAABkAAQAAP__' }
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

  it('are refused where only a WebSocket is opened', async () => {
    const running = await start(engine, services)
    expect((await refusal(running, '/echo', { upgrade: 'h2c', 'sec-websocket-key': '' })).status).toBe(426)
    expect((await refusal(running, '/echo', { 'sec-websocket-key': 'short' })).status).toBe(426)
  })

  it('are refused where no live stream is', async () => {
    const running = await start(engine, services)
    expect((await running.ask(upgradeRequest('/nothing'))).status).toBe(404)
    expect((await running.ask(upgradeRequest('/upper'))).status).toBe(405)
  })
})
