import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import * as serving from 'serving'
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
      'AGENTS.md',
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

  it('writes 30 lines for agents, which name what there is', async () => {
    const cwd = folder({})
    await run(['new', 'demo'], { cwd })
    const textOf = (file: string) => readFileSync(join(cwd, 'demo', file), 'utf8')
    const text = textOf('AGENTS.md')
    expect(text.split('\n').length).toBeLessThanOrEqual(31)
    const named = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name)
    const { scripts } = JSON.parse(textOf('package.json'))
    expect(named(/`npm (?:run )?(\w+)`/g).sort()).toEqual(['build', 'dev', 'test', 'types'])
    expect(named(/`npm (?:run )?(\w+)`/g).filter((name) => !(name in scripts))).toEqual([])
    const { stdout: help } = await run(['--help'])
    expect(named(/`npx serving (\w+)/g).filter((name) => !help.includes(`\n  ${name} `))).toEqual(
      [],
    )
    const names = { ...serving, ...Object.fromEntries(Object.entries(serving.io)) }
    expect(named(/`(?:io\.)?([A-Z]\w+)`/g).filter((name) => !(name in names))).toEqual([])
    expect(named(/`io\.(\w+)`/g)).toHaveLength(7)
    const files = named(/`((?:node_modules\/serving\/)?[\w/]+(?:\.\w+)*\.ts)`/g)
    expect(files.length).toBeGreaterThan(2)
    for (const file of files) {
      const [, ours] = /^node_modules\/serving\/(.*)/.exec(file) ?? []
      expect(
        existsSync(ours === undefined ? join(cwd, 'demo', file) : join(root, ours)),
        file,
      ).toBe(true)
    }
  })

  it('takes the tarball that it is told, relative to the project', async () => {
    const cwd = folder({ 'serving-0.1.0.tgz': '' })
    await run(['new', 'demo', '--package', 'serving-0.1.0.tgz'], { cwd })
    const text = readFileSync(join(cwd, 'demo/package.json'), 'utf8')
    expect(JSON.parse(text).dependencies.serving).toBe('file:../serving-0.1.0.tgz')
  })

  it.each([
    [['new', 'full'], 'full is not empty'],
    [
      ['new', 'Two Words'],
      'expected a name of lower case letters, digits, - . and _ for the project',
    ],
    [['new', 'demo', '--package', 'gone.tgz'], '--package: there is no file gone.tgz'],
  ])('%j is refused', async (args, message) => {
    const cwd = folder({ 'full/mine.txt': '' })
    const { code, stderr } = await run(args, { cwd })
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
  })

  it('names its templates', async () => {
    const { code, stderr } = await run(['new', 'demo', '--template', 'sound'], { cwd: folder({}) })
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('array, image, table, stream.'),
    })
  })
})

const { dependencies, peerDependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)

/** Makes a new project, named as its template, in a folder. */
async function makeProject(template: string, cwd: string): Promise<void> {
  const { code, stderr } = await run(['new', template, '--template', template], { cwd })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
}

/** Links our dependencies and other packages into a folder. */
function linkPackages(modules: string, packages: readonly string[]): void {
  const tools = ['@types/node', 'tsx', 'chokidar', 'esbuild']
  for (const name of new Set([...tools, ...Object.keys(dependencies), ...packages])) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name), 'dir')
  }
}

it.each<[string[], string[], string[]]>([
  [['array', 'image', 'table', 'stream'], Object.keys(peerDependencies), []],
  // Only what they need, with the types of this package. Those of nodejs-polars have errors of their own:
  // docs/adr/008-nodejs-polars.md.
  [['array', 'stream'], [], ['--skipLibCheck', 'false']],
  [['image'], ['@napi-rs/image'], ['--skipLibCheck', 'false']],
  [['table'], ['nodejs-polars', 'parquet-wasm'], []],
])(
  'the templates %j compile with the packages %j',
  { timeout: 60_000 },
  async (templates, packages, options) => {
    const cwd = folder({})
    for (const template of templates) await makeProject(template, cwd)
    // A link would see the packages of the checkout.
    for (const name of ['dist', 'package.json'])
      cpSync(join(root, name), join(cwd, 'node_modules/serving', name), { recursive: true })
    linkPackages(join(cwd, 'node_modules'), packages)
    // Without members that declarations leave out, a service is still one that can be served.
    const program = "import { Service, serve } from 'serving'\nawait serve(new Service('typed'))\n"
    writeFileSync(join(cwd, templates[0], 'start.ts'), program)
    const config = { extends: `./${templates[0]}/tsconfig.json`, include: ['*/*.ts'] }
    writeFileSync(join(cwd, 'tsconfig.json'), JSON.stringify(config))
    const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '-p', cwd, ...options]
    const { status, stdout } = spawnSync(process.execPath, tsc, { encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
  },
)

describe.each<[string, string[]]>([
  ['array', []],
  ['image', ['@napi-rs/image']],
  ['table', ['nodejs-polars', 'parquet-wasm']],
  ['stream', []],
])('serving new --template %s', (template, needed) => {
  it('needs what it names, passes its tests, answers what its README says, and the same when built', {
    timeout: 120_000,
  }, async () => {
    const place = folder({})
    await makeProject(template, place)
    const cwd = join(place, template)
    const manifest = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'))
    expect(Object.keys(manifest.dependencies).sort()).toEqual(['serving', ...needed].sort())
    for (const name of needed) expect(manifest.dependencies[name]).toBe(peerDependencies[name])
    const files = readdirSync(cwd, { withFileTypes: true }).filter((entry) => entry.isFile())
    const written = files.map(({ name }) => readFileSync(join(cwd, name), 'utf8')).join('\n')
    expect(written).not.toMatch(/\b(?:NAME|PACKAGE|REQUEST)\b/)
    expect(readdirSync(cwd)).not.toContain('request.sh')

    linkPackages(join(cwd, 'node_modules'), needed)
    symlinkSync(root, join(cwd, 'node_modules/serving'), 'dir')
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
    const green = new serving.RasterImage(
      'RGB',
      2,
      2,
      Uint8Array.of(0, 200, 9, 0, 200, 9, 0, 200, 9, 0, 200, 9),
    )
    writeFileSync(join(cwd, 'photo.jpg'), await green.encode('image/jpeg'))
    const { port } = await serveFile('service.ts', ['--workers', '1'], { cwd })
    await until(async () => (await send(port, '/readyz')).status === 200)
    expect((await curl(line, port, cwd)).trim()).toBe(answer)

    expect(await run(['build', 'service.ts'], { cwd })).toMatchObject({ code: 0, stderr: '' })
    const built = spawn(process.execPath, ['build/main.js', '--port', '0', '--workers', '1'], {
      cwd,
      env,
    })
    onTestFinished(() => void built.kill('SIGKILL'))
    let text = ''
    built.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    const builtPort = Number(
      await until(() => /^serving .* at http:\/\/localhost:(\d+)/m.exec(text)?.[1]),
    )
    await until(async () => (await send(builtPort, '/readyz')).status === 200)
    expect((await curl(line, builtPort, cwd)).trim()).toBe(answer)
  })
})

describe('another package named serving', () => {
  it('is told from ours', async () => {
    const cwd = folder({
      'service.mjs': `import { Service } from 'serving'\nexport default new Service('x')`,
      'node_modules/serving/index.js': 'module.exports = function server() {}',
    })
    const manifest = {
      name: 'serving',
      version: '1.0.0',
      main: 'index.js',
      description: 'http request server',
    }
    writeFileSync(join(cwd, 'node_modules/serving/package.json'), JSON.stringify(manifest))
    const { code, stderr } = await run(['serve', 'service.mjs', '--port', '0', '--workers', '1'], {
      cwd,
    })
    expect(code).toBe(1)
    expect(stderr).toContain(
      'node_modules/serving is another package of this name (1.0.0, from the npm registry)',
    )
    expect(stderr).toContain(': run npm install ')
  })
})
