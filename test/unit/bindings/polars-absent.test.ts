import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href

const script = `
import { io } from './src/index.ts'
const tell = (make) => { try { make(); return 'made' } catch (error) { return error.name + ': ' + error.message } }
console.log(JSON.stringify([
  tell(() => new io.PandasDataFrame()),
  tell(() => new io.PandasSeries()),
  tell(() => io.PandasSeries.fromSample([1])),
  tell(() => new io.NumpyNdarray()),
]))
`

describe('without nodejs-polars', () => {
  let folder = ''

  beforeAll(() => {
    // A copy of the sources where every package that they import is found, but not Polars.
    folder = mkdtempSync(join(tmpdir(), 'serving-absent-'))
    cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'try.ts'), script)
    mkdirSync(join(folder, 'node_modules'))
    for (const name of readdirSync(join(root, 'node_modules'))) {
      if (name.startsWith('nodejs-polars') || name.startsWith('.')) continue
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
    }
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('descriptors that need it name it and its install command when they are made, and the others are made', () => {
    const out = execFileSync(process.execPath, ['--import', tsx, join(folder, 'try.ts')], { encoding: 'utf8' })
    const missing = (name: string) =>
      `MissingDependencyException: ${name} needs the package nodejs-polars: npm install "nodejs-polars@0.24.1"`
    expect(JSON.parse(out)).toEqual([
      missing('PandasDataFrame'),
      missing('PandasSeries'),
      missing('PandasSeries'),
      'made',
    ])
  })
})
