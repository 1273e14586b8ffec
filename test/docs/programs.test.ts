import { execFile, spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { folder, root, send, serveFile, until } from '../cli/process.ts'
import { curl, examplesOf } from './curl.ts'

// The first line of a program may name its file.
const programs = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```ts\n(?:\/\/ (\S+\.ts)\n)?(.*?)```/gs)]
const sources = Object.fromEntries(programs.map(([, name = 'scaler.ts', source]) => [name, source]))

/** Returns a folder with all programs of the README. */
function programFolder(): string {
  const cwd = folder({ ...sources, 'package.json': '{ "type": "module" }' }, true)
  copyFileSync(join(root, 'examples/digits/model.onnx'), join(cwd, 'model.onnx'))
  symlinkSync(join(root, 'node_modules/@types'), join(cwd, 'node_modules/@types'), 'dir')
  return cwd
}

it('the programs of the README compile and do what it says', async () => {
  expect(Object.keys(sources)).toEqual([
    'scaler.ts',
    'scaler.test.ts',
    'pictures.ts',
    'ticker.ts',
    'model.ts',
    'service.ts',
    'digits.ts',
    'iris.ts',
    'remote.ts',
    'scaler-client.ts',
    'words.ts',
    'callers.ts',
    'serving.config.ts',
  ])
  const cwd = programFolder()
  writeFileSync(join(cwd, 'tsconfig.json'), JSON.stringify({ extends: join(root, 'tsconfig.json'), include: ['*.ts'] }))
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', '.']
  const { status, stdout } = spawnSync(process.execPath, tsc, { cwd, encoding: 'utf8' })
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
  const post = async (file: string, path: string, body: string | Buffer, type = 'application/json') => {
    const { port } = await serveFile(file, ['--workers', '1'], { cwd })
    const headers = { 'content-type': type }
    return (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })).text()
  }
  expect(await post('scaler.ts', '/scale', '[[1, 2, 3, 4]]')).toBe('[[2.0,4.0,6.0,8.0]]')
  const { port } = await serveFile('scaler.ts', ['--workers', '1'], { cwd })
  const program = sources['scaler-client.ts']
  writeFileSync(join(cwd, 'scaler-client.ts'), program.replace('http://localhost:3000', `http://127.0.0.1:${port}`))
  const tsx = pathToFileURL(join(root, 'node_modules/tsx/dist/esm/index.mjs')).href
  // Not spawnSync: what the server prints has to be read meanwhile.
  const { stdout: printed } = await promisify(execFile)(process.execPath, ['--import', tsx, 'scaler-client.ts'], {
    cwd,
  })
  expect(printed.replace(/\s+/g, ' ').trim()).toBe(/\/\/ (\{.*\})/.exec(program)?.[1])
  const picture = readFileSync(join(root, 'examples/all/pattern.png'))
  const [[planes]] = [JSON.parse(await post('pictures.ts', '/preview', picture, 'image/png'))]
  expect(planes.map((rows: number[][]) => [rows.length, rows[0].length])).toEqual(new Array(3).fill([224, 224]))
  expect(await post('service.ts', '/score', '[1, 2.5]')).toBe('[2.0,3.5]')
}, 120_000)

/** What is sent to each service of the README: a line of the shell that it has, or a path and a text. */
const requests: Readonly<Record<string, readonly [path: string, body: string, answer: string]>> = {
  'scaler.ts': ['/scale', '[[1, 2, 3, 4]]', '[[2.0,4.0,6.0,8.0]]'],
  'service.ts': ['/score', '[1, 2.5]', '[2.0,3.5]'],
  'digits.ts': ['/classify', JSON.stringify([new Array(64).fill(0)]), '[0]'],
  'words.ts': ['/shout', 'hello', 'HELLO!'],
}
const env = {
  // Of the key "secret": printf %s secret | sha256sum
  API_KEYS: '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b',
}
const services = Object.keys(sources).filter((name) => /^export default svc\b/m.test(sources[name]))

it.each(services)('%s of the README starts and answers', async (name) => {
  const cwd = programFolder()
  const { port } = await serveFile(name, ['--workers', '1'], { cwd, env })
  // No server of the protocol is there, and the picture is of the test above.
  if (name === 'remote.ts') return expect((await send(port, '/readyz')).status).toBe(503)
  await until(async () => (await send(port, '/readyz')).status === 200)
  if (name === 'pictures.ts') return
  if (name === 'ticker.ts') {
    const headers = { cookie: 'key=secret', accept: 'text/event-stream' }
    const ticks = await fetch(`http://127.0.0.1:${port}/ticks`, { headers })
    expect(await ticks.text()).toBe('data: {"tick":1}\n\ndata: {"tick":2}\n\n')
    const tokens = await fetch(`http://127.0.0.1:${port}/tokens`, { method: 'POST', headers, body: 'hi' })
    expect([tokens.headers.get('content-type'), await tokens.text()]).toEqual([
      'text/event-stream; charset=utf-8',
      'event: token\ndata: hi\n\n',
    ])
    return
  }
  if (name === 'callers.ts') {
    const examples = examplesOf('README.md', '## Hooks')
    expect(examples.length).toBeGreaterThan(0)
    for (const { line, answer } of examples) expect(await curl(line, port)).toBe(answer)
    return
  }
  const [path, body, answer] = requests[name]
  const headers = { 'content-type': name === 'words.ts' ? 'text/plain' : 'application/json' }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })
  expect(await response.text()).toBe(answer)
})
