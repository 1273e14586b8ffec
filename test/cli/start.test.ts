/** The start of `serving serve`, before its models are loaded. */
import { spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { engines } from '../engines.ts'
import { folder, root, send, serving, until } from './process.ts'

/** Returns a port that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, () => {
      const address = server.address() as { port: number }
      server.close(() => resolve(address.port))
    })
  })
}

describe.each(engines)('a start, with the %s engine', (engine) => {
  it.each([1, 2])('of %i workers answers probes while a model loads, and refuses requests', async (workers) => {
    const start = folder({})
    const file = join(start, 'start')
    const port = await freePort()
    const service = join(root, 'test/cli/services/slow-model.service.ts')
    const args = ['serve', service, '--port', `${port}`, '--engine', engine, '--workers', `${workers}`]
    const { stdout } = serving(args, { env: { START_FILE: file } })
    await until(async () => (await send(port, '/livez')).status === 200)
    await until(async () => (await send(port, '/readyz')).body === 'starting: the runner slow is loading its model\n')
    expect((await send(port, '/readyz')).status).toBe(503)
    expect(JSON.parse((await send(port, '/v2/health/ready')).body)).toMatchObject({ ready: false })
    const refused = await fetch(`http://localhost:${port}/echo`, { method: 'POST', body: 'x' })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused.json()).toMatchObject({ code: 'overloaded' })
    expect(stdout()).toBe('')

    spawnSync('touch', [file])
    await until(async () => (await send(port, '/readyz')).status === 200)
    // From the first 200 on, no worker refuses a request.
    await until(async () => {
      expect(await send(port, '/echo', 'x')).toEqual({ status: 200, body: 'x' })
      return /^serving slow_model at /m.test(stdout())
    })
  })
})
