/** Works out everything that a build holds, before anything is written. @module */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { InvalidArgument } from '../../core/errors.ts'
import { checkPackedBinaries } from '../../engine/uws/uws-package.ts'
import { storePackages } from '../../jobs/open-store.ts'
import type { BuildOptions } from '../config/build-options.ts'
import type { OptionsInFile } from '../config/option-table.ts'
import { foldersAbove, readJson, shownPath } from '../folders.ts'
import { type Bundle, bundleService, joinPackages } from './bundle-service.ts'
import type { DescribedService } from './describe-service.ts'
import { dockerfileText } from './dockerfile.ts'
import { listFiles } from './list-files.ts'
import { packageFiles } from './package-files.ts'
import {
  listedPeers,
  mayLoad,
  type PlacedPackage,
  packageName,
  packageTree,
} from './package-tree.ts'
import type { Project } from './project.ts'
import { pythonEnvironment, pythonFiles, withoutPython } from './python-environment.ts'

/** A file of a build: its text, or the absolute path of the file that it is a copy of. */
export type BuildFile = { readonly text: string } | { readonly from: string }

/** A whole build: its files, and what `manifest.json` says. */
export type BuildPlan = Awaited<ReturnType<typeof planBuild>>

/** Loads a bundled service that lies in a folder, in a process of its own, and describes it. */
export type Describe = (
  files: ReadonlyMap<string, BuildFile>,
  bundle: Bundle,
  packages: readonly PlacedPackage[],
) => Promise<DescribedService>

/**
 * @returns what a build of the project holds.
 * @throws InvalidArgument that names the file.
 */
export async function planBuild(project: Project, options: OptionsInFile, describe: Describe) {
  const { root, service, build } = project
  const bundle = await bundleService(root, service)
  const models = await dataFiles(root, build.models ?? [], build.exclude ?? [], 'models')
  const included = await dataFiles(root, build.include ?? [], build.exclude ?? [], 'include')
  const files = new Map<string, BuildFile>()
  for (const path of [...bundle.assets, ...models, ...included])
    files.set(path, { from: join(root, path) })
  for (const [path, text] of bundle.files) files.set(path, { text })
  const { packages: named = [] } = build
  const listed = listedPeers(root)
  const described = await describe(
    files,
    bundle,
    packageTree(bundle.imports, [...named, ...listed], root),
  )
  const code = [...bundle.files].filter(([path]) => path.endsWith('.js')).map(([, text]) => text)
  const later = listed.filter((name) => mayLoad(name, code))
  const ofStore = storePackages({ store: options.jobStore })
  const packages = packageTree(
    bundle.imports,
    [...named, ...later, ...described.packages, ...ofStore],
    root,
  )
  for (const [path, text] of generatedFiles(project, options, bundle, described, packages)) {
    if (files.has(path))
      throw new InvalidArgument(
        `${path} is a file that serving build writes: leave it out of include`,
      )
    files.set(path, { text })
  }
  const [serving] = packages.filter(({ name }) => name === 'serving')
  const joined = await joinPackages(serving.folder)
  const own = new Map([...files].sort(byName))
  const all = new Map(own)
  const hashes: Record<string, { version: string; sha256: string }> = {}
  for (const { name, place, folder, version } of packages) {
    const hash = createHash('sha256')
    const copies = (await packageFiles(folder)).map((file) => ({ file, from: join(folder, file) }))
    checkPackedBinaries(name, copies)
    for (const { file, ...copy } of place === serving.place ? [...copies, ...joined] : copies) {
      all.set(posix.join(place, file), copy)
      hash.update(`${file}\0${sha256(copy)}\n`)
    }
    hashes[place.slice('node_modules/'.length)] = { version, sha256: hash.digest('hex') }
  }
  const { metadata, routes, runners, remoteRunners, jobs } = described
  const manifest = {
    formatVersion: 1,
    service: { name: metadata.name, entry: bundle.entry, docs: metadata.docs },
    apis: metadata.apis.map((api, i) => ({ ...api, route: routes[i] })),
    runners,
    remoteRunners,
    jobs,
    serving: serving.version,
    target: {
      node: nodeMajor,
      abi: process.versions.modules,
      platform: process.platform,
      arch: process.arch,
    },
    packages: hashes,
    files: Object.fromEntries([...own].map(([path, file]) => [path, sha256(file)])),
    models: [...new Set(models)].sort(),
  }
  const digest = createHash('sha256').update(JSON.stringify(manifest)).digest('hex')
  const noPython = withoutPython(
    build,
    pythonEnvironment(build, described.python),
    described.python,
  )
  return { files: all, manifest: { ...manifest, digest }, noPython }
}

const nodeMajor = process.versions.node.split('.')[0]
const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

/** @returns the SHA-256 of a file, in hexadecimal digits. */
export function sha256(file: BuildFile): string {
  const hash = createHash('sha256')
  return hash.update('text' in file ? file.text : readFileSync(file.from)).digest('hex')
}

async function dataFiles(
  root: string,
  names: readonly string[],
  exclude: readonly string[],
  option: 'include' | 'models',
): Promise<string[]> {
  const found: string[] = []
  for (const name of names) {
    const isFolder = existsSync(join(root, name)) && statSync(join(root, name)).isDirectory()
    const glob = isFolder ? `${name.replace(/\/$/, '')}/**` : name
    const files = await listFiles(root, [glob], [...exclude, '**/node_modules/**', '**/.git/**'])
    if (files.length === 0)
      throw new InvalidArgument(`build.${option}: there is no file ${name} in ${shownPath(root)}`)
    const outside = files.find((file) => file.startsWith('../'))
    if (outside !== undefined)
      throw new InvalidArgument(`build.${option}: ${outside} lies outside of ${shownPath(root)}`)
    found.push(...files)
  }
  return found
}

function generatedFiles(
  { root, build }: Project,
  options: OptionsInFile,
  { entry, imports }: Bundle,
  { metadata, openapi, python: runners }: DescribedService,
  packages: readonly PlacedPackage[],
): Map<string, string> {
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
  const direct = packages.filter(({ place }) => place.split('node_modules/').length === 2)
  const used = new Set(['serving', ...imports.map(({ specifier }) => packageName(specifier))])
  const manifest = {
    name: metadata.name.toLowerCase().replace(/[^a-z0-9._-]/g, '-'),
    version: projectVersion(root),
    private: true,
    type: 'module',
    scripts: { start: 'node main.js' },
    dependencies: Object.fromEntries(
      direct.filter(({ name }) => used.has(name)).map(({ name, version }) => [name, version]),
    ),
  }
  const python = pythonEnvironment(build, runners)
  return new Map([
    ['Dockerfile', dockerfileText(build.docker, python)],
    ['main.js', mainText(entry, build)],
    ['openapi.json', json(openapi)],
    ['package-lock.json', json(lockOf(root, manifest, packages))],
    ['package.json', json(manifest)],
    ['serving.config.json', json({ service: `./${entry}`, ...options })],
    ...pythonFiles(python),
  ])
}

const command = './node_modules/serving/dist/cli/main.js'

function mainText(entry: string, { envs = [], python }: BuildOptions): string {
  const packages = { name: 'SERVING_PYTHON_PACKAGES', value: JSON.stringify(python?.packages) }
  const variables = python?.packages === undefined ? envs : [...envs, packages]
  return [
    '// Made by serving build: node main.js [options of serving serve]',
    "import module from 'node:module'",
    "import { fileURLToPath } from 'node:url'",
    '// From Node 22.1 on, compiled code is kept here where this folder can be written.',
    "process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('.cache', import.meta.url))",
    'module.enableCompileCache?.(process.env.NODE_COMPILE_CACHE)',
    "process.env.SERVING_ENGINE_CHECKED = 'by serving build'",
    ...variables.map(
      ({ name, value }) => `process.env[${JSON.stringify(name)}] ??= ${JSON.stringify(value)}`,
    ),
    `process.argv.splice(2, 0, 'serve', fileURLToPath(new URL('./${entry}', import.meta.url)))`,
    `await import(${JSON.stringify(command)})`,
    '',
  ].join('\n')
}

function projectVersion(root: string): string {
  const path = join(root, 'package.json')
  return (existsSync(path) ? readJson<{ version?: string }>(path).version : undefined) ?? '0.0.0'
}

interface LockedPackage {
  readonly version?: string
  readonly name?: string
  readonly resolved?: string
  readonly integrity?: string
}

/**
 * @returns a lock file of npm; what the project's own one knows of a package is taken from there.
 */
function lockOf(
  root: string,
  manifest: { readonly name: string; readonly version: string },
  packages: readonly PlacedPackage[],
) {
  const path = foldersAbove(root)
    .map((at) => join(at, 'package-lock.json'))
    .find((each) => existsSync(each))
  const lock =
    path === undefined ? {} : readJson<{ packages?: Readonly<Record<string, LockedPackage>> }>(path)
  const known = new Map(
    Object.entries(lock.packages ?? {}).map(([place, entry]) => [
      `${place.split('node_modules/').at(-1)}@${entry.version}`,
      entry,
    ]),
  )
  const entries = packages.map(({ place, name, version }) => {
    const { name: alias, resolved, integrity } = known.get(`${name}@${version}`) ?? {}
    return [
      place,
      { ...(alias === undefined ? {} : { name: alias }), version, resolved, integrity },
    ]
  })
  return {
    name: manifest.name,
    version: manifest.version,
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { ...manifest, private: undefined, scripts: undefined },
      ...Object.fromEntries(entries),
    },
  }
}
