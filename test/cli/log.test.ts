import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { engines } from '../engines.ts'
import { folder, root, send, serveFile, until } from './process.ts'

const service = `
import { io, Service } from 'serving'
const svc = new Service('failing')
svc.api({ input: new io.Text(), output: new io.Text(), name: 'fail' }, () => { throw new Error('x'.repeat(4000)) })
export default svc
`

it.runIf(process.platform === 'linux').each(engines)(
  'a pipe for the log that nobody reads does not stop a worker of the %s engine',
  async (engine) => {
    const place = folder({ 'service.mjs': service }, true)
    const [read, log] = [join(place, 'read'), join(place, 'log')]
    const args = [
      'serve',
      join(place, 'service.mjs'),
      '--port',
      '0',
      '--workers',
      '1',
      '--engine',
      engine,
    ]
    // Standard error goes to a reader that begins to read when a file is there.
    const reader = `while [ ! -e '${read}' ]; do sleep 0.05; done; cat > '${log}'`
    const shell = `{ "$0" "$@" 2>&1 >&3 3>&- | { ${reader}; }; } 3>&1`
    const child = spawn(
      'sh',
      ['-c', shell, process.execPath, join(root, 'dist/cli/main.js'), ...args],
      {
        cwd: root,
        detached: true,
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    )
    onTestFinished(() => void process.kill(-(child.pid as number), 'SIGKILL'))
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    const port = await until(
      () => Number(/ at http:\/\/localhost:(\d+)/.exec(output)?.[1] ?? 0) || false,
    )
    for (let i = 0; i < 400; i++) expect((await send(port, '/fail', 'x')).status).toBe(500)
    expect((await send(port, '/livez')).status).toBe(200)
    writeFileSync(read, '')
    await until(() => existsSync(log) && readFileSync(log, 'utf8').includes('log_dropped'))
    const lines = readFileSync(log, 'utf8').trim().split('\n')
    const dropped = lines
      .map((line) => JSON.parse(line))
      .find(({ event }) => event === 'log_dropped').count
    const failures = lines.filter((line) => line.includes('request failed')).length
    expect(failures + dropped).toBe(400)
  },
)

it('says once what an error and its causes say', async () => {
  const service = `
    import { FunctionError, io, Service } from 'serving'
    const svc = new Service('failing')
    const cause = new TypeError('boom', { cause: new Error('no memory') })
    svc.api({ input: new io.Text(), output: new io.Text(), name: 'fail' }, () => {
      throw new FunctionError('the method f failed: boom', { cause })
    })
    export default svc`
  const cwd = folder({ 'service.mjs': service }, true)
  const { port, stderr } = await serveFile('service.mjs', ['--workers', '1'], { cwd })
  expect((await send(port, '/fail', 'x')).status).toBe(500)
  const line = await until(() =>
    stderr()
      .split('\n')
      .find((each) => each.includes('request failed')),
  )
  const { err } = JSON.parse(line)
  expect(err).toMatchObject({
    type: 'FunctionError',
    message: 'the method f failed: boom: no memory',
  })
  expect(err.stack).toMatch(
    /^FunctionError: the method f failed: boom\n.*caused by: TypeError: boom\n/s,
  )
})
