/**
 * The package as it is installed, on the Node that runs the tests: its entry points, its command, and the programs and
 * files that it finds beside itself.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root, run, send, serveFile, until } from '../cli/process.ts'
import { hasPython, python } from '../runner/python/python.ts'
import { packedProject } from './packed.ts'

const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const entries = Object.keys(exports).filter((path) => path !== './package.json')
const specifierOf = (entry: string) => posix.join('serving', entry)

const hasSqlite = isBuiltin('node:sqlite')
const project = packedProject()
const installed = join(project, 'node_modules/serving')
const program = join(installed, 'dist/cli/main.js')

describe.each(entries)('the entry %s of the package', (entry) => {
  it('is imported without optional packages, with the exports of its source, and says nothing', async () => {
    const specifier = specifierOf(entry)
    const code = `console.log(JSON.stringify(Object.keys(await import('${specifier}'))))`
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', code],
      {
        cwd: project,
        encoding: 'utf8',
      },
    )
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(JSON.parse(stdout).sort()).toEqual(Object.keys(await import(specifier)).sort())
  })
})

it('requires the modules of Node that a server loads at its start', () => {
  const chunks = join(installed, 'dist/chunks')
  const imports = readdirSync(chunks).flatMap(
    (file) => readFileSync(join(chunks, file), 'utf8').match(/^import .* from "node:.*"/gm) ?? [],
  )
  expect(imports.filter((line) => !line.endsWith('"node:module"'))).toEqual([])
})

it('has each file that a source names beside itself', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const named = sources.flatMap((source) => {
    if (!source.endsWith('.ts')) return []
    // Without comments and texts in which a user's file is an example.
    const code = readFileSync(join(root, 'src', source), 'utf8').replace(
      /\/\*[\s\S]*?\*\/|"[^"\n]*"/g,
      '',
    )
    if (!code.includes('import.meta.url')) return []
    const paths = code.matchAll(/(?:new URL\(|: )'(\.{1,2}\/[\w./-]+\.(?:js|json|py|html|wasm))'/g)
    return [...paths].map(([, path]) =>
      posix.join('src', source, '..', path).replace(/^src\//, 'dist/'),
    )
  })
  expect(named).toEqual(
    expect.arrayContaining(['dist/cli/worker.js', 'dist/page/index.html', 'package.json']),
  )
  expect(named.filter((path) => !existsSync(join(installed, path)))).toEqual([])
})

const pythonOptions = `{ python: './model.py', executable: '${python}', methods: { double: {} } }`
const service = `
import { io, Runner, Service } from 'serving'
type Model = { double(x: number): number }
const model = { module: new URL('./model.ts', import.meta.url), methods: { double: {} } } as const
const runners = [
  new Runner<Model>('thread', model),
  new Runner<Model>('process', { ...model, isolation: 'process' }),
  ${hasPython ? `new Runner<Model>('python', ${pythonOptions})` : ''}
]
const svc = new Service('packed', { runners })
svc.api({ input: new io.JSON(), output: new io.JSON(), async: ${hasSqlite} }, async function double(x: number, ctx) {
  return await Promise.all(runners.map((runner) => runner.double(x, ctx)))
})
export default svc`

it('serves from there: threads, processes, Python, jobs in SQLite, and the page', async () => {
  writeFileSync(join(project, 'service.ts'), service)
  writeFileSync(
    join(project, 'model.ts'),
    'export const load = () => ({ double: (x: number): number => 2 * x })',
  )
  writeFileSync(join(project, 'model.py'), 'def double(x):\n    return 2 * x\n')
  const jobs = hasSqlite ? ['--job-store', 'sqlite:./jobs.db'] : []
  const { port, stderr } = await serveFile('service.ts', ['--workers', '1', ...jobs], {
    cwd: project,
    program,
  })
  await until(async () => (await send(port, '/readyz')).status === 200)
  const ask = async (prefer: string) => {
    const headers = { 'content-type': 'application/json', prefer }
    const response = await fetch(`http://localhost:${port}/double`, {
      method: 'POST',
      headers,
      body: '21',
    })
    return { status: response.status, body: (await response.json()) as { id?: string } }
  }
  const body = hasPython ? [42, 42, 42] : [42, 42]
  expect(await ask('wait=10')).toEqual({ status: 200, body })
  if (hasSqlite) {
    const { id } = (await ask('respond-async')).body
    await until(async () => (await send(port, `/jobs/${id}/result`)).body === JSON.stringify(body))
  }
  expect((await send(port, '/')).body).toContain('<!doctype html>')
  expect(stderr()).not.toContain('Warning')
})

it('makes a project of each template', async () => {
  // Not templates: what each of them has, the texts of serving types, and the pages of reports.
  const others = ['common', 'report', 'types']
  const templates = readdirSync(join(root, 'template')).filter((name) => !others.includes(name))
  for (const template of templates) {
    const made = await run(['new', template, '--template', template, '--package', '.'], {
      cwd: project,
      program,
    })
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(join(project, template))).toEqual(
      expect.arrayContaining(['.gitignore', 'service.ts']),
    )
  }
})

it('tells a project a command that is there where it has no add-on', async () => {
  // As npm runs it.
  const env = { ...process.env, INIT_CWD: project }
  const installation = spawnSync(process.execPath, ['native/build.mjs'], {
    cwd: installed,
    env,
    encoding: 'utf8',
  })
  const { stdout } = await run(['--version'], { cwd: project, program })
  for (const text of [installation.stdout, stdout]) {
    expect(text).toContain('npm install -D @nozbe/simdjson@3.9.4 node-gyp@11 node-api-headers')
    expect(/`node (\S+) --force`/.exec(text)?.[1]).toBe('node_modules/serving/native/build.mjs')
  }
})
