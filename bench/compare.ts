/**
 * Compares the working tree with a git ref:
 * `npx tsx --tsconfig bench/tsconfig.json bench/compare.ts REF [--only TEXT] [--seconds N] [--rounds N] [--json]`,
 * after `npm run build`.
 *
 * The ref is built in a worktree of its own and keeps its own bench/servers, since today's may use options that it
 * lacks; requests and measuring are today's, and both servers take turns. Two numbers matter: the tree's requests per
 * second over the ref's, and the ref's CPU per request over the tree's. Above 1 the tree is faster.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { casePlans } from './cases/index.ts'
import { contenders } from './contender.ts'
import { Generator } from './load/load.ts'
import { measureCase } from './measure.ts'
import { ratiosOf } from './report.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '1.5' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
  },
})
const [ref = 'HEAD'] = positionals

function run(command: string, args: readonly string[], cwd = root): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}

/** Builds the ref's sources in a new folder, with the benchmark of the working tree but its own servers. */
function buildRef(dir: string): void {
  run('git', ['worktree', 'add', '--quiet', '--detach', dir, ref])
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  const hasSameAddon = run('git', ['diff', '--name-only', ref, '--', 'native', 'package.json']) === ''
  const built = join(root, 'native/build')
  if (hasSameAddon && existsSync(built)) cpSync(built, join(dir, 'native/build'), { recursive: true })
  else run(process.execPath, ['native/build.mjs', '--force'], dir)
  run('npm', ['run', '--silent', 'build'], dir)
  cpSync(join(root, 'bench'), join(dir, 'bench'), {
    recursive: true,
    filter: (path) => !/node_modules|\.venv|bench\/servers\b/.test(path),
  })
}

/** Returns the options that a checkout starts workers with; undefined for those before d6de4d3, which have none. */
async function workerOptionsOf(dir: string): Promise<readonly string[] | undefined> {
  const folders = ['src/server/workers', 'src/workers']
  const file = folders.map((folder) => join(dir, folder, 'worker-process.ts')).find(existsSync)
  if (file === undefined) return undefined
  const { workerNodeOptions } = (await import(file)) as { workerNodeOptions?: readonly string[] }
  return workerNodeOptions
}

const parent = mkdtempSync(join(tmpdir(), 'bench-'))
const dir = join(parent, 'ref')
try {
  buildRef(dir)
  const nodeOptions = await workerOptionsOf(dir)
  await using generator = await Generator.start()
  const rows = []
  for (const plan of casePlans.filter(({ name }) => name.includes(options.only))) {
    const { ours = 'serving' } = plan
    contenders[ref] = { ...contenders[ours], nodeOptions, root: dir }
    const result = await measureCase(
      { ...plan, contenders: [ours, ref], targets: {} },
      {
        seconds: Number(options.seconds),
        rounds: Number(options.rounds),
        withoutPython: true,
        autocannon: generator.fire,
        wrk: undefined,
        progress: (text) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`),
      },
    )
    const [ratio] = ratiosOf(result)
    rows.push({ job: plan.name, 'req/s, tree ÷ ref': ratio.rate, 'CPU, ref ÷ tree': ratio.cpu })
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  if (options.json) console.log(JSON.stringify({ ref, rows }, null, 2))
  else
    console.table(
      Object.fromEntries(
        rows.map(({ job, ...ratios }) => [
          job,
          Object.fromEntries(Object.entries(ratios).map(([name, value]) => [name, Number(value.toFixed(2))])),
        ]),
      ),
    )
} finally {
  run('git', ['worktree', 'remove', '--force', dir])
  rmSync(parent, { recursive: true, force: true })
}
