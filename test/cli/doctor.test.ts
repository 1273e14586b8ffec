/** `serving doctor`: what is there, what is missing, and what mends it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadUws } from '../../src/engine/uws/uws-package.ts'
import { folder, root, run } from './process.ts'

const { peerDependencies, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const uws = loadUws()

/** Returns the state of each subject, and what mends it. */
async function report(env: Record<string, string> = {}, cwd = root): Promise<Map<string, string>> {
  const { code, stdout, stderr } = await run(['doctor'], { env, cwd })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const entries = stdout.trimEnd().split(/\n(?=\S)/)
  return new Map(entries.map((entry) => [entry.split(/\s/, 1)[0], entry.replace(/^\S+\s+/, '')]))
}

describe('serving doctor', () => {
  it('tells the versions, the engine with its age and packer, the add-on, JPEG and the optional packages', async () => {
    const lines = await report()
    expect(lines.get('serving')).toBe(version)
    expect(lines.get('Node')).toContain(`${process.version}, ${process.platform} ${process.arch}`)
    if (process.platform === 'linux')
      expect(lines.get('Node')).toMatch(/, (no glibc|glibc 2\.\d+)$/)
    const compileOnly = [
      'node-api-headers',
      'node-gyp',
      '@nozbe/simdjson',
      'uWebSockets.js',
      'uws-pack',
    ]
    const packages = Object.keys(peerDependencies).filter((name) => !compileOnly.includes(name))
    expect([...lines.keys()]).toEqual(['serving', 'Node', 'engine', 'add-on', 'JPEG', ...packages])
    expect(lines.get('nodejs-polars')).toBe(peerDependencies['nodejs-polars'])
    if (typeof uws === 'string')
      expect(lines.get('engine')).toMatch(/^node:http\n(?:\s+not .+\n)+\s+-> (?:run|use|no) /)
    else expect(lines.get('engine')).toContain(uws.origin)
  })

  it('names what is missing and the command that mends it', async () => {
    const lines = await report({ SERVING_NATIVE: 'off' })
    expect(lines.get('add-on')).toMatch(
      /^TypeScript in its place, which is slower\n\s+-> .*SERVING_NATIVE=off$/,
    )
    expect(lines.get('JPEG')).toMatch(/^@napi-rs\/image in place of libjpeg-turbo: /)
    const of = 'serving_native.node'
    const SERVING_NATIVE_PATH = join(folder({ [of]: 'of another system' }), of)
    expect((await report({ SERVING_NATIVE_PATH })).get('add-on')).toMatch(
      /-> failed to load: .*: run `node native\/build.mjs --force`$/,
    )
  })

  it('loads each package that it names, and says why one does not load', async () => {
    const absent = "Cannot find module '@napi-rs/image-of-this-system'"
    const packages = Object.entries({
      'nodejs-polars': 'process.abort()',
      'onnxruntime-node': "require('./binding.node')",
      '@napi-rs/image': `throw new Error('no binding', { cause: new Error("${absent}") })`,
      zod: "setInterval(() => console.log('still there'), 1)",
    }).flatMap(([name, code]) => [
      [`node_modules/${name}/package.json`, JSON.stringify({ name, version: '9.9.9' })],
      [`node_modules/${name}/index.js`, code],
    ])
    const bare = folder({
      'package.json': '{}',
      'node_modules/onnxruntime-node/binding.node': 'of another system',
      'node_modules/uWebSockets.js/package.json': '{"name":"uWebSockets.js","version":"20.99.0"}',
      ...Object.fromEntries(packages),
    })
    const lines = await report({}, bare)
    const system = /-> use a system that its binary is for, such as Debian 13 or Ubuntu 24.04$/
    expect(lines.get('nodejs-polars')).toMatch(/^9\.9\.9 does not load: ended by SIG[A-Z]+\n/)
    expect(lines.get('nodejs-polars')).toMatch(system)
    expect(lines.get('onnxruntime-node')).toMatch(/^9\.9\.9 does not load: .*binding\.node.*\n/)
    expect(lines.get('onnxruntime-node')).toMatch(system)
    expect(lines.get('@napi-rs/image')?.replace(/\n\s+/, '\n')).toBe(
      `9.9.9 does not load: ${absent}\n-> rm -r node_modules && npm install`,
    )
    expect(lines.get('zod')).toBe('9.9.9')
    expect(lines.get('engine')).toContain(
      'uWebSockets.js 20.99.0, chosen by the application: no uws_',
    )
  })
})
