import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root, send, serveFile, serving, until } from '../cli/process.ts'

it('the front answers pictures by a model of another server', { timeout: 60_000 }, async () => {
  const models = join(root, 'examples/shapes/models')
  const args = ['--port', '0', '--grpc-port', '0', '--workers', '1', '--host', '127.0.0.1']
  const backend = serving(['models', models, ...args])
  const grpcPort = await until(() => /gRPC at 127\.0\.0\.1:(\d+)/.exec(backend.stdout())?.[1])
  const env = { PREDICTOR_URL: `grpc://127.0.0.1:${grpcPort}` }
  const { port } = await serveFile('examples/triton/service.ts', ['--workers', '1'], { env })
  await until(async () => (await send(port, '/readyz')).status === 200)
  const expected = JSON.parse(readFileSync(join(root, 'examples/shapes/expected.json'), 'utf8'))
  for (const { picture, label } of expected) {
    const body = readFileSync(join(root, 'examples/shapes/held-out', picture))
    const response = await fetch(`http://127.0.0.1:${port}/classify`, { method: 'POST', body })
    expect({ picture, answer: await response.json() }).toMatchObject({
      picture,
      answer: { shape: label },
    })
  }
})
