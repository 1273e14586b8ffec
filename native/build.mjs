/**
 * Builds the native add-ons into native/build/Release without downloading anything. Runs at `npm install`, where it
 * builds nothing when those that came with the package (native/prebuilds, made by prebuild.mjs) load here.
 * serving_native.node has the codecs of arrays and frames, serving_image.node resizes pictures; serving_jpeg.node,
 * which also reads and writes JPEG, is built where libjpeg-turbo is installed with its headers.
 *
 * When anything is missing (compiler, Python, simdjson), it prints what and exits 0: the TypeScript codec of the same
 * contract is used instead. A build that is up to date is kept; `--force` builds anyway. `SERVING_NATIVE=off` builds
 * nothing.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const require = createRequire(import.meta.url)
const buildDir = join(here, 'build')
const binary = join(buildDir, 'Release', 'serving_native.node')
const imageBinaries = ['serving_image.node', 'serving_jpeg.node'].map((name) =>
  join(buildDir, 'Release', name),
)
const stamp = join(buildDir, 'stamp.txt')
/** Says why there is no add-on; src/core/native/load-addon.ts reports it, with the command that builds it. */
const skipped = join(buildDir, 'skipped.txt')
const logFile = join(buildDir, 'build.log')

/** A requirement that this machine does not meet; any other error is a bug and shows its stack. */
class Unmet extends Error {}

/** Says what to install; they are optional, since most installations need none of them. */
const packages = (name) =>
  new Unmet(
    `the package ${name} is not installed: run \`npm install -D @nozbe/simdjson@3.9.4 node-gyp@11 node-api-headers\``,
  )

/** Returns the directory of simdjson.h and simdjson.cpp in the npm package. */
export function simdjsonDir() {
  try {
    const dir = join(dirname(require.resolve('@nozbe/simdjson/package.json')), 'src')
    if (existsSync(join(dir, 'simdjson.cpp'))) return dir
  } catch {}
  throw packages('@nozbe/simdjson')
}

/**
 * Returns the directory whose `include/node` holds Node's headers: that of the running node, or one staged from
 * node-api-headers.
 */
export function headersDir() {
  for (const exe of [process.execPath, realpathSync(process.execPath)]) {
    const prefix = dirname(dirname(exe))
    const headers = join(prefix, 'include', 'node')
    // common.gypi is required as well: node-gyp reads its compiler flags.
    if (existsSync(join(headers, 'node_api.h')) && existsSync(join(headers, 'common.gypi')))
      return prefix
  }
  let source
  try {
    source = require('node-api-headers').include_dir
  } catch {
    throw packages('node-api-headers')
  }
  const staged = join(buildDir, 'headers')
  const target = join(staged, 'include', 'node')
  mkdirSync(target, { recursive: true })
  for (const name of readdirSync(source))
    if (name.endsWith('.h')) copyFileSync(join(source, name), join(target, name))
  // All that node-gyp needs of Node's own common.gypi and config.gypi; the add-on's flags are in binding.gyp.
  writeFileSync(join(target, 'common.gypi'), JSON.stringify(minimalCommon, null, 2))
  writeFileSync(join(target, 'config.gypi'), JSON.stringify({ target_defaults: {}, variables: {} }))
  return staged
}

const minimalCommon = {
  variables: {
    'clang%': 0,
    'library%': 'static_library',
    'openssl_fips%': '',
    'enable_lto%': 'false',
  },
  target_defaults: {
    default_configuration: 'Release',
    configurations: { Release: { cflags: ['-O3'] }, Debug: { cflags: ['-O0', '-g'] } },
    cflags: ['-fPIC', '-pthread', '-fno-strict-aliasing'],
    conditions: [
      ["OS=='mac'", { xcode_settings: { OTHER_LDFLAGS: ['-undefined dynamic_lookup'] } }],
      ["OS=='win'", { msvs_settings: { VCCLCompilerTool: { RuntimeLibrary: 2 } } }],
    ],
  },
}

function isOnPath(names) {
  const extensions = process.platform === 'win32' ? ['.exe', '.cmd', ''] : ['']
  for (const dir of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of names) {
      for (const extension of extensions) {
        try {
          if (dir !== '') return accessSync(join(dir, name + extension), constants.X_OK) ?? true
        } catch {}
      }
    }
  }
  return false
}

function checkTools() {
  // Only for a clear message: without Python node-gyp fails as well, after a page of output.
  if (!process.env.PYTHON && !isOnPath(['python3', 'python']))
    throw new Unmet('no Python found, which node-gyp needs')
  if (process.platform === 'win32') return
  if (!process.env.CXX && !isOnPath(['c++', 'g++', 'clang++']))
    throw new Unmet('no C++ compiler found')
  if (!isOnPath(['make', 'gmake'])) throw new Unmet('make not found')
}

/** Whether a C++ program can be linked with libjpeg-turbo; other libjpegs round differently. */
export function hasJpeg() {
  if (process.platform === 'win32') return false
  const program =
    '#include <cstdio>\n#include <jpeglib.h>\n' +
    'int main() { return LIBJPEG_TURBO_VERSION_NUMBER == jpeg_quality_scaling(1); }'
  const args = ['-x', 'c++', '-', '-ljpeg', '-o', '/dev/null']
  return spawnSync(process.env.CXX || 'c++', args, { input: program }).status === 0
}

/** Returns a hash of the add-ons' sources. */
export function sourceHash() {
  const hash = createHash('sha256')
  for (const folder of ['src', 'image'])
    for (const name of readdirSync(join(here, folder)).sort())
      hash.update(`${folder}/${name}`).update(readFileSync(join(here, folder, name)))
  return hash.digest('hex')
}

/** Returns a hash of everything that the binaries depend on; when it changes, they are built again. */
function fingerprint(simdjson, jpeg) {
  const hash = createHash('sha256')
  // Node-API is stable across versions of Node, so Node's own version is not included.
  hash.update(
    `${process.platform} ${process.arch} napi ${process.versions.napi >= 8} jpeg ${jpeg} ${sourceHash()}`,
  )
  hash.update(readFileSync(join(here, 'binding.gyp')))
  hash.update(readFileSync(join(dirname(simdjson), 'package.json')))
  return hash.digest('hex')
}

function nodeGyp(args) {
  let script
  try {
    script = require.resolve('node-gyp/bin/node-gyp.js')
  } catch {
    throw packages('node-gyp')
  }
  const run = spawnSync(process.execPath, [script, ...args], {
    cwd: here,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  writeFileSync(logFile, `${run.stdout ?? ''}${run.stderr ?? ''}`, { flag: 'a' })
  if (run.status !== 0) throw new Unmet(`the compiler failed, see ${logFile}`)
}

/** Whether the add-ons that came with the package are of these sources and load here. */
function isPrebuilt() {
  const folder = join(here, 'prebuilds')
  const sources = join(folder, 'sources.txt')
  if (!existsSync(sources) || readFileSync(sources, 'utf8') !== sourceHash()) return false
  const target = `${process.platform}-${process.arch}`
  return [target, `${target}-musl`].some((name) => {
    try {
      return require(join(folder, name, 'serving_native.node')).contract !== undefined
    } catch {
      return false
    }
  })
}

function removeBuilt() {
  for (const built of [binary, ...imageBinaries]) rmSync(built, { force: true })
}

function build(force) {
  if (!force && !existsSync(stamp) && isPrebuilt()) return false
  const simdjson = simdjsonDir()
  const jpeg = hasJpeg()
  const current = fingerprint(simdjson, jpeg)
  if (!force && existsSync(binary) && existsSync(stamp) && readFileSync(stamp, 'utf8') === current)
    return false
  removeBuilt()
  rmSync(logFile, { force: true })
  mkdirSync(buildDir, { recursive: true })
  checkTools()
  // --nodedir keeps node-gyp from fetching headers over the network.
  const nodedir = `--nodedir=${headersDir()}`
  nodeGyp(['configure', nodedir, '--', `-Dsimdjson_dir=${simdjson}`, `-Djpeg=${jpeg ? 1 : 0}`])
  nodeGyp(['build', nodedir, '--jobs=max'])
  if (!existsSync(binary)) throw new Unmet(`node-gyp left no binary, see ${logFile}`)
  writeFileSync(stamp, current)
  return true
}

function main() {
  if (process.env.SERVING_NATIVE === 'off') return
  try {
    if (build(process.argv.includes('--force'))) console.log('serving: native add-on built')
    rmSync(skipped, { force: true })
  } catch (error) {
    const reason = error instanceof Unmet ? error.message : String(error?.stack ?? error)
    // An outdated binary must not be loaded in place of the one that failed to build.
    removeBuilt()
    mkdirSync(buildDir, { recursive: true })
    writeFileSync(skipped, reason)
    // npm runs it in the folder of the package, and tells where it was called.
    const program = join(relative(process.env.INIT_CWD ?? process.cwd(), here), 'build.mjs')
    console.log(
      `serving: native add-on not built (${reason}); the TypeScript codec serves in its place, which is slower.` +
        ` To build it then: \`node ${program} --force\``,
    )
  }
}

if (
  process.argv[1] !== undefined &&
  realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)
)
  main()
