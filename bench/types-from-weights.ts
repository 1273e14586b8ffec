/**
 * CPU of the compiler for 100 services of `serving types`, above that for an empty service. Runs in turns, with the
 * TypeScript of the lock file, on the built package: `npm run build && npx tsx bench/types-from-weights.ts`.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { typesCommand } from '../src/cli/types/types-command.ts'
import { newProject, root } from '../test/project.ts'

const models = ['rows', 'picture', 'words', 'sklearn']
const rounds = 5

const compilerOptions = {
  target: 'es2023',
  module: 'nodenext',
  strict: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: true,
  types: ['node'],
  typeRoots: [join(root, 'node_modules/@types')],
}
const files = {
  'package.json': '{ "type": "module" }',
  'tsconfig.json': JSON.stringify({ compilerOptions, include: ['*.ts'] }),
}

/** @returns the seconds of CPU of one compilation. */
function compile(folder: string): number {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const script = `TIMEFORMAT='%U %S'; time "${process.execPath}" "${tsc}" -p . 2>&1`
  const times = execFileSync('bash', ['-c', `{ ${script}; } 2>&1`], { cwd: folder })
  const [user, system] = String(times).trim().split(' ').map(Number)
  return user + system
}

const readJson = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'))
const { version } = readJson('node_modules/typescript/package.json')
const locked = readJson('package-lock.json').packages['node_modules/typescript'].version
if (version !== locked)
  throw new Error(`TypeScript ${version} is not that of the lock file, ${locked}`)

const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]

const service = "import { Service } from 'serving'\n\nexport default new Service('empty')\n"
const empty = newProject({ ...files, 'service.ts': service })
const typed = newProject(files)
for (let i = 0; i < 100; i++) {
  const model = models[i % models.length]
  const file = join(typed, `${model}${i}.onnx`)
  cpSync(join(root, `test/fixtures/onnx-types/${model}.onnx`), file)
  typesCommand(file)
}
const above: number[] = []
const alone: number[] = []
for (let round = 0; round < rounds; round++) {
  const seconds = compile(empty)
  alone.push(seconds)
  above.push(compile(typed) - seconds)
}
console.log(`TypeScript ${version}`)
console.log(`empty service ${median(alone).toFixed(2)} s of CPU`)
console.log(`100 services with clients ${median(above).toFixed(2)} s above it`)
for (const folder of [empty, typed]) rmSync(folder, { recursive: true })
