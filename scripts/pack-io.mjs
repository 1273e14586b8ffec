/**
 * Packs `serving/io` as a package of its own, serving-io-VERSION.tgz, from the same sources: the descriptors and their
 * adapters, without the server and its dependencies. After `npm run build`.
 * `node scripts/pack-io.mjs [FOLDER]`: the tarball lies in the folder, by default in this one.
 * @module
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleForWeb, bundleInto, byPath } from './bundle.mjs'
import { declarationsFrom } from './declarations.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { version, license, engines, dependencies, peerDependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)

/** Packages that only messages of RPC need, which come with a server. */
const ofServers = ['protobufjs-8']

/** Returns the packages that files import, or load where a name of theirs stands in the text. */
function packagesIn(dir) {
  const files = readdirSync(dir, { recursive: true }).filter((file) => /\.(js|d\.ts)$/.test(file))
  const texts = files.map((file) => readFileSync(join(dir, file), 'utf8')).join('\n')
  const isNamed = (name) =>
    [`'${name}`, `"${name}`, `\`${name}`].some((text) => texts.includes(text))
  const pick = (all) => Object.fromEntries(Object.entries(all).filter(([name]) => isNamed(name)))
  const isImported = (name) =>
    new RegExp(`(?:from|import)\\s*["']${name.replace('.', '\\.')}["'/]`).test(texts)
  const imported = Object.entries(dependencies).filter(
    ([name]) => isImported(name) && !ofServers.includes(name),
  )
  return { dependencies: Object.fromEntries(imported), peerDependencies: pick(peerDependencies) }
}

const folder = mkdtempSync(join(tmpdir(), 'serving-io-'))
try {
  const dist = join(folder, 'dist')
  // Threads of the values; those of Runners and jobs need the server.
  await bundleInto(dist, ['io/index', ...byPath.filter((name) => name.startsWith('values/'))])
  await bundleForWeb(join(dist, 'web'))
  for (const file of declarationsFrom([join(root, 'dist/io/index.d.ts')])) {
    const copy = join(dist, relative(join(root, 'dist'), file))
    mkdirSync(dirname(copy), { recursive: true })
    cpSync(file, copy)
  }
  const prebuilds = join(root, 'native/prebuilds')
  if (existsSync(prebuilds))
    cpSync(prebuilds, join(folder, 'native/prebuilds'), { recursive: true })
  for (const file of ['LICENSE', 'SECURITY.md', 'THIRD_PARTY.md'])
    cpSync(join(root, file), join(folder, file))
  cpSync(join(root, 'docs/guide/frameworks.md'), join(folder, 'README.md'))
  const packages = packagesIn(dist)
  const optional = Object.keys(packages.peerDependencies).map((name) => [name, { optional: true }])
  const manifest = {
    name: 'serving-io',
    version,
    description: 'Typed IO descriptors for requests and answers in any framework',
    license,
    type: 'module',
    sideEffects: false,
    engines,
    exports: {
      '.': {
        types: './dist/io/index.d.ts',
        node: './dist/io/index.js',
        default: './dist/web/io/index.js',
      },
      './package.json': './package.json',
    },
    ...packages,
    peerDependenciesMeta: Object.fromEntries(optional),
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  const to = resolve(process.argv[2] ?? '.')
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', to]
  const told = execFileSync('npm', pack, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [{ filename }] = Object.values(JSON.parse(told))
  console.log(join(to, filename))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
