/** A project to build, and what each build must hold. @module */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { folder } from './process.ts'

export const service = `
import { readFileSync } from 'node:fs'
import { io, Runner, Service } from 'serving'
import { shout } from './lib/shout.ts'
const greeting: string = readFileSync(new URL('./greeting.txt', import.meta.url), 'utf8')
const model = new Runner<typeof import('./models/model.ts')>('model', {
  module: new URL('./models/model.ts', import.meta.url),
  methods: { scale: {} },
})
const svc = new Service('packed', { runners: [model], doc: 'A service to pack.' })
svc.api({ input: new io.Text(), output: new io.Text() }, function greet(name: string) { return shout(greeting + name) })
svc.api({ input: new io.Text(), output: new io.Text() }, async function scale(text: string, ctx) {
  return String(await model.scale(Number(text), ctx))
})
svc.api({ input: new io.Text(), output: new io.Text() }, function variable(name: string) {
  return process.env[name] ?? ''
})
svc.api({ input: new io.Text(), output: new io.Text() }, function here() { return import.meta.dirname })
export default svc
`
const model = `
import { readFileSync } from 'node:fs'
export async function load() {
  const { factor } = JSON.parse(readFileSync(new URL('../../weights/factor.json', import.meta.url), 'utf8'))
  return { scale: (x: number): number => x * factor }
}
`
export const files = {
  'package.json': '{"name":"packed","version":"1.2.3"}',
  'src/service.ts': service,
  'src/models/model.ts': model,
  'src/lib/shout.ts': 'export const shout = (text: string): string => text.toUpperCase()',
  'src/greeting.txt': 'hello, ',
  'weights/factor.json': '{"factor":3}',
  'weights/notes.tmp': 'not packed',
  'data/table.csv': 'a,b\n',
}
export const config = {
  service: 'src/service.ts',
  workers: 1,
  build: {
    models: ['weights'],
    include: ['data/*.csv'],
    exclude: ['**/*.tmp'],
    envs: [{ name: 'COLOUR', value: 'blue' }],
    docker: { systemPackages: ['curl'], env: { TZ: 'UTC' } },
    python: { packages: ['scikit-learn==1.5.2'] },
  },
}

export function project(more: Readonly<Record<string, string>> = {}): string {
  return folder({ ...files, 'serving.config.json': JSON.stringify(config), ...more }, true)
}

/** Returns every file below a folder with its SHA-256. */
export function hashes(path: string): Record<string, string> {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(path, name)).isFile(),
  )
  const hash = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(path, name)))
      .digest('hex')
  return Object.fromEntries(names.sort().map((name) => [name, hash(name)]))
}

/** Expects the files of a build of {@link project} to say what is in it. */
export function describesWhatItHolds(build: string): void {
  const read = (name: string) => readFileSync(join(build, name), 'utf8')
  const manifest = JSON.parse(read('manifest.json'))
  expect(manifest).toMatchObject({
    service: { name: 'packed', entry: 'src/service.js', docs: 'A service to pack.' },
    runners: ['model'],
    remoteRunners: [],
    models: ['weights/factor.json'],
    target: { platform: process.platform, arch: process.arch, abi: process.versions.modules },
  })
  expect(manifest.apis.map(({ route }: { route: string }) => route)).toEqual([
    'greet',
    'scale',
    'variable',
    'here',
  ])
  expect(manifest.apis[0].input).toMatchObject({ descriptorId: 'serving.io.Text' })
  const own = Object.entries(hashes(build)).filter(
    ([name]) => !/^(node_modules\/|manifest\.json$)/.test(name),
  )
  expect(manifest.files).toEqual(Object.fromEntries(own))
  expect(Object.keys(manifest.files)).toEqual(
    expect.arrayContaining([
      'data/table.csv',
      'src/greeting.txt',
      'src/models/model.js',
      'weights/factor.json',
    ]),
  )
  expect(Object.keys(manifest.files)).not.toContain('weights/notes.tmp')
  expect(Object.keys(manifest.packages)).toContain('serving')
  for (const name of ['tsx', 'esbuild', 'chokidar', 'typescript', 'nodejs-polars']) {
    expect(existsSync(join(build, 'node_modules', name))).toBe(false)
  }
  const lock = JSON.parse(read('package-lock.json'))
  const places = Object.keys(lock.packages).filter((place) => place !== '')
  expect(places.map((place) => place.slice('node_modules/'.length))).toEqual(
    Object.keys(manifest.packages),
  )
  expect(JSON.parse(read('package.json'))).toMatchObject({ version: '1.2.3', type: 'module' })
  expect(JSON.parse(read('openapi.json')).paths).toHaveProperty('/greet')
  expect(JSON.parse(read('serving.config.json'))).toEqual({
    service: './src/service.js',
    workers: 1,
  })
  expect(read('Dockerfile')).toMatch(
    /apt-get install -y --no-install-recommends curl python3 python3-venv/,
  )
  expect(read('Dockerfile')).toContain('ENV TZ="UTC"')
  expect(read('python/requirements.txt')).toBe('scikit-learn==1.5.2\n')
  expect(read('Dockerfile')).toMatch(
    /^ENV PATH="\/opt\/python\/bin:\$PATH" SERVING_PYTHON=\/opt\/python\/bin\/python$/m,
  )
  expect(read('main.js')).toContain(
    'process.env["SERVING_PYTHON_PACKAGES"] ??= "[\\"scikit-learn==1.5.2\\"]"',
  )
}
