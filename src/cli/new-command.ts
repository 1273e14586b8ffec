/** `serving new`. @module */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expected, InvalidArgument } from '../core/errors.ts'
import { packageSource, templateUrl } from './package-source.ts'

/** npm packs no files of these names. */
const packedAs: Readonly<Record<string, string>> = { gitignore: '.gitignore', 'yarnrc.yml': '.yarnrc.yml' }

/**
 * Writes a project into a new folder and returns what to print. `source` is what the project installs this package
 * from; default: what this copy was installed from.
 * **Errors**: InvalidArgument for a name that npm does not take, and for a folder that is not empty.
 */
export function newCommand(path: string, source: string | undefined = packageSource()): string {
  const folder = resolve(path)
  const name = basename(folder)
  if (!/^[a-z0-9][a-z0-9._-]*$/.test(name)) {
    throw new InvalidArgument(expected('a name of lower case letters, digits, - . and _', 'the project', name))
  }
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new InvalidArgument(`${path} is not empty`)
  if (source === undefined) {
    throw new InvalidArgument(
      'cannot tell where this package was installed from, and the npm registry has another one of its name:' +
        ' name the tarball of a release, as in --package ../serving-0.1.0.tgz',
    )
  }
  const spec = specOf(source, folder)
  mkdirSync(folder, { recursive: true })
  for (const file of readdirSync(fileURLToPath(templateUrl))) {
    const text = readFileSync(new URL(file, templateUrl), 'utf8')
    const filled = text.replaceAll('PACKAGE', spec).replaceAll('NAME', name)
    writeFileSync(join(folder, packedAs[file] ?? file), filled)
  }
  return `${path} is there. Next:\n\n  cd ${path}\n  npm install\n  npm run dev\n`
}

function specOf(source: string, folder: string): string {
  if (/^(?:https?|git\+|npm:)/.test(source)) return source
  const target = resolve(source.replace(/^file:/, ''))
  if (!existsSync(target)) throw new InvalidArgument(`--package: there is no file ${source}`)
  return `file:${relative(folder, target).replaceAll('\\', '/')}`
}
