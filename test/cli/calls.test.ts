/** The calls that `serving dev` keeps for the page, and that `serving serve` keeps none. */
import { expect, it } from 'vitest'
import { parseEvents, textPieces } from '../../src/client/lines.ts'
import type { CallRecord } from '../../src/http/call-record.ts'
import { engines } from '../engines.ts'
import { folder, send, serveFile } from './process.ts'

const service = (auth = '') => `
import { io, Service, Unauthorized } from 'serving'
const svc = new Service('noted', { ${auth} })
svc.api({ input: new io.Text(), output: new io.JSON() }, function pid() { return { pid: process.pid } })
export default svc
`
const keyed = `auth(ctx) {
  if (ctx.headers.get('x-api-key') !== 'k') throw new Unauthorized('expected a key')
}`
const manifest = '{"type":"module"}'

async function* callsOf(port: number): AsyncGenerator<CallRecord> {
  const { body } = await fetch(`http://127.0.0.1:${port}/docs/calls`)
  for await (const { data } of parseEvents(textPieces(body as ReadableStream)))
    yield* JSON.parse(data) as readonly CallRecord[]
}

it.each(engines)('of all workers, as they end, on %s', async (engine) => {
  const cwd = folder({ 'service.ts': service(), 'package.json': manifest }, true)
  const args = ['--workers', '2', '--engine', engine]
  const { port, child, exited } = await serveFile('service.ts', args, { cwd, command: 'dev' })
  const calls = callsOf(port)
  const pids = new Set<number>()
  const seen: CallRecord[] = []
  while (pids.size < 2) {
    const { body } = await send(port, '/pid', '')
    pids.add(JSON.parse(body).pid)
    seen.push((await calls.next()).value)
  }
  expect(new Set(seen.map((call) => call.process))).toEqual(pids)
  expect(seen[0]).toMatchObject({ method: 'POST', path: '/pid', api: 'pid', status: 200, runs: [] })
  expect(seen[0].stages.map(({ name }) => name)).toEqual(['decode', 'function', 'encode'])
  // A page that is open keeps no process.
  child.kill('SIGTERM')
  expect((await exited).code).toBe(0)
})

it('are for those whom the service lets in', async () => {
  const cwd = folder({ 'service.ts': service(keyed), 'package.json': manifest }, true)
  const { port } = await serveFile('service.ts', [], { cwd, command: 'dev' })
  const at = `http://127.0.0.1:${port}/docs/calls`
  expect((await fetch(at)).status).toBe(401)
  const answer = await fetch(at, { headers: { 'x-api-key': 'k' } })
  expect(answer.headers.get('content-type')).toContain('text/event-stream')
  await answer.body?.cancel()
  const origin = { 'x-api-key': 'k', origin: 'https://evil.example' }
  expect((await fetch(at, { headers: origin })).status).toBe(403)
})

it('are not kept by serving serve', async () => {
  const cwd = folder({ 'service.ts': service(), 'package.json': manifest }, true)
  const { port } = await serveFile('service.ts', ['--workers', '1'], { cwd })
  expect((await send(port, '/docs/calls')).status).toBe(404)
  expect(JSON.parse((await send(port, '/docs/page.json')).body)).toMatchObject({ hasCalls: false })
})
