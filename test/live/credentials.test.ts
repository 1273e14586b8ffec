import { createHash } from 'node:crypto'
import { apiKey } from 'serving/auth'
import { describe, expect, it } from 'vitest'
import { JSON as JSON_ } from '../../src/descriptors/json.ts'
import { Text } from '../../src/descriptors/text.ts'
import type { Context } from '../../src/http/context.ts'
import { framed, liveEngines, openLive, refusal, start } from './harness.ts'

const base64url = (text: string) => Buffer.from(text).toString('base64url')

/** Yields what the function sees of the headers. */
async function* seen(_: unknown, { headers }: Context) {
  yield Object.fromEntries(
    [...headers].filter(([name]) => /protocol|key$|authorization/.test(name)).sort(),
  )
}

const options = { input: new Text(), output: new JSON_() }
const key = 'sec-websocket-key'

describe.each(liveEngines)('credentials as subprotocols on %s', (engine) => {
  const serve = () => start(engine, (svc) => svc.live('seen', options, seen))

  async function headersOf(protocols: string[], headers: Record<string, string> = {}) {
    const client = await openLive(await serve(), '/seen', protocols, { headers })
    await client.control()
    const { [key]: _, ...others } = await client.control()
    return { protocol: client.socket.protocol, others }
  }

  it('become headers, and are neither seen by functions nor sent back', async () => {
    const { protocol, others } = await headersOf([
      framed,
      `serving.bearer.${base64url('a.b-c')}`,
      `serving.key.${base64url('k?')}`,
    ])
    expect(protocol).toBe(framed)
    expect(others).toEqual({
      authorization: 'Bearer a.b-c',
      'sec-websocket-protocol': framed,
      'x-api-key': 'k?',
    })
  })

  it('do not replace the headers that a client or its proxy has sent', async () => {
    const offered = [framed, `serving.bearer.${base64url('other')}`]
    const { others } = await headersOf(offered, { authorization: 'Bearer own' })
    expect(others).toEqual({ authorization: 'Bearer own', 'sec-websocket-protocol': framed })
  })

  it.each(['a\r\nx-api-key: b', 'a b', 'ü', ''])(
    'are left out if no header can have them: %j',
    async (secret) => {
      const { others } = await headersOf([
        framed,
        `serving.bearer.${base64url(secret)}`.replace(/\.$/, '.-'),
      ])
      expect(others).toEqual({ 'sec-websocket-protocol': framed })
    },
  )

  it('open what a hook guards, which is closed without them', async () => {
    const running = await start(engine, (svc) => {
      svc.live(
        'seen',
        {
          ...options,
          auth: apiKey({ keys: [createHash('sha256').update('secret').digest('hex')] }),
        },
        seen,
      )
    })
    expect((await refusal(running, '/seen')).status).toBe(401)
    const wrong = { 'sec-websocket-protocol': `${framed}, serving.key.${base64url('wrong')}` }
    expect((await refusal(running, '/seen', wrong)).status).toBe(401)
    const client = await openLive(running, '/seen', [framed, `serving.key.${base64url('secret')}`])
    expect(await client.control()).toMatchObject({ $: 'credit' })
  })
})
