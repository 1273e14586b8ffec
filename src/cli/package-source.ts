/** Where this copy of the package came from: the npm registry has another one of the same name. @module */
import { existsSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { installedFolder, readJson } from './folders.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * @returns the URL or `file:` path that npm installs this copy from; undefined if it is not known.
 */
export function packageSource(): string | undefined {
  const folder = root.slice(0, -1)
  if (!folder.includes(`${sep}node_modules${sep}`)) return `file:${folder}`
  const modules = folder.slice(
    0,
    folder.lastIndexOf(`${sep}node_modules${sep}`) + '/node_modules'.length,
  )
  const lock = join(modules, '.package-lock.json')
  if (!existsSync(lock)) return undefined
  const { packages } = readJson<{ packages?: Readonly<Record<string, { resolved?: string }>> }>(
    lock,
  )
  const source = packages?.['node_modules/serving']?.resolved
  return source?.startsWith('file:') ? `file:${resolve(dirname(modules), source.slice(5))}` : source
}

/** @returns the command that installs this package into a project. */
export function installCommand(): string {
  return `npm install ${packageSource()?.replace(/^file:/, '') ?? 'serving-<version>.tgz (the tarball of a release)'}`
}

/**
 * @returns a message if the file would import another package of the name `serving`, such as that
 * of npm.
 */
export function foreignPackage(file: string): string | undefined {
  const place = installedFolder('serving', dirname(file))
  if (place === undefined) return undefined
  const {
    version,
    bin,
    exports = {},
  } = readJson<Record<string, Record<string, unknown>>>(join(place, 'package.json'))
  if (bin?.serving !== undefined && './testing' in exports) return undefined
  return `${place} is another package of this name (${version}, from the npm registry): run ${installCommand()}`
}

/** The URL of the folder of the templates. */
export const templateUrl = pathToFileURL(`${root}template/`)
