/**
 * `serving models`.
 * @module
 */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { InvalidArgument } from '../errors.ts'
import type { RepositoryOptions } from '../oip/repository.ts'
import { serveCommand } from './serve-command.ts'
import type { Settings } from './settings.ts'

/** Returns the absolute path of a folder of models. **Errors**: InvalidArgument when there is none. */
function findModelFolder(path: string): string {
  const folder = resolve(path)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder
  throw new InvalidArgument(`there is no folder ${path}`)
}

/** Serves a folder of models until a signal ends it, and returns the exit code. See `serveCommand`. */
export async function modelsCommand(
  path: string,
  models: RepositoryOptions,
  settings: Settings,
  readSettings: () => Promise<Settings>,
): Promise<number> {
  return await serveCommand(findModelFolder(path), settings, readSettings, models)
}
