import { spawn, spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { engines } from '../engines.ts'
import { type Answer, folder, root, until } from './process.ts'

/** Whether this machine lets us mount a small file system in a namespace of our own. */
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/tmp']).status === 0
// In JavaScript: reading TypeScript takes temporary files, too.
const service = `
import { io, Service } from 'serving'
const svc = new Service('upload')
svc.api({ input: new io.File(), output: new io.Text(), name: 'size' }, (file) => String(file.size))
export default svc
`

/** Serves with temporary files in a directory, after the commands of a shell. */
async function serveIn(
  directory: string,
  prepare: string,
  engine: string,
  wrapper: readonly string[] = [],
) {
  const file = join(folder({ 'service.mjs': service }, true), 'service.mjs')
  const args = ['serve', file, '--port', '0', '--workers', '1', '--engine', engine]
  const shell = [
    'sh',
    '-c',
    `${prepare}exec "$0" "$@"`,
    process.execPath,
    join(root, 'dist/cli/main.js'),
    ...args,
  ]
  const [command, ...rest] = [...wrapper, ...shell]
  const child = spawn(command, rest, { cwd: root, env: { ...process.env, TMPDIR: directory } })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const port = await until(() => {
    if (child.exitCode !== null) throw new Error(output)
    return Number(/ at http:\/\/localhost:(\d+)/.exec(output)?.[1] ?? 0) || false
  })
  return { port, output: () => output }
}

function upload(port: number, bytes: number): Promise<Answer> {
  return new Promise((resolve) => {
    const sent = request({ port, host: 'localhost', path: '/size', method: 'POST', agent: false })
    sent.setHeader('content-type', 'application/octet-stream')
    sent.on('response', (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    })
    sent.on('error', (error) => resolve({ status: 0, body: String(error) }))
    sent.end(Buffer.alloc(bytes))
  })
}

describe.each(engines)('uploads on disk, with the %s engine', (engine) => {
  it.runIf(canMount)('are refused with 507 on a full disk, and others go on', async () => {
    const directory = folder({})
    const mount = `mount -t tmpfs -o size=24m none '${directory}' && `
    const server = await serveIn(directory, mount, engine, ['unshare', '-rm'])
    expect(await upload(server.port, 18_000_000)).toEqual({ status: 200, body: '18000000' })
    for (let i = 0; i < 3; i++) {
      const [full, small] = await Promise.all([
        upload(server.port, 30_000_000),
        upload(server.port, 1000),
      ])
      expect([full.status, JSON.parse(full.body).code]).toEqual([507, 'insufficient_storage'])
      expect(small).toEqual({ status: 200, body: '1000' })
    }
    // What the refused ones had written is free again.
    await until(async () => (await upload(server.port, 18_000_000)).status === 200)
    expect(server.output()).toContain('ENOSPC')
  })
})

describe('a directory for temporary files', () => {
  it('that does not exist is said at start', async () => {
    const server = await serveIn('/proc/none', '', engines[0])
    await until(() => server.output().includes('"event":"temporary_files"'))
    expect(server.output()).toContain('/proc/none')
    expect((await upload(server.port, 1000)).status).toBe(200)
    expect((await upload(server.port, 20_000_000)).status).toBe(500)
  })

  it('that can be written is not', async () => {
    const directory = folder({})
    chmodSync(directory, 0o700)
    const server = await serveIn(directory, '', engines[0])
    expect((await upload(server.port, 18_000_000)).status).toBe(200)
    expect(server.output()).not.toContain('temporary_files')
  })
})
