import { createRequire } from 'node:module'
import { MissingDependencyException } from '../errors.ts'

const require = createRequire(import.meta.url)

/** The optional packages that this thread has loaded, for builds, which pack them. */
export const loadedPackages = new Set<string>()

/**
 * Loads an optional package synchronously; call it where a descriptor is made.
 *
 * @throws MissingDependencyException with the install command if the package or its build for this
 * platform is absent. `below`: a file that it exports.
 */
export function loadOptional<T>(name: string, version: string, user: string, below = ''): T {
  try {
    const loaded = require(name + below) as T
    loadedPackages.add(name)
    return loaded
  } catch (error) {
    throw missingPackage(name, version, user, error)
  }
}

/** As {@link loadOptional}, but returns the path of a file that the package exports, and does not load it. */
export function resolveOptional(
  name: string,
  version: string,
  user: string,
  below: string,
): string {
  try {
    const path = require.resolve(name + below)
    loadedPackages.add(name)
    return path
  } catch (error) {
    throw missingPackage(name, version, user, error)
  }
}

/**
 * @returns an error with the command that installs what commands for development need, and a server
 * does not.
 */
export function missingTool(name: 'chokidar' | 'esbuild' | 'tsx', user: string, error: unknown) {
  return missing(name, user, ': npm install --save-dev tsx@4 chokidar@4 esbuild@0.28', error)
}

/**
 * Its cause is what loading failed with, unless the package is absent.
 *
 * @returns an error with the install command if the package is absent: it brings nothing to one that
 * is there, and does not load.
 */
export function missingPackage(
  name: string,
  version: string,
  user: string,
  error: unknown,
): MissingDependencyException {
  return missing(name, user, `: npm install "${name}@${version}"`, error)
}

function missing(name: string, user: string, remedy: string, error: unknown) {
  const isAbsent =
    error instanceof Error &&
    new RegExp(`^Cannot find (module|package) '${name}['/]`).test(error.message)
  const needed = `${user} needs the package ${name}`
  if (isAbsent) return new MissingDependencyException(`${needed}${remedy}`)
  return new MissingDependencyException(`${needed}, which is installed, but does not load here`, {
    cause: error,
  })
}
