/**
 * What a browser loads of the client.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { root } from '../cli/process.ts'
import { bundleClient, bundlerNames, packedProject } from './packed.ts'

const project = packedProject()

it.each(bundlerNames)(
  '%s makes a script of the packed client, with nothing of Node in it',
  async (bundler) => {
    const { text, warnings } = await bundleClient(project, bundler)
    expect(warnings).toEqual([])
    expect(text.match(/\bnode:\w*|\brequire\(|^import\b.*|sourceMappingURL/gm)).toBe(null)
  },
)

const service = `
import { io, Service } from 'serving'
const svc = new Service('typed')
const array = new io.NumpyNdarray({ dtype: 'float32' })
export const scale = svc.api({ input: array, output: array }, function scale(x) { return x })
export default svc`
const page = `
import { createClient } from 'serving/client'
import type * as service from './service.ts'
const client = createClient<typeof service>('/')
export const rank: number = (await client.scale([[1, 2]])).shape.length
// @ts-expect-error there is no such API
client.nothing`

it('the types of the packed client are whole in a project for browsers, which has no types of Node', () => {
  writeFileSync(join(project, 'service.ts'), service)
  writeFileSync(join(project, 'page.ts'), page)
  const tsc = [
    join(root, 'node_modules/typescript/bin/tsc'),
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    'page.ts',
  ]
  const target = ['--target', 'es2022', '--lib', 'es2023,dom,dom.iterable', '--types', '']
  const modules = [
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
    '--allowImportingTsExtensions',
  ]
  const options = { cwd: project, encoding: 'utf8' } as const
  const { status, stdout } = spawnSync(process.execPath, [...tsc, ...target, ...modules], options)
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
})

it('the client has the size that the documentation tells', async () => {
  const { text } = await bundleClient(project, 'esbuild')
  const kilobytes = Math.round(gzipSync(text).length / 1000)
  const told = (file: string, sentence: RegExp) =>
    Number(sentence.exec(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'))?.[1])
  expect(told('README.md', /(\d+) KB for browsers and Node/)).toBe(kilobytes)
  expect(told('docs/guide/clients.md', /has (\d+) KB \(gzip\)/)).toBe(kilobytes)
})
