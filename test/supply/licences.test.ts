import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

interface LockedPackage {
  readonly version: string
  /** Set where the package is installed under another name. */
  readonly name?: string
  readonly license?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly peer?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
}

const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, LockedPackage> }
const packages = Object.entries(lock.packages)
  .filter(([path]) => path !== '')
  .map(([path, entry]) => ({ ...entry, name: entry.name ?? path.replace(/^.*node_modules\//, ''), path }))
// What comes along where serving is installed.
const production = packages.filter(({ dev, devOptional, peer }) => !dev && !devOptional && !peer)

/** Licences that ask for no more than their text and notice. */
const allowed = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'])

/** Packages with install scripts, and what those do. An unknown one is looked at before it comes here. */
const installScripts: Readonly<Record<string, string>> = {
  esbuild: 'checks the binary of its platform package; downloads it where optional packages were left out',
  'onnxruntime-node': 'development and peer only: downloads CUDA binaries, unless told onnxruntime-node-install=skip',
  protobufjs: 'compares version schemes of package.json and warns',
  simdjson: 'compiles an add-on that nothing here loads; its C++ sources are what is wanted',
}

describe('packages that come with serving', () => {
  it('have licences of the list', () => {
    const wrong = production.filter(({ license }) => license === undefined || !allowed.has(license))
    expect(wrong.map(({ path, license }) => `${path}: ${license}`)).toEqual([])
  })

  it('are listed in THIRD_PARTY.md by their licence', () => {
    // Packages of one platform belong to the package that names them.
    const named = production.filter(({ os, cpu }) => os === undefined && cpu === undefined)
    const lines = [...allowed].map((licence) => {
      const names = new Set(named.filter(({ license }) => license === licence).map(({ name }) => name))
      return names.size === 0 ? '' : `- ${licence}: ${[...names].sort().join(', ')}\n`
    })
    expect(read('THIRD_PARTY.md').replace(/\n {2}/g, ' ')).toContain(lines.join(''))
  })

  it('come from the registry, with their checksums', () => {
    const wrong = packages.filter(
      ({ resolved, integrity }) =>
        (resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/')) ||
        (resolved !== undefined && integrity === undefined),
    )
    expect(wrong.map(({ path }) => path)).toEqual([])
  })
})

describe('install scripts', () => {
  it('are known, all of them', () => {
    const found = packages.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name)
    expect([...new Set(found)].filter((name) => !(name in installScripts))).toEqual([])
  })

  it('are none that npm 11 would run: serving needs none of them', () => {
    const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: Record<string, boolean> }
    for (const name of Object.keys(installScripts)) expect(allowScripts[name]).toBe(false)
  })
})

describe('the package', () => {
  it('has its notices, and no add-on that was compiled elsewhere', () => {
    const told = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: new URL('../../', import.meta.url),
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
      shell: process.platform === 'win32',
    })
    const [{ files }] = Object.values(JSON.parse(told)) as [{ files: { path: string }[] }]
    const paths = files.map(({ path }) => path)
    expect(paths).toEqual(expect.arrayContaining(['LICENSE', 'THIRD_PARTY.md', 'native/binding.gyp']))
    expect(paths.filter((path) => /\.(node|o)$|^native\/build\//.test(path))).toEqual([])
  })
})
