/**
 * The recipes that need packages which are too large for this repository, if the folder `RECIPES` has them:
 *
 *     npm run build && export RECIPES="$(mktemp -d)" && test/docs/install-recipes.sh "$RECIPES"
 *     npx vitest run test/docs/recipes
 *
 * Those in Python are in `pages.test.ts`.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folder, root, send, serveFile, until } from '../cli/process.ts'
import { newFolder } from '../project.ts'
import { curl, examplesOf } from './curl.ts'
import { codeBlocks } from './markdown.ts'
import { recipes } from './recipes.ts'

const packages = process.env.RECIPES
const modules = join(packages ?? '', 'node_modules')
const lacks = (name: string) => packages === undefined || !existsSync(join(modules, name))
const tsx = join(root, 'node_modules/tsx/dist/cli.mjs')
const tsc = join(root, 'node_modules/typescript/bin/tsc')

/** Returns a project below the folder of the packages, so that it finds them. */
function project(files: Readonly<Record<string, string>>): string {
  const cwd = newFolder({ ...files, 'package.json': '{ "type": "module" }' }, packages)
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  mkdirSync(join(cwd, 'node_modules'))
  return cwd
}

/** Compiles the programs of a project, with the types of their packages. */
function expectToCompile(cwd: string): void {
  const compilerOptions = { paths: {}, typeRoots: [join(root, 'node_modules/@types')] }
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions,
    include: ['*.ts'],
    exclude: [],
  }
  writeFileSync(join(cwd, 'tsconfig.json'), JSON.stringify(config))
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', cwd], { encoding: 'utf8' })
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
}

describe.each(recipes)('the recipe with $needed', ({ service, needed, page }) => {
  it.skipIf(lacks(needed))(
    'compiles, and answers what its page says (RECIPES)',
    { timeout: 90_000 },
    async () => {
      const cwd = project({})
      const [name, file] = service.split('/')
      cpSync(join(root, 'docs/snippets', name), cwd, { recursive: true })
      symlinkSync(root, join(cwd, 'node_modules/serving'), 'dir')
      expectToCompile(cwd)
      if (name === 'llama')
        expect(spawnSync(process.execPath, [tsx, 'make-words.ts'], { cwd }).status).toBe(0)
      const { port } = await serveFile(file, ['--workers', '1'], { cwd })
      await until(async () => (await send(port, '/readyz')).status === 200)
      const blocks = codeBlocks(page).filter(
        (block) => block.service === `docs/snippets/${service}`,
      )
      const examples = blocks.flatMap((block) => examplesOf(block))
      expect(examples.length).toBeGreaterThan(0)
      for (const { line, answer } of examples) {
        const [start, part = ''] = answer.split('…')
        const text = await curl(line, port, cwd)
        expect(text.slice(0, start.length)).toBe(start)
        expect(text).toContain(part)
      }
    },
  )
})

it.skipIf(lacks('next'))(
  'a route of Next answers when Next has built it (RECIPES)',
  { timeout: 240_000 },
  async () => {
    const textOf = (file: string) => readFileSync(join(root, 'docs/snippets/io', file), 'utf8')
    const cwd = project({
      'app/scale/route.ts': textOf('next-route.ts').replace('./scale.ts', './scale'),
      'app/scale/scale.ts': textOf('scale.ts'),
      'next.config.ts': textOf('next-config.ts'),
    })
    // Next takes no links to folders outside of its own: the package as npm would lay it.
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    for (const part of ['dist', 'package.json', 'native/build'])
      cpSync(join(root, part), join(cwd, 'node_modules/serving', part), { recursive: true })
    for (const name of Object.keys(dependencies).filter(
      (each) => !each.startsWith('uWebSockets'),
    )) {
      mkdirSync(dirname(join(cwd, 'node_modules', name)), { recursive: true })
      cpSync(join(root, 'node_modules', name), join(cwd, 'node_modules', name), { recursive: true })
    }
    const next = join(modules, 'next/dist/bin/next')
    const { PATH = '' } = process.env
    const env = { PATH, HOME: folder({}), NEXT_TELEMETRY_DISABLED: '1' }
    const built = spawnSync(process.execPath, [next, 'build'], { cwd, env, encoding: 'utf8' })
    expect(built.status, built.stdout + built.stderr).toBe(0)
    const child = spawn(
      process.execPath,
      [next, 'start', '--port', '0', '--hostname', '127.0.0.1'],
      { cwd, env },
    )
    onTestFinished(() => void child.kill('SIGKILL'))
    let said = ''
    child.stdout.on('data', (text) => {
      said += text
    })
    const port = await until(() => /http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1])
    const post = async (body: string) => {
      const headers = { 'content-type': 'application/json' }
      return await fetch(`http://127.0.0.1:${port}/scale`, { method: 'POST', body, headers })
    }
    const answer = await until(() => post('[[1,2.5]]').catch(() => undefined))
    expect(await answer.text()).toBe('[[2.0,5.0]]')
    const wrong = await post('[[1,2,3]]')
    expect([wrong.status, await wrong.json()]).toMatchObject([
      400,
      { code: 'bad_input', reason: 'shape' },
    ])
  },
)
