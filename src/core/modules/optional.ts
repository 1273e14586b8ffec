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
  const command = 'npm install --save-dev tsx@4 chokidar@4 esbuild@0.28'
  return missing(name, `${user} needs the package ${name}: ${command}`, error)
}

/**
 * Its cause is what loading failed with, unless the package is absent.
 *
 * @returns an error with the install command.
 */
export function missingPackage(
  name: string,
  version: string,
  user: string,
  error: unknown,
): MissingDependencyException {
  return missing(name, `${user} needs the package ${name}: npm install "${name}@${version}"`, error)
}

function missing(name: string, message: string, error: unknown): MissingDependencyException {
  const isAbsent =
    error instanceof Error &&
    new RegExp(`^Cannot find (module|package) '${name}['/]`).test(error.message)
  return new MissingDependencyException(message, isAbsent ? undefined : { cause: error })
}
