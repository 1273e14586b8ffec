/**
 * Finds the file of the service.
 * @module
 */
import { statSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { InvalidArgument } from '../errors.ts'

const extensions = ['.ts', '.mts', '.js', '.mjs']

/** Returns the absolute path of a service file. **Errors**: InvalidArgument for no file and for other extensions. */
export function findServiceFile(path: string): string {
  const file = resolve(path)
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) throw new InvalidArgument(`there is no file ${path}`)
  if (!stat.isFile()) throw new InvalidArgument(`${path} is no file: name the file that exports the service`)
  if (!extensions.includes(extname(file)))
    throw new InvalidArgument(`expected a .ts, .mts, .js or .mjs file, received ${path}`)
  return file
}
