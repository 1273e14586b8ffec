import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { encodeRequest } from '../../src/messages/envelope.ts'
import { engines } from '../engines.ts'
import { GrpcClient } from '../rpc/harness.ts'
import {
  answeringPid,
  folder,
  heldRequest,
  probe,
  serveFile,
  until,
  workerPids,
} from './process.ts'

/** Sends one request over a kept connection, and tells its status; 0 without an answer. */
function ask(port: number, agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    const sent = request({ port, host: 'localhost', path: '/pid', method: 'POST', agent })
    sent.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', () => resolve(0))
    })
    sent.on('error', () => resolve(0))
    sent.end('x')
  })
}

const service = (version: string) => `
import { io, Service } from 'serving'
const svc = new Service('versioned')
svc.api({ input: new io.Text(), output: new io.Text() }, function version() { return '${version}' })
svc.api({ input: new io.Text(), output: new io.JSON() }, function pid() { return { pid: process.pid } })
export default svc
`
const manifest = '{"type":"module"}'

describe.each(engines)('SIGHUP, with the %s engine', (engine) => {
  it('replaces every worker without a failed request, over kept connections and gRPC', async () => {
    const args = ['--workers', '2', '--engine', engine, '--grpc-port', '0']
    const { port, child, stderr, stdout } = await serveFile(probe, args)
    const grpcPort = Number(
      (await until(() => /^gRPC at localhost:(\d+)$/m.exec(stdout()) ?? undefined))[1],
    )
    const before = await workerPids(port, 2)
    const agent = new Agent({ keepAlive: true, maxSockets: 8 })
    const grpc = new GrpcClient(grpcPort)
    const statuses: number[] = []
    const faults: unknown[] = []
    let asking = true
    const clients = Array.from({ length: 8 }, async () => {
      while (asking) statuses.push(await ask(port, agent))
    })
    const body = encodeRequest('pid', { field: 'text', message: 'x' })
    clients.push(
      (async () => {
        while (asking) {
          const { error } = await grpc.raw(body)
          if (error !== undefined) faults.push(error)
        }
      })(),
    )
    child.kill('SIGHUP')
    await until(() => stderr().includes('"event":"reloaded"'))
    const after = await until(async () => {
      const pids = await workerPids(port, 2)
      return pids.every((pid) => !before.includes(pid)) && pids
    })
    asking = false
    await Promise.all(clients)
    agent.destroy()
    grpc.close()
    expect(after).toHaveLength(2)
    expect(statuses.filter((status) => status !== 200)).toEqual([])
    expect(faults).toEqual([])
    expect(statuses.length).toBeGreaterThan(100)
  })

  it('lets what runs finish in the old worker, while the new one answers', async () => {
    const { port, child, stderr } = await serveFile(probe, ['--workers', '1', '--engine', engine])
    const [before] = await workerPids(port, 1)
    const held = await heldRequest(port)
    child.kill('SIGHUP')
    await until(() => stderr().includes('"event":"reloaded"'))
    // The old worker may take connections until it reads that it shall leave.
    await until(async () => (await answeringPid(port)) !== before)
    held.release()
    expect(await held.answer).toEqual({ status: 200, body: 'held' })
    await until(() => stderr().includes('worker 1 exited with code 0'))
  })
})

describe('SIGHUP', () => {
  it('loads the service and the configuration file that are there now; what all workers share stays', async () => {
    const files = { 'service.js': service('one'), 'package.json': manifest }
    const cwd = folder({ ...files, 'serving.config.json': '{"baseUrl":"/a"}' }, true)
    const { port, child, stderr } = await serveFile('service.js', ['--workers', '1'], { cwd })
    writeFileSync(join(cwd, 'service.js'), service('two'))
    writeFileSync(
      join(cwd, 'serving.config.json'),
      '{"baseUrl":"/b","port":1,"metricsPort":1,"engine":"node"}',
    )
    child.kill('SIGHUP')
    await until(() => stderr().includes('"event":"reloaded"'))
    const answer = await fetch(`http://localhost:${port}/b/version`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: '',
    })
    expect(await answer.text()).toBe('two')
    expect(stderr()).toContain(
      'engine stays as by default until a restart; the options say node now',
    )
    expect(stderr()).toContain(
      'metricsPort stays as by default until a restart; the options say 1 now',
    )
  })

  it('keeps the workers that serve when the new one does not start', async () => {
    const cwd = folder({ 'service.js': service('one'), 'package.json': manifest }, true)
    const { port, child, stderr } = await serveFile('service.js', ['--workers', '2'], { cwd })
    const before = (await workerPids(port, 2)).sort()
    writeFileSync(join(cwd, 'service.js'), 'export default 42')
    child.kill('SIGHUP')
    await until(() => stderr().includes('"event":"reload_failed"'))
    expect(stderr()).toContain(
      'expected a Service for the default export of service.js, received 42',
    )
    expect((await workerPids(port, 2)).sort()).toEqual(before)
  })
})

describe('serving dev', () => {
  it('reloads on a save, shows what is wrong and goes on, and recovers with the next save', async () => {
    const files = { 'service.ts': service('one'), 'package.json': manifest, 'notes.txt': '' }
    const cwd = folder(files, true)
    const { port, child, stdout, stderr } = await serveFile('service.ts', [], {
      cwd,
      command: 'dev',
    })
    const version = async () => {
      const headers = { 'content-type': 'text/plain', connection: 'close' }
      return await (
        await fetch(`http://localhost:${port}/version`, { method: 'POST', headers, body: '' })
      ).text()
    }
    const save = (text: string) => {
      // As editors do it: a new file takes the place of the old one.
      writeFileSync(join(cwd, 'service.ts.tmp'), text)
      renameSync(join(cwd, 'service.ts.tmp'), join(cwd, 'service.ts'))
    }
    expect(await version()).toBe('one')
    save(service('two'))
    await until(async () => (await version()) === 'two')
    await until(() => /^reloaded in \d+ ms$/m.test(stdout()))
    // One worker is what the command chose, not an option that could be changed.
    expect(stderr()).not.toContain('option_kept')
    save('const x = ;')
    await until(() => stderr().includes('waiting for a change'))
    expect(stderr()).toContain('service.ts:1:10')
    expect(await version()).toBe('two')
    writeFileSync(join(cwd, 'notes.txt'), 'no source')
    save(service('three'))
    await until(async () => (await version()) === 'three')
    expect(child.exitCode).toBe(null)
    // The line comes once the old worker has left.
    await until(() => stdout().match(/^reloaded/gm)?.length === 2)
  })

  it('answers this machine alone, unless --host says otherwise', async () => {
    const cwd = folder({ 'service.ts': service('one'), 'package.json': manifest }, true)
    const ask = (port: number, host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const target = {
          port,
          host: '127.0.0.1',
          path: '/version',
          method: 'POST',
          headers: { host },
          agent: false,
        }
        request(target, (response) => resolve(response.resume().statusCode))
          .on('error', reject)
          .end()
      })
    const own = await serveFile('service.ts', [], { cwd, command: 'dev' })
    expect(own.line).toContain('http://127.0.0.1:')
    for (const host of ['localhost', `localhost:${own.port}`, '127.0.0.1', '[::1]:80'])
      expect([host, await ask(own.port, host)]).toEqual([host, 200])
    for (const host of [
      'evil.example',
      `evil.example:${own.port}`,
      'localhost.evil.example',
      '127.0.0.1.evil.example',
    ])
      expect([host, await ask(own.port, host)]).toEqual([host, 403])
    const open = await serveFile('service.ts', ['--host', '0.0.0.0'], { cwd, command: 'dev' })
    expect(await ask(open.port, 'box.example')).toBe(200)
  })

  it('waits for the first good version', async () => {
    const cwd = folder({ 'service.ts': 'export default 42', 'package.json': manifest }, true)
    const started = serveFile('service.ts', [], { cwd, command: 'dev' })
    const text = service('good')
    const file = join(cwd, 'service.ts')
    // Again and again: the first save may come before the folder is watched.
    const saving = setInterval(() => {
      if (readFileSync(file, 'utf8') !== text) writeFileSync(file, text)
      else writeFileSync(file, `${text}\n`)
    }, 1000)
    const { port } = await started.finally(() => clearInterval(saving))
    expect(await answeringPid(port)).toBeGreaterThan(0)
  })
})
