/**
 * Runs the programs of other systems that the pages in docs/migrate show beside ours, if `PYTHON` has their packages.
 * Run by pip: `python -m venv V && V/bin/pip install PACKAGES && PYTHON=V/bin/python npx vitest run test/docs/migrate`
 */
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { folder, root, serving, until } from '../cli/process.ts'
import { canImport, python } from './python.ts'

const textOf = (file: string) => readFileSync(join(root, 'docs/snippets/migrate', file), 'utf8')

/** Returns false after a while: Python takes its time to start. */
async function wait(): Promise<false> {
  await new Promise((resolve) => setTimeout(resolve, 100))
  return false
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Programs that answer at /scale: file, packages, what it imports, arguments of Python. */
const programs: readonly (readonly [string, string, readonly string[], readonly string[]])[] = [
  [
    'bento.py',
    'bentoml==1.1.11 "setuptools<70"',
    ['bentoml'],
    ['-m', 'bentoml', 'serve-http', 'bento:svc', '--port'],
  ],
  [
    'fast.py',
    'fastapi uvicorn numpy',
    ['fastapi', 'uvicorn'],
    ['-m', 'uvicorn', 'fast:app', '--port'],
  ],
  ['lit.py', 'litserve numpy', ['litserve'], ['lit.py']],
]

for (const [file, packages, imports, args] of programs) {
  const title = `${file} answers as our scaler does (pip install ${packages})`
  it.skipIf(!canImport(...imports))(title, { timeout: 180_000 }, async () => {
    const port = await freePort()
    const cwd = folder({ [file]: textOf(file).replace('port=3000', `port=${port}`) })
    const { PATH = '' } = process.env
    // A group of its own: these servers start others.
    const child = spawn(python, args.at(-1) === '--port' ? [...args, String(port)] : args, {
      cwd,
      env: { PATH, HOME: cwd, BENTOML_DO_NOT_TRACK: 'True' },
      detached: true,
    })
    let text = ''
    for (const output of [child.stdout, child.stderr]) output.on('data', (part) => (text += part))
    onTestFinished(() => void process.kill(-(child.pid as number), 'SIGKILL'))
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '[[1, 2, 3, 4]]',
    }
    const answer = await until(async () => {
      if (child.exitCode !== null) throw new Error(text)
      const response = await fetch(`http://127.0.0.1:${port}/scale`, init).catch(() => undefined)
      return response?.ok ? ((await response.json()) as unknown) : wait()
    })
    expect(answer).toEqual([[2, 4, 6, 8]])
  })
}

const client =
  "triton.py calls serving models as it calls Triton (pip install 'tritonclient[http]' pillow numpy)"
it.skipIf(!canImport('tritonclient.http', 'PIL'))(client, { timeout: 120_000 }, async () => {
  const args = ['--port', '0', '--workers', '1', '--host', '127.0.0.1']
  const backend = serving(['models', 'examples/shapes/models', ...args])
  const port = await until(() => /at http:\/\/127\.0\.0\.1:(\d+)/.exec(backend.stdout())?.[1])
  const program = textOf('triton.py').replace('localhost:8000', `127.0.0.1:${port}`)
  const { stdout, stderr } = spawnSync(python, ['-c', program], { cwd: root, encoding: 'utf8' })
  expect({ stdout, stderr }).toEqual({ stdout: 'star\n', stderr: '' })
})
