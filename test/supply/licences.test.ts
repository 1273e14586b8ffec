import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

interface LockedPackage {
  readonly name: string
  readonly path: string
  readonly license?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly hasInstallScript?: boolean
}

/** What scripts/third-party.mjs exports. */
interface ThirdParty {
  readonly allowed: readonly string[]
  readonly marker: string
  lockedPackages(lock: unknown): LockedPackage[]
  production(packages: LockedPackage[]): LockedPackage[]
  licenceList(packages: LockedPackage[]): string
}

const { allowed, licenceList, lockedPackages, marker, production }: ThirdParty = await import(
  `${new URL('../../scripts/third-party.mjs', import.meta.url)}`
)
const packages = lockedPackages(JSON.parse(read('package-lock.json')))

/** Packages with install scripts, and what those do. An unknown one is looked at before it comes here. */
const installScripts: Readonly<Record<string, string>> = {
  esbuild:
    'checks the binary of its platform package; downloads it where optional packages were left out',
  'msgpackr-extract':
    'development and peer only, with bullmq: compiles an add-on that msgpackr does without',
  protobufjs: 'compares version schemes of package.json and warns',
}

describe('packages that come with serving', () => {
  it('have licences of the list', () => {
    const wrong = production(packages).filter(
      ({ license }) => license === undefined || !allowed.includes(license),
    )
    expect(wrong.map(({ path, license }) => `${path}: ${license}`)).toEqual([])
  })

  it('are listed in THIRD_PARTY.md by their licence: node scripts/third-party.mjs', () => {
    expect(read('THIRD_PARTY.md').split(marker)[1]).toBe(licenceList(packages))
  })

  it('and its optional peers are named with what they are for in docs/adr/000-dependencies.md', () => {
    const { dependencies, peerDependencies } = JSON.parse(read('package.json'))
    const rows = read('docs/adr/000-dependencies.md').split('\n')
    const isNamed = (name: string) =>
      rows.some((row) => row.startsWith('|') && row.split('|')[1].includes(`\`${name}\``))
    expect(
      Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => !isNamed(name)),
    ).toEqual([])
  })

  it('are not named among those of development, too: npm would leave them out with --omit=dev', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json'))
    expect(Object.keys(dependencies).filter((name) => name in devDependencies)).toEqual([])
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
  it('are none of onnxruntime-node for npm, which goes by the lock file: the script downloads CUDA binaries', () => {
    // `npm install onnxruntime-node@…` writes "hasInstallScript" there: take it out again, since npm 10 has no option
    // for one script, and npm 11 warns of a key in .npmrc.
    const [{ hasInstallScript }] = packages.filter(({ name }) => name === 'onnxruntime-node')
    expect(hasInstallScript).toBe(undefined)
  })

  it('are known, all of them', () => {
    const found = packages
      .filter(({ hasInstallScript }) => hasInstallScript)
      .map(({ name }) => name)
    expect([...new Set(found)].filter((name) => !(name in installScripts))).toEqual([])
  })

  it('are none that npm 11 would run: serving needs none of them', () => {
    const { allowScripts } = JSON.parse(read('package.json')) as {
      allowScripts: Record<string, boolean>
    }
    for (const name of Object.keys(installScripts)) expect(allowScripts[name]).toBe(false)
  })
})
