/**
 * Holds the printing and reading of numbers against the C++ standard library: every float16 and float32, and doubles of
 * all kinds. Needs g++; `node native/check.mjs [rounds [seed [step]]]`: a round is five doubles and three texts; `step`
 * 100 tries every hundredth float32 only, of which all take four minutes.
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { simdjsonDir } from './build.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const out = join(here, 'build', 'check')
mkdirSync(out, { recursive: true })
const program = join(out, 'numbers')
const sources = ['shortest', 'number_parse', 'powers_of_ten', 'simdjson_unit'].map((name) =>
  join(here, 'src', `${name}.cpp`),
)
const flags = [
  '-std=c++17',
  '-O2',
  '-fno-exceptions',
  '-fno-rtti',
  '-DSIMDJSON_EXCEPTIONS=0',
  '-isystem',
  simdjsonDir(),
]
execFileSync('g++', [...flags, join(here, 'check', 'numbers.cpp'), ...sources, '-o', program], { stdio: 'inherit' })
process.exitCode = spawnSync(program, process.argv.slice(2), { stdio: 'inherit' }).status ?? 1
