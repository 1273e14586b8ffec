/** The files of a package that are needed at run time. @module */
import { join, sep } from 'node:path'
import { readJson } from '../folders.ts'
import { listFiles } from './list-files.ts'

const platforms = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'linuxmusl',
  'openbsd',
  'sunos',
  'win32',
  'windows',
]
const architectures = [
  'arm',
  'arm64',
  'armv7',
  'ia32',
  'loong64',
  'ppc64',
  's390x',
  'x64',
  'riscv64',
]

/**
 * @returns the files of a package that run here: no types, sources, maps, or binaries for other
 * platforms.
 */
export async function packageFiles(folder: string): Promise<string[]> {
  const files = await listFiles(folder, await published(folder), [
    '**/node_modules/**',
    '**/.git/**',
  ])
  return files.filter(isNeeded)
}

async function published(folder: string): Promise<readonly string[]> {
  if (folder.includes(`${sep}node_modules${sep}`)) return ['**']
  const { files } = readJson<{ files?: readonly string[] }>(join(folder, 'package.json'))
  if (files === undefined) return ['**']
  const named = files
    .filter((file) => !file.startsWith('!'))
    .flatMap((file) => [file, `${file}/**`])
  // Compiled add-ons of a checkout, which are not packed.
  return [...named, 'package.json', 'LICENSE*', 'native/build/Release/*.node']
}

// Of this Node, and of the one in the image: see dockerfile.ts.
const abis = [process.versions.modules, '137']

function isNeeded(file: string): boolean {
  if (/(?:^|\/)(?:licen[cs]e|notice|copying)[^/]*$/i.test(file)) return true
  if (
    /\.(?:[cm]?tsx?|map|md|markdown|flow|tsbuildinfo|cc|cpp|hpp|h|c|gyp|gypi|obj|o|a)$/i.test(file)
  )
    return false
  const [, platform, architecture, abi] =
    /uws_([a-z0-9]+)_([a-z0-9]+)_(\d+)\.node$/.exec(file) ?? []
  if (platform !== undefined) {
    return (
      platform === process.platform && architecture === process.arch && abis.includes(abi as string)
    )
  }
  if (!/\.(?:node|so(?:\.\d+)*|dylib|dll|exe|lib|pdb)$/i.test(file)) return true
  // bin/napi-v6/linux/x64/…, prebuilds/linux-x64-musl/…
  const words = file
    .split('/')
    .slice(0, -1)
    .flatMap((part) => part.split('-'))
  const foreign = (all: readonly string[], ours: string) =>
    words.some((word) => all.includes(word) && word !== ours)
  return !foreign(platforms, process.platform) && !foreign(architectures, process.arch)
}
