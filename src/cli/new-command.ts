/** `serving new`. @module */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { InvalidArgument } from '../core/errors.ts'
import { checkThat } from '../core/options.ts'
import { readJson } from './folders.ts'
import { packageSource, templateUrl } from './package-source.ts'

/** The templates, each with the optional packages that it needs. */
const packagesOf = {
  array: [],
  image: ['@napi-rs/image'],
  table: ['nodejs-polars', 'parquet-wasm'],
  stream: [],
} as const

/** A folder of `template/`. */
export type Template = keyof typeof packagesOf

/** npm packs no files of these names. */
const packedAs: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  'yarnrc.yml': '.yarnrc.yml',
}

/** Options of {@link newCommand}. */
export interface NewOptions {
  /**
   * What the project installs this package from.
   *
   * @default what this copy was installed from
   */
  readonly package?: string | undefined
  readonly template?: Template
}

/**
 * Writes a project into a new folder and returns what to print.
 *
 * @throws InvalidArgument for a name that npm does not take, and for a folder that is not empty.
 */
export function newCommand(path: string, options: NewOptions = {}): string {
  const { package: source = packageSource(), template = 'array' } = options
  const folder = resolve(path)
  const name = basename(folder)
  const isName = /^[a-z0-9][a-z0-9._-]*$/.test(name)
  checkThat(isName, 'a name of lower case letters, digits, - . and _', 'the project', name)
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new InvalidArgument(`${path} is not empty`)
  if (source === undefined) {
    throw new InvalidArgument(
      'cannot tell where this package was installed from, and the npm registry has another one of its name:' +
        ' name the tarball of a release, as in --package ../serving-0.1.0.tgz',
    )
  }
  const spec = specOf(source, folder)
  const { 'request.sh': request = '', ...files } = { ...filesIn('common'), ...filesIn(template) }
  mkdirSync(folder, { recursive: true })
  for (const [file, text] of Object.entries(files)) {
    const filled = text
      .replaceAll('PACKAGE', spec)
      .replaceAll('NAME', name)
      .replace('REQUEST\n', request)
    writeFileSync(
      join(folder, packedAs[file] ?? file),
      file === 'package.json' ? withPackages(filled, template) : filled,
    )
  }
  return `${path} is there. Next:\n\n  cd ${path}\n  npm install\n  npm run dev\n`
}

function filesIn(name: string): Readonly<Record<string, string>> {
  const folder = new URL(`${name}/`, templateUrl)
  return Object.fromEntries(
    readdirSync(folder).map((file) => [file, readFileSync(new URL(file, folder), 'utf8')]),
  )
}

function withPackages(text: string, template: Template): string {
  const names = packagesOf[template]
  if (names.length === 0) return text
  const { peerDependencies } = readJson<{ peerDependencies: Record<string, string> }>(
    new URL('../package.json', templateUrl),
  )
  const manifest = JSON.parse(text)
  for (const name of names) manifest.dependencies[name] = peerDependencies[name]
  return `${JSON.stringify(manifest, null, 2)}\n`
}

function specOf(source: string, folder: string): string {
  if (/^(?:https?|git\+|npm:)/.test(source)) return source
  const target = resolve(source.replace(/^file:/, ''))
  if (!existsSync(target)) throw new InvalidArgument(`--package: there is no file ${source}`)
  return `file:${relative(folder, target).replaceAll('\\', '/')}`
}
