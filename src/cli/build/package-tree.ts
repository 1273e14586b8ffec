/** Finds the packages that a build needs at run time, and where each goes below its node_modules. @module */
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { InvalidArgument } from '../../core/errors.ts'
import { foldersAbove, readJson, shownPath } from '../folders.ts'
import type { PackageImport } from './bundle-service.ts'

/** A package and its place. */
export interface PlacedPackage {
  readonly name: string
  readonly version: string
  readonly folder: string
  /** Where it goes, relative to the build: `node_modules/a` or `node_modules/a/node_modules/b`. */
  readonly place: string
}

interface PackageManifest {
  readonly name?: string
  readonly version?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** Dependencies that only commands for development load. */
const developmentOnly = ['tinyglobby', 'yaml']

/** Optional peers that no server loads: what compiles the native add-on, and what compiles and watches sources. */
const toolPeers = ['chokidar', 'esbuild', 'node-api-headers', 'node-gyp', '@nozbe/simdjson', 'tsx']

/** What subpaths of ours need that is an optional peer of the package. */
const neededBySubpath: Readonly<Record<string, string>> = { 'serving/onnx': 'onnxruntime-node' }

/** @returns the package of an import. */
export function packageName(specifier: string): string {
  return (/^(?:@[^/]+\/)?[^/]+/.exec(specifier) as RegExpExecArray)[0]
}

/**
 * `extra` are names of packages that are loaded in other ways: optional ones of ours, and those
 * that the configuration names.
 *
 * @returns every package that the imports need, with all that those need, sorted by place.
 * @throws InvalidArgument for a package that is not installed, with the file that imports it.
 */
export function packageTree(
  imports: readonly PackageImport[],
  extra: readonly string[],
  root: string,
): PlacedPackage[] {
  const placed = new Map<string, PlacedPackage>()
  const queue: { readonly name: string; readonly from: string; readonly below: string }[] = []
  const roots = new Map<string, string>([['serving', join(root, 'package.json')]])
  for (const { specifier, importer } of imports) {
    roots.set(packageName(specifier), importer)
    const needed = neededBySubpath[specifier]
    if (needed !== undefined) roots.set(needed, importer)
  }
  for (const name of extra) if (!roots.has(name)) roots.set(name, join(root, 'package.json'))
  for (const [name, importer] of [...roots].sort()) {
    const folder = findPackage(name, dirname(importer)) ?? findPackage(name, ourFolder(root))
    if (folder === undefined) {
      const file = shownPath(importer)
      throw new InvalidArgument(
        `${file} needs the package ${name}, which is not installed: npm install ${name}`,
      )
    }
    queue.push({ name, from: folder, below: '' })
  }
  // Breadth first, so that what the service itself imports lies at the top.
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { name, from: folder, below } = next
    const found = visible(placed, name, below)
    if (found?.folder === folder) continue
    const place = posix.join(found === undefined ? '' : below, 'node_modules', name)
    const manifest = readManifest(folder)
    placed.set(place, { name, version: manifest.version ?? '0.0.0', folder, place })
    for (const dependency of dependenciesOf(manifest)) {
      const at = findPackage(dependency.name, folder)
      if (at !== undefined) queue.push({ name: dependency.name, from: at, below: place })
      else if (!dependency.optional)
        throw new InvalidArgument(
          `the package ${name} needs ${dependency.name}, which is not installed`,
        )
    }
  }
  return [...placed.values()].sort((a, b) => (a.place < b.place ? -1 : 1))
}

/** Large optional peers, and what code names that needs them. */
const neededByName: Readonly<Record<string, RegExp>> = {
  '@napi-rs/image': /Image/,
  'nodejs-polars': /Pandas|columnToNDArray|columnFromNDArray/,
  'onnxruntime-node': /modelRepository/,
}

/** Whether a service may load a package of the list later, by the code of its bundle; small ones may always be. */
export function mayLoad(name: string, code: readonly string[]): boolean {
  const pattern = neededByName[name]
  return pattern === undefined || code.some((text) => pattern.test(text))
}

/**
 * @returns the optional peers of ours among the project's dependencies: requests may load them
 * later.
 */
export function listedPeers(root: string): string[] {
  if (!existsSync(join(root, 'package.json'))) return []
  const { peerDependencies = {} } = readManifest(ourFolder(root))
  const listed = Object.keys(readManifest(root).dependencies ?? {})
  return listed.filter((name) => name in peerDependencies && !toolPeers.includes(name))
}

function visible(
  placed: ReadonlyMap<string, PlacedPackage>,
  name: string,
  below: string,
): PlacedPackage | undefined {
  for (let at = below; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const found = placed.get(posix.join(at, 'node_modules', name))
    if (found !== undefined || at === '') return found
  }
}

function dependenciesOf({
  name: own,
  dependencies = {},
  optionalDependencies = {},
  peerDependencies = {},
  peerDependenciesMeta = {},
}: PackageManifest): { readonly name: string; readonly optional: boolean }[] {
  const peers = Object.keys(peerDependencies).filter(
    (name) => peerDependenciesMeta[name]?.optional !== true,
  )
  const names = new Set([
    ...Object.keys(dependencies),
    ...Object.keys(optionalDependencies),
    ...peers,
  ])
  return [...names]
    .filter((name) => own !== 'serving' || !developmentOnly.includes(name))
    .sort()
    .map((name) => ({ name, optional: !(name in dependencies) || name in optionalDependencies }))
}

function findPackage(name: string, from: string): string | undefined {
  for (const at of foldersAbove(realpathSync(from))) {
    const folder = join(at, 'node_modules', name)
    if (existsSync(join(folder, 'package.json'))) return realpathSync(folder)
    // A package can import itself.
    if (existsSync(join(at, 'package.json')) && readManifest(at).name === name) return at
  }
  return undefined
}

function ourFolder(root: string): string {
  return findPackage('serving', root) ?? root
}

const readManifest = (folder: string): PackageManifest => readJson(join(folder, 'package.json'))
