/** The environment of Python in the image of a build. @module */

import type { CondaPackages, PythonSettings } from '../../runner/python/python-options.ts'
import type { BuildOptions } from '../config/build-options.ts'

/** What all models of a build need of Python. */
export type PythonEnvironment = ReturnType<typeof pythonEnvironment>

/** Joins what the configuration names and what the Runners of the service do. */
export function pythonEnvironment(build: BuildOptions, runners: readonly PythonSettings[]) {
  const condas = [build.conda, ...runners.map(({ conda }) => conda)].filter(
    (each) => each !== undefined,
  )
  const unique = (texts: readonly string[]) => [...new Set(texts)]
  const channels = unique(condas.flatMap((conda) => conda.channels ?? []))
  const dependencies = unique(condas.flatMap((conda) => conda.dependencies ?? []))
  return {
    packages: unique([
      ...(build.python?.packages ?? []),
      ...runners.flatMap(({ packages }) => packages ?? []),
    ]),
    conda: condas.length === 0 ? undefined : { channels, dependencies },
  }
}

/**
 * @returns the names of the Runners for which the image will have no Python, so that a container
 * could not start.
 */
export function withoutPython(
  { docker = {} }: BuildOptions,
  { packages, conda }: PythonEnvironment,
  runners: readonly (PythonSettings & { readonly name: string })[],
): string[] {
  const { baseImage, systemPackages = [], setupScript } = docker
  // The user's own image, or script, may bring one.
  if (baseImage !== undefined || setupScript !== undefined) return []
  if (systemPackages.some((name) => /^python3/.test(name))) return []
  const hasEnvironment = packages.length > 0 || conda !== undefined
  return runners
    .filter(({ executable }) => executable !== undefined || !hasEnvironment)
    .map(({ name }) => name)
}

/** @returns the files that the Dockerfile reads, by their paths. */
export function pythonFiles({ packages, conda }: PythonEnvironment): ReadonlyMap<string, string> {
  if (conda !== undefined) return new Map([['python/environment.yml', condaText(conda, packages)]])
  return new Map(
    packages.length === 0 ? [] : [['python/requirements.txt', `${packages.join('\n')}\n`]],
  )
}

function condaText(
  { channels = [], dependencies }: CondaPackages,
  packages: readonly string[],
): string {
  const named = dependencies.map((each) => /^[\w.-]+/.exec(each)?.[0])
  const missing = [...(packages.length > 0 ? ['pip'] : []), 'python'].filter(
    (name) => !named.includes(name),
  )
  const items = (texts: readonly string[], indent = '  ') =>
    texts.map((text) => `${indent}- ${JSON.stringify(text)}`)
  return [
    'channels:',
    ...items(channels.length === 0 ? ['conda-forge'] : channels),
    'dependencies:',
    ...items([...missing, ...dependencies]),
    ...(packages.length === 0 ? [] : ['  - pip:', ...items(packages, '      ')]),
    '',
  ].join('\n')
}
