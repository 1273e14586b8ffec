import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { answeringPid, probe, serveFile, until } from './process.ts'

interface Spans {
  readonly resourceSpans: readonly {
    readonly resource: {
      readonly attributes: readonly { readonly key: string; readonly value: object }[]
    }
    readonly scopeSpans: readonly { readonly spans: readonly { readonly name: string }[] }[]
  }[]
}

it('--otlp-endpoint sends spans to a collector, the last ones before the server ends', async () => {
  const received: Spans[] = []
  const collector = createServer((req, res) => {
    const pieces: Buffer[] = []
    req.on('data', (piece: Buffer) => pieces.push(piece))
    req.on('end', () => {
      if (req.url === '/v1/traces') received.push(JSON.parse(Buffer.concat(pieces).toString()))
      res.end('{}')
    })
  })
  onTestFinished(() => void collector.close())
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const { port, child, exited } = await serveFile(probe, [
    '--workers',
    '1',
    '--otlp-endpoint',
    endpoint,
  ])
  await until(() => answeringPid(port))
  child.kill('SIGTERM')
  expect((await exited).code).toBe(0)
  const all = received.flatMap(({ resourceSpans }) => resourceSpans)
  const names = all.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map(({ name }) => name)),
  )
  expect(names).toEqual(expect.arrayContaining(['POST /pid', 'decode', 'function', 'encode']))
  expect(all[0].resource.attributes).toContainEqual({
    key: 'service.name',
    value: { stringValue: 'probe' },
  })
})
