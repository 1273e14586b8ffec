/** `serving doctor`. @module */
import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addon, nativePath, nativeStatus } from '../core/native/add-on.ts'
import { glibcMinor, loadUws } from '../engine/uws/uws-package.ts'
import { jpegStatus } from '../values/image/image-addon.ts'
import { installedFolder, readJson, shownPath } from './folders.ts'
import { nodeWarning } from './node-version.ts'

/** What a service needs each optional package for. Those that compile the add-on are told by the add-on's own line. */
const uses: Readonly<Record<string, string>> = {
  '@aws-sdk/credential-provider-node': 'keys of a bucket by roles of pods and machines',
  '@napi-rs/image': 'pictures',
  '@opentelemetry/exporter-trace-otlp-http': 'traces',
  '@opentelemetry/sdk-trace-node': 'traces',
  '@valibot/to-json-schema': 'schemas of valibot',
  aws4fetch: 'bodies of jobs in a bucket',
  bullmq: 'jobs on Redis',
  chokidar: 'serving dev',
  'cron-parser': 'schedules of jobs',
  esbuild: 'serving build',
  'file-type': 'types of files by their bytes',
  ioredis: 'jobs, rate limits and caches on Redis',
  'nodejs-polars': 'tables',
  'onnxruntime-node': 'ONNX models',
  'parquet-wasm': 'nested Parquet, compressed Arrow',
  tsx: 'services in TypeScript',
  zod: 'schemas of zod',
}

const manifestUrl = new URL('../../package.json', import.meta.url)

/** A line of the report. The remedy is there if something is missing. */
type Line = readonly [subject: string, state: string, remedy?: string]

/**
 * @returns the parts of this installation, and below each that is missing the command that brings
 * it.
 */
export async function doctorText(): Promise<string> {
  const { version, peerDependencies } = readJson<{
    version: string
    peerDependencies: Record<string, string>
  }>(manifestUrl)
  const lines: readonly Line[] = [
    ['serving', version],
    ['Node', `${process.version}, ${systemName()}`, nodeWarning()],
    engineLine(),
    addonLine(),
    jpegLine(),
    ...(await Promise.all(
      Object.entries(uses).map(([name, use]) => packageLine(name, peerDependencies[name], use)),
    )),
  ]
  const width = Math.max(...lines.map(([subject]) => subject.length)) + 2
  return lines
    .map(([subject, state, remedy]) => {
      const rows = remedy === undefined ? [state] : [state, `-> ${remedy}`]
      return `${subject.padEnd(width)}${rows.join('\n').replaceAll('\n', `\n${' '.repeat(width)}`)}`
    })
    .join('\n')
}

function systemName(): string {
  const system = `${process.platform} ${process.arch}`
  if (process.platform !== 'linux') return system
  const glibc = glibcMinor()
  return `${system}, ${glibc === null ? 'no glibc' : `glibc 2.${glibc}`}`
}

function engineLine(): Line {
  const uws = loadUws()
  if (typeof uws !== 'string')
    return ['engine', [uws.origin, ...uws.passedOver.map((each) => `not ${each}`)].join('\n')]
  const reasons = uws.split('; ')
  return [
    'engine',
    ['node:http', ...reasons.slice(0, -1).map((each) => `not ${each}`)].join('\n'),
    reasons.at(-1),
  ]
}

function addonLine(): Line {
  if (addon !== undefined) return ['add-on', shownPath(nativePath ?? '')]
  return ['add-on', 'TypeScript in its place, which is slower', nativeStatus.reason]
}

function jpegLine(): Line {
  if (jpegStatus.library !== undefined) return ['JPEG', jpegStatus.library]
  return ['JPEG', `@napi-rs/image in place of libjpeg-turbo: ${jpegStatus.reason}`, jpegRemedy()]
}

function jpegRemedy(): string | undefined {
  if (addon === undefined) return undefined
  const program = shownPath(fileURLToPath(new URL('../../native/build.mjs', import.meta.url)))
  return `apt-get install libjpeg62-turbo-dev && node ${program} --force`
}

async function packageLine(name: string, range: string, use: string): Promise<Line> {
  const folder =
    installedFolder(name, process.cwd()) ??
    installedFolder(name, dirname(fileURLToPath(manifestUrl)))
  if (folder === undefined)
    return [name, `not installed, for ${use}`, `npm install "${name}@${range}"`]
  const { version } = readJson<{ version: string }>(join(folder, 'package.json'))
  const failure = await loadFailure(name, folder)
  return failure === undefined
    ? [name, version]
    : [name, `${version} does not load: ${failure}`, loadRemedy(failure)]
}

/** Names of packages in code of `--eval` are looked for from the working folder. */
const loadCode = `import(process.argv[1]).then(
  () => process.exit(0),
  (error) => {
    process.stderr.write((error?.cause ?? error)?.message ?? String(error))
    process.exit(1)
  },
)`

/**
 * Loads a package in a process of its own, which a binary of another system may crash.
 *
 * @returns why it does not load.
 */
function loadFailure(name: string, cwd: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const args = ['--input-type=module', '--eval', loadCode, name]
    execFile(process.execPath, args, { cwd, timeout: 60_000 }, (error, _stdout, stderr) => {
      const reason = stderr.trimStart().split('\n', 1)[0]
      if (error === null) resolve(undefined)
      else resolve(error.signal ? `ended by ${error.signal}` : reason)
    })
  })
}

/** The binary of a package is a package of its own for each system, which installations for another one lack. */
function loadRemedy(failure: string): string {
  return failure.startsWith('Cannot find')
    ? 'rm -r node_modules && npm install'
    : 'use a system that its binary is for, such as Debian 13 or Ubuntu 24.04'
}
