/** An installation without what only TypeScript and the commands for development need. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { run, send, serveFile, until } from '../cli/process.ts'
import { packedProject } from './packed.ts'

const project = packedProject([])
const program = join(project, 'node_modules/serving/dist/cli/main.js')
const service = `import { io, Service } from 'serving'
const svc = new Service('plain')
svc.api({ name: 'echo', input: new io.Text(), output: new io.Text() }, (value) => value)
export default svc`
for (const name of ['service.js', 'typed.ts']) writeFileSync(join(project, name), service)
writeFileSync(join(project, 'package.json'), '{ "type": "module" }')

it('serves compiled services', async () => {
  const { port, stderr } = await serveFile('service.js', ['--workers', '1'], {
    cwd: project,
    program,
  })
  await until(async () => (await send(port, '/readyz')).status === 200)
  expect(await send(port, '/echo', 'x')).toEqual({ status: 200, body: 'x' })
  expect(stderr()).not.toContain('npm install --save-dev')
})

it.each([
  ['serve', 'typed.ts', 'TypeScript needs the package tsx'],
  ['dev', 'service.js', 'serving dev needs the package chokidar'],
  ['build', 'service.js', 'serving build needs the package esbuild'],
])('serving %s %s: the error names the one command', async (command, file, message) => {
  const { code, stderr } = await run([command, file], {
    cwd: project,
    program,
    env: { SERVING_PORT: '0' },
  })
  expect(code).toBe(1)
  expect(stderr).toContain(`${message}: npm install --save-dev tsx@4 chokidar@4 esbuild@0.28`)
  expect(stderr).not.toMatch(/^\s+at /m)
})
