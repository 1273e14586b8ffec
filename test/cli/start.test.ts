/** The start of `serving serve`, before its models are loaded. */
import { spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { workerNodeOptions } from '../../src/server/workers/worker-options.ts'
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
  it.each([1, 2])(
    'of %i workers answers probes while a model loads, and refuses requests',
    async (workers) => {
      const start = folder({})
      const file = join(start, 'start')
      const port = await freePort()
      const service = join(root, 'test/cli/services/slow-model.service.ts')
      const args = [
        'serve',
        service,
        '--port',
        `${port}`,
        '--engine',
        engine,
        '--workers',
        `${workers}`,
      ]
      const { stdout } = serving(args, { env: { START_FILE: file } })
      await until(async () => (await send(port, '/livez')).status === 200)
      await until(
        async () =>
          (await send(port, '/readyz')).body === 'starting: the runner slow is loading its model\n',
      )
      expect((await send(port, '/readyz')).status).toBe(503)
      expect(JSON.parse((await send(port, '/v2/health/ready')).body)).toMatchObject({
        ready: false,
      })
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
    },
  )
})

it('workers free the memory of buffers with young objects, not by collecting the whole heap', () => {
  // V8 allows as much memory of buffers as it has objects, so that a small heap would be collected now and then.
  const program = `
    import { PerformanceObserver } from 'node:perf_hooks'
    const kept = Array.from({ length: 500_000 }, (_, i) => ({ i, text: String(i) }))
    await new Promise((resolve) => setTimeout(resolve, 50))
    let whole = 0
    new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries()) if (detail.kind === 4) whole++
    }).observe({ entryTypes: ['gc'] })
    for (let i = 0; i < 2000; i++) {
      Buffer.allocUnsafeSlow(2 ** 20)[0] = kept.length
      if (i % 4 === 0) await new Promise(setImmediate)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
    console.log(whole)
  `
  const args = [...workerNodeOptions, '--input-type=module', '--eval', program]
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(Number(stdout)).toBeLessThan(3)
})
