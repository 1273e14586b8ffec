/**
 * Compares the working tree with a git ref:
 * `npx tsx --tsconfig bench/tsconfig.json bench/compare.ts REF [--only TEXT]… [--seconds N] [--rounds N] [--starts N]
 * [--json]`, after `npm run build`.
 *
 * The ref is built in a worktree of its own and keeps its own bench/servers, since today's may use options that it
 * lacks; requests and measuring are today's, and both servers take turns. Two numbers matter: the tree's requests per
 * second over the ref's, and the ref's CPU per request over the tree's. Above 1 the tree is faster. The same server
 * differs from start to start by more than from round to round: where the tree takes more CPU by 3 %, both are started
 * anew, and the middle of all starts counts. Jobs that the ref cannot do are named, and at the end those that still
 * take more.
 * @module
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { casePlans } from './cases/index.ts'
import { contenders } from './contender.ts'
import { Generator } from './load/load.ts'
import { hasWrk, wrk } from './load/wrk.ts'
import { type CaseOptions, measureCase } from './measure.ts'
import { ratiosOf } from './report.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true, default: [''] },
    seconds: { type: 'string', default: '1.5' },
    rounds: { type: 'string', default: '5' },
    starts: { type: 'string', default: '7' },
    json: { type: 'boolean', default: false },
  },
})
const [ref = 'HEAD'] = positionals

function run(command: string, args: readonly string[], cwd = root): string {
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
}

/** Builds the ref's sources in a new folder, with the benchmark of the working tree but its own servers. */
function buildRef(dir: string): void {
  run('git', ['worktree', 'add', '--quiet', '--detach', dir, ref])
  const isSame = (...files: string[]) =>
    run('git', ['diff', '--name-only', ref, '--', ...files]) === ''
  if (isSame('package-lock.json')) {
    symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
    const built = join(root, 'native/build')
    if (isSame('native') && existsSync(built))
      cpSync(built, join(dir, 'native/build'), { recursive: true })
    else run(process.execPath, ['native/build.mjs', '--force'], dir)
    run('npm', ['run', '--silent', 'build'], dir)
  } else {
    // Its own dependencies, some of which today's tree may lack; this builds both as well.
    run('npm', ['ci', '--silent', '--prefer-offline', '--no-audit', '--no-fund'], dir)
  }
  cpSync(join(root, 'bench'), join(dir, 'bench'), {
    recursive: true,
    filter: (path) => !/node_modules|\.venv|bench\/servers\b/.test(path),
  })
}

/** Returns the options that a checkout starts workers with; undefined for those before d6de4d3, which have none. */
async function workerOptionsOf(dir: string): Promise<readonly string[] | undefined> {
  const folders = ['src/server/workers', 'src/workers']
  const files = folders.flatMap((folder) =>
    ['worker-options.ts', 'worker-process.ts'].map((name) => join(dir, folder, name)),
  )
  const file = files.find(existsSync)
  if (file === undefined) return undefined
  const { workerNodeOptions } = (await import(file)) as { workerNodeOptions?: readonly string[] }
  return workerNodeOptions
}

/** Whether the ref's servers know the variables that make ours the one that a job is about. */
function isKnownToRef(ours: string): boolean {
  const variables = Object.keys(contenders[ours].env ?? {})
  const servers = readdirSync(join(dir, 'bench/servers')).filter((name) => name.endsWith('.ts'))
  const sources = servers
    .map((name) => readFileSync(join(dir, 'bench/servers', name), 'utf8'))
    .join('')
  return variables.every((name) => sources.includes(name))
}

/** Returns the middle one by CPU. */
function middleOf<T extends { readonly cpu: number }>(found: readonly T[]): T {
  return [...found].sort((a, b) => a.cpu - b.cpu)[Math.floor(found.length / 2)]
}

const slower = 0.97
const parent = mkdtempSync(join(tmpdir(), 'bench-'))
const dir = join(parent, 'ref')
try {
  buildRef(dir)
  const nodeOptions = await workerOptionsOf(dir)
  await using generator = await Generator.start()
  const seconds = Number(options.seconds)
  const settings: CaseOptions = {
    seconds,
    smallSeconds: seconds,
    rounds: Number(options.rounds),
    withoutPython: true,
    autocannon: generator.fire,
    wrk: hasWrk() ? wrk : undefined,
    progress: (text) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`),
  }
  const rows: Record<string, { rate: number; cpu: number }> = {}
  const left: Record<string, string> = {}
  for (const plan of casePlans.filter(({ name }) =>
    options.only.some((text) => name.includes(text)),
  )) {
    const { ours = 'serving' } = plan
    contenders[ref] = { ...contenders[ours], nodeOptions, root: dir }
    try {
      if (!isKnownToRef(ours)) throw new Error(`${ref} has no ${ours}`)
      const measure = async () => {
        const job = { ...plan, contenders: [ours, ref], targets: {} }
        const [{ wrkRate, rate, cpu }] = ratiosOf(await measureCase(job, settings))
        return { rate: wrkRate ?? rate, cpu }
      }
      const found = [await measure()]
      const starts = found[0].cpu < slower ? Number(options.starts) : 1
      while (found.length < starts) found.push(await measure())
      rows[plan.name] = middleOf(found)
      const each = found.map(({ cpu }) => cpu.toFixed(2)).join(', ')
      if (!options.json)
        console.log(`${plan.name}: CPU ${rows[plan.name].cpu.toFixed(2)} of ${each}`)
    } catch (error) {
      left[plan.name] = String(error).slice(0, 200)
    }
  }
  settings.progress('')
  const below = Object.keys(rows).filter((name) => rows[name].cpu < slower)
  if (options.json) console.log(JSON.stringify({ ref, rows, left, below }, null, 2))
  else {
    const shown = Object.entries(rows).map(([name, { rate, cpu }]) => [
      name,
      { 'req/s, tree ÷ ref': Number(rate.toFixed(2)), 'CPU, ref ÷ tree': Number(cpu.toFixed(2)) },
    ])
    console.table(Object.fromEntries(shown))
    for (const [name, why] of Object.entries(left)) console.log(`not compared: ${name}: ${why}`)
    const list = below.map((name) => `${name} (${rows[name].cpu.toFixed(3)})`)
    console.log(`below ${slower} by CPU: ${list.join(', ') || 'none'}`)
  }
} finally {
  run('git', ['worktree', 'remove', '--force', dir])
  rmSync(parent, { recursive: true, force: true })
}
