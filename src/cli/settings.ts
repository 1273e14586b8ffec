/** Finds the service and its options for every command that takes them. @module */
import { statSync } from 'node:fs'
import { dirname, extname, resolve } from 'node:path'
import { InvalidArgument } from '../core/errors.ts'
import { whenDefined } from '../core/promise.ts'
import { findConfigFile, readConfigFile } from './config/config-file.ts'
import { type GivenOptions, settleOptions } from './config/settled-options.ts'

/** What a command works with. */
export type Settings = Awaited<ReturnType<typeof findSettings>>

/**
 * @returns the settings for a service file or the working directory; `service` is its absolute
 * path, undefined if neither `path` nor a configuration file names it.
 * @throws InvalidArgument.
 */
export async function findSettings(path: string | undefined, given: GivenOptions) {
  const named = whenDefined(path, findServiceFile)
  const found = findConfigFile(named === undefined ? process.cwd() : dirname(named))
  const file = await whenDefined(found, readConfigFile)
  const service = named ?? whenDefined(file?.service, findServiceFile)
  return { service, file, ...settleOptions(given, file) }
}

/** Settings of a command that needs a service. */
export type ServiceSettings = Settings & { readonly service: string }

const extensions = ['.ts', '.mts', '.js', '.mjs']

function findServiceFile(path: string): string {
  const file = resolve(path)
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) throw new InvalidArgument(`there is no file ${path}`)
  if (!stat.isFile())
    throw new InvalidArgument(`${path} is no file: name the file that exports the service`)
  if (!extensions.includes(extname(file)))
    throw new InvalidArgument(`expected a .ts, .mts, .js or .mjs file, received ${path}`)
  return file
}
