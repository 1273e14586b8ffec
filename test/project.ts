/** Folders of projects, for tests and benchmarks. @module */
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../', import.meta.url))

/** Returns a new folder with files in it. */
export function newFolder(files: Readonly<Record<string, string>>, below = tmpdir()): string {
  const path = mkdtempSync(join(below, 'serving-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return path
}

/** As {@link newFolder}, where programs find this package, as after npm link. */
export function newProject(files: Readonly<Record<string, string>>): string {
  const path = newFolder(files)
  mkdirSync(join(path, 'node_modules'))
  symlinkSync(root, join(path, 'node_modules/serving'), 'dir')
  return path
}
