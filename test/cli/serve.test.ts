import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { decodeResponse, encodeRequest } from '../../src/messages/envelope.ts'
import { engines } from '../engines.ts'
import { GrpcClient } from '../rpc/harness.ts'
import { folder, probe, root, run, send, serveFile, until, workerPids } from './process.ts'

const javascript = `
import { io, Service } from 'serving'
const svc = new Service('plain')
svc.api({ input: new io.Text(), output: new io.Text() }, function echo(text) { return text })
export default svc
`
const typescript = `
import { io, Service } from 'serving'
import { shout } from './shout.js'
const svc: Service = new Service('typed')
svc.api({ input: new io.Text(), output: new io.Text() }, function echo(text: string): string { return shout(text) })
export default svc
`
const shout = 'export const shout = (text: string): string => text.toUpperCase()'

describe('serving serve', () => {
  it('serves a TypeScript service of this checkout, with what lies beside it', async () => {
    const typed = join(root, 'test/cli/services/probe.service.ts')
    const { port, line, stdout } = await serveFile(typed, ['--workers', '1'])
    const codecs = /(native|TypeScript) codec, JPEG by (libjpeg-turbo|@napi-rs\/image).*/.source
    const engine = /1 worker, (uws|node) engine/.source
    expect(line).toMatch(
      new RegExp(`^serving probe at http://localhost:\\d+ \\(${engine}, ${codecs}\\)$`),
    )
    expect(stdout().split('\n').slice(1)).toEqual(['POST /pid', ''])
    expect(JSON.parse((await send(port, '/pid', 'x')).body).greeting).toBe('hello, probe')
  })

  it('prints what it answers beside APIs: tools for agents, and mounted handlers', async () => {
    const file = `
import { io, Service } from 'serving'
const svc = new Service('doors', { mcp: true })
svc.api({ input: new io.Text(), output: new io.Text() }, function echo(text) { return text })
svc.mount('/app', () => new Response('app'))
svc.mount('/', () => new Response('the rest'))
export default svc`
    const cwd = folder({ 'package.json': '{"type":"module"}', 'service.js': file }, true)
    const { stdout } = await serveFile('service.js', ['--workers', '1', '--base-url', '/v1'], {
      cwd,
    })
    const paths = ['POST /v1/echo', 'POST /v1/mcp', 'ANY /v1/app/*', 'ANY /v1/*', '']
    expect(stdout().split('\n').slice(1)).toEqual(paths)
  })

  it('reads pictures without the native add-on', async () => {
    const env = { ...process.env, SERVING_NATIVE: 'off' }
    const { port } = await serveFile(join(root, 'examples/digits/service.ts'), ['--workers', '1'], {
      env,
    })
    const body = readFileSync(
      join(root, 'examples/digits/held-out/7-blue-on-cream-200x150-rgb-29.png'),
    )
    const headers = { 'content-type': 'image/png' }
    const answer = await fetch(`http://127.0.0.1:${port}/classify_digit`, {
      method: 'POST',
      headers,
      body,
    })
    expect([answer.status, (await answer.text()).slice(0, 11)]).toEqual([200, '{"digit":7,'])
  })

  it('serves gRPC on a port of its own, with several workers', async () => {
    const { stdout } = await serveFile(probe, ['--workers', '2', '--grpc-port', '0'])
    const port = Number(
      (await until(() => /^gRPC at localhost:(\d+)$/m.exec(stdout()) ?? undefined))[1],
    )
    const body = encodeRequest('pid', { field: 'text', message: 'x' })
    const pids = new Set<number>()
    await until(async () => {
      const client = new GrpcClient(port)
      const { bytes } = await client.raw(body)
      client.close()
      const answer = decodeResponse(bytes as Buffer)?.message as { pid: number } | undefined
      if (answer !== undefined) pids.add(answer.pid)
      return pids.size === 2
    })
  })

  it('serves a JavaScript service of a project that has the package linked', async () => {
    const project = folder({ 'service.js': javascript, 'package.json': '{"type":"module"}' }, true)
    const { port } = await serveFile('service.js', ['--workers', '1'], { cwd: project })
    expect(await send(port, '/echo', 'as it was')).toEqual({ status: 200, body: 'as it was' })
  })

  it.each(['{"type":"module"}', '{"type":"commonjs"}', '{}'])(
    'serves a TypeScript service of a linked project with %s',
    async (manifest) => {
      const paths = JSON.stringify({
        compilerOptions: { paths: { serving: [join(root, 'src/index.ts')] } },
      })
      const project = folder(
        {
          'service.ts': typescript,
          'shout.ts': shout,
          'package.json': manifest,
          'tsconfig.json': paths,
        },
        true,
      )
      const { port } = await serveFile('service.ts', ['--workers', '1'], { cwd: project })
      expect(await send(port, '/echo', 'loud')).toEqual({ status: 200, body: 'LOUD' })
    },
  )

  it.each(['nowhere', 'public'])(
    'compiles without a cache where the temporary directory is %s',
    async (tmp) => {
      const project = folder({ 'service.ts': typescript, 'shout.ts': shout }, true)
      if (tmp === 'public') {
        // As another user would leave it: writable for all.
        mkdirSync(join(project, tmp, `tsx-${process.geteuid?.()}`), { recursive: true })
        chmodSync(join(project, tmp, `tsx-${process.geteuid?.()}`), 0o777)
      } else writeFileSync(join(project, tmp), 'no folder')
      const { port } = await serveFile('service.ts', ['--workers', '1'], {
        cwd: project,
        env: { TMPDIR: join(project, tmp) },
      })
      expect(await send(port, '/echo', 'loud')).toEqual({ status: 200, body: 'LOUD' })
      if (tmp === 'public')
        expect(readdirSync(join(project, tmp, `tsx-${process.geteuid?.()}`))).toEqual([])
    },
  )

  it('prefers a flag to the environment, and the environment to the default', async () => {
    const env = { SERVING_BASE_URL: '/env', SERVING_WORKERS: '1' }
    const byDefault = await serveFile(probe, [], { env: { SERVING_WORKERS: '1' } })
    const byEnvironment = await serveFile(probe, [], { env })
    const byFlag = await serveFile(probe, ['--base-url', '/flag/'], { env })
    expect((await send(byDefault.port, '/pid', 'x')).status).toBe(200)
    expect((await send(byEnvironment.port, '/env/pid', 'x')).status).toBe(200)
    expect((await send(byFlag.port, '/flag/pid', 'x')).status).toBe(200)
    expect((await send(byFlag.port, '/env/pid', 'x')).status).toBe(404)
    expect(byFlag.stdout()).toContain('POST /flag/pid\n')
    expect(byFlag.line).toContain('(1 worker,')
  })

  it("takes no value from an empty variable, nor from Kubernetes' for a Service of our name", async () => {
    const env = { SERVING_PORT: 'tcp://10.0.0.1:80', SERVING_WORKERS: '', SERVING_BASE_URL: ' ' }
    const { port } = await serveFile(probe, ['--workers', '1'], { env })
    expect((await send(port, '/pid', 'x')).status).toBe(200)
  })

  it.each(engines)('shares a port among workers with the %s engine', async (engine) => {
    const { port, line } = await serveFile(probe, ['--workers', '2', '--engine', engine])
    expect(line).toContain(`(2 workers, ${engine} engine,`)
    expect(await workerPids(port, 2)).toHaveLength(2)
  })

  it('hands its limits to the workers', async () => {
    const { port } = await serveFile(probe, ['--workers', '1', '--max-body-bytes', '1KiB'])
    expect((await send(port, '/pid', 'x'.repeat(1024))).status).toBe(200)
    expect((await send(port, '/pid', 'x'.repeat(1025))).status).toBe(413)
  })

  it('listens on the given address only, and tells it', async () => {
    const { line } = await serveFile(probe, ['--workers', '1', '--host', '127.0.0.1'])
    expect(line).toContain('at http://127.0.0.1:')
  })
})

describe('another copy of the package', () => {
  it('is recognised, and the way out is told', async () => {
    const project = folder({ 'service.mjs': javascript })
    const copy = join(project, 'node_modules/serving')
    mkdirSync(copy, { recursive: true })
    cpSync(join(root, 'dist'), join(copy, 'dist'), { recursive: true })
    cpSync(join(root, 'package.json'), join(copy, 'package.json'))
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'dir')
    const { code, stderr } = await run(['serve', 'service.mjs', '--port', '0', '--workers', '1'], {
      cwd: project,
    })
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('exports a Service of another copy of the package serving'),
    })
  })
})
