/**
 * Checks C++ without Node.
 *
 * `numbers`: the printing and parsing of numbers, and of lists of them, against the C++ standard library: every float16
 * and float32, and doubles of all kinds. Built three times: as the add-on is compiled, with AddressSanitizer and
 * UndefinedBehaviorSanitizer without SSE2, and for ARM under qemu-user. `readers`: damaged bytes for all readers of
 * what clients send, under the sanitizers. `pictures`: damaged JPEGs for the decoder and the resampler, where
 * libjpeg-turbo's header is. Builds whose tools are not installed are skipped with a message.
 *
 * `node native/check.mjs [numbers|readers|pictures] [rounds [seed [step]]]`: a round is five doubles and three texts,
 * or a damaged input for each reader, 10,000 a second; `step` 100 tries only every hundredth float32 (all of them take
 * four minutes). `--quick` is what CI runs: 100,000 rounds of numbers, 10,000 in the two slow builds, 30,000 of readers
 * and 20,000 of pictures.
 *
 * Debian's packages: g++, g++-aarch64-linux-gnu, qemu-user.
 * @module
 */
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { simdjsonDir } from './build.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const out = join(here, 'build', 'check')
mkdirSync(out, { recursive: true })
const flags = [
  '-std=c++17',
  '-fno-exceptions',
  '-fno-rtti',
  '-DSIMDJSON_EXCEPTIONS=0',
  '-isystem',
  simdjsonDir(),
]
const isQuick = process.argv.includes('--quick')
const sanitizers = [
  // GCC needs ten times as long to optimize the checks in simdjson as to write them.
  isQuick ? '-O0' : '-O1',
  '-g',
  '-fsanitize=address,undefined',
  '-fno-sanitize-recover=undefined',
]

const numbers = ['shortest', 'number_parse', 'ndarray_parse', 'powers_of_ten']
const frames = [
  'frame_columns',
  'frame_labels',
  'frame_pack',
  'frame_parse',
  'frame_scan',
  'frame_split',
  'csv_parse',
]
const readers = [
  'number_parse',
  'ndarray_parse',
  'powers_of_ten',
  ...frames,
  'json_scan',
  'parquet_file',
  'parquet_read',
  'snappy',
]

const builds = [
  {
    program: 'numbers',
    name: 'native',
    compiler: 'g++',
    flags: ['-O2'],
    units: numbers,
    quick: ['100000', '1', '1000'],
  },
  {
    program: 'numbers',
    name: 'sanitized',
    compiler: 'g++',
    flags: sanitizers,
    defines: ['-DSERVING_WITHOUT_SSE2'],
    units: numbers,
    quick: ['10000', '2', '10000'],
  },
  {
    program: 'numbers',
    name: 'aarch64',
    compiler: 'aarch64-linux-gnu-g++',
    flags: ['-O2', '-static'],
    emulator: 'qemu-aarch64',
    units: numbers,
    quick: ['10000', '3', '10000'],
  },
  {
    program: 'readers',
    name: 'sanitized',
    compiler: 'g++',
    flags: sanitizers,
    defines: ['-DSERVING_EXACT_ROOM'],
    units: readers,
    quick: ['30000', '1'],
    standard: ['1000000', '1'],
    files: ['parquet', 'parquet/written', 'frames'].flatMap((folder) =>
      fixtures(folder, '.parquet'),
    ),
  },
  {
    program: 'pictures',
    name: 'sanitized',
    compiler: 'g++',
    header: 'jpeglib.h',
    flags: sanitizers,
    libraries: ['-ljpeg'],
    units: ['../image/jpeg', '../image/resample'],
    quick: ['20000', '1'],
    standard: ['1000000', '1'],
    files: fixtures('images', '.jpg'),
  },
]

function fixtures(folder, extension) {
  const dir = join(here, '..', 'test', 'fixtures', folder)
  const names = readdirSync(dir).filter((name) => name.endsWith(extension))
  return names.map((name) => join(dir, name))
}

const run = promisify(execFile)
let running = 0
const waiting = []
const objects = new Map()

/** Returns the path of the compiled source, which is compiled once for the same compiler and flags. */
function objectOf(source, command) {
  const key = [...command, source].join(' ')
  if (!objects.has(key)) objects.set(key, compile(source, command, join(out, `${objects.size}.o`)))
  return objects.get(key)
}

async function compile(source, [compiler, ...options], object) {
  if (running === availableParallelism()) await new Promise((resolve) => waiting.push(resolve))
  else running++
  await run(compiler, [...options, '-c', source, '-o', object])
  const next = waiting.shift()
  if (next === undefined) running--
  else next()
  return object
}

async function build({ program, name, compiler, flags: own, defines = [], libraries = [], units }) {
  const command = [compiler, ...flags, ...own]
  const sources = [
    join(here, 'check', `${program}.cpp`),
    ...units.map((unit) => join(here, 'src', `${unit}.cpp`)),
  ]
  const compiled = await Promise.all([
    // The longest one first; it knows nothing of our macros.
    ...(program === 'pictures' ? [] : [objectOf(join(here, 'src', 'simdjson_unit.cpp'), command)]),
    ...sources.map((source) => objectOf(source, [...command, ...defines])),
  ])
  const binary = join(out, `${program}-${name}`)
  await run(compiler, [...own, ...compiled, ...libraries, '-o', binary])
  return binary
}

const isThere = (program) => spawnSync(program, ['--version']).status === 0
const hasHeader = (compiler, header) =>
  spawnSync(compiler, [
    '-include',
    'cstdio',
    '-include',
    header,
    '-fsyntax-only',
    '-xc++',
    '/dev/null',
  ]).status === 0
const words = process.argv.slice(2).filter((word) => word !== '--quick')
const only = ['numbers', 'readers', 'pictures'].includes(words[0]) ? words.shift() : undefined
const chosen = builds.filter(({ program, name, compiler, emulator, header }) => {
  const lacksHeader = header !== undefined && isThere(compiler) && !hasHeader(compiler, header)
  const missing = lacksHeader
    ? header
    : [compiler, emulator].find((tool) => tool !== undefined && !isThere(tool))
  if (missing !== undefined)
    console.log(`${program}, ${name}: skipped, ${missing} is not installed`)
  return missing === undefined && (only === undefined || program === only)
})
const binaries = await Promise.all(chosen.map(build))
for (const [i, { program, name, emulator, quick, standard = [], files = [] }] of chosen.entries()) {
  const args = isQuick ? quick : [...words, ...standard.slice(words.length)]
  const [command, ...rest] = [
    ...(emulator === undefined ? [] : [emulator]),
    binaries[i],
    ...args,
    ...files,
  ]
  const { stdout, status } = spawnSync(command, rest, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  console.log(`${program}, ${name}: ${stdout.trim()}`)
  if (status !== 0) process.exitCode = 1
}
