/** Finds and reads configuration files. The only file that imports yaml. @module */
import { readFileSync } from 'node:fs'
import { dirname, extname, resolve } from 'node:path'
import { InvalidArgument } from '../../core/errors.ts'
import { childAnswer } from '../child-answer.ts'
import { projectFiles, shownPath } from '../folders.ts'
import { checkValue } from './check-value.ts'
import { configSchema } from './config-schema.ts'
import type { ServingConfig } from './index.ts'
import { type OptionsInFile, optionEntry, optionNames } from './option-table.ts'

const names = ['ts', 'mts', 'js', 'mjs', 'json', 'yaml', 'yml'].map(
  (extension) => `serving.config.${extension}`,
)

/** A configuration file that has been read and checked. */
export type ConfigFile = Awaited<ReturnType<typeof readConfigFile>>

/**
 * Finds the file in a folder, or above it up to package.json.
 *
 * @throws InvalidArgument for two in one folder.
 */
export function findConfigFile(folder: string): string | undefined {
  const [first, second] = projectFiles(resolve(folder), names)
  if (second !== undefined && dirname(first) === dirname(second))
    throw new InvalidArgument(
      `there are ${shownPath(first)} and ${shownPath(second)}: keep one of them`,
    )
  return first
}

/**
 * Reads and checks a configuration file.
 *
 * @throws InvalidArgument that names the file and the key.
 */
export async function readConfigFile(path: string) {
  const name = shownPath(path)
  const value = await readPlain(path, name)
  checkValue(value, configSchema, name)
  const { service, build } = value as ServingConfig
  const options = readOptions(value as Record<string, unknown>)
  return { path, name, options, service: service && resolve(dirname(path), service), build }
}

/**
 * @returns what a file of YAML or JSON, or a module, says.
 * @throws InvalidArgument that names the file.
 */
export async function readPlain(path: string, name: string): Promise<unknown> {
  const extension = extname(path)
  if (!['.json', '.yaml', '.yml'].includes(extension)) return await childAnswer('config', [path])
  const text = readFileSync(path, 'utf8')
  try {
    if (extension === '.json') return JSON.parse(text)
    const { parse } = await import('yaml')
    return parse(text) ?? {}
  } catch (cause) {
    throw new InvalidArgument(`${name}: ${(cause as Error).message.trimEnd()}`, { cause })
  }
}

/** @returns values as the documents of one file of YAML. */
export async function yamlText(values: readonly unknown[]): Promise<string> {
  const { stringify } = await import('yaml')
  // No anchors for what several have in common: readers of manifests do without.
  return values.map((value) => stringify(value, { aliasDuplicateObjects: false })).join('---\n')
}

function readOptions(values: Readonly<Record<string, unknown>>): OptionsInFile {
  const given = optionNames.filter((name) => values[name] !== undefined)
  return Object.fromEntries(
    given.map((name) => [name, optionEntry(name).option.parts.read(name, values[name])]),
  )
}
