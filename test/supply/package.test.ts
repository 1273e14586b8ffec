import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const { sourceHash }: { sourceHash: () => string } = await import(
  `${new URL('../../native/build.mjs', import.meta.url)}`
)
const root = fileURLToPath(new URL('../../', import.meta.url))
const told = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'ignore'],
  encoding: 'utf8',
  shell: process.platform === 'win32',
})
interface Packed {
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}
const [{ files, size, unpackedSize }] = Object.values(JSON.parse(told)) as [Packed]
const paths = files.map(({ path }) => path)
const prebuilds = `${root}native/prebuilds/`
const targets = ['linux-arm64', 'linux-arm64-musl', 'linux-x64', 'linux-x64-musl']
const binaries = targets.flatMap((target) =>
  ['serving_jpeg.node', 'serving_native.node'].map((file) => `native/prebuilds/${target}/${file}`),
)

describe('the tarball', () => {
  it('has the notices, what compiles the add-ons, and every program', () => {
    const wanted = [
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'THIRD_PARTY.md',
      'CHANGELOG.md',
      'package.json',
    ]
    const sources = [
      'native/build.mjs',
      'native/binding.gyp',
      'native/src/addon.cpp',
      'native/image/jpeg.cpp',
    ]
    const programs = [
      'dist/index.js',
      'dist/index.d.ts',
      'dist/cli/main.js',
      'dist/runner/model-thread.js',
    ]
    expect(paths).toEqual(expect.arrayContaining([...wanted, ...sources, ...programs]))
  })

  it.skipIf(process.platform === 'win32')('has a command that a build leaves executable', () => {
    const { bin } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
    for (const path of Object.values<string>(bin))
      expect(statSync(root + path).mode & 0o111).toBe(0o111)
  })

  it('has nothing else: no tests, no leftovers of a build, no tools of development', () => {
    const own =
      /^(dist\/.+\.(js|d\.ts)|dist\/runner\/python\/\w+\.py|template\/.+|proto\/.+|native\/prebuilds\/.+)$/
    const sources = /^native\/(src|image)\/[a-z_]+\.(cpp|h)$/
    const single =
      /^(LICENSE|[A-Z_]+\.md|package\.json|native\/(build\.mjs|prune\.mjs|binding\.gyp))$/
    expect(paths.filter((path) => ![own, sources, single].some((each) => each.test(path)))).toEqual(
      ['dist/cli/config/schema.json', 'dist/page/index.html'],
    )
  })

  it('has all types that its types name', () => {
    const named = paths
      .filter((path) => path.endsWith('.d.ts'))
      .flatMap((path) => {
        const text = readFileSync(`${root}${path}`, 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '')
        return [...text.matchAll(/(?:from |import\()'(\.[^']+)\.[jt]s'/g)].map(([, file]) =>
          posix.join(path, '..', file),
        )
      })
    expect(named.length).toBeGreaterThan(100)
    expect([...new Set(named)].filter((file) => !paths.includes(`${file}.d.ts`))).toEqual([])
  })

  it('is of 3 MB at most, and of 10 MB unpacked', () => {
    expect(size).toBeLessThan(3e6)
    expect(unpackedSize).toBeLessThan(10e6)
  })

  it('is of a version that the lock file and the changelog name', () => {
    const read = (file: string) => readFileSync(`${root}${file}`, 'utf8')
    const { version } = JSON.parse(read('package.json'))
    const lock = JSON.parse(read('package-lock.json'))
    expect([lock.version, lock.packages[''].version]).toEqual([version, version])
    expect(read('CHANGELOG.md')).toContain(`\n## ${version}\n`)
    expect(read('README.md').match(/serving-\d[^ ]*\.tgz/g)).toEqual([
      `serving-${version}.tgz`,
      `serving-${version}.tgz`,
    ])
  })

  it('is told of with the same oldest Node everywhere', () => {
    const { engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
    const told = `Node ${engines.node.replace('>=', '')} or later`
    for (const page of ['README.md', 'CONTRIBUTING.md', 'docs/guide/getting-started.md']) {
      const text = readFileSync(root + page, 'utf8')
      expect([page, text.match(/Node \d+ or later/g)]).toEqual([page, [told]])
    }
  })

  it('depends on nothing that is compiled at installation', () => {
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(`${root}package.json`, 'utf8'),
    )
    const names = Object.keys({ ...dependencies, ...optionalDependencies })
    expect(
      names.filter((name) => ['node-gyp', 'node-api-headers', '@nozbe/simdjson'].includes(name)),
    ).toEqual([])
  })
})

// `node native/prebuild.mjs` makes them; a clone has none before that, and `npm run release` insists on all.
describe.skipIf(!existsSync(`${prebuilds}sources.txt`))('the add-ons in the tarball', () => {
  it('are for all targets, and of the sources beside them', () => {
    expect(paths.filter((path) => path.endsWith('.node')).sort()).toEqual([...binaries].sort())
    expect(readFileSync(`${prebuilds}sources.txt`, 'utf8')).toBe(sourceHash())
  })

  it.each(binaries)('%s: stripped, and without the paths of where it was compiled', (path) => {
    const file = readFileSync(root + path)
    for (const text of ['.symtab', '.debug_info', root, `${homedir()}/`, 'node_modules']) {
      expect([text, file.includes(text)]).toEqual([text, false])
    }
  })
})
