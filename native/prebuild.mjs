/**
 * Compiles the add-ons for every Linux that releases bring binaries for, into native/prebuilds/<platform>-<arch>: with
 * glibc (2.28 and later) and musl, for x64 and ARM64, libjpeg-turbo linked statically. `npm pack` runs it, so that an
 * installation needs no compiler; a package that is made without its tools has no binaries, and is compiled at
 * installation.
 *
 * Everything comes from Zig, which brings a compiler, C libraries and libc++ for all targets: `pip install
 * ziglang==0.13.0`. libjpeg-turbo comes as the crate turbojpeg-sys, and needs cargo, cmake, ninja and nasm. The same
 * sources make the same bytes wherever they lie.
 *
 * `node native/prebuild.mjs [--required] [target...]`: with `--required` missing tools are an error. What is up to date
 * is kept.
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { simdjsonDir, sourceHash } from './build.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const out = join(here, 'prebuilds')
const work = join(here, 'build', 'prebuild')
const zigVersion = '0.13.0'
const crate = {
  name: 'turbojpeg-sys',
  version: '1.2.0',
  sha256: '49b5a974bc59382d35927e3a07eef2ba9a24fe7227cefe52ec44b508e1b90f86',
}

/** Folders below prebuilds, and what Zig and CMake call them. */
const targets = {
  'linux-x64': { zig: 'x86_64-linux-gnu.2.28', processor: 'x86_64' },
  'linux-arm64': { zig: 'aarch64-linux-gnu.2.28', processor: 'aarch64' },
  'linux-x64-musl': { zig: 'x86_64-linux-musl', processor: 'x86_64' },
  'linux-arm64-musl': { zig: 'aarch64-linux-musl', processor: 'aarch64' },
}

/** A tool that is not installed. */
class Missing extends Error {}

/** Returns the path of Zig: that of $ZIG, of the PATH, or of Python's package ziglang. */
function findZig() {
  const python = 'import ziglang, os; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))'
  const packaged = spawnSync('python3', ['-c', python], { encoding: 'utf8' }).stdout?.trim()
  for (const zig of [process.env.ZIG, 'zig', packaged]) {
    if (!zig) continue
    if (spawnSync(zig, ['version'], { encoding: 'utf8' }).stdout?.trim() === zigVersion) return zig
  }
  throw new Missing(`Zig ${zigVersion} (pip install ziglang==${zigVersion})`)
}

/** Returns the folder of libjpeg-turbo's sources, from the crate's file, whose checksum is compared. */
function fetchJpeg() {
  const { name, version, sha256 } = crate
  const project = join(work, 'crate')
  const sources = join(project, `${name}-${version}`, 'libjpeg-turbo')
  if (existsSync(sources)) return sources
  mkdirSync(join(project, 'src'), { recursive: true })
  const manifest = `[package]\nname = "none"\nversion = "0.0.0"\n[dependencies]\n${name} = "=${version}"\n`
  writeFileSync(join(project, 'Cargo.toml'), manifest)
  writeFileSync(join(project, 'src', 'lib.rs'), '')
  execFileSync('cargo', ['fetch', '--quiet'], { cwd: project, stdio: 'inherit' })
  const cache = join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'registry', 'cache')
  const file = readdirSync(cache)
    .map((registry) => join(cache, registry, `${name}-${version}.crate`))
    .find((path) => existsSync(path))
  const found = createHash('sha256').update(readFileSync(file)).digest('hex')
  if (found !== sha256) throw new Error(`${file} has the SHA-256 ${found}, expected ${sha256}`)
  execFileSync('tar', ['-xzf', file, '-C', project])
  return sources
}

/** Flags that keep where things lie out of the binaries. */
const pathless = (...folders) => folders.map((folder) => `-ffile-prefix-map=${folder}=.`)

/** Compiles libjpeg-turbo as a static library; returns the folder with it and its headers. */
function buildJpeg(zig, name, { zig: target, processor }) {
  const sources = fetchJpeg()
  const build = join(work, name, 'jpeg')
  const library = join(build, 'libjpeg.a')
  if (existsSync(library)) return { sources, build }
  mkdirSync(build, { recursive: true })
  // CMake wants programs without arguments of their own.
  for (const tool of ['cc', 'ar', 'ranlib']) {
    const command = tool === 'cc' ? `cc -target ${target}` : tool
    writeFileSync(join(build, tool), `#!/bin/sh\nexec '${zig}' ${command} "$@"\n`)
    chmodSync(join(build, tool), 0o755)
  }
  const settings = {
    CMAKE_BUILD_TYPE: 'Release',
    CMAKE_SYSTEM_NAME: 'Linux',
    CMAKE_SYSTEM_PROCESSOR: processor,
    CMAKE_C_COMPILER: join(build, 'cc'),
    CMAKE_AR: join(build, 'ar'),
    CMAKE_RANLIB: join(build, 'ranlib'),
    CMAKE_C_FLAGS: [
      '-fstack-protector-strong',
      '-fvisibility=hidden',
      '-ffunction-sections',
      '-fdata-sections',
      ...pathless(sources, build),
    ].join(' '),
    CMAKE_POSITION_INDEPENDENT_CODE: 'ON',
    ENABLE_SHARED: 'OFF',
    WITH_TURBOJPEG: 'OFF',
    REQUIRE_SIMD: 'ON',
  }
  const defines = Object.entries(settings).map(([key, value]) => `-D${key}=${value}`)
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'] }
  execFileSync(
    'cmake',
    ['-G', 'Ninja', '-S', sources, '-B', build, '-Wno-dev', '-Wno-deprecated', ...defines],
    quiet,
  )
  execFileSync('ninja', ['-C', build, 'jpeg-static'], quiet)
  return { sources, build }
}

const flags = [
  '-std=c++17',
  '-O3',
  '-DNDEBUG',
  // The tables of powers are made while compiling; Clang gives up after a million steps.
  '-fconstexpr-steps=100000000',
  // Clang inlines less than GCC: by default lists of numbers parse a third slower than with GCC 12, thus a sixth.
  '-mllvm',
  '-inline-threshold=1000',
  '-fPIC',
  '-shared',
  '-fno-exceptions',
  '-fno-rtti',
  '-fvisibility=hidden',
  '-fno-strict-aliasing',
  '-fstack-protector-strong',
  '-D_FORTIFY_SOURCE=2',
  '-DNAPI_VERSION=8',
  '-DNAPI_DISABLE_CPP_EXCEPTIONS',
  '-DBUILDING_NODE_EXTENSION',
  '-Wl,-z,relro,-z,now',
  '-Wl,-z,noexecstack',
  '-Wl,--gc-sections',
  '-ffunction-sections',
  '-s',
]

function compile(zig, target, folder, file, options) {
  const sources = readdirSync(join(here, folder)).filter((name) => name.endsWith('.cpp'))
  const inputs = sources.sort().map((name) => join(folder, name))
  const headers = createRequire(import.meta.url)('node-api-headers').include_dir
  const common = [
    ...flags,
    ...pathless(here, dirname(simdjsonDir()), headers),
    '-isystem',
    simdjsonDir(),
  ]
  const args = [
    'c++',
    '-target',
    target,
    ...common,
    `-I${headers}`,
    ...inputs,
    '-o',
    file,
    ...options,
  ]
  execFileSync(zig, args, { cwd: here, stdio: 'inherit' })
}

function prebuild(zig, name) {
  const folder = join(out, name)
  const target = targets[name].zig
  mkdirSync(folder, { recursive: true })
  compile(zig, target, 'src', join(folder, 'serving_native.node'), ['-DSIMDJSON_EXCEPTIONS=0'])
  const { sources, build } = buildJpeg(zig, name, targets[name])
  const jpeg = [
    '-DSERVING_JPEG',
    `-I${join(sources, 'src')}`,
    `-I${sources}`,
    `-I${build}`,
    join(build, 'libjpeg.a'),
  ]
  compile(zig, target, 'image', join(folder, 'serving_jpeg.node'), jpeg)
}

function main() {
  const chosen = process.argv.slice(2).filter((word) => !word.startsWith('--'))
  const names = chosen.length === 0 ? Object.keys(targets) : chosen
  const unknown = names.find((name) => !Object.hasOwn(targets, name))
  if (unknown !== undefined)
    throw new Error(`${unknown} is none of ${Object.keys(targets).join(', ')}`)
  const stamp = join(out, 'sources.txt')
  const current = sourceHash()
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== current)
    rmSync(out, { recursive: true, force: true })
  try {
    const zig = findZig()
    for (const tool of ['cargo', 'cmake', 'ninja', 'nasm'])
      if (spawnSync(tool, ['--version']).status !== 0) throw new Missing(tool)
    // Written again when all are there: until then none is taken for these sources.
    rmSync(stamp, { force: true })
    for (const name of names) {
      const isThere = ['serving_native.node', 'serving_jpeg.node'].every((file) =>
        existsSync(join(out, name, file)),
      )
      if (isThere && chosen.length === 0) continue
      prebuild(zig, name)
      console.log(`serving: add-ons for ${name} compiled`)
    }
    // IJG's licence asks for its text beside the binaries.
    const licences = ['LICENSE.md', 'README.ijg'].map((name) =>
      readFileSync(join(fetchJpeg(), name), 'utf8'),
    )
    writeFileSync(join(out, 'LICENSE-libjpeg-turbo.md'), licences.join('\n'))
    writeFileSync(stamp, current)
  } catch (error) {
    if (!(error instanceof Missing) || process.argv.includes('--required')) throw error
    // Some without the others would be a package that works on one machine only.
    rmSync(out, { recursive: true, force: true })
    console.log(`serving: add-ons not compiled for other machines, for want of ${error.message}`)
  }
}

main()
