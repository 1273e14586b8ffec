import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { folder, run, send, serveFile, until } from './process.ts'

const service = fileURLToPath(new URL('./services/model.service.ts', import.meta.url))

async function post(port: number, path: string, body: string, type = 'application/json') {
  const response = await fetch(`http://localhost:${port}${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': type },
  })
  return { status: response.status, body: await response.text() }
}

it('serves a TypeScript service whose model is a TypeScript module in a thread', async () => {
  const { port } = await serveFile(service)
  expect(await post(port, '/double', '[[1, 2], [3, 4]]')).toEqual({
    status: 200,
    body: '[[2.0,4.0],[6.0,8.0]]',
  })
  expect(await post(port, '/words', 'one by one', 'text/plain')).toEqual({
    status: 200,
    body: 'one\nby\none\n',
  })
})

it('goes on when a thread of the model dies: the request gets an error, the log the reason', async () => {
  const server = await serveFile(service)
  const lost = await post(server.port, '/exit', '9', 'text/plain')
  expect(lost.status).toBe(500)
  expect(lost.body).not.toContain('code 9')
  expect(await post(server.port, '/double', '[1]')).toEqual({ status: 200, body: '[2.0]' })
  await until(async () => (await send(server.port, '/readyz')).status === 200)
  const events = server
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line).event)
  expect(events).toContain('runner_ended')
  expect(server.stderr()).toContain('ended with code 9')
})

it('refuses to start when the model does not load, and says why', async () => {
  const path = folder(
    {
      'package.json': '{ "type": "module" }',
      'model.ts': `export function load() { throw new Error('the weights are missing') }`,
      'service.ts': `
import { io, Runner, Service } from 'serving'
const model = new Runner('forest', { module: new URL('./model.ts', import.meta.url), methods: { predict: {} } })
const svc = new Service('s', { runners: [model] })
svc.api({ input: new io.Text(), output: new io.Text() }, async function predict(text: string) {
  return String(await model.predict(text))
})
export default svc`,
    },
    true,
  )
  const { code, stderr } = await run(['serve', `${path}/service.ts`, '--port', '0'])
  expect(code).not.toBe(0)
  expect(stderr).toMatch(/the runner forest could not load its model.*the weights are missing/)
})
