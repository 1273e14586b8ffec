/** `serving build`. @module */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { InvalidArgument } from '../core/errors.ts'
import type { DescribedService } from './build/describe-service.ts'
import type { PlacedPackage } from './build/package-tree.ts'
import { type BuildFile, type BuildPlan, type Describe, planBuild } from './build/plan-build.ts'
import { type Project, readProject } from './build/project.ts'
import { childAnswer } from './child-answer.ts'
import { shownPath } from './folders.ts'
import type { Settings } from './settings.ts'

/** Builds a service into a folder, or lists what would be written; returns what to print. */
export async function buildCommand(
  { service, file }: Settings,
  { out, list }: { readonly out: string | undefined; readonly list: boolean },
): Promise<string> {
  const project = await readProject(service, file)
  const plan = await planBuild(project, file?.options ?? {}, describeStaged(project))
  if (list) return listText(plan)
  const folder = resolve(out ?? join(project.root, 'build'))
  writeBuild(plan, folder)
  const { manifest, noPython } = plan
  const name = shownPath(folder)
  const count = Object.keys(manifest.packages).length
  const megabytes = (
    [...plan.files.values()].reduce((sum, file) => sum + size(file), 0) / 1e6
  ).toFixed(1)
  return [
    `built ${manifest.service.name} in ${name}: ${plan.files.size + 1} files, ${count} packages, ${megabytes} MB`,
    `sha256 ${manifest.digest}`,
    `start it: node ${join(name, 'main.js')}`,
    ...(noPython.length === 0 ? [] : [noPythonText(noPython)]),
  ].join('\n')
}

const noPythonText = (names: readonly string[]) =>
  `warning: the image has no Python for the runner ${names.join(', ')}: name its packages (build.python.packages)` +
  ' in place of executable, or a Python of Debian (build.docker.systemPackages)'

/** Loads a bundled service from a temporary folder, and its source, which must have the same endpoints. */
function describeStaged({ root, service }: Project): Describe {
  return async (files, { entry, modules }, packages) => {
    const stage = realpathSync(mkdtempSync(join(tmpdir(), 'serving-build-')))
    try {
      writeStage(files, packages, stage)
      const built = await childAnswer<DescribedService>(
        'service',
        [entry, ...modules].map((path) => join(stage, path)),
      ).catch((error: Error) => {
        // The source maps of the staged code name sources beside it.
        const message = error.message
          .replaceAll(shownPath(stage), shownPath(root))
          .replaceAll(stage, root)
          .replaceAll('./', '')
        throw new InvalidArgument(message)
      })
      const source = await childAnswer<DescribedService>('service', [service])
      requireEndpoints(built.endpoints, source.endpoints, shownPath(service))
      return built
    } finally {
      rmSync(stage, { recursive: true, force: true })
    }
  }
}

/**
 * @throws InvalidArgument when compiling has changed what the service answers, such as by a
 * computed name.
 */
function requireEndpoints(built: readonly string[], source: readonly string[], name: string): void {
  const missing = source.filter((endpoint) => !built.includes(endpoint))
  const more = built.filter((endpoint) => !source.includes(endpoint))
  const differences = [
    ...missing.map((endpoint) => `${endpoint} is missing`),
    ...more.map((endpoint) => `${endpoint} is new`),
  ].join(', ')
  if (differences !== '')
    throw new InvalidArgument(`expected the endpoints of ${name} in its build: ${differences}`)
}

function listText({ files, manifest }: BuildPlan): string {
  const own = [...files].filter(([path]) => !path.startsWith('node_modules/'))
  const rows = own.map(([path, file]) => [
    String(size(file)),
    manifest.files[path].slice(0, 12),
    path,
  ])
  const packages = Object.entries(manifest.packages).map(([place, { version, sha256 }]) => {
    const inside = [...files].filter(([path]) =>
      new RegExp(`^node_modules/${place}/(?!node_modules/)`).test(path),
    )
    const bytes = inside.reduce((sum, [, file]) => sum + size(file), 0)
    return [String(bytes), sha256.slice(0, 12), `node_modules/${place} ${version}`]
  })
  return [...rows, ...packages]
    .map(([bytes, hash, name]) => `${bytes.padStart(10)}  ${hash}  ${name}`)
    .join('\n')
}

function size(file: { readonly text: string } | { readonly from: string }): number {
  return 'text' in file ? Buffer.byteLength(file.text) : statSync(file.from).size
}

function writeBuild({ files, manifest }: BuildPlan, folder: string): void {
  if (
    existsSync(folder) &&
    readdirSync(folder).length > 0 &&
    !existsSync(join(folder, 'manifest.json'))
  ) {
    throw new InvalidArgument(
      `${shownPath(folder)} holds something that is no build: name another folder with --out`,
    )
  }
  const next = `${folder}.next`
  rmSync(next, { recursive: true, force: true })
  writeFiles(files, next, copyFileSync)
  writeFileSync(join(next, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  rmSync(folder, { recursive: true, force: true })
  renameSync(next, folder)
}

/** Writes what a service needs to be loaded, with links to files and packages where they are. */
function writeStage(
  files: ReadonlyMap<string, BuildFile>,
  packages: readonly PlacedPackage[],
  folder: string,
): void {
  writeFiles(
    new Map([...files, ['package.json', { text: '{"type":"module"}' }]]),
    folder,
    symlinkSync,
  )
  for (const { place, folder: from } of packages) {
    if (place.split('node_modules/').length > 2) continue
    mkdirSync(dirname(join(folder, place)), { recursive: true })
    symlinkSync(from, join(folder, place), 'dir')
  }
}

function writeFiles(
  files: ReadonlyMap<string, BuildFile>,
  folder: string,
  place: (from: string, to: string) => void,
): void {
  for (const [path, file] of files) {
    const to = join(folder, path)
    mkdirSync(dirname(to), { recursive: true })
    if ('text' in file) writeFileSync(to, file.text)
    else place(file.from, to)
  }
}
