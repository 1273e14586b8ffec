import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder, root, run, send, serveFile } from './process.ts'

describe('serving new', () => {
  it('writes a project that installs this package, not the one of the registry', async () => {
    const cwd = folder({})
    const { code, stdout, stderr } = await run(['new', 'demo'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('cd demo\n')
    expect(readdirSync(join(cwd, 'demo')).sort()).toEqual([
      '.gitignore',
      '.yarnrc.yml',
      'README.md',
      'model.json',
      'model.ts',
      'package.json',
      'service.test.ts',
      'service.ts',
      'tsconfig.json',
    ])
    const manifest = JSON.parse(readFileSync(join(cwd, 'demo/package.json'), 'utf8'))
    expect(manifest.name).toBe('demo')
    const source = manifest.dependencies.serving
    expect(source).toMatch(/^file:\.\.\//)
    expect(join(cwd, 'demo', source.slice(5))).toBe(root.slice(0, -1))
  })

  it('takes the tarball that it is told, relative to the project', async () => {
    const cwd = folder({ 'serving-0.1.0.tgz': '' })
    await run(['new', 'demo', '--package', 'serving-0.1.0.tgz'], { cwd })
    const text = readFileSync(join(cwd, 'demo/package.json'), 'utf8')
    expect(JSON.parse(text).dependencies.serving).toBe('file:../serving-0.1.0.tgz')
  })

  it('writes a service that answers', async () => {
    const cwd = folder({}, true)
    await run(['new', 'demo'], { cwd })
    const { port } = await serveFile('demo/service.ts', ['--workers', '1'], { cwd })
    const headers = { 'content-type': 'application/json' }
    const body = '[[5.1, 3.5, 1.4, 0.2], [6.7, 3.1, 5.6, 2.4]]'
    const response = await fetch(`http://localhost:${port}/classify`, { method: 'POST', headers, body })
    expect(await response.json()).toEqual(['setosa', 'virginica'])
    expect((await send(port, '/readyz')).status).toBe(200)
  })

  it.each([
    [['new', 'full'], 'full is not empty'],
    [['new', 'Two Words'], 'expected a name of lower case letters, digits, - . and _ for the project'],
    [['new', 'demo', '--package', 'gone.tgz'], '--package: there is no file gone.tgz'],
  ])('%j is refused', async (args, message) => {
    const cwd = folder({ 'full/mine.txt': '' })
    const { code, stderr } = await run(args, { cwd })
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
  })
})

describe("the template's programs compile", () => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

  it.each([
    ['where all optional packages are', Object.keys(peerDependencies), []],
    ['where none is, with the types of this package', [], ['--skipLibCheck', 'false']],
  ])('%s', async (_, packages, options) => {
    const cwd = folder({})
    await run(['new', 'demo'], { cwd })
    const modules = join(cwd, 'demo/node_modules')
    // A copy, since a link would see the packages of the checkout.
    for (const name of ['dist', 'package.json'])
      cpSync(join(root, name), join(modules, 'serving', name), { recursive: true })
    for (const name of ['@types/node', ...Object.keys(dependencies), ...packages]) {
      mkdirSync(dirname(join(modules, name)), { recursive: true })
      symlinkSync(join(root, 'node_modules', name), join(modules, name), 'dir')
    }
    const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'demo', ...options]
    const { status, stdout } = spawnSync(process.execPath, tsc, { cwd, encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
  })
})

describe('another package named serving', () => {
  it('is told from ours', async () => {
    const cwd = folder({
      'service.mjs': `import { Service } from 'serving'\nexport default new Service('x')`,
      'node_modules/serving/index.js': 'module.exports = function server() {}',
    })
    const manifest = { name: 'serving', version: '1.0.0', main: 'index.js', description: 'http request server' }
    writeFileSync(join(cwd, 'node_modules/serving/package.json'), JSON.stringify(manifest))
    const { code, stderr } = await run(['serve', 'service.mjs', '--port', '0', '--workers', '1'], { cwd })
    expect(code).toBe(1)
    expect(stderr).toContain('node_modules/serving is another package of this name (1.0.0, from the npm registry)')
    expect(stderr).toContain(': run npm install ')
  })
})
