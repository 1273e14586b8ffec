import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { RasterImage } from 'serving'
import { describe, expect, it, onTestFinished } from 'vitest'
import { curl, examplesOf } from '../docs/curl.ts'
import { folder, root, run, send, serveFile, until } from './process.ts'

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

  it.each([
    [['new', 'full'], 'full is not empty'],
    [['new', 'Two Words'], 'expected a name of lower case letters, digits, - . and _ for the project'],
    [['new', 'demo', '--package', 'gone.tgz'], '--package: there is no file gone.tgz'],
  ])('%j is refused', async (args, message) => {
    const cwd = folder({ 'full/mine.txt': '' })
    const { code, stderr } = await run(args, { cwd })
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
  })

  it('names its templates', async () => {
    const { code, stderr } = await run(['new', 'demo', '--template', 'sound'], { cwd: folder({}) })
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('array, image, table, stream.') })
  })
})

describe.each<[string, string[]]>([
  ['array', []],
  ['image', ['@napi-rs/image']],
  ['table', ['nodejs-polars']],
  ['stream', []],
])('serving new --template %s', (template, needed) => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

  /** Returns a new project that has this package and others: links, or for compiling a copy of this one. */
  async function project(packages: readonly string[], copied = false): Promise<string> {
    const cwd = folder({})
    const { code, stderr } = await run(['new', 'demo', '--template', template], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const modules = join(cwd, 'demo/node_modules')
    mkdirSync(modules)
    // A link would see the packages of the checkout.
    if (copied)
      for (const name of ['dist', 'package.json'])
        cpSync(join(root, name), join(modules, 'serving', name), { recursive: true })
    else symlinkSync(root, join(modules, 'serving'), 'dir')
    for (const name of ['@types/node', ...Object.keys(dependencies), ...packages]) {
      mkdirSync(dirname(join(modules, name)), { recursive: true })
      symlinkSync(join(root, 'node_modules', name), join(modules, name), 'dir')
    }
    return join(cwd, 'demo')
  }

  it.each([
    ['all optional packages', Object.keys(peerDependencies), []],
    ['only those that it needs, and checks the types of this package', needed, ['--skipLibCheck', 'false']],
  ])('compiles with %s', { timeout: 60_000 }, async (_, packages, options) => {
    // The types of nodejs-polars have errors of their own: docs/adr/008-nodejs-polars.md.
    const checked = packages.includes('nodejs-polars') ? [] : options
    const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '-p', await project(packages, true), ...checked]
    const { status, stdout } = spawnSync(process.execPath, tsc, { encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
  })

  it('names the packages that it needs, and fills in every name', async () => {
    const cwd = await project([])
    const manifest = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'))
    expect(Object.keys(manifest.dependencies).sort()).toEqual(['serving', ...needed].sort())
    for (const name of needed) expect(manifest.dependencies[name]).toBe(peerDependencies[name])
    const texts = readdirSync(cwd, { withFileTypes: true }).filter((entry) => entry.isFile())
    const text = texts.map(({ name }) => readFileSync(join(cwd, name), 'utf8')).join('\n')
    expect(text).not.toMatch(/\b(?:NAME|PACKAGE|REQUEST)\b/)
    expect(readdirSync(cwd)).not.toContain('request.sh')
  })

  it('passes its tests, answers what its README says, and answers the same when built', {
    timeout: 120_000,
  }, async () => {
    const cwd = await project(needed)
    const { PATH = '', HOME = '' } = process.env
    const env = { PATH, HOME }
    const tests = ['--import', 'tsx', '--test', '--test-reporter', 'tap', 'service.test.ts']
    const tested = spawnSync(process.execPath, tests, { cwd, encoding: 'utf8', env })
    expect({ status: tested.status, stdout: tested.stdout }).toMatchObject({ status: 0 })
    expect(tested.stdout).toMatch(/^# pass [1-9]/m)

    const readme = readFileSync(join(cwd, 'README.md'), 'utf8')
    const [{ line, answer }] = examplesOf({
      page: 'README.md',
      line: 1,
      language: 'sh',
      code: readme,
      service: undefined,
    })
    const green = new RasterImage('RGB', 2, 2, Uint8Array.of(0, 200, 9, 0, 200, 9, 0, 200, 9, 0, 200, 9))
    writeFileSync(join(cwd, 'photo.jpg'), await green.encode('image/jpeg'))
    const { port } = await serveFile('service.ts', ['--workers', '1'], { cwd })
    await until(async () => (await send(port, '/readyz')).status === 200)
    expect((await curl(line, port, cwd)).trim()).toBe(answer)

    expect(await run(['build', 'service.ts'], { cwd })).toMatchObject({ code: 0, stderr: '' })
    const built = spawn(process.execPath, ['build/main.js', '--port', '0', '--workers', '1'], { cwd, env })
    onTestFinished(() => void built.kill('SIGKILL'))
    let text = ''
    built.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    const place = Number(await until(() => /^serving .* at http:\/\/localhost:(\d+)/m.exec(text)?.[1]))
    await until(async () => (await send(place, '/readyz')).status === 200)
    expect((await curl(line, place, cwd)).trim()).toBe(answer)
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
