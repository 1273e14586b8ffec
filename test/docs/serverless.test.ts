/** The programs of docs/deploy/serverless.md, against the other side of what they speak. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { folder, root, run, send, until } from '../cli/process.ts'
import { freePort } from '../io/free-port.ts'
import { RuntimeApi } from './runtime-api.ts'

const tsx = join(root, 'node_modules/tsx/dist/cli.mjs')

/** An event as a function URL sends it: `aws.amazon.com/lambda`, "payload format version 2.0". */
const eventOf = (path: string, more: object = {}) => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: path,
  rawQueryString: '',
  headers: { 'content-type': 'application/json', host: 'abc.lambda-url.us-east-1.on.aws' },
  requestContext: { http: { method: 'POST', path, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1' } },
  isBase64Encoded: false,
  ...more,
})

/** Starts bootstrap.ts of the page beside a service, the page's own unless another text is given. */
async function startFunction(service?: string) {
  const cwd = folder({ 'package.json': '{ "type": "module" }' }, true)
  cpSync(join(root, 'docs/snippets/scaler'), cwd, { recursive: true })
  if (service !== undefined) writeFileSync(join(cwd, 'scaler.ts'), service)
  const api = new RuntimeApi()
  const address = await api.listen()
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, AWS_LAMBDA_RUNTIME_API: address }
  const child: ChildProcess = spawn(process.execPath, [tsx, 'bootstrap.ts'], { cwd, env })
  onTestFinished(() => {
    child.kill('SIGKILL')
    api.close()
  })
  return { api, child }
}

/** The text of an answer's body. */
const textOf = ({ body }: { body: string }) => Buffer.from(body, 'base64').toString()

it('a function answers the events of the Runtime API, one after the other', async () => {
  const { api } = await startFunction()
  const [first, binary, wrong, unknown] = await Promise.all([
    api.invoke(eventOf('/scale', { body: '[[1,2,3,4.5]]' })),
    api.invoke(
      eventOf('/scale', {
        body: Buffer.from('[[1,2,3,4]]').toString('base64'),
        isBase64Encoded: true,
      }),
    ),
    api.invoke(eventOf('/scale', { body: '[[1]]' })),
    api.invoke(eventOf('/other', { body: '1' })),
  ])
  expect(first).toMatchObject({
    kind: 'response',
    message: { statusCode: 200, isBase64Encoded: true, cookies: [] },
  })
  expect(first.message).toMatchObject({ headers: { 'content-type': 'application/json' } })
  const texts = [first, binary, wrong].map(({ message }) => textOf(message as { body: string }))
  expect(texts.slice(0, 2)).toEqual(['[[2.0,4.0,6.0,9.0]]', '[[2.0,4.0,6.0,8.0]]'])
  expect(wrong.message).toMatchObject({ statusCode: 400 })
  expect(texts[2]).toContain('expected shape (-1, 4)')
  expect(unknown.message).toMatchObject({ statusCode: 404 })
})

const echo = `import { io, Service } from 'serving'
const svc = new Service('echo')
svc.api({ name: 'echo', input: new io.Text(), output: new io.Text() }, (text, ctx) => {
  ctx.response.setCookie('a', '1')
  return text + ' ' + ctx.headers.get('cookie') + ' ' + ctx.query.get('b')
})
svc.api({ name: 'large', input: new io.Text(), output: new io.Text() }, () => 'x'.repeat(6e6))
export default svc`

it('passes query and cookies, and tells of an answer that is too large for Lambda', async () => {
  const { api } = await startFunction(echo)
  const headers = { 'content-type': 'text/plain' }
  const answer = await api.invoke(
    eventOf('/echo', {
      headers,
      rawQueryString: 'a=1&b=%C3%BC',
      cookies: ['c=1', 'd=2'],
      body: 'hi',
    }),
  )
  expect(textOf(answer.message as { body: string })).toBe('hi c=1; d=2 ü')
  expect(answer.message).toMatchObject({ cookies: ['a=1; Path=/'] })
  const large = await api.invoke(eventOf('/large', { headers, body: 'x' }))
  expect(large).toMatchObject({
    kind: 'error',
    message: { errorMessage: expect.stringContaining('RequestEntityTooLarge') },
  })
  // The next event is answered as before.
  expect((await api.invoke(eventOf('/echo', { headers, body: 'x' }))).kind).toBe('response')
})

const broken = `import { Runner, Service } from 'serving'
const model = new Runner('model', { module: new URL('./missing.js', import.meta.url), methods: { run: {} } })
export default new Service('broken', { runners: [model] })`

it('tells Lambda that a model could not be loaded, and ends', async () => {
  const { api, child } = await startFunction(broken)
  const [posted, code] = await Promise.all([
    api.initError(),
    new Promise((resolve) => child.once('exit', resolve)),
  ])
  expect(posted).toMatchObject({ message: { errorMessage: expect.stringContaining('missing.js') } })
  expect(code).toBe(1)
})

/** A mount namespace in which all but /tmp is read-only. */
const readOnly = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c']
const closed = `mount --bind "$APP" /mnt && mount -o remount,ro,bind / && mount -o remount,ro,bind /mnt &&
  mount -t tmpfs none /tmp && cd /mnt && exec "$@"`
const isPermitted =
  spawnSync(readOnly[0], [...readOnly.slice(1), closed, 'sh', 'true'], {
    env: { ...process.env, APP: root },
  }).status === 0

const writer = `import { writeFileSync } from 'node:fs'
import { io, Service } from 'serving'
const svc = new Service('writer')
svc.api({ name: 'write', input: new io.Text(), output: new io.Text() }, (file) => {
  try {
    writeFileSync(file, '')
    return 'written'
  } catch (error) {
    return error.code
  }
})
export default svc`

it.skipIf(!isPermitted)(
  'a build keeps the contract of Cloud Run: $PORT, one core, no disk, SIGTERM',
  { timeout: 60_000 },
  async () => {
    const { spec } = parse(readFileSync(join(root, 'docs/snippets/scaler/cloud-run.yaml'), 'utf8'))
    const [container] = spec.template.spec.containers
    const cwd = folder({ 'package.json': '{ "type": "module" }', 'service.ts': writer }, true)
    expect((await run(['build', 'service.ts'], { cwd })).stderr).toBe('')
    const PORT = String(await freePort())
    const env = { PATH: process.env.PATH, PORT, APP: join(cwd, 'build'), NODE_ENV: 'production' }
    const [command, ...args] = ['taskset', '-c', '0', ...readOnly, closed, 'sh']
    const child = spawn(command, [...args, ...container.command, ...container.args], { env })
    onTestFinished(() => void child.kill('SIGKILL'))
    const said = text(child.stderr)
    const probe = (name: string) => send(Number(PORT), container[name].httpGet.path)
    await until(async () => {
      if (child.exitCode !== null) throw new Error(await said)
      return (await probe('startupProbe')).status === 200
    })
    expect((await probe('livenessProbe')).status).toBe(200)
    expect(await send(Number(PORT), '/write', 'here')).toEqual({ status: 200, body: 'EROFS' })
    expect((await send(Number(PORT), '/write', '/tmp/here')).body).toBe('written')

    // A request whose body is not all there when SIGTERM comes is answered before the end.
    const socket = connect(Number(PORT), '127.0.0.1')
    const answer = text(socket)
    const head = 'POST /write HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n'
    socket.write(`${head}Content-Length: 9\r\nConnection: close\r\n\r\n/tmp`)
    await until(async () =>
      /serving_requests_in_flight\S* 1$/m.test((await send(Number(PORT), '/metrics')).body),
    )
    child.kill('SIGTERM')
    await until(async () => (await probe('startupProbe')).status !== 200)
    socket.write('/late')
    expect(await answer).toMatch(/^HTTP\/1.1 200 [\s\S]*written/)
    const code = child.exitCode ?? (await new Promise((resolve) => child.once('exit', resolve)))
    expect(code, await said).toBe(0)
    // Cloud Run kills a container ten seconds after SIGTERM.
    expect(Number(/--drain-timeout-ms (\d+)/.exec(container.args[0])?.[1])).toBeLessThan(10_000)
  },
)
