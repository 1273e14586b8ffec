/**
 * Checks the printing and parsing of numbers, and of lists of them, against the C++ standard library: every float16 and
 * float32, and doubles of all kinds. Builds the same program three times: as the add-on is compiled, with
 * AddressSanitizer and UndefinedBehaviorSanitizer without SSE2, and for ARM under qemu-user. Builds whose tools are not
 * installed are skipped with a message.
 *
 * `node native/check.mjs [rounds [seed [step]]]`: a round is five doubles and three texts; `step` 100 tries only every
 * hundredth float32 (all of them take four minutes). `--quick` is what CI runs: 100,000 rounds, and 10,000 in the two
 * slow builds.
 *
 * Debian's packages: g++, g++-aarch64-linux-gnu, qemu-user.
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
const units = ['shortest', 'number_parse', 'ndarray_parse', 'powers_of_ten', 'simdjson_unit']
const sources = [join(here, 'check', 'numbers.cpp'), ...units.map((name) => join(here, 'src', `${name}.cpp`))]
const flags = ['-std=c++17', '-fno-exceptions', '-fno-rtti', '-DSIMDJSON_EXCEPTIONS=0', '-isystem', simdjsonDir()]
const sanitizers = [
  '-DSERVING_WITHOUT_SSE2',
  '-O1',
  '-g',
  '-fsanitize=address,undefined',
  '-fno-sanitize-recover=undefined',
]

const builds = [
  { name: 'native', compiler: 'g++', flags: ['-O2'], quick: ['100000', '1', '1000'] },
  { name: 'sanitized', compiler: 'g++', flags: sanitizers, quick: ['10000', '2', '10000'] },
  {
    name: 'aarch64',
    compiler: 'aarch64-linux-gnu-g++',
    flags: ['-O2', '-static'],
    emulator: 'qemu-aarch64',
    quick: ['10000', '3', '10000'],
  },
]

const isThere = (program) => spawnSync(program, ['--version']).status === 0
const isQuick = process.argv.includes('--quick')
for (const { name, compiler, flags: own, emulator, quick } of builds) {
  const missing = [compiler, emulator].find((program) => program !== undefined && !isThere(program))
  if (missing !== undefined) {
    console.log(`${name}: skipped, ${missing} is not installed`)
    continue
  }
  const program = join(out, `numbers-${name}`)
  execFileSync(compiler, [...flags, ...own, ...sources, '-o', program], { stdio: 'inherit' })
  const args = isQuick ? quick : process.argv.slice(2)
  const [command, ...rest] = emulator === undefined ? [program, ...args] : [emulator, program, ...args]
  const run = spawnSync(command, rest, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  console.log(`${name}: ${run.stdout.trim()}`)
  if (run.status !== 0) process.exitCode = 1
}
