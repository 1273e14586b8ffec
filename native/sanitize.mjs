/**
 * Runs the native tests against the add-on built with AddressSanitizer and UndefinedBehaviorSanitizer. Exits non-zero
 * on any report. Needs g++ and Linux; `node native/sanitize.mjs [vitest arguments]`.
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasJpeg, headersDir, simdjsonDir } from './build.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const out = join(here, 'build', 'sanitized')
const binary = join(out, 'serving_native.node')
mkdirSync(out, { recursive: true })

const flags = [
  '-std=c++17',
  '-O1',
  '-g',
  '-fPIC',
  '-shared',
  '-fno-exceptions',
  '-fno-rtti',
  '-fno-omit-frame-pointer',
]
const checks = ['-fsanitize=address,undefined', '-fno-sanitize-recover=undefined']
const defines = [
  '-DNAPI_VERSION=8',
  '-DNAPI_DISABLE_CPP_EXCEPTIONS',
  '-DSIMDJSON_EXCEPTIONS=0',
  '-DBUILDING_NODE_EXTENSION',
]
const includes = [`-I${join(headersDir(), 'include', 'node')}`, '-isystem', simdjsonDir()]
function compile(folder, target, options, excluded) {
  const sources = readdirSync(join(here, folder)).filter(
    (name) => name.endsWith('.cpp') && name !== excluded,
  )
  const files = sources.map((name) => join(here, folder, name))
  execFileSync(
    'g++',
    [...flags, ...checks, ...defines, ...includes, ...files, '-o', target, ...options],
    {
      stdio: 'inherit',
    },
  )
}
compile('src', binary, [])
compile('image', join(out, 'serving_image.node'), [], 'jpeg.cpp')
if (hasJpeg()) compile('image', join(out, 'serving_jpeg.node'), ['-DSERVING_JPEG', '-ljpeg'])

const runtime = execFileSync('g++', ['-print-file-name=libasan.so'], { encoding: 'utf8' }).trim()
const vitest = join(here, '..', 'node_modules', 'vitest', 'vitest.mjs')
// The property tests find the most. The memory test is left out: it would measure the sanitizer's quarantine.
const chosen =
  process.argv.length > 2
    ? process.argv.slice(2)
    : [
        'test/native',
        'test/unit/values/array/json',
        'test/unit/values/table/parquet/parquet-reader.test.ts',
        'test/unit/values/table/parquet/parquet-writer.test.ts',
        'test/unit/values/image',
        'test/fuzz/image.test.ts',
        'test/http/picture-memory.test.ts',
        '-t',
        '^(?!.*leaves no memory)',
      ]
const run = spawnSync(process.execPath, [vitest, 'run', ...chosen], {
  cwd: join(here, '..'),
  stdio: 'inherit',
  env: {
    ...process.env,
    LD_PRELOAD: runtime,
    SERVING_NATIVE_PATH: binary,
    // Node frees little at exit; leaks are the memory test's concern.
    ASAN_OPTIONS: 'detect_leaks=0:abort_on_error=1',
    UBSAN_OPTIONS: 'print_stacktrace=1:halt_on_error=1',
  },
})
console.log(
  run.status === 0 ? 'sanitizers: no report' : `sanitizers: failed (${run.signal ?? run.status})`,
)
process.exitCode = run.status === 0 ? 0 : 1
