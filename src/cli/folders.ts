/** Where a project is, and the files of JSON that say what it is. @module */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** @returns a folder and those above it, the nearest first. */
export function foldersAbove(folder: string): string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...foldersAbove(above)]
}

/** @returns the nearest folder with a package.json. */
export function projectFolder(folder: string): string | undefined {
  return foldersAbove(folder).find((at) => existsSync(join(at, 'package.json')))
}

/** @returns a folder and those above it up to that of package.json, the nearest first. */
export function projectFolders(folder: string): string[] {
  const folders = foldersAbove(folder)
  const last = projectFolder(folder)
  return last === undefined ? folders : folders.slice(0, folders.indexOf(last) + 1)
}

/** @returns what a file of JSON says. */
export function readJson<T>(path: string | URL): T {
  return JSON.parse(readFileSync(path, 'utf8'))
}
