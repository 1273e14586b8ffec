/** The names in Host that a server answers: pages may let any other name stand for its address (DNS rebinding). */
import { describe, expect, it } from 'vitest'
import { Text } from '../../src/descriptors/text.ts'
import { upgradeText } from '../live/frames.ts'
import { bothEngines, post, start } from './harness.ts'

const text = { input: new Text(), output: new Text() }

describe.each(bothEngines)('hosts on %s', (engine) => {
  const open = (allowedHosts?: string) =>
    start(
      engine,
      (svc) => {
        svc.api({ ...text, name: 'echo' }, (value) => value)
        svc.live('talk', text, async function* (values) {
          yield* values
        })
        svc.mount('/app', () => new Response('mounted'))
      },
      allowedHosts === undefined ? {} : { allowedHosts },
    )

  it('are localhost, addresses and the names of allowedHosts', async () => {
    const server = await open('shop.example, b.example')
    const statusOf = async (request: string) => (await server.ask(request)).status
    for (const host of [
      'shop.example',
      'SHOP.example:8080',
      'b.example',
      'localhost',
      'a.localhost:1',
      '10.0.0.7:80',
      '[::1]',
    ])
      expect([host, await statusOf(post('/echo', 'x', { host }))]).toEqual([host, 200])
    for (const host of [
      'evil.example',
      'xshop.example',
      'shop.example.evil.example',
      'localhost.evil.example',
      '10.0.0.7.evil',
    ]) {
      expect([host, await statusOf(post('/echo', 'x', { host }))]).toEqual([host, 403])
      expect(await statusOf(`GET /app HTTP/1.1\r\nhost: ${host}\r\n\r\n`)).toBe(403)
      expect(await statusOf(upgradeText('/talk', { host, origin: `http://${host}` }))).toBe(403)
      expect(await statusOf(`GET /docs HTTP/1.1\r\nhost: ${host}\r\n\r\n`)).toBe(403)
      // A probe asks by the name that its orchestrator has.
      expect(await statusOf(`GET /livez HTTP/1.1\r\nhost: ${host}\r\n\r\n`)).toBe(200)
    }
  })

  it('are any by default', async () => {
    expect((await (await open()).ask(post('/echo', 'x', { host: 'any.example' }))).status).toBe(200)
  })

  it('are names without ports', async () => {
    for (const wrong of ['', 'a,', 'a:80', 'http://a'])
      await expect(open(wrong)).rejects.toThrow(/allowedHosts/)
  })
})
