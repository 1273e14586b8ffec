/** Runs the Python lines of the README; those whose packages `PYTHON`, else `python3`, does not have are skipped. */
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { root, serveFile } from '../cli/process.ts'

const python = process.env.PYTHON ?? 'python3'
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/```python\n(.*?)# ([^\n]*)\n```/gs)].map(([, code, answer]) => ({ code, answer }))

const canRun = (code: string) => {
  const imports = code.match(/^(?:import|from) .*$/gm)?.join('\n') ?? ''
  return spawnSync(python, ['-c', imports], { stdio: 'ignore' }).status === 0
}

it('the README has Python lines', () => {
  expect(blocks.length).toBe(2)
})

for (const { code, answer } of blocks) {
  const [, name] = /^import (\S+)|^from (\w+)/m.exec(code) ?? []
  const title = `the Python lines with ${/^from (\w+)/m.exec(code)?.[1] ?? name} print what stands below them`
  it.skipIf(!canRun(code))(title, { timeout: 60_000 }, async () => {
    const { port } = await serveFile('examples/models/service.ts', ['--workers', '1'])
    const program = code.replaceAll('localhost:3000', `127.0.0.1:${port}`)
    const { stdout } = await promisify(execFile)(python, ['-W', 'ignore', '-c', program])
    expect(stdout.trim()).toBe(answer)
  })
}
