import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Report } from '../../src/cli/replay/report.ts'
import { freePort } from '../io/free-port.ts'
import { dataOf, folder, root, run, serveFile } from './process.ts'

/** The source of a service; `factor` and `shift` are the model. */
const source = (factor: number, shift: number) => `
import { io, NDArray, Service } from ${JSON.stringify(join(root, 'dist/index.js'))}
const capture = { rate: 1, to: 'file:./capture', maxBytes: '1kb', redact: ['input.email'] }
const svc = new Service('recorded', { capture })
const numbers = { input: new io.NumpyNdarray({ dtype: 'float32' }), output: new io.NumpyNdarray() }
svc.api(numbers, function scale(x) {
  return new NDArray(x.data.map((each) => each * ${factor}), x.shape)
})
svc.api({ input: new io.JSON(), output: new io.JSON() }, function greet({ name }) {
  return { text: 'Hello ' + name, length: name.length + ${shift} }
})
svc.api({ input: new io.Text(), output: new io.Text() }, function* words(text) {
  yield* text.split(' ')
})
export default svc
`

describe('serving replay', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'serving-replay-'))

  afterAll(() => rmSync(cwd, { recursive: true, force: true }))

  /** Records eight calls, once a test runs. */
  async function record(): Promise<void> {
    writeFileSync(join(cwd, 'service.mjs'), source(2, 0))
    writeFileSync(join(cwd, 'next.mjs'), source(2.001, 1))
    const server = await serveFile(join(cwd, 'service.mjs'), ['--workers', '1'], { cwd })
    const post = (api: string, body: string, type = 'application/json') =>
      fetch(`http://127.0.0.1:${server.port}/${api}`, {
        method: 'POST',
        body,
        headers: { 'content-type': type },
      })
    for (const x of [1, 2, 3]) await post('scale', `[[${x}, ${x + 0.5}]]`)
    await post('scale', JSON.stringify(Array.from({ length: 1000 }, () => 1)))
    await post('greet', '{"name": "Ada"}')
    await post('greet', '{"name": "Bea", "email": "bea@example.org"}')
    await post('greet', '{}')
    await post('words', 'a b', 'text/plain')
    server.child.kill('SIGTERM')
    await server.exited
  }

  const replay = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(['replay', ...args], { cwd })
    return { code, stdout, stderr, report: () => JSON.parse(stdout) as Report }
  }

  it('finds nothing against the same service, and tells what cannot be compared', async () => {
    await record()
    const files = () => readdirSync(join(cwd, 'capture/scale'))
    const before = files()
    const { code, stdout, stderr } = await replay('--against', 'service.mjs')
    expect(stderr).toBe('')
    expect(stdout.replaceAll(/p50.*\n/g, 'p50\n').split('\n')).toEqual([
      'greet: 0 of 2 changed',
      '  p50',
      '  1 not compared: input.email was redacted',
      'scale: 0 of 3 changed',
      '  p50',
      '  1 not compared: its output was too large to be kept',
      'words: 0 of 0 changed',
      '  p50',
      '  1 not compared: its output was a stream',
      'same: 0 of 5 calls',
      '',
    ])
    expect(code).toBe(0)
    // The service that it starts records nothing.
    expect(files()).toEqual(before)
  })

  it('finds what has changed over HTTP and gRPC, and writes a page and a case', async () => {
    const grpcPort = await freePort()
    const ports = ['--workers', '1', '--grpc-port', String(grpcPort)]
    const { port } = await serveFile(join(cwd, 'next.mjs'), ports, { cwd: folder({}) })
    const overHttp = await replay('--against', `http://127.0.0.1:${port}`, '--json')
    const overGrpc = await replay('--against', `grpc://127.0.0.1:${grpcPort}`, '--json')
    expect([overHttp.code, overGrpc.code]).toEqual([1, 1])
    const { compared, changed, apis } = overHttp.report()
    expect([compared, changed]).toEqual([5, 4])
    const worstOf = ({ apis }: Report) => apis.map(({ worst }) => worst)
    expect(worstOf(overGrpc.report())).toEqual(worstOf(overHttp.report()))
    const [greet, scale] = apis
    expect(greet.worst).toMatchObject([{ at: 'length', expected: '3', actual: '4' }])
    expect(scale.worst[0]).toMatchObject({
      at: expect.stringMatching(/^\[0, [01]\]$/),
      isTop: false,
    })
    expect(scale.worst[0].size).toBeCloseTo(0.0005, 5)
    expect(scale.recordedMs.p50).toBeGreaterThan(0)
    expect(scale.drift.inputs.map(({ column }) => column)).toEqual(['[0]', '[1]'])

    const files = ['--report', 'page.html', '--save', 'case']
    const one = await replay('capture/greet', '--against', 'next.mjs', ...files)
    expect(one.stdout).toContain('CHANGED: 1 of 2 calls')
    expect(dataOf(join(cwd, 'page.html'))).toMatchObject({
      against: 'next.mjs',
      apis: [{ worst: [{ at: 'length', expected: '3', actual: '4' }] }],
    })
    const saved = JSON.parse(readFileSync(join(cwd, 'case.json'), 'utf8'))
    expect(saved).toMatchObject({
      request: { method: 'POST', path: '/greet' },
      recorded: { api: 'greet', output: '{"text":"Hello Ada","length":3}' },
    })
    expect(Buffer.from(saved.request.base64, 'base64').toString()).toBe('{"name":"Ada"}')
  })

  it('exits with 0 if no more has changed than --allow says', async () => {
    expect((await replay('--against', 'next.mjs', '--allow', '0.8')).code).toBe(0)
  })

  it('says what is wrong', async () => {
    const absent = await replay('nowhere', '--against', 'next.mjs')
    expect([absent.code, absent.stderr]).toEqual([1, expect.stringContaining('there is no folder')])
    expect((await replay()).code).toBe(2)
    const none = await replay('--against', 'next.mjs', '--request', 'unknown')
    expect(none.stderr).toContain('there are no such calls in ./capture')
    const down = await replay('capture/greet', '--against', 'http://127.0.0.1:1')
    expect(down.stdout).toContain('→ error ECONNREFUSED')
    expect(down.code).toBe(1)
  })
})
