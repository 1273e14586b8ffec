/** Clients that generators of others make from the OpenAPI document, compiled and called: of those on the PATH. */
import { execFile, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Listener, serve } from 'serving'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/engine/log.ts'
import { root } from '../cli/process.ts'
import every from '../openapi/every.service.ts'

interface Generator {
  readonly title: string
  readonly version: '3.0' | '3.1'
  /** Programs on the PATH. */
  readonly needs: readonly string[]
  /** The program beside this file that calls the client, and its name beside the client. */
  readonly caller: readonly [file: string, as: string]
  /** Files that the generator reads. */
  readonly files?: Readonly<Record<string, string>>
  /** Commands in a folder that has `openapi.json`; the last one prints. */
  commands(url: string): readonly (readonly string[])[]
}

const runGo = (url: string) => [
  ['go', 'mod', 'init', 'caller'],
  ['go', 'mod', 'tidy'],
  ['go', 'run', '.', url],
]
const tsc = join(root, 'node_modules/.bin/tsc')
// Without the property it makes no models of forms, also not of those that are answers.
const openapiGenerator = [
  ...['openapi-generator-cli', 'generate', '-i', 'openapi.json'],
  ...['--global-property', 'skipFormModel=false'],
]

const generators: readonly Generator[] = [
  {
    title: 'oapi-codegen',
    version: '3.0',
    needs: ['oapi-codegen', 'go'],
    caller: ['oapi-codegen.go', 'main.go'],
    files: {
      'oapi.yml':
        'package: every\ngenerate: { models: true, client: true }\n' +
        'output-options: { response-type-suffix: Answer }\noutput: every/every.go\n',
    },
    commands: (url) => [
      ['mkdir', 'every'],
      ['oapi-codegen', '-config', 'oapi.yml', 'openapi.json'],
      ...runGo(url),
    ],
  },
  {
    title: 'ogen',
    version: '3.0',
    needs: ['ogen', 'go'],
    caller: ['ogen.go', 'main.go'],
    files: { 'ogen.yml': 'generator: { ignore_not_implemented: ["all"] }\n' },
    commands: (url) => [
      ['ogen', '--config', 'ogen.yml', '--target', 'every', '--package', 'every', 'openapi.json'],
      ...runGo(url),
    ],
  },
  ...(['3.0', '3.1'] as const).map(
    (version): Generator => ({
      title: `openapi-generator go of ${version}`,
      version,
      needs: ['openapi-generator-cli', 'go'],
      caller: ['openapi-generator.go', 'main.go'],
      commands: (url) => [
        [
          ...[...openapiGenerator, '-g', 'go', '-o', 'every'],
          ...['--additional-properties', 'packageName=every,withGoMod=false'],
        ],
        ['rm', '-r', 'every/test'],
        ...runGo(url),
      ],
    }),
  ),
  {
    title: 'openapi-generator python',
    version: '3.0',
    needs: ['openapi-generator-cli', 'python3'],
    caller: ['openapi-generator.py', 'caller.py'],
    commands: (url) => [
      [
        ...openapiGenerator,
        '-g',
        'python',
        '-o',
        '.',
        '--additional-properties',
        'packageName=every',
      ],
      ['python3', '-m', 'venv', 'venv'],
      ['venv/bin/pip', 'install', '-q', '-r', 'requirements.txt'],
      ['venv/bin/python', 'caller.py', url],
    ],
  },
  ...(['3.0', '3.1'] as const).map(
    (version): Generator => ({
      title: `orval of ${version}`,
      version,
      needs: ['orval'],
      caller: ['orval.txt', 'caller.ts'],
      files: { 'package.json': '{"type":"module"}' },
      commands: (url) => [
        ['node', '-e', orvalConfig(url)],
        ['orval', '--config', 'orval.config.cjs'],
        [
          ...[
            tsc,
            '--strict',
            '--rewriteRelativeImportExtensions',
            '--outDir',
            'out',
            '--target',
            'es2022',
          ],
          ...[
            '--module',
            'nodenext',
            '--types',
            '',
            '--lib',
            'es2022,dom,dom.iterable',
            'caller.ts',
          ],
        ],
        ['node', 'out/caller.js'],
      ],
    }),
  ),
]

function orvalConfig(baseUrl: string): string {
  const output = { target: './every.ts', client: 'fetch', baseUrl }
  const config = { every: { input: './openapi.json', output } }
  return `fs.writeFileSync('orval.config.cjs', ${JSON.stringify(`module.exports = ${JSON.stringify(config)}`)})`
}

describe('a client of a generator', () => {
  let listener: Listener
  beforeAll(async () => {
    listener = await serve(every, { port: 0, host: '127.0.0.1', logger: silentLogger(() => {}) })
  })
  afterAll(() => listener.close())

  for (const { title, version, needs, caller, files = {}, commands } of generators) {
    const missing = needs.filter((program) => spawnSync('which', [program]).status !== 0)
    const why = missing.length === 0 ? '' : ` (not installed: ${missing.join(', ')})`
    it.skipIf(missing.length > 0)(
      `${title} is compiled, and calls${why}`,
      { timeout: 600_000 },
      async () => {
        const url = `http://127.0.0.1:${listener.port}`
        const cwd = mkdtempSync(join(tmpdir(), 'generator-'))
        try {
          const document = await (await fetch(`${url}/openapi.json?openapi=${version}`)).text()
          for (const [name, text] of Object.entries({ ...files, 'openapi.json': document })) {
            writeFileSync(join(cwd, name), text)
          }
          copyFileSync(join(import.meta.dirname, caller[0]), join(cwd, caller[1]))
          let printed = ''
          for (const [program, ...args] of commands(url)) {
            printed = (await promisify(execFile)(program, args, { cwd, maxBuffer: 2 ** 26 })).stdout
          }
          expect(printed).toBe('200 3\n400 bad_input schema\n')
        } finally {
          rmSync(cwd, { recursive: true, force: true })
        }
      },
    )
  }
})
