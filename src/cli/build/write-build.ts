/** Writes a build into a folder. @module */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { InvalidArgument } from '../../core/errors.ts'
import type { PlacedPackage } from './package-tree.ts'
import type { BuildFile, BuildPlan } from './plan-build.ts'

/** Writes a build, in place of an earlier one. **Errors**: InvalidArgument for a folder with something else. */
export function writeBuild({ files, manifest }: BuildPlan, folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, 'manifest.json'))) {
    const name = relative(process.cwd(), folder)
    throw new InvalidArgument(`${name} holds something that is no build: name another folder with --out`)
  }
  const next = `${folder}.next`
  rmSync(next, { recursive: true, force: true })
  writeFiles(files, next, copyFileSync)
  writeFileSync(join(next, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  rmSync(folder, { recursive: true, force: true })
  renameSync(next, folder)
}

/** Writes what a service needs to be loaded, with links to files and packages where they are. */
export function writeStage(
  files: ReadonlyMap<string, BuildFile>,
  packages: readonly PlacedPackage[],
  folder: string,
): void {
  writeFiles(new Map([...files, ['package.json', { text: '{"type":"module"}' }]]), folder, symlinkSync)
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
