import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { optionNames } from '../../src/cli/config/option-table.ts'
import { folder, root, run, send, serveFile } from './process.ts'

const service = `
import { io, Service } from 'serving'
const svc = new Service('configured')
svc.api({ input: new io.Text(), output: new io.Text() }, function echo(text) { return text })
export default svc
`
const typed = `
import { defineConfig } from 'serving/config'
const workers: number = 1
export default defineConfig({ service: './service.js', workers, baseUrl: '/file', maxBodyBytes: '1KiB' })
`

/** Runs `serving config` in a folder that has a configuration file. */
async function configOf(
  name: string,
  text: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
) {
  const cwd = folder(
    { 'service.js': service, 'package.json': '{"type":"module"}', [name]: text },
    true,
  )
  const { stderr, ...others } = await run(['config', ...args], { cwd, env })
  // Node 26 warns of what tsx calls.
  const warning = /^\(node:\d+\) \[DEP0205\].*\n\(Use `node --trace-deprecation.*\n/gm
  return { ...others, stderr: stderr.replace(warning, '') }
}

/** Returns what `serving config` says of one option: its value and where it comes from. */
function lineOf(text: string, name: string): string[] | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  return line?.split(/ {2,}/).slice(1)
}

describe('a configuration file', () => {
  it('in TypeScript is read, and its values reach the server', async () => {
    const cwd = folder(
      { 'service.js': service, 'package.json': '{}', 'serving.config.ts': typed },
      true,
    )
    const { port, line } = await serveFile('service.js', [], { cwd })
    expect(line).toContain('(1 worker,')
    expect(await send(port, '/file/echo', 'x')).toEqual({ status: 200, body: 'x' })
    expect((await send(port, '/file/echo', 'x'.repeat(1025))).status).toBe(413)
  })

  it.each([
    ['serving.config.ts', typed],
    [
      'serving.config.mjs',
      `export default { service: 'service.js', baseUrl: '/file', workers: 1 }`,
    ],
    ['serving.config.json', `{ "service": "service.js", "baseUrl": "/file", "workers": 1 }`],
    ['serving.config.yaml', 'service: service.js\nbaseUrl: /file\nworkers: 1\n'],
  ])('is read as %s', async (name, text) => {
    const { code, stdout, stderr } = await configOf(name, text)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(new RegExp(`^file {5}${name}\nservice {2}service.js\n`))
    expect(lineOf(stdout, 'baseUrl')).toEqual(['/file', name])
    expect(lineOf(stdout, 'workers')).toEqual(['1', name])
    expect(lineOf(stdout, 'port')).toEqual(['3000', 'default'])
  })

  it('shows no password of a store', async () => {
    const text = 'service: service.js\njobStore: redis://me:s3cr3t@redis:6379/1\n'
    const { stdout } = await configOf('serving.config.yaml', text)
    expect(lineOf(stdout, 'jobStore')?.[0]).toBe('redis://me:…@redis:6379/1')
  })

  it('goes behind a flag and the environment, and before the default', async () => {
    const text =
      'service: service.js\nport: 1\nworkers: 2\nintrospection: false\nmaxMemoryBytes: 1GiB\n'
    const { stdout } = await configOf('serving.config.yaml', text, ['--port', '3'], {
      SERVING_PORT: '2',
      SERVING_WORKERS: '4',
    })
    expect(lineOf(stdout, 'port')).toEqual(['3', '--port'])
    expect(lineOf(stdout, 'workers')).toEqual(['4', 'SERVING_WORKERS'])
    expect(lineOf(stdout, 'introspection')).toEqual(['off', 'serving.config.yaml'])
    expect(lineOf(stdout, 'maxMemoryBytes')).toEqual([`${1024 ** 3}`, 'serving.config.yaml'])
    expect(lineOf(stdout, 'maxInFlight')).toEqual(['1024', 'default'])
  })

  it('that says nothing leaves what holds by itself', async () => {
    const { stdout } = await configOf('serving.config.json', '{ "service": "service.js" }')
    const held = Object.fromEntries(optionNames.map((name) => [name, lineOf(stdout, name)?.[0]]))
    expect(Object.values(held)).not.toContain('-')
    expect(held).toMatchObject({
      host: 'all',
      docs: 'on',
      introspection: 'on',
      metrics: 'on',
      grpcPort: 'no gRPC server',
    })
    expect(held.engine).toMatch(/^(uws|node)$/)
    const node = await configOf('serving.config.json', '{ "engine": "node" }', [], {
      NODE_ENV: 'production',
    })
    expect(lineOf(node.stdout, 'docs')).toEqual(['off', 'default'])
    expect(lineOf(node.stdout, 'idleTimeoutMs')).toEqual(['65000', 'default'])
    const uws = await configOf('serving.config.json', '{ "engine": "uws" }')
    expect(lineOf(uws.stdout, 'idleTimeoutMs')).toEqual(['10000', 'default'])
  })

  it('is found above the service, up to package.json', async () => {
    const files = {
      'src/service.js': service,
      'package.json': '{"type":"module"}',
      'serving.config.json': '{"port":1}',
    }
    const cwd = folder(files, true)
    expect(lineOf((await run(['config', 'src/service.js'], { cwd })).stdout, 'port')).toEqual([
      '1',
      'serving.config.json',
    ])
    const inner = folder({ ...files, 'src/package.json': '{}' }, true)
    const { stdout } = await run(['config', 'src/service.js'], { cwd: inner })
    expect(lineOf(stdout, 'port')).toEqual(['3000', 'default'])
  })

  it.each([
    ['json', '{"prot": 1}', 'serving.config.json: unknown key "prot" (Did you mean port?)'],
    [
      'json',
      '{"port": "80"}',
      'serving.config.json: port: expected a whole number from 0 to 65535, received "80"',
    ],
    [
      'json',
      '{"port": 70000}',
      'serving.config.json: port: expected a whole number from 0 to 65535, received 70000',
    ],
    [
      'yaml',
      'engine: apache',
      'serving.config.yaml: engine: expected uws or node, received "apache"',
    ],
    ['yaml', 'introspection: "on"', 'introspection: expected true or false, received "on"'],
    [
      'yaml',
      'maxBodyBytes: 64MB',
      'maxBodyBytes: expected a whole number from 0 up or a text as in 64MiB, received "64MB"',
    ],
    [
      'yaml',
      'build:\n  docker:\n    baseimage: x',
      'build.docker: unknown key "baseimage" (Did you mean baseImage?)',
    ],
    ['yaml', 'build: { models: [1] }', 'build.models[0]: expected a text, received 1'],
    ['yaml', '- 1', 'serving.config.yaml: expected an object, received [1]'],
    ['yaml', 'port: [1', 'serving.config.yaml: '],
    ['json', '{"port": 1', 'serving.config.json: '],
    ['json', '{"service": "gone.ts"}', 'there is no file '],
    ['mjs', 'export const port = 1', 'serving.config.mjs has no default export'],
    ['mjs', 'export default { port() {} }', 'serving.config.mjs must export plain data'],
    ['mjs', `throw new Error('not today')`, 'serving.config.mjs: not today (serving.config.mjs:1:'],
    ['ts', 'export default {', 'serving.config.ts:1:1'],
    ['mjs', 'process.exit(3)', 'serving.config.mjs ended its process with code 3'],
  ])('.%s that says %s is refused', async (extension, text, message) => {
    const { code, stdout, stderr } = await configOf(`serving.config.${extension}`, text)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toMatch(/^serving: /)
  })

  it('beside another one is refused', async () => {
    const cwd = folder({ 'serving.config.json': '{}', 'serving.config.yaml': '' })
    const { stderr } = await run(['config'], { cwd })
    expect(stderr).toBe(
      'serving: there are serving.config.json and serving.config.yaml: keep one of them\n',
    )
  })
})

describe('a variable named SERVING_', () => {
  it('that is misspelled is an error with the nearest name', async () => {
    const { code, stderr } = await run(['config'], { env: { SERVING_WORKRES: '2' } })
    expect(code).toBe(2)
    expect(stderr).toContain(
      'unknown environment variable SERVING_WORKRES (Did you mean SERVING_WORKERS?)',
    )
  })

  it('that Kubernetes sets for a Service of our name, or that is empty, is none of ours', async () => {
    const env = {
      SERVING_PORT: 'tcp://10.0.0.1:80',
      SERVING_PORT_80_TCP: 'tcp://10.0.0.1:80',
      SERVING_PORT_80_TCP_ADDR: '10.0.0.1',
      SERVING_SERVICE_HOST: '10.0.0.1',
      SERVING_SERVICE_PORT_HTTP: '80',
      SERVING_IRIS_SERVICE_PORT: '80',
      SERVING_UNSET: '',
    }
    const { code, stdout } = await run(['config'], { env })
    expect(code).toBe(0)
    expect(lineOf(stdout, 'port')).toEqual(['3000', 'default'])
  })
})

describe('the published schema', () => {
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true })
  const schema = JSON.parse(readFileSync(join(root, 'dist/cli/config/schema.json'), 'utf8'))
  const isValid = ajv.compile(schema)

  it('has every option with what it does', () => {
    for (const name of optionNames)
      expect(schema.properties[name]).toMatchObject({ description: expect.any(String) })
  })

  it('takes and refuses what the command does', () => {
    const good = [
      {},
      { port: 1, maxBodyBytes: '1MiB', build: { docker: { systemPackages: ['a'] } } },
      { maxBodyBytes: 1 },
    ]
    const bad = [
      { prot: 1 },
      { port: 70000 },
      { port: '1' },
      { engine: 'x' },
      { maxBodyBytes: '1MB' },
      { build: { x: 1 } },
    ]
    expect(good.map((value) => isValid(value))).toEqual(good.map(() => true))
    expect(bad.map((value) => isValid(value))).toEqual(bad.map(() => false))
  })
})
