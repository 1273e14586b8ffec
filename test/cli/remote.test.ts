import dns from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { NDArray, Runner } from 'serving'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Running, root, serving, until } from './process.ts'

const rows = new NDArray(Float32Array.of(1, 2), [1, 2])
const hosts = ['127.0.0.1', '127.0.0.2'] as const

/** Starts a server of the test's models on an address, and resolves with its ports. */
async function backend(
  host: string,
  ports: readonly number[] = [0, 0],
): Promise<Running & { ports: number[] }> {
  const file = join(root, 'test/oip/python/apis.service.ts')
  const at = ['--host', host, '--port', String(ports[0]), '--grpc-port', String(ports[1])]
  const running = serving(['serve', file, '--workers', '1', ...at])
  const found = await until(() => {
    if (running.child.exitCode !== null)
      throw new Error(`ended before it was ready: ${running.stderr()}`)
    const http = /at http:\/\/\S*?:(\d+)(?:\s|$)/m.exec(running.stdout())
    const grpc = /gRPC at \S*?:(\d+)(?:\s|$)/m.exec(running.stdout())
    return http && grpc ? [Number(http[1]), Number(grpc[1])] : undefined
  })
  return { ...running, ports: found }
}

async function callsOf(host: string, port: number): Promise<number> {
  const answer = await fetch(`http://${host}:${port}/v2/models/double/stats`)
  const { model_stats } = (await answer.json()) as { model_stats: { execution_count: number }[] }
  return model_stats[0].execution_count
}

// No other system has more than one address of its own without being told so.
describe.skipIf(process.platform !== 'linux')('two servers behind one name', () => {
  const { lookup } = dns
  const setLookup = (own: unknown) => {
    Object.assign(dns, { lookup: own })
    syncBuiltinESMExports()
  }
  // A name server's answer: no name of the system has two addresses.
  beforeAll(() => {
    setLookup((name: string, options: object) =>
      name === 'models.test'
        ? hosts.map((address) => ({ address, family: 4 }))
        : lookup(name, options),
    )
  })
  afterAll(() => setLookup(lookup))

  it('share the calls, and lose none when one of them is killed', {
    timeout: 120_000,
  }, async () => {
    const first = await backend(hosts[0])
    await backend(hosts[1], first.ports)
    const counts = () => Promise.all(hosts.map((host) => callsOf(host, first.ports[0])))
    const runners = [
      `http://models.test:${first.ports[0]}`,
      `grpc://models.test:${first.ports[1]}`,
    ].map((url) => new Runner('away', { url, model: 'double' }))
    for (const runner of runners) {
      const before = await counts()
      await runner.start()
      onTestFinished(() => runner.stop())
      const calls = Array.from({ length: 200 }, () => runner.predict(rows))
      for (const { data } of await Promise.all(calls)) expect(data).toEqual(Float32Array.of(2, 4))
      const shares = (await counts()).map((count, i) => count - before[i])
      expect(shares[0] + shares[1]).toBe(200)
      for (const share of shares) expect(Math.abs(share - 100)).toBeLessThanOrEqual(10)
    }
    const calls: Promise<NDArray>[] = []
    for (let i = 0; i < 200; i++) {
      for (const runner of runners) calls.push(runner.predict(rows))
      if (i === 50) first.child.kill('SIGKILL')
      if (i % 5 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    const settled = await Promise.allSettled(calls)
    expect(settled.filter(({ status }) => status === 'rejected')).toEqual([])
  })
})
