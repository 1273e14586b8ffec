import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { childrenOf } from '../fuzz/processes.ts'
import { config, describesWhatItHolds, files, hashes, project, service } from './build-project.ts'
import { folder, root, run, send, until } from './process.ts'

describe('serving build', () => {
  it('makes a folder that node alone runs, the same bytes each time', {
    timeout: 60_000,
  }, async () => {
    const cwd = project()
    const first = await run(['build'], { cwd })
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toMatch(
      /^built packed in build: \d+ files, \d+ packages, [\d.]+ MB\nsha256 [0-9a-f]{64}\n/,
    )
    const built = hashes(join(cwd, 'build'))
    describesWhatItHolds(join(cwd, 'build'))
    // A build replaces what was there.
    writeFileSync(join(cwd, 'build/stale.txt'), '')
    const again = await run(['build', 'src/service.ts'], { cwd })
    expect(hashes(join(cwd, 'build'))).toEqual(built)
    expect(again.stdout.split('\n')[1]).toBe(first.stdout.split('\n')[1])

    // Elsewhere, without the project.
    const away = join(folder({}), 'moved')
    renameSync(join(cwd, 'build'), away)
    const { PATH = '' } = process.env
    const child = spawn(process.execPath, ['main.js', '--port', '0'], { cwd: away, env: { PATH } })
    onTestFinished(() => void child.kill('SIGKILL'))
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    const port = Number(
      await until(() => /^serving packed at http:\/\/localhost:(\d+) \(1 worker/m.exec(text)?.[1]),
    )
    expect(await send(port, '/greet', 'ada')).toEqual({ status: 200, body: 'HELLO, ADA' })
    expect(await send(port, '/scale', '14')).toEqual({ status: 200, body: '42' })
    expect(await send(port, '/variable', 'COLOUR')).toEqual({ status: 200, body: 'blue' })
    expect(await send(port, '/here', '')).toEqual({ status: 200, body: join(away, 'src') })
    const pids = [child.pid as number, ...childrenOf(child.pid as number)]
    const commands = pids
      .flatMap((pid) => [pid, ...childrenOf(pid)])
      .map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    expect(commands.filter((command) => /tsx|esbuild/.test(command))).toEqual([])
    child.kill('SIGTERM')
    await until(() => child.exitCode !== null)
    expect(child.exitCode).toBe(0)
  })

  it('packs the native and optional packages that a service uses', {
    timeout: 60_000,
  }, async () => {
    const away = folder({})
    const file = join(root, 'examples/models/service.ts')
    expect(await run(['build', file, '--out', join(away, 'built')])).toMatchObject({
      code: 0,
      stderr: '',
    })
    const { PATH = '' } = process.env
    const args = ['main.js', '--port', '0', '--workers', '1']
    const child = spawn(process.execPath, args, { cwd: join(away, 'built'), env: { PATH } })
    onTestFinished(() => void child.kill('SIGKILL'))
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    const port = await until(
      () => /^serving example_models at http:\/\/localhost:(\d+)/m.exec(text)?.[1],
    )
    const picture = readFileSync(
      join(root, 'examples/digits/held-out/7-blue-on-cream-200x150-rgb-29.png'),
    )
    const form = new FormData()
    form.append('fileobj', new Blob([picture], { type: 'image/png' }), 'seven.png')
    const response = await fetch(`http://localhost:${port}/classify_digit`, {
      method: 'POST',
      body: form,
    })
    expect(await response.json()).toMatchObject({ digit: 7 })
    for (const name of ['nodejs-polars', 'fastify', 'vitest']) {
      expect(existsSync(join(away, 'built/node_modules', name))).toBe(false)
    }
  })

  it('packs optional packages that package.json lists, but those that compiled the add-on', async () => {
    const dependencies = {
      'file-type': '*',
      'left-pad': '*',
      '@nozbe/simdjson': '*',
      'node-gyp': '*',
      'node-api-headers': '*',
    }
    const cwd = project({ 'package.json': JSON.stringify({ name: 'packed', dependencies }) })
    mkdirSync(join(cwd, 'node_modules/@nozbe'), { recursive: true })
    for (const name of ['file-type', '@nozbe/simdjson', 'node-gyp', 'node-api-headers'])
      symlinkSync(join(root, 'node_modules', name), join(cwd, 'node_modules', name), 'dir')
    const { code, stdout } = await run(['build', '--list'], { cwd })
    expect(code).toBe(0)
    expect(stdout).toMatch(/node_modules\/file-type \d/)
    expect(stdout).not.toMatch(/left-pad|simdjson|node-gyp|node-api-headers/)
  })

  it('leaves out large ones of the list that nothing in the service names', async () => {
    const names = ['nodejs-polars', '@napi-rs/image', 'onnxruntime-node', 'file-type']
    const dependencies = Object.fromEntries(names.map((name) => [name, '*']))
    const cwd = project({ 'package.json': JSON.stringify({ name: 'packed', dependencies }) })
    mkdirSync(join(cwd, 'node_modules/@napi-rs'))
    for (const name of names)
      symlinkSync(join(root, 'node_modules', name), join(cwd, 'node_modules', name), 'dir')
    const packed = async (lines: string) => {
      writeFileSync(join(cwd, 'src/service.ts'), lines + service)
      const { stdout, stderr } = await run(['build', '--list'], { cwd })
      expect(stderr).toBe('')
      return names.filter((name) => new RegExp(` node_modules/${name} \\d`).test(stdout))
    }
    expect(await packed('')).toEqual(['file-type'])
    // In calls, after the build has loaded the service.
    expect(
      await packed(
        'export const grey = () => new RasterImage("L", 1, 1, Uint8Array.of(9)).encode("image/png")\n',
      ),
    ).toEqual(['@napi-rs/image', 'file-type'])
    expect(await packed('export const frame = () => new io.PandasDataFrame()\n')).toEqual([
      'nodejs-polars',
      'file-type',
    ])
    expect(await packed('export const load = () => import("serving/onnx")\n')).toEqual([
      'onnxruntime-node',
      'file-type',
    ])
  })

  it.each([
    [
      'the service',
      "{ jobs: { store: 'redis://redis', blobs: 's3://b/f?endpoint=http://s3' } }",
      {},
    ],
    [
      'its configuration',
      "{ jobs: { blobs: 's3://b/f?endpoint=http://s3' } }",
      { jobStore: 'rediss://redis' },
    ],
  ])('packs what the store needs that %s names', async (_, options, settings) => {
    const text = service.replace(/\{ runners: .*\}/, options)
    const cwd = project({
      'src/service.ts': text,
      'serving.config.json': JSON.stringify({ ...config, ...settings }),
    })
    const { stdout, stderr } = await run(['build', '--list'], { cwd })
    expect(stderr).toBe('')
    for (const name of ['bullmq', 'ioredis', 'aws4fetch'])
      expect(stdout).toMatch(new RegExp(` node_modules/${name} \\d`))
  })

  it('keeps the names of functions, which are routes', async () => {
    const service = `
      import { io, Service } from 'serving'
      const text = new io.Text()
      const svc = new Service('names')
      export const shout = svc.api({ input: text, output: text }, function shout(x) { return x.toUpperCase() })
      export const labels = svc.get('/labels', { output: new io.JSON() }, function labels() { return import.meta.url })
      export default svc`
    const cwd = folder({ 'package.json': '{"type":"module"}', 'service.ts': service }, true)
    expect(await run(['build', 'service.ts'], { cwd })).toMatchObject({ code: 0, stderr: '' })
    const manifest = JSON.parse(readFileSync(join(cwd, 'build/manifest.json'), 'utf8'))
    expect(manifest.apis.map(({ name, route }: Record<string, string>) => [name, route])).toEqual([
      ['shout', 'shout'],
    ])
    const document = JSON.parse(readFileSync(join(cwd, 'build/openapi.json'), 'utf8'))
    expect(document.paths).toHaveProperty(['/shout'])
    expect(document.paths['/labels'].get.operationId).toBe('labels')
  })

  it('refuses a build whose routes are not those of the source', async () => {
    const service = `
      import { io, Service } from 'serving'
      const text = new io.Text()
      const svc = new Service('names')
      const name = process.argv[2].endsWith('.ts') ? 'source' : 'compiled'
      svc.api({ input: text, output: text, name }, (x) => x)
      svc.api({ input: text, output: text, name: 'same' }, (x) => x)
      export default svc`
    const cwd = folder({ 'package.json': '{"type":"module"}', 'service.ts': service }, true)
    const { code, stderr } = await run(['build', 'service.ts', '--out', 'out'], { cwd })
    expect(stderr).toBe(
      'serving: expected the endpoints of service.ts in its build: POST /source is missing, POST /compiled is new\n',
    )
    expect(code).toBe(1)
    expect(existsSync(join(cwd, 'out'))).toBe(false)
  })

  it('lists what it would write, and writes nothing', async () => {
    const cwd = project()
    const { code, stdout } = await run(['build', '--list'], { cwd })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ +12 {2}[0-9a-f]{12} {2}weights\/factor\.json$/m)
    expect(stdout).toMatch(/^ +\d+ {2}[0-9a-f]{12} {2}node_modules\/serving \d/m)
    expect(existsSync(join(cwd, 'build'))).toBe(false)
  })

  it('reads a bentofile', async () => {
    const bentofile = `
service: "src/service.ts:svc"
include: ["data/*.csv"]
models: ["weights/factor.json"]
docker:
  base_image: example.org/node:22
  system_packages: [curl]
envs:
  - name: COLOUR
    value: red
python:
  packages: [numpy]
conda:
  channels: [conda-forge]
  dependencies: [scikit-learn]
`
    const cwd = folder({ ...files, 'bentofile.yaml': bentofile }, true)
    expect(await run(['build'], { cwd })).toMatchObject({ code: 0, stderr: '' })
    const read = (name: string) => readFileSync(join(cwd, 'build', name), 'utf8')
    expect(read('Dockerfile')).toContain('FROM example.org/node:22\n')
    expect(read('main.js')).toContain('process.env["COLOUR"] ??= "red"')
    expect(read('python/environment.yml')).toBe(
      'channels:\n  - "conda-forge"\ndependencies:\n  - "pip"\n  - "python"\n  - "scikit-learn"\n' +
        '  - pip:\n      - "numpy"\n',
    )
    expect(read('Dockerfile')).toContain('COPY --from=conda /opt/python /opt/python\n')
    expect(read('Dockerfile')).toContain('SERVING_PYTHON=/opt/python/bin/python\n')
  })

  it.each([
    ['a syntax error', { 'src/service.ts': 'const x = ;' }, 'src/service.ts:1:11: Unexpected ";"'],
    [
      'a missing import',
      { 'src/service.ts': `import './gone.ts'` },
      'src/service.ts:1:8: Could not resolve "./gone.ts"',
    ],
    [
      'a missing asset',
      { 'src/service.ts': `export const url = new URL('./gone.bin', import.meta.url)` },
      'src/service.ts: there is no file ./gone.bin',
    ],
    [
      'a package that is not installed',
      { 'src/service.ts': `import 'left-pad'` },
      'src/service.ts needs the package left-pad, which is not installed: npm install left-pad',
    ],
    [
      'no service',
      { 'src/service.ts': 'export default 42' },
      'expected a Service for the default export of src/service.',
    ],
    [
      'an error of the service',
      { 'src/service.ts': `import 'serving'\nthrow new Error('no weights here')` },
      'no weights here (src/service.ts:2',
    ],
    [
      'a model that is not there',
      { 'serving.config.json': JSON.stringify({ ...config, build: { models: ['gone'] } }) },
      'build.models: there is no file gone in .',
    ],
    [
      'two files that say what to build',
      { 'bentofile.yaml': 'service: src/service.ts' },
      'keep one of them',
    ],
    [
      'a Python service',
      { 'serving.config.json': '{}', 'bentofile.yaml': 'service: service.py:svc' },
      'bentofile.yaml: service: expected a .ts, .mts, .js or .mjs file, received service.py:svc',
    ],
    [
      'an unknown key of a bentofile',
      {
        'serving.config.json': '{}',
        'bentofile.yaml': 'service: src/service.ts\ndocker: { cuda_version: 12 }',
      },
      'bentofile.yaml: docker: unknown key "cuda_version"',
    ],
    [
      'a file name that the build needs',
      {
        'serving.config.json': JSON.stringify({ ...config, build: { include: ['package.json'] } }),
      },
      'package.json is a file that serving build writes',
    ],
  ])('refuses %s, and names the file', async (_, more, message) => {
    const cwd = project(more)
    const { code, stderr } = await run(['build'], { cwd })
    expect(stderr).toContain(message)
    expect(code).toBe(1)
    expect(existsSync(join(cwd, 'build'))).toBe(false)
  })

  it('refuses a folder that is no build', async () => {
    const cwd = project({ 'build/precious.txt': 'mine' })
    const { code, stderr } = await run(['build'], { cwd })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'serving: build holds something that is no build: name another folder with --out\n',
    })
    expect(readdirSync(join(cwd, 'build'))).toEqual(['precious.txt'])
  })
})
