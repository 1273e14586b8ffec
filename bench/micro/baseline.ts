/**
 * The saved ratios of micro benchmarks: `baselines.json`, with machine and date. `--save` overwrites them.
 * @module
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Baseline {
  readonly date: string
  readonly machine: string
  readonly ratios: Record<string, number>
}

const file = fileURLToPath(new URL('./baselines.json', import.meta.url))
const all: Record<string, Baseline> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
const program = basename(process.argv[1], '.ts')
const fresh: Baseline = {
  date: new Date().toISOString().slice(0, 10),
  machine: `${cpus().length} cores, ${cpus()[0].model.trim()}, Node ${process.version}`,
  ratios: {},
}

/** Formats a ratio beside its saved value. */
export function besideBaseline(name: string, ratio: number): string {
  const now = Number(ratio.toPrecision(3))
  fresh.ratios[name] = now
  const was = all[program]?.ratios[name]
  return `${now}×${was === undefined ? '' : ` (was ${was}×)`}`
}

process.on('exit', (code) => {
  if (process.argv.includes('--save') && code === 0) {
    writeFileSync(file, `${JSON.stringify({ ...all, [program]: fresh }, null, 2)}\n`)
  } else if (all[program] !== undefined)
    console.log(`was: ${all[program].date}, ${all[program].machine}`)
})
