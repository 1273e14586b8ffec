/** The package serving-io as it is packed, alone and beside serving. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import nodeModule from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../cli/process.ts'
import { packedProject } from './packed.ts'

const project = packedProject(['nodejs-polars'])
const tarball = execFileSync(process.execPath, ['scripts/pack-io.mjs', project], {
  cwd: root,
  encoding: 'utf8',
}).trim()
execFileSync('tar', ['-xzf', tarball, '-C', project])
renameSync(join(project, 'package'), join(project, 'node_modules/serving-io'))
const manifest = JSON.parse(
  readFileSync(join(project, 'node_modules/serving-io/package.json'), 'utf8'),
)

/** Runs a module in a folder and returns what it prints. */
function printed(folder: string, program: string): string {
  writeFileSync(join(folder, 'program.mjs'), program)
  return execFileSync(process.execPath, ['program.mjs'], { cwd: folder, encoding: 'utf8' }).trim()
}

describe('the package serving-io', () => {
  it('depends on four packages, none of them of a server', () => {
    const names = Object.keys(manifest.dependencies).toSorted()
    expect(names).toEqual(['@standard-schema/spec', 'cookie', 'flatbuffers', 'mime'])
  })

  it('answers requests with these packages alone', () => {
    const alone = join(project, 'alone')
    for (const name of Object.keys(manifest.dependencies)) {
      mkdirSync(dirname(join(alone, 'node_modules', name)), { recursive: true })
      symlinkSync(join(root, 'node_modules', name), join(alone, 'node_modules', name), 'dir')
    }
    execFileSync('cp', [
      '-r',
      join(project, 'node_modules/serving-io'),
      join(alone, 'node_modules'),
    ])
    const program = `
import { fetchHandler, io } from 'serving-io'
const rows = new io.NumpyNdarray({ dtype: 'float32' })
const form = new io.Multipart({ x: rows, note: io.optional(new io.Text()) })
const ask = async (options, fn, body, headers) =>
  (await fetchHandler(options, fn)(new Request('http://a.example/', { method: 'POST', body, headers }))).text()
const json = { 'content-type': 'application/json' }
const fields = new FormData()
fields.set('x', new Blob(['[1,2]'], json))
console.log(await ask({ input: rows, output: rows }, (x) => x, '[[1,2.5]]', json))
console.log(await ask({ input: form, output: new io.Text() }, ({ x }) => String(x.data), fields))
const frame = new io.PandasDataFrame()
console.log(await ask({ input: frame, output: frame }, (x) => x, '[{"a":1}]', json))`
    expect(printed(alone, program).split('\n')).toEqual(['[[1.0,2.5]]', '1,2', '[{"a":1}]'])
  })

  // Node 20 has no hooks that count them.
  it.runIf('registerHooks' in nodeModule)('loads at most 60 modules', () => {
    const program = `
import { registerHooks } from 'node:module'
const urls = []
registerHooks({ load(url, context, next) { urls.push(url); return next(url, context) } })
await import('serving-io')
console.log(urls.filter((url) => !url.startsWith('node:')).length)`
    expect(Number(printed(project, program))).toBeLessThanOrEqual(60)
  })

  it('loads no cryptography of Node before something asks for it', () => {
    const program = `
import { fetchHandler, io } from 'serving-io'
const rows = new io.NumpyNdarray()
const handle = fetchHandler({ input: rows, output: rows }, (x) => x)
const headers = { 'content-type': 'application/json' }
console.log(process.moduleLoadList.includes('NativeModule crypto'))
console.log(await (await handle(new Request('http://a.example/', { method: 'POST', body: '[1]', headers }))).text())`
    expect(printed(project, program).split('\n')).toEqual(['false', '[1.0]'])
  })

  it('shares values and errors with serving, both ways', () => {
    const program = `
import * as server from 'serving'
import * as alone from 'serving-io'
const told = []
for (const [mine, other] of [[server, alone], [alone, server]]) {
  const { NDArray, RasterImage, BinaryFile, BadInput, io } = mine
  const array = new other.NDArray(Float32Array.of(1, 2))
  const picture = new other.RasterImage('L', 1, 1, Uint8Array.of(7))
  const file = new other.BinaryFile(Uint8Array.of(65))
  const error = new other.BadInput('wrong')
  told.push(array instanceof NDArray, picture instanceof RasterImage, file instanceof BinaryFile)
  told.push(mine.ServingError.is(error))
  told.push([] instanceof NDArray, null instanceof NDArray, array instanceof (class Other extends NDArray {}))
  told.push(String((await new io.NumpyNdarray().toHttpResponse(array)).body))
  told.push(Buffer.from((await new io.File().toHttpResponse(file)).body).toString())
}
console.log(JSON.stringify(told))`
    const each = [true, true, true, true, false, false, false, '[1.0,2.0]', 'A']
    expect(JSON.parse(printed(project, program))).toEqual([...each, ...each])
  })
})
