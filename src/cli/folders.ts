/** Where a project is, and the files of JSON that say what it is. @module */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** @returns a folder and those above it, the nearest first. */
export function foldersAbove(folder: string): string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...foldersAbove(above)]
}

/** @returns the nearest folder with a package.json. */
export function projectFolder(folder: string): string | undefined {
  return foldersAbove(folder).find((at) => existsSync(join(at, 'package.json')))
}

/** @returns files of these names in a folder and those above it up to that of package.json, the nearest first. */
export function projectFiles(folder: string, names: readonly string[]): string[] {
  const folders = foldersAbove(folder)
  const last = projectFolder(folder)
  return folders
    .slice(0, last === undefined ? undefined : folders.indexOf(last) + 1)
    .flatMap((at) => names.map((name) => join(at, name)))
    .filter((path) => existsSync(path))
}

/** @returns the folder of a package that is installed for a folder; undefined if it is not. */
export function installedFolder(name: string, folder: string): string | undefined {
  return foldersAbove(folder)
    .map((at) => join(at, 'node_modules', name))
    .find((at) => existsSync(join(at, 'package.json')))
}

/** @returns a path for people: below the working directory, which is `.`. */
export function shownPath(path: string): string {
  return relative(process.cwd(), path) || '.'
}

/** @returns what a file of JSON says. */
export function readJson<T>(path: string | URL): T {
  return JSON.parse(readFileSync(path, 'utf8'))
}
