/** Starts each service that a page names, once, and sends the curl lines of all pages to it. */

import { execFile } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { folder, root, send, serveFile, until } from '../cli/process.ts'
import { curl, examplesOf } from './curl.ts'
import { codeBlocks, pages } from './markdown.ts'
import { canImport, python } from './python.ts'
import { recipes } from './recipes.ts'

const blocks = pages.flatMap((page) => codeBlocks(page))
const examples = blocks.flatMap((block) =>
  examplesOf(block).map((example) => ({ ...example, service: block.service })),
)
const snippets = join(root, 'docs/snippets')
const run = promisify(execFile)
const tsx = pathToFileURL(join(root, 'node_modules/tsx/dist/esm/index.mjs')).href
// The SHA-256 of the key "secret".
const env = { API_KEYS: '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b' }

/** Files of examples that pages tell to copy beside a snippet, each with its name there. */
const alongside: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  label: {
    'model.onnx': 'shapes/models/shapes/1/model.onnx',
    'star.png': 'shapes/held-out/star-123.png',
  },
  onnx: { 'model.onnx': 'digits/model.onnx' },
  pictures: { 'pattern.png': 'all/pattern.png' },
  pool: {
    'acme.onnx': 'digits/model.onnx',
    'digit.json': '../docs/snippets/onnx/digit.json',
  },
}

/** Returns a project with the files of a snippet, beside the package. */
function project(name: string): string {
  const cwd = folder({ 'package.json': '{ "type": "module" }' }, true)
  cpSync(join(snippets, name), cwd, { recursive: true })
  symlinkSync(join(root, 'node_modules/fastify'), join(cwd, 'node_modules/fastify'), 'dir')
  for (const [file, example] of Object.entries(alongside[name] ?? {})) {
    copyFileSync(join(root, 'examples', example), join(cwd, file))
  }
  return cwd
}

/** Returns where a service runs, and its file there: examples in the repository, snippets in a project. */
function placeOf(service: string): { cwd: string; file: string } {
  const [, name, file] = /^docs\/snippets\/(\w+)\/(.*)$/.exec(service) ?? []
  return name === undefined ? { cwd: root, file: service } : { cwd: project(name), file }
}

it('every curl line with an answer names a service', () => {
  expect(examples.length).toBeGreaterThan(30)
  expect(examples.filter(({ service }) => service === undefined).map(({ place }) => place)).toEqual(
    [],
  )
})

/** What the Python of a service imports. */
const pythonOf: Readonly<Record<string, readonly string[]>> = {
  'examples/sklearn/service.ts': ['sklearn'],
  'examples/table/service.ts': ['sklearn', 'pandas', 'pyarrow'],
  'docs/snippets/hub/mood-python.ts': ['torch', 'transformers'],
  'docs/snippets/python/iris.ts': ['sklearn', 'joblib'],
  'docs/snippets/torch/circle.ts': ['torch', 'numpy'],
}

// `recipes.test.ts` starts the others.
const elsewhere = recipes.map(({ service }) => `docs/snippets/${service}`)
const services = [...new Set(examples.flatMap(({ service }) => service ?? []))].filter(
  (service) => !elsewhere.includes(service),
)
describe.each(services)('the curl lines to %s', (service) => {
  const canRun =
    canImport(...(pythonOf[service] ?? [])) &&
    (!service.includes('/jobs/') || isBuiltin('node:sqlite'))
  it.skipIf(!canRun)('answer what stands below them', { timeout: 60_000 }, async () => {
    const { cwd, file } = placeOf(service)
    if (existsSync(join(cwd, 'train.py'))) await run(python, ['train.py'], { cwd })
    const { port } = await serveFile(file, ['--workers', '1'], {
      cwd,
      env: { ...(service.startsWith('docs/') && env), SERVING_PYTHON: python },
    })
    await until(async () => (await send(port, '/readyz')).status === 200)
    for (const { line, answer, place } of examples.filter(
      (example) => example.service === service,
    )) {
      // An ellipsis stands for what the document leaves out.
      const start = answer.split('…')[0]
      expect((await curl(line, port, cwd)).slice(0, start.length), `${place}: ${line}`).toBe(start)
    }
  })
})

describe('the snippets', () => {
  it('are in pages, each of them', () => {
    const included = pages.flatMap((page) =>
      [...readFileSync(join(root, page), 'utf8').matchAll(/^<<< \S*snippets\/([\w/.-]+)/gm)].map(
        ([, file]) => file,
      ),
    )
    const files = readdirSync(snippets).flatMap((name) =>
      readdirSync(join(snippets, name)).map((file) => `${name}/${file}`),
    )
    const programs = files.filter((file) => /\.(ts|py)$/.test(file))
    expect(programs.filter((file) => !included.includes(file))).toEqual([])
    expect(included.filter((file) => !files.includes(file))).toEqual([])
  })

  it('hold every program of more than ten lines', () => {
    const isProgram = ({ language, code }: { language: string; code: string }) =>
      /^(ts|js|py|python)$/.test(language) && code.split('\n').length > 11
    const long = blocks.filter((block) => block.page.startsWith('docs/') && isProgram(block))
    expect(long.map(({ page, line }) => `${page}:${line}`)).toEqual([])
  })

  it('that are tests pass', async () => {
    for (const [name, count] of [
      ['scaler', 2],
      ['csv', 8],
      ['label', 2],
    ] as const) {
      const args = ['--import', tsx, '--test', '--test-reporter', 'tap', `${name}.test.ts`]
      const { stdout } = await run(process.execPath, args, { cwd: project(name) })
      expect(Number(/^# pass (\d+)$/m.exec(stdout)?.[1]), stdout).toBeGreaterThanOrEqual(count)
    }
  })

  it.each(['scaler', 'label'])('with the client of %s prints what it says', async (name) => {
    const cwd = project(name)
    const { port } = await serveFile(`${name}.ts`, ['--workers', '1'], { cwd })
    await until(async () => (await send(port, '/readyz')).status === 200)
    const program = readFileSync(join(cwd, 'client.ts'), 'utf8')
    writeFileSync(
      join(cwd, 'client.ts'),
      program.replace('http://localhost:3000', `http://127.0.0.1:${port}`),
    )
    const { stdout } = await run(process.execPath, ['--import', tsx, 'client.ts'], { cwd })
    expect(stdout.replace(/\s+/g, ' ').trim()).toBe(
      /^console\.log\(.*\) \/\/ (.*)$/m.exec(program)?.[1],
    )
  })

  it('with a remote model starts, and is ready when the other server is', async () => {
    const cwd = project('remote')
    const { port } = await serveFile('remote.ts', ['--workers', '1'], { cwd })
    expect((await send(port, '/readyz')).status).toBe(503)
  })

  it('with a configuration file is read', async () => {
    const cwd = project('config')
    copyFileSync(join(snippets, 'scaler/scaler.ts'), join(cwd, 'service.ts'))
    const { stdout } = await run(process.execPath, [join(root, 'dist/cli/main.js'), 'config'], {
      cwd,
    })
    expect(stdout).toMatch(/8080.*serving\.config\.ts/)
  })
})

describe('the programs of README.md', () => {
  it('are snippets', () => {
    const programs = codeBlocks('README.md').filter(({ language }) => language === 'ts')
    expect(programs.length).toBeGreaterThan(1)
    for (const { code, line } of programs) {
      const [, file, program] = /^\/\/ (\S+)\n([\s\S]*)$/.exec(code) ?? []
      expect(program, `README.md:${line}`).toBe(readFileSync(join(snippets, file), 'utf8'))
    }
  })
})
